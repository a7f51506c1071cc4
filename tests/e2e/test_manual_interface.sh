#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# io.pebsd(7) must contain the interface that the daemon serves: each method, type and error with all members, and
# nothing else. Each member must have an entry, with the text that the interface itself has. The page must say who may
# call each method, and its examples must give the printed answers. Replies must have the described members.
# shellcheck source=tests/e2e/daemon.sh
. "${0%/*}/daemon.sh"
need jq socat python3

page=daemon/man/io.pebsd.7
start --replay "$(recording)"

# Prints each definition on one line, and nothing from between the definitions.
definitions() {
	awk '/^(method|type|error) / { open = 1 }
		open { line = line (line == "" ? "" : " ") $0 }
		open && /\)$/ { print line; line = ""; open = 0 }' | tr -s ' ' | sed 's/( /(/g; s/ )/)/g' | sort
}

printf '{"method": "org.varlink.service.GetInterfaceDescription", "parameters": {"interface": "io.pebsd"}}\0' |
	socat -t 60 - "UNIX-CONNECT:$socket" | tr -d '\0' | jq -r .parameters.description >"$work/served"
grep -v '^#' "$work/served" | definitions >"$work/served.definitions"
[ "$(wc -l <"$work/served.definitions")" -ge 60 ] || fail "no interface is served: $(head -n 20 "$work/served")"
sed -n '/^\.nf/,/^\.fi/p' $page | sed 's/\\-/-/g; /^\.[nf]/d' | definitions >"$work/page.definitions"
differences=$(diff "$work/page.definitions" "$work/served.definitions" | sed -n 's/^</-/p; s/^>/+/p')
[ -z "$differences" ] || fail "$page has what is not served (-), or lacks what is (+):
$differences"

(cd "$(dirname "$0")/../.." && tests/tools/interface_comments.py --check) >"$work/said" || fail "$(cat "$work/said")"

# Each method, type and error has its own heading, and WHO MAY CALL lists each method.
expect 'headings' "$(sed 's/^[a-z]* \([A-Za-z]*\).*/\1/' "$work/served.definitions" | sort)" \
	"$(sed -n 's/^\.SS //p' $page | sort)"
expect 'methods in WHO MAY CALL' "$(sed -n 's/^method \([A-Za-z]*\).*/\1/p' "$work/served.definitions" | sort)" \
	"$(sed -n '/^\.SH WHO MAY CALL/,/^\.SH METHODS/p' $page | sed -n 's/^\.BR* \([A-Z][A-Za-z]*\)\( .*\)*$/\1/p' | sort -u)"

# Calls a method and checks that its reply is as described.
as_described() {
	jq -c -n --arg method "io.pebsd.$1" --argjson parameters "$2" '{$method, $parameters}' | tr '\n' '\0' |
		socat -t 60 - "UNIX-CONNECT:$socket" | tr -d '\0' | jq .parameters >"$work/reply"
	python3 "${0%/*}/interface.py" "$work/served" "$1" <"$work/reply" >"$work/differences" ||
		fail "the reply of $1 is not as described: $(cat "$work/differences")"
}

replayed
for method in GetStatus GetTop GetRules GetAlerts GetZooms; do
	as_described $method '{}'
done
as_described GetTop '{"depth": 1, "trend": 3}'
as_described GetCgroup "$(ctl --json top --window all | jq -c '.cgroups[0] | {cgroup}')"

tried=0
while read -r line; do
	program=$(grep -o -w -E 'socat|nc|varlinkctl' <<<"$line" | head -n 1)
	command -v "$program" >/dev/null || {
		echo "$program is not here: its example is not tried"
		continue
	}
	# These programs wait for half a second or a second, which may be too short on a busy machine.
	for _ in $(seq 20); do
		timeout 60 sh -c "${line//\/run\/pebsd\/control.sock/$socket}" >"$work/answer" || fail "$line: $(cat "$work/answer")"
		[ ! -s "$work/answer" ] || break
	done
	jq -ne 'input | .parameters.version == 1' "$work/answer" >/dev/null || fail "$line: $(head -c 500 "$work/answer")"
	tried=$((tried + 1))
done < <(sed -n '/^\.SH EXAMPLES/,$p' $page | sed 's/\\-/-/g; s/\\(dq/"/g; s/\\e/\\/g' | grep '^printf ')
[ $tried -ge 1 ] || fail "$page has no example that could be tried"

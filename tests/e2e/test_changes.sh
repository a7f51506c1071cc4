#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd-changes(7) must list each name that programs rely on, in the section of some version, and no other: members
# of the Varlink interface that the daemon serves, keys of JSON, metrics and their labels, keys of the
# configuration, variables of alert units, and fields of the journal. If this fails because you added a name, list
# it under a section for the next version.
# shellcheck source=tests/e2e/daemon.sh
. "${0%/*}/daemon.sh"
need jq socat curl

page=daemon/man/pebsd-changes.7

# Prints KIND, NAME and MEMBER for each word of the page's entries. Words under "Removed" are taken away.
sed 's/\\-/-/g; s/"//g' $page | awk '
	/^\.SH / { versioned = /^\.SH VERSION / ; kind = "" }
	/^\.SS / { removed = /^\.SS Removed: /; kind = substr($0, removed ? 14 : 5); gsub(/ /, "_", kind); tag = 0; next }
	/^\.TP/ { tag = 1; next }
	!versioned || kind == "" { next }
	tag == 1 { sub(/^\.[A-Z]+ /, ""); gsub(/ +/, "_"); name = $0; tag = 2; next }
	tag == 2 {
		if (/^(no labels|no members)$/) { line[kind " " name " -"] = !removed; next }
		sub(/^\.RI \{ /, ""); gsub(/[,}]/, " ")
		for (i = 1; i <= NF; i++)
			line[kind " " name " " $i] = !removed
	}
	END { for (entry in line) if (line[entry]) print entry }' | sort >"$work/listed"
[ "$(wc -l <"$work/listed")" -ge 700 ] || fail "$page: only $(wc -l <"$work/listed") names are listed"

# compare KIND WHAT: compares the program's names with the page. Standard input has the program's names as lines of
# NAME MEMBER.
compare() {
	sed "s/^/$1 /" | sort -u >"$work/program"
	grep "^$1 " "$work/listed" >"$work/page" || fail "$page lists no $2"
	diff "$work/program" "$work/page" >"$work/differences" ||
		fail "$2: $page lacks names that the program has (<), or has others (>). List a new one under the next version:
$(grep '^[<>]' "$work/differences")"
}

# keys FILE FUNCTIONS: the keys that these functions put into JSON
keys() {
	tr -s '[:space:]' ' ' <"$1" | grep -oE "\\b$2\\([^\";]*\"[a-z0-9_]+\"" | grep -oE '"[a-z0-9_]+"' | tr -d '"'
}

# metrics: NAME LABEL for each series of a scrape, without the endings and labels that histograms and summaries add
metrics() {
	sed 's/^#.*//; s/\\"//g' | grep -v '^$' | sed -E 's/^([a-z_]+)(\{([^ ]*.*)\})? .*/\1 \3/; s/="[^"]*"/ /g; s/,/ /g' |
		awk '{ name = $1
			if (name ~ /latency_cycles_(bucket|sum|count)$/) sub(/_(bucket|sum|count)$/, "", name)
			none = 1
			for (i = 2; i <= NF; i++) if ($i != "le") { print name, $i; none = 0 }
			if (none) print name, "-" }' | sort -u
}

start --origin model
printf '{"method": "org.varlink.service.GetInterfaceDescription", "parameters": {"interface": "io.pebsd"}}\0' |
	socat -t 60 - "UNIX-CONNECT:$socket" | tr -d '\0' | jq -r .parameters.description | grep -v '^#' |
	awk '/^(method|type|error) / { open = 1 }
		open { line = line " " $0 }
		open && /\)$/ { print line; line = ""; open = 0 }' | sed 's/ -> / -> reply /' >"$work/definitions"
[ -s "$work/definitions" ] || fail 'the daemon serves no interface description'
members() {
	awk -v kind="$1" '$1 == kind {
		name = $2; sub(/\(.*/, "", name)
		part = kind == "method" ? "_(parameters)" : ""
		none = 1
		sub(/^ *[a-z]+ [A-Za-z]+ ?\(/, " ")
		for (i = 1; i <= NF; i++) {
			if ($i == "reply") { if (none) print name part, "-"; part = "_(reply)"; none = 1 }
			if ($i ~ /^\(?[a-z][a-z0-9_]*:$/) { gsub(/[(:]/, "", $i); print name part, $i; none = 0 }
		}
		if (none) print name part, "-" }' "$work/definitions"
}
{
	members method
	{
		keys daemon/watch.c json_object_object_add
		sed -n 's/.*put_text(&writer, object, "\(from\)".*/\1/p' daemon/export/json/json_rules.c
	} | sed 's/^/Watch_(members_of_events) /'
} | compare Varlink_methods 'members of methods'
members type | compare Varlink_types 'members of types'
members error | compare Varlink_errors 'members of errors'

sed -n '/^json_object \*json_start_of/,/^}/p' daemon/export/json/json_writer.c >"$work/start.c"
{
	keys daemon/origin/probe/probe_json.c 'add(_null|_array)?' | sed 's/^/pebsd_--probe_--json /'
	{
		keys daemon/trial/json_trial.c '(json_)?put\w*'
		keys "$work/start.c" 'json_put\w*'
	} | sed 's/^/pebsd_--test-rules_--json /'
	keys daemon/base/build_info.c 'put(_array)?' | sed 's/^/pebsd_--version_--json /'
	keys daemon/config/config_check.c json_object_object_add | sed 's/^/pebsd_--check-config_--json /'
	sed -n '/^static void put_alert_state/,/^}/p; /^json_object \*json_explain_past/,/^}/p' daemon/export/json/json_rules.c >"$work/state.c"
	sed -n '/^void json_put_source_line/,/^}/p; /^void json_put_access/,/^}/p' daemon/export/json/json_zoom.c >"$work/access.c"
	{
		keys "$work/start.c" 'json_put\w*'
		keys daemon/export/json/json_public.c 'json_put\w*'
		keys "$work/state.c" 'json_put\w*'
		keys daemon/export/json/json_names.c json_object_object_add
		sed -n '/ alert_members\[\]/,/};/p' daemon/export/json/json_public.c | grep -oE '"[a-z_]+"' | tr -d '"'
	} | sed 's,^,/alerts.json_and_/explain.json ,'
	{
		keys "$work/start.c" 'json_put\w*'
		keys daemon/export/json/json_flame.c 'json_put\w*'
		keys "$work/access.c" 'json_put\w*'
	} | sed 's,^,/zoom.json ,'
} | compare JSON_of_pebsd 'keys of JSON'

# The names of all metrics are in the sources (test_manual_metrics.sh), and their labels in the served text. The example
# has the metrics that the model lacks.
sed -n 's/^Metrics //p' "$work/listed" >"$work/metrics"
get /metrics >"$work/scrape" || fail 'the daemon serves no metrics'
"$TOOLS/example_scrape" >>"$work/scrape"
metrics <"$work/scrape" >"$work/served"
[ "$(wc -l <"$work/served")" -ge 75 ] || fail "only $(wc -l <"$work/served") labels are served"
unlisted=$(comm -23 "$work/served" <(sort -u "$work/metrics"))
[ -z "$unlisted" ] || fail "$page lacks metrics or labels that are served:
$unlisted"
diff <(cut -d ' ' -f 1 "$work/metrics" | sort -u) \
	<(sed -n '/^\.SH METRICS$/,/^\.SH LOSSES/p' daemon/man/pebsd.8 | sed -n 's/^\.B \(\(pebsd\|process\)_[a-z_]*\)$/\1/p' | sort -u) ||
	fail "$page (<) and METRICS of pebsd(8) (>) have different metrics"

awk '/^#?\[/ { section = $0; gsub(/[#]/, "", section); sub(/rule .*/, "rule_NAME]", section) }
	/^#?[a-z-]+ =/ { sub(/^#/, ""); print section, $1 }' config/pebsd.conf | compare Configuration 'keys of the configuration'

grep -rhoE '"PEBSD_[A-Z_]+' daemon --include='*.c' | sed 's/^"/PEBSD_* /' |
	compare Variables_of_pebsctl_and_alert_units,_and_fields_of_the_journal 'variables and fields'

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Serves the built pebsd in the foreground until Ctrl-C. Samples this machine if it can, otherwise the model.
#   run.sh [BUILD_DIRECTORY]
# When it ends, removes everything that it made.
set -eu

say() {
	printf '%s\n' "$*"
}

fail() {
	printf 'make run: %s\n' "$*" >&2
	exit 1
}

# True if somebody listens on TCP port $1 at any address. /proc/net/tcp has ports in hexadecimal, and 0A is LISTEN.
port_is_taken() {
	cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
		awk -v port="$(printf ':%04X' "$1")" \
			'$4 == "0A" && substr($2, length($2) - 4) == port { found = 1 } END { exit !found }'
}

free_port() {
	port=$1
	while port_is_taken "$port"; do
		port=$((port + 1))
		[ "$port" -le 65535 ] || fail "no free TCP port from $1 on: end what listens there"
	done
	printf '%s\n' "$port"
}

# shellcheck disable=SC2317 # called by the trap
end() {
	trap '' INT TERM HUP
	if [ -n "$daemon" ]; then
		kill "$daemon" 2>/dev/null || :
		wait "$daemon" 2>/dev/null || :
	fi
	[ -z "$directory" ] || rm -rf "$directory"
}

top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$top/build}" && pwd)
daemon='' directory='' example=''

[ "$(id -u)" = 0 ] || fail "loading BPF programs needs root: run \"sudo make run\", or the same as root"
for program in pebsd pebsctl; do
	[ -x "$build/$program" ] || fail "$build/$program is not built: run \"make run\" in $top"
done

trap end EXIT
trap 'say; say "Stopping."; exit 0' INT
trap 'exit 143' TERM HUP
directory=$(mktemp -d /tmp/pebsd-run.XXXXXX)
chmod 711 "$directory"
socket=$directory/control.sock
port=$(free_port 9754)
[ "$port" = 9754 ] || say "Port 9754 is taken; using $port."
set -- --socket "$socket" --listen "127.0.0.1:$port"
# A configuration with rules, so that the one in /etc does not apply here.
config=$top/config/demo.conf
set -- --config "$config" "$@"

status=0
reason=$("$build/pebsd" --probe --config "$config" 2>&1) || status=$?
if [ "$status" = 0 ]; then
	case $reason in
	'pebsd can sample memory accesses'*) say "This machine can sample memory accesses; pebsd profiles it." ;;
	*) say "This machine cannot sample memory accesses, but some events; pebsd profiles it with these." ;;
	esac
elif [ "$status" != 3 ]; then
	fail "pebsd --probe failed with status $status: $reason"
else
	say "This machine cannot sample memory accesses. pebsd --probe says:"
	say "$reason" | sed 's/^/    /'
	say "So the whole path is shown live on a model: a CPU in software that runs a few workloads under a PEBS unit of"
	say "its own. ITS FIGURES ARE NO MEASUREMENT, of this machine or of any other; every output says \"model\"."
	set -- --origin model "$@"
	example=model:pointer-chase
fi

# pebsd ends with this script, even if no trap can run.
setpriv --pdeathsig TERM "$build/pebsd" "$@" &
daemon=$!
tries=0
until "$build/pebsctl" --socket "$socket" status >"$directory/status" 2>&1; do
	tries=$((tries + 1))
	if ! kill -0 "$daemon" 2>/dev/null; then
		status=0
		wait "$daemon" || status=$?
		daemon=''
		fail "pebsd ended with status $status; its own message stands above"
	fi
	[ "$tries" -lt 600 ] || fail "pebsd did not answer on $socket in a minute: $(cat "$directory/status")"
	sleep 0.1
done

# The socket belongs to root: users who came by sudo must also use sudo for pebsctl.
as_root=${SUDO_UID:+sudo }
say
sed 's/^/    /' "$directory/status"
say
say "pebsd is serving until Ctrl-C. In a second terminal:"
say "    $as_root$build/pebsctl --socket $socket top"
say "    $as_root$build/pebsctl --socket $socket status"
say "    $as_root$build/pebsctl --socket $socket alerts"
[ -z "$example" ] || say "    $as_root$build/pebsctl --socket $socket explain cores-lost $example"
say "    curl http://127.0.0.1:$port/metrics"
say "and in a browser http://127.0.0.1:$port/"
status=0
wait "$daemon" || status=$?
daemon=''
fail "pebsd ended by itself with status $status"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Serves the built pebsd in the foreground until Ctrl-C. Samples this machine if it can and may, otherwise the model.
#   run.sh [BUILD_DIRECTORY]
# When it ends, removes everything that it made but the history, which it keeps below the build directory. Only one runs
# for each build directory, because the history has one writer: another one says how to reach it.
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
	rm -f "$running"
	# The history belongs to the user who called sudo, like everything else that was built.
	[ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$build/run"
}

top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$top/build}" && pwd)
daemon='' directory='' scenario=no

for program in pebsd pebsctl; do
	[ -x "$build/$program" ] || fail "$build/$program is not built: run \"make run\" in $top"
done

# The history, for the timeline, --at, --since and compare. The lock ends with this script.
mkdir -p "$build/run"
export STATE_DIRECTORY="$build/run"
running=$build/run/running
exec 9<"$build/run"
if ! flock -n 9; then
	[ -s "$running" ] || fail "another \"make run\" of $build is starting or ending"
	cat "$running"
	fail "it runs already, as above; \"make run BUILD=DIRECTORY\" builds and runs another one"
fi
# A run that was killed left this file.
rm -f "$running"

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

user=$(id -u) status=0
if [ "$user" != 0 ]; then
	status=3
	reason='Only root may profile this machine: "sudo make run" does so, if the machine can be profiled.'
else
	reason=$("$build/pebsd" --probe --config "$config" 2>&1) || status=$?
fi
if [ "$status" = 0 ]; then
	case $reason in
	'pebsd can sample memory accesses'*) say "This machine can sample memory accesses; pebsd profiles it." ;;
	*) say "This machine cannot sample memory accesses, but some events; pebsd profiles it with these." ;;
	esac
elif [ "$status" != 3 ]; then
	fail "pebsd --probe failed with status $status: $reason"
else
	[ "$user" != 0 ] || say "This machine cannot sample memory accesses. pebsd --probe says:"
	say "$reason" | if [ "$user" = 0 ]; then sed 's/^/    /'; else cat; fi
	say "So the whole path is shown live on a model: a CPU in software that runs a few programs under a PEBS unit of"
	say "its own. ITS FIGURES ARE NO MEASUREMENT, of this machine or of any other; every output says \"model\"."
	set -- --origin model "$@"
	scenario=yes
fi

begin=$(date +%s)
# pebsd ends with this script, even if no trap can run.
setpriv --pdeathsig TERM "$build/pebsd" "$@" 9<&- &
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

# at SECONDS: the time of day, so long after the start
at() {
	date -d "@$((begin + $1))" +%H:%M:%S
}

say
sed -n '1,2s/^/    /p' "$directory/status"
say
{
	say "pebsd is serving until Ctrl-C (process $daemon). Its page: http://127.0.0.1:$port/"
	say "In a second terminal:"
	# The socket belongs to root.
	[ -z "${SUDO_UID:-}" ] || say "    sudo -s"
	say "    export PEBSD_SOCKET=$socket PATH=$build:\$PATH"
	say "    pebsctl top"
	say "    pebsctl alerts"
	say "    pebsctl status"
	say "    curl http://127.0.0.1:$port/metrics"
} >"$running"
cat "$running"
if [ "$scenario" = yes ]; then
	say
	say "The model plays a scenario that repeats after 4 minutes. Alerts fire and resolve in it:"
	say "  $(at 45) to $(at 105)  a backup wakes up on the other node, and the database becomes slow. From $(at 125) on:"
	say "      pebsctl neighbours database"
	say "  $(at 135) to $(at 180)  a deploy of the shop brings false sharing, and is rolled back. After it:"
	say "      pebsctl compare shop --since $(at 135) --until $(at 180) --with $(at 0)"
	say "      pebsctl top --at $(at 175)"
	say "  $(at 195) to $(at 235)  a batch job streams through memory. After it:"
	say "      pebsctl alerts --since $(at 0)"
fi
status=0
wait "$daemon" || status=$?
daemon=''
fail "pebsd ended by itself with status $status"

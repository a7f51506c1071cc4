#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Metrics come through pebsd.socket, from a process without privileges, out of a service without a network. This
# must also hold over restarts, if that process is killed, and with a UNIX socket. The socket must close when the
# service is stopped or cannot start.
# kernels: 6.12 6.1 7
# takes: 60 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

local_socket=/run/pebsd-metrics.sock
drop_ins=/etc/systemd/system/pebsd.socket.d

# shellcheck disable=SC2317 # called by the trap
end_socket() {
	rm -rf "$drop_ins"
	end_lifetime
	systemctl daemon-reload
}
trap end_socket EXIT

health() {
	curl --silent --max-time 20 "$@" || :
}

state() {
	systemctl show --property=ActiveState --value "$1"
}

# shellcheck disable=SC2317 # called by wait_until
socket_is_inactive() {
	[ "$(state pebsd.socket)" = inactive ]
}

# shellcheck disable=SC2317 # called by wait_until
socket_has_ended() {
	[ "$(state pebsd.socket)" != active ]
}

speaker() {
	pgrep --parent "$1" --full -- --http
}

play
load pointer-chase chase.service
start_pebsd
look
pid=${unit[MainPID]}
expect 'the socket' active "$(state pebsd.socket)"
expect 'healthz' ok "$(health http://127.0.0.1:9754/healthz)"
[ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ] || fail 'the service has the network of all'
http=$(speaker "$pid")
expect 'rights of the process that speaks HTTP' '0000000000000000 0000000000000000 1 2' \
	"$(awk '/^(CapPrm|CapAmb|NoNewPrivs|Seccomp):/ { printf "%s%s", separator, $2; separator = " " }' "/proc/$http/status")"
if find "/proc/$http/fd" -printf '%l\n' | grep -E 'bpf|perf'; then
	fail 'the process that speaks HTTP has descriptors of BPF'
fi
expect 'another Host' 421 "$(health --output /dev/null --write-out '%{http_code}' --header 'Host: evil.example' \
	http://127.0.0.1:9754/metrics)"

kill -KILL "$http"
expect 'healthz after a kill' ok "$(health http://127.0.0.1:9754/healthz)"
scrape
expect pebsd_http_restarts_total 1.000000 "$(metric pebsd_http_restarts_total)"
look
expect 'the service after that' "active/$pid" "${unit[ActiveState]}/${unit[MainPID]}"
figures "the process that speaks HTTP: $(awk '/^RssAnon:/ { print $2 }' "/proc/$(speaker "$pid")/status") kB of its own"

# A request during a restart waits, and an accepted request is answered. Newer systemd versions restart the socket,
# too (job_type_propagate_stop_graceful(), src/core/transaction.c, systemd 257). For a moment there is no socket,
# and curl exits with 7. But no accepted connection is closed, which would give another exit code.
answered=0
may_refuse=$(systemctl --version | awk 'NR == 1 { print ($2 > 252 ? 7 : "") }')
systemctl restart --no-block pebsd.service
for ((i = 0; i < 20 || (answered == 0 && i < 200); i++)); do
	code=0
	said=$(curl --silent --max-time 20 http://127.0.0.1:9754/healthz) || code=$?
	case $code/$said in
	0/ok) answered=$((answered + 1)) ;;
	"$may_refuse"/) sleep 0.1 ;;
	*) fail "healthz during a restart: curl ended with $code: $said" ;;
	esac
done
[ "$answered" -gt 0 ] || fail 'nobody was answered during a restart'
figures "during a restart $answered of $i were answered at once"
wait_until 'the restart' 30 systemctl is-active --quiet pebsd.service
look
[ "${unit[MainPID]}" != "$pid" ] || fail 'a restart leaves the same process'

# Another address: a UNIX socket that only a group may use.
mkdir -p "$drop_ins"
printf '%s\n' '[Socket]' 'ListenStream=' "ListenStream=$local_socket" SocketGroup=daemon >"$drop_ins/guest.conf"
systemctl daemon-reload
systemctl stop pebsd.service
# The socket's unit stops after the service, but systemctl waits for the service only.
wait_until 'the socket of a stopped service is inactive' 60 socket_is_inactive
[ -z "$(health http://127.0.0.1:9754/healthz)" ] || fail 'a stopped service answers'
start_pebsd
expect 'healthz by the UNIX socket' ok "$(health --unix-socket "$local_socket" http://anything/healthz)"
expect 'the UNIX socket' 'root:daemon 660' "$(stat -c '%U:%G %a' "$local_socket")"
expect 'a stranger' '' "$(health --unix-socket "$local_socket" http://anything/healthz |
	setpriv --reuid=65534 --regid=65534 --clear-groups curl --silent --unix-socket "$local_socket" http://anything/healthz || :)"
expect_told "endpoint unix:$local_socket"
systemctl stop pebsd.service
wait_until 'the end of the UNIX socket' 60 [ ! -e "$local_socket" ]
rm -r "$drop_ins"
systemctl daemon-reload

# A service that cannot start does not listen, so that a scrape does not start it again and again.
settings '[export]' 'top = nonsense'
exits 'a start with a mistake' 1 systemctl start pebsd.service
wait_until 'the socket ends' 60 socket_has_ended
[ -z "$(health http://127.0.0.1:9754/healthz)" ] || fail 'a service that could not start answers'
rm /etc/pebsd/pebsd.conf.d/guest.conf
systemctl reset-failed pebsd.service
start_pebsd
expect 'healthz at the end' ok "$(health http://127.0.0.1:9754/healthz)"
systemctl stop pebsd.service

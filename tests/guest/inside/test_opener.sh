#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The process that opens pebsd's events: pebsd itself if the kernel allows it, otherwise pebsd-opener, which runs
# only while it is needed. Without an opener, or with one that hangs, pebsd must say what to do, and running events
# must continue.
# takes: 120 s
# cpus: 2
# kernels: 6.12
# long
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

online=/sys/devices/system/cpu/cpu1/online
paranoid=/proc/sys/kernel/perf_event_paranoid
idle_drop_in=/run/systemd/system/pebsd-opener.service.d/idle.conf

# shellcheck disable=SC2317 # called by the trap
end_opener() {
	echo 1 >"$online"
	echo 3 >"$paranoid"
	systemctl kill --signal=CONT pebsd-opener.service 2>/dev/null || :
	rm -rf "${idle_drop_in%/*}" /run/systemd/system/pebsd-opener.socket
	systemctl daemon-reload
	systemctl stop pebsd-opener.service 2>/dev/null || :
	end_lifetime
}
trap end_opener EXIT

opener() {
	systemctl show --property=ActiveState --value pebsd-opener.service
}

opener_is() {
	[ "$(opener)" = "$1" ]
}

samples_cpus() {
	[ "$(status | jq -r .events.loads.cpus)" = "$1" ]
}

opened_by() {
	status | jq -r .opened_by
}

play
load pointer-chase chase.service -- --threads 2

# If CAP_PERFMON is sufficient, nobody calls pebsd-opener.
systemctl stop pebsd-opener.service
echo 2 >"$paranoid"
start_pebsd
expect 'who opens events with paranoid at 2' pebsd "$(opened_by)"
expect 'the opener with paranoid at 2' inactive "$(opener)"
systemctl stop pebsd.service

# If CAP_PERFMON is not sufficient and there is no pebsd-opener, the message says why and what to do.
echo 3 >"$paranoid"
systemctl stop pebsd-opener.socket
ln -s /dev/null /run/systemd/system/pebsd-opener.socket
systemctl daemon-reload
exits 'systemctl start without an opener' 1 systemctl start pebsd.service
look
expect 'the unit without an opener' 'failed/3' "${unit[ActiveState]}/${unit[ExecMainStatus]}"
expect_told "kernel.perf_event_paranoid is 3, and above 2, Debian's kernel requires CAP_SYS_ADMIN" \
	'systemctl start pebsd-opener.socket'
systemctl reset-failed pebsd.service
rm /run/systemd/system/pebsd-opener.socket
mkdir -p "${idle_drop_in%/*}"
printf '[Service]\nExecStart=\nExecStart=/usr/lib/pebsd/pebsd-opener --idle 5\n' >"$idle_drop_in"
systemctl daemon-reload

start_pebsd
expect 'who opens events with paranoid at 3' opener "$(opened_by)"
look
pid=${unit[MainPID]}
more 'of events that the opener opened' 1
wait_until 'the opener ends' 60 opener_is inactive
more 'without the opener' 1
rm "$idle_drop_in"
systemctl daemon-reload

# The opener starts again when a CPU comes online. Even if it hangs then, the other CPU must be sampled.
echo 0 >"$online"
wait_until 'CPU 0 alone is sampled' 60 samples_cpus 0
echo 1 >"$online"
wait_until 'CPU 1 is sampled by an opener started anew' 60 samples_cpus 0-1
expect 'the opener that a CPU had started' active "$(opener)"
systemctl kill --signal=STOP pebsd-opener.service
echo 0 >"$online"
wait_until 'CPU 0 alone is sampled' 60 samples_cpus 0
echo 1 >"$online"
sleep 4
more 'with an opener that hangs' 0
await_collections 2
expect 'CPUs with an opener that hangs' 0 "$(status | jq -r .events.loads.cpus)"
expect_told "pebsd-opener did not answer in time; see systemctl status pebsd-opener.service"
systemctl kill --signal=CONT pebsd-opener.service
wait_until 'CPU 1 is sampled once the opener goes on' 90 samples_cpus 0-1
more 'after all that' 1
look
expect 'the process, and its restarts' "$pid/0" "${unit[MainPID]}/${unit[NRestarts]}"

# If pebsd is killed while the opener hangs, it is restarted until the opener answers, and then continues with its
# events.
started_again() {
	[ "$(systemctl show --property=NRestarts --value pebsd.service)" -ge "$1" ]
}
answers() {
	pebsctl status >/dev/null 2>&1
}
expect 'the opener that is to hang' active "$(opener)"
had=$(status | jq .samples.seen)
systemctl kill --signal=STOP pebsd-opener.service
systemctl kill --signal=KILL pebsd.service
wait_until 'a start that fails, for the opener hangs' 150 started_again 2
systemctl kill --signal=CONT pebsd-opener.service
wait_until 'pebsd answers again' 150 answers
wait_until 'it samples' 60 samples_cpus 0-1
[ "$(status | jq .samples.seen)" -gt "$had" ] ||
	fail "$had samples were seen before, and now $(status | jq .samples.seen): it began anew"
more 'after a start that failed' 1

# Only pebsd and root may reach the opener's socket.
expect 'whose the socket is' 'pebsd 600' "$(stat -c '%U %a' /run/pebsd-opener.sock)"

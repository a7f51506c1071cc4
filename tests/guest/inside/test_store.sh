#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The service manager must keep as many descriptors as pebsd has on a machine with 256 CPUs and two events, and pass
# them to each next process, after a restart and after a kill. After a stop it must have none. The test prints how long
# the manager takes.
# kernels: 6.12 6.1 7
# takes: 8 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"

unit=keep-many.service
cpus=256 events=2
many=$((cpus * events))

# said: prints the log of the process that runs now.
said() {
	journalctl --sync
	journalctl --quiet --no-pager --output=cat "_SYSTEMD_INVOCATION_ID=$(systemctl show --property=InvocationID --value $unit)" \
		_TRANSPORT=stdout
}

# manager_time: prints the CPU time of the service manager in milliseconds. The kernel reports it in ticks of 10 ms.
manager_time() {
	awk '{ sub(/.*\) /, ""); print ($12 + $13) * 10 }' /proc/1/stat
}

# held_by_manager: prints the number of perf events that the service manager holds. Its other descriptors come and go.
held_by_manager() {
	find /proc/1/fd -lname 'anon_inode:\[perf_event\]' 2>/dev/null | wc -l
}

holds() {
	[ "$(held_by_manager)" = "$1" ]
}

# shellcheck disable=SC2317 # called by the trap
leave() {
	systemctl stop $unit 2>/dev/null || :
	end
}
trap leave EXIT

wait_until 'the manager holds no event of an earlier test' 60 holds 0
began=$(manager_time)
systemd-run --quiet --unit=$unit --service-type=notify --property=FileDescriptorStoreMax=65536 \
	--property=LimitNOFILE=65536 --property=Restart=on-failure --property=RestartSec=100ms \
	"$here/keep_many" $cpus $events
stored=$(($(manager_time) - began))
[[ $(said) == "stored $many in "* ]] || fail "at the first start: $(said)"
expect 'events that the manager holds' $many "$(held_by_manager)"
first=$(said)

began=$(manager_time)
systemctl restart $unit
passed=$(($(manager_time) - began))
[[ $(said) == "took $many in "* ]] || fail "after a restart: $(said)"
second=$(said)

pid=$(systemctl show --property=MainPID --value $unit)
is_another() {
	[ "$(systemctl show --property=MainPID --value $unit)" != "$pid" ] && systemctl is-active --quiet $unit
}
kill -KILL "$pid"
wait_until 'the service is there again' 30 is_another
[[ $(said) == "took $many in "* ]] || fail "after a kill: $(said)"

systemctl stop $unit
wait_until 'the manager has closed them' 60 holds 0
line="measured: of $cpus CPUs and $events events: $first, $second; the manager's time: $stored ms for the first start, $passed ms for a restart"
say "$line"
printf 'guest-tests: %s: %s\n' "${0##*/}" "$line" >/dev/kmsg

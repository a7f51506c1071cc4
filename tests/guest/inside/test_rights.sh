#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each privilege that the units give up (pebsd, its opener, the symbolizer, the alert unit) must really be gone. In
# each of these units, a program that tries about 80 actions runs in place of the unit's own program. It must be able to
# do exactly what is listed here. Root without a unit can do nearly all of them. The other tests show that sampling
# works with the privileges that remain.
# kernels: 6.12 7
# takes: 33 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"

laid=/run/rights

# shellcheck disable=SC2317 # called by the trap
leave() {
	[ -z "${victim:-}" ] || kill "$victim" 2>/dev/null || :
	rm -rf "$laid" /home/rights /root/rights /tmp/rights /run/systemd/system/pebsd*.service.d
	clean
	systemctl daemon-reload
	end
}
trap leave EXIT

# clean: removes everything that the attempts of root made.
clean() {
	rm -f /etc/rights-made /usr/rights-made /var/lib/rights-made /dev/shm/rights*
	[ ! -d /sys/fs/cgroup/rights-made ] || rmdir /sys/fs/cgroup/rights-made
}

mkdir -p $laid /home
for file in $laid/open $laid/handle /home/rights /root/rights /tmp/rights; do
	echo x >"$file"
	chmod 644 "$file"
done
(umask 077 && echo x >$laid/closed)
"$here/rights" --share
sleep 1000 &
victim=$!

# The program must succeed without a sandbox, or the test could not see anything.
unshare --mount "$here/rights" $laid $victim >"$work/root"
clean
can=$(grep -c . "$work/root")
say "root without a unit can do $((can - 1)) of $("$here/rights" --count)"
[ "$can" -ge 65 ] || fail "root without a unit can do only: $(cat "$work/root")"

# may UNIT NAME...: expects the unit's sandbox to allow exactly the named actions.
may() {
	local unit=$1 dropin
	shift
	dropin=/run/systemd/system/${unit/@*./@.}.d
	mkdir -p "$dropin"
	cat >"$dropin/rights.conf" <<-DROPIN
		[Unit]
		StartLimitIntervalSec=0
		[Service]
		Type=oneshot
		WatchdogSec=0
		LimitFSIZE=infinity
		Restart=no
		EnvironmentFile=
		ExecStart=
		ExecStart=$here/rights $laid $victim
		StandardOutput=truncate:$work/can
	DROPIN
	systemctl daemon-reload
	# The opener may still be waiting for requests.
	systemctl stop "$unit"
	: >"$work/can"
	systemctl start "$unit" || fail "$unit: $(systemctl status --no-pager "$unit")"
	rm -r "$dropin"
	expect "$unit, what it can do" "$(printf '%s\n' "$@" end | sort)" "$(sort "$work/can")"
	say "measured: $unit can do $# of $("$here/rights" --count) things"
}

# bpf_tracing: pebsd loads its own programs. (The opener opens their events here.) read_closed: cgroup directories
# may be closed to others. set_user_id_bit: RestrictSUIDSGID= would forbid this, but would also make openat2(2)
# fail.
may pebsd.service bpf_tracing read_closed set_user_id_bit
# The opener exists to open events.
may pebsd-opener.service perf_event
# The symbolizer reads other processes.
may pebsd-symbols.service read_closed see_another
# The alert unit runs the administrator's commands. Its sandbox allows these calls, because they affect only the
# unit's own processes, and shared memory that every user may use.
may pebsd-alert@1.service io_uring keys raise_limit shared_memory

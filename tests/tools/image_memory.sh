#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Measures the memory of the image of `make image` on a node with 10,000 cgroups, at its start and when each of them had
# samples. It must stay below the memory limit of config/kubernetes/daemonset.yaml, with room for the maps that the
# ConfigMap permits on a node with more CPUs. The limit is that of a memory cgroup, which also counts the maps and
# everything else that the kernel allocates for pebsd. Page faults stand in for loads, so the BPF programs are the real
# ones. The paths are as long as those of pods.
#   image_memory.sh IMAGE FAULT_IN_CGROUPS
# Needs root, and what make deps-image installs.
set -eu

CGROUPS=10000

fail() {
	echo "$*"
	[ ! -s "${work:-}/log" ] || sed 's/^/pebsd: /' "$work/log"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

[ $# = 2 ] || fail "usage: image_memory.sh IMAGE FAULT_IN_CGROUPS"
[ "$(id -u)" = 0 ] || skip 'needs root'
# All mounts end with this process.
[ -n "${IMAGE_MOUNTS:-}" ] || IMAGE_MOUNTS=own exec unshare --mount "$0" "$@"
image=$1 fault_in_cgroups=$2
tree=$(findmnt --noheadings --first-only --types cgroup2 --output TARGET) || skip 'needs cgroup2'
work=$(mktemp -d)
daemon='' cgroup='' memory=''

# remove_cgroup DIRECTORY: removes it with all cgroups in it.
remove_cgroup() {
	[ ! -d "$1" ] || find "$1" -depth -type d -exec rmdir {} +
}

# shellcheck disable=SC2317 # called by the trap
clean_up() {
	if [ -n "$daemon" ]; then
		kill "$daemon" 2>/dev/null || :
		wait "$daemon" || :
	fi
	remove_cgroup "$cgroup"
	remove_cgroup "$memory"
	! mountpoint -q "$work/root" || umount --recursive --lazy "$work/root"
	rm -rf --one-file-system "$work"
}
trap clean_up EXIT

# The memory controller of the old or the new hierarchy: the files for its limit and its peak.
if old=$(findmnt --noheadings --first-only --types cgroup --options memory --output TARGET); then
	memory=$old limit_file=memory.limit_in_bytes peak_file=memory.max_usage_in_bytes
else
	memory=$tree limit_file=memory.max peak_file=memory.peak
	grep -q -w memory "$tree/cgroup.subtree_control" 2>/dev/null || echo +memory >"$tree/cgroup.subtree_control" 2>/dev/null ||
		skip 'needs the memory controller'
fi
memory=$(mktemp -d "$memory/pebsd-image-XXXXXX")
[ -e "$memory/$peak_file" ] || skip "needs $peak_file, which Linux 5.19 and newer have"

# The limit, the greatest size of the maps in MiB, and the configuration with events that this machine has.
python3 - "$work" <<'END' >"$work/wanted"
import re, sys, yaml
with open("config/kubernetes/daemonset.yaml") as file:
    objects = {one["kind"]: one for one in yaml.safe_load_all(file)}
(container,) = objects["DaemonSet"]["spec"]["template"]["spec"]["containers"]
text = objects["ConfigMap"]["data"]["pebsd.conf"]
print(container["resources"]["limits"]["memory"].removesuffix("Mi"),
      re.search(r"^max-memory = (\d+)M$", text, re.M).group(1), *container["command"])
with open(sys.argv[1] + "/pebsd.conf", "w") as file:
    file.write(text + "[sampling]\norigin = perf\nevents = loads\nperiod = 100\nbudget = off\n")
END
read -r limit maps_max command <"$work/wanted"
echo $((limit << 20)) >"$memory/$limit_file"

root=$work/root
mkdir "$root" "$work/layout"
mount -t tmpfs none "$root"
tar -C "$work/layout" -xf "$image"
tar -C "$root" -xf "$(find "$work/layout/blobs" -size +1M)"
cp "$work/pebsd.conf" "$root/etc/pebsd/"
mount -o remount,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --make-rprivate "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o size=8M none "$root/run/pebsd"
# The stand-in for the PMU, as in tests/e2e/faults.sh.
devices=$root/sys/bus/event_source/devices
mount -t tmpfs none "$devices"
mkdir -p "$devices/cpu/events" "$devices/cpu/format" "$devices/cpu/caps"
echo 1 >"$devices/cpu/type"
echo event=0x2 >"$devices/cpu/events/mem-loads"
echo config:0-7 >"$devices/cpu/format/event"
echo config1:0-15 >"$devices/cpu/format/ldlat"
echo 3 >"$devices/cpu/caps/max_precise"
echo skylake >"$devices/cpu/caps/pmu_name"

# Tests with many cgroups take turns (tests/lib/cgroup_turn.h).
exec 8<"$tree"
flock 8
cgroup=$(mktemp -d "$tree/kubepods-XXXXXX")
pods=$cgroup/kubepods-burstable.slice/kubepods-burstable-pod3c5a9d7e_1f0b_4e7a_9b7c_2d1f0a6b8c9e.slice
pods+=/cri-containerd-3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8.scope
mkdir -p "$pods"
"$fault_in_cgroups" "$pods" $CGROUPS 1

ctl() {
	chroot "$root" /usr/bin/pebsctl "$@"
}

port=$((20000 + $$ % 10000))
(echo "$BASHPID" >"$memory/cgroup.procs" && exec env -i PATH=/usr/sbin:/usr/bin chroot "$root" "$command" --listen "127.0.0.1:$port") \
	>"$work/log" 2>&1 &
daemon=$! began=$(date +%s%3N)
for _ in $(seq 1200); do
	! ctl status >/dev/null 2>&1 || break
	kill -0 "$daemon" 2>/dev/null || fail 'pebsd has ended'
	sleep 0.05
done
ready=$(($(date +%s%3N) - began))

# peak_when WHAT: compares the peak so far, and leaves it in $peak and the memory of the maps in $maps, in MiB.
peak_when() {
	ctl --json status >"$work/status" || fail "$1: pebsd does not answer"
	jq -ne --argjson cgroups $CGROUPS 'input | .cgroups_alive >= $cgroups and .without_slot == 0' "$work/status" >/dev/null ||
		fail "$1: not all cgroups have a slot: $(cat "$work/status")"
	peak=$(($(cat "$memory/$peak_file") >> 20)) maps=$(($(jq .memory.maps "$work/status") >> 20))
	[ "$peak" -gt "$maps" ] || fail "$1: a peak of $peak MiB does not contain the maps, $maps MiB"
	[ $((peak - maps + maps_max)) -le "$limit" ] ||
		fail "$1: the peak is $peak MiB, with $maps MiB of maps. With $maps_max MiB of maps, the limit of $limit MiB has no room"
}
peak_when 'at the start'
said="10,000 cgroups: at the start $peak MiB, of which $maps MiB are maps, and ready after $ready ms"

before=$(jq .samples.attributed "$work/status")
"$fault_in_cgroups" "$pods" $CGROUPS 300
sampled() {
	attributed=$(ctl --json status | jq .samples.attributed)
	[ "$attributed" -ge $((before + 2 * CGROUPS)) ]
}
for _ in $(seq 100); do
	! sampled || break
	sleep 0.2
done
sampled || fail 'not every cgroup has samples'
curl --silent --show-error --fail --max-time 60 --output "$work/metrics" "http://127.0.0.1:$port/metrics"
peak_when 'with samples in each'
echo "measured: $said; with samples in each, and scraped, $peak MiB; the limit is $limit MiB"
kill -0 "$daemon" || fail 'pebsd has ended'

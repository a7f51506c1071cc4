# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # of lib.sh and books.sh: cgroups, here, work
# For tests with real container runtimes, after lib.sh and books.sh: compares the labels, births, deaths and counts that
# pebsd has for the cgroups of containers with what the runtime says about them. A test starts pebsd first, so that it
# sees each container begin.

# What a container runs: it works for a millisecond and rests, so that the runtime has CPU time, too.
# shellcheck disable=SC2034 # used by the tests
program=(/workload mix --rest 20 --touch 4)
watcher=''

# shellcheck disable=SC2317 # called by the trap
end_runtimes() {
	[ -z "$watcher" ] || kill "$watcher" 2>/dev/null || :
	# Each test names what has to be ended with its runtime.
	end_containers >/dev/null 2>&1 || :
	leave
}
trap end_runtimes EXIT

# make_tree DIRECTORY: makes a minimal root with the workload and a shell.
make_tree() {
	mkdir -p "$1"/{bin,dev,etc,proc,sbin,sys,tmp,usr}
	cp "$here/workload" "$1/"
	cp /bin/busybox "$1/bin/"
	ln -s busybox "$1/bin/sh"
	echo 'ID=test' >"$1/etc/os-release"
	# For runtimes that start an init.
	printf '#!/bin/sh\nexec %s\n' "${program[*]}" >"$1/sbin/init"
	chmod 755 "$1" "$1/sbin/init"
}

# add_user: adds the user joe, whose systemd runs without a login.
add_user() {
	id joe >/dev/null 2>&1 || useradd --create-home --uid 1000 joe
	loginctl enable-linger joe
	wait_until "the user's systemd" 100 systemctl --quiet is-active user@1000.service
}

# as_user COMMAND...: runs it as a user without root, who has a systemd of his own.
as_user() {
	(cd / && exec setpriv --reuid=joe --regid=joe --init-groups env USER=joe LOGNAME=joe HOME=/home/joe XDG_RUNTIME_DIR=/run/user/1000 \
		DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus "$@")
}

# begin_runtimes: starts pebsd with the labels of containers in its metrics.
begin_runtimes() {
	printf '[containers]\nlabels = runtime container\n' | configure
	play
	start_pebsd
	pebsctl --json watch >"$work/watched" &
	watcher=$!
}

# cgroup_of_process PID: prints the cgroup of a process.
cgroup_of_process() {
	sed -n 's/^0:://p' "/proc/$1/cgroup"
}

# events_of WHAT PATH: prints how often pebsd reported the cgroup as born or as gone.
events_of() {
	grep -c -F "\"$1 ${2//\\/\\\\}\"" "$work/watched" || :
}

happened() {
	[ "$(events_of "$1" "$2")" -ge "$3" ]
}

# labels_of PATH: prints its labels as pebsd has them, in one line with sorted keys.
labels_of() {
	pebsctl --json show "$1" | jq --sort-keys --compact-output .labels
}

has_labels() {
	labels_of "$1" >"$work/labels" 2>"$work/said" && [ "$(<"$work/labels")" = "$2" ]
}

# expect_labels WHAT PATH JSON: waits until pebsd has these labels and no others.
expect_labels() {
	local wanted until=$((SECONDS + 30))
	wanted=$(jq --sort-keys --compact-output . <<<"$3")
	until has_labels "$2" "$wanted"; do
		[ $SECONDS -lt $until ] ||
			fail "labels of $1, $2: expected $wanted, found $(cat "$work/labels" "$work/said")"
		sleep 1
	done
	say "$1: $2 $wanted"
}

# expect_container WHAT PATH JSON [BIRTHS]: pebsd has these labels. It has seen this number of births, and the deaths
# between them.
declare -A sampled_paths
expect_container() {
	[ -d "/sys/fs/cgroup$2" ] || fail "$1: no cgroup $2"
	note_cgroups
	sampled_paths[$2]=$1
	wait_until "birth of $1, $2" 30 happened born "$2" "${4:-1}"
	wait_until "earlier deaths of $1, $2" 30 happened gone "$2" $((${4:-1} - 1))
	expect_labels "$1" "$2" "$3"
}

# await_container_samples: waits until each of the containers has samples in the books.
await_container_samples() {
	local -a ids paths=("${!sampled_paths[@]}")
	mapfile -t ids < <(stat --format=%i "${paths[@]/#//sys/fs/cgroup}" 2>/dev/null)
	[ ${#ids[@]} != 0 ] || fail 'no container has a cgroup'
	wait_until 'samples of each container' 200 books_have 20 "${ids[@]}"
}

# expect_death WHAT PATH [DEATHS]: the cgroup is gone, and pebsd has seen that.
expect_death() {
	[ ! -d "/sys/fs/cgroup$2" ] || fail "$1: its cgroup $2 remains"
	wait_until "death of $1, $2" 30 happened gone "$2" "${3:-1}"
}

# agree_on_containers TEXT: pebsd and the books have the same samples for each cgroup. Each container has some, also
# those that are gone, and those keep their labels.
agree_on_containers() {
	local path n text=$1
	settle
	# Of a unit that came and went between two looks, only the events have the id.
	jq --raw-input --compact-output 'fromjson? | select(.event == "born") | [(.id | tostring), .cgroup]' "$work/watched" >>"$cgroups"
	compare
	for path in "${!sampled_paths[@]}"; do
		n=$(samples_of "$path")
		[ "$n" -gt 0 ] || fail "${sampled_paths[$path]}: no samples in the books"
		text+=", ${sampled_paths[$path]} $n"
	done
	measured "$text"
	[ -z "$(differences)" ] || fail "pebsd and the books differ:" "$(differences | head -n 40)"
	jq -r '.cgroups[] | select(.labels.runtime) | "\(.cgroup) \(.labels.container // "-")"' "$work/top"
}

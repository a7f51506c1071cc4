# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For tests with the service whose behaviour is known (tests/guest/sharing.c), after lib.sh and books.sh.
# shellcheck disable=SC2154 # theirs: here, work, workloads

failed=''

# wrong TEXT...: notes a difference and continues, so that the test shows all differences.
wrong() {
	failed=yes
	say "$*"
}

# judge FILTER JQ_OPTION...: applies the filter to the service's books in $work/touched. Prints what the filter
# measured, and notes what is wrong.
judge() {
	local what text
	jq --null-input --raw-output --from-file "$here/$1" --slurpfile books "$work/touched" \
		--slurpfile said "$work/sharing.json" --argjson cgroup "$cgroup" "${@:2}" >"$work/judged"
	while read -r what text; do
		case $what in
		measured) tell "$text" ;;
		*) wrong "$text" ;;
		esac
	done <"$work/judged"
}

# tell TEXT...: prints the text, also to the kernel's log, which is kept.
tell() {
	say "measured: $*"
	printf 'guest-tests: %s: %.900s\n' "${0##*/}" "$*" >/dev/kmsg
}

# finish: the last command of a test. Fails if there was a difference.
finish() {
	[ -z "$failed" ]
}

# share: starts the service. The service's own description is in $work/sharing.json, the path of its cgroup in
# $path and the id in $cgroup.
share() {
	# Lines move between CPUs in windows only, so there are twice as many as usual.
	pmu window 12
	rm -f "$work/sharing.json"
	systemd-run --quiet --collect --unit=sharing.service --property=CPUSchedulingPolicy=idle \
		"$here/sharing" "$work/sharing.json"
	workloads+=(sharing.service)
	wait_until 'what the program says of itself' 60 test -s "$work/sharing.json"
	path=$(cgroup_of sharing.service)
	cgroup=$(stat --format=%i "/sys/fs/cgroup$path")
	pmu watch "$cgroup"
}

# touched CODE: prints the number of samples of the service, of the event CODE, that the books have now.
touched() {
	pmu touched | grep -F "\"event\":\"$1\",\"cgroup\":$cgroup," | grep -o '"samples":[0-9]*' |
		awk -F : '{ sum += $2 } END { printf "%.0f\n", sum }'
}

has_touched() {
	[ "$(touched "$1")" -ge "$2" ]
}

# await_touched CODE N: waits until the event CODE has N samples of the service.
await_touched() {
	wait_until "$2 samples of the service" 200 has_touched "$1" "$2"
}

# settle_sharing: like settle() of books.sh. Also stops the service and leaves its books in $work/touched.
settle_sharing() {
	stop_counting
	systemctl kill --signal=STOP sharing.service
	settle
	take_touched
}

# take_touched: writes the accesses of the service, by the books, to $work/touched.
take_touched() {
	pmu touched >"$work/touched"
	! grep -q full "$work/touched" || wrong 'the books are full'
}

resume_sharing() {
	systemctl kill --signal=CONT sharing.service
	resume
}

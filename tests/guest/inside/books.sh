# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For tests of accounting, after lib.sh: controls the emulated PMU and compares pebsd's counters with the PMU's books.
# shellcheck disable=SC2154 # lib.sh's: here, emulated, work

endpoint=http://127.0.0.1:9754/metrics
# The ids of all cgroups that note_cgroups() found since play(), as lines of ["ID","/PATH"].
cgroups=$work/cgroups
sample_rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)

# set_max_rate N: sets kernel.perf_event_max_sample_rate. The kernel may no longer lower it by itself: an emulated
# interrupt takes long by the clock. The kernel refuses a new rate while it does not limit the time of interrupts.
set_max_rate() {
	echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
	echo "$1" >/proc/sys/kernel/perf_event_max_sample_rate
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
}
set_max_rate "$sample_rate"

# shellcheck disable=SC2317 # called by the trap
leave() {
	stop_pebsd
	end
	rm -f /etc/pebsd/pebsd.conf.d/guest.conf
	set_max_rate "$sample_rate"
	pmu resume
	pmu watch 0
	pmu usual
}
trap leave EXIT

# play: stops pebsd and lets the machine count, with empty books.
play() {
	stop_pebsd
	pmu resume
	pmu reset
	: >"$cgroups"
}

# play_paused: like play(), but nothing counts before resume().
play_paused() {
	play
	stop_counting
}

# note_cgroups: notes the ids and paths of all cgroups that exist now, so that they are known after their removal.
note_cgroups() {
	find /sys/fs/cgroup -type d -printf '["%i","/%P"]\n' | sed 's/\\/&&/g' >>"$cgroups"
}

# settings [SECTION_AND_KEY_LINE...]: configures pebsd.
settings() {
	printf '%s\n' "$@" | configure
}

# The events that pebsd samples: the key of each event, with its PMU and its code in the books. See codes().
sampled=()

# true if other tools also sample in this test.
others_sample=false

# The memory that a workload touches, in MiB: more than the caches of any machine of the model.
touches=16

# Milliseconds of sleep after each millisecond of work, or empty for none. While all CPUs sleep, the guest's clock
# jumps, which costs the host nothing.
rest=5

# load NAME UNIT ...: starts a workload, as start_workload does, that leaves CPU time to the test.
load() {
	local name=$1 unit=$2
	shift 2
	[[ " $* " == *' -- '* ]] || set -- "$@" --
	[ -z "$rest" ] || set -- "$@" --rest "$rest"
	start_workload "$name" "$unit" --property=CPUSchedulingPolicy=idle "$@" --touch "$touches"
}

# stop_counting, count_again: nothing is counted between the two calls.
stop_counting() {
	pmu pause
}

count_again() {
	pmu resume
}

# take_books: writes $work/books and $work/totals.
take_books() {
	pmu books >"$work/books"
	pmu totals >"$work/totals"
}

pebsd_pid=''

answers() {
	pebsctl status >/dev/null 2>&1
}

start_pebsd() {
	if ! has_systemd; then
		pebsd >/run/pebsd.log 2>&1 &
		pebsd_pid=$!
		wait_until 'pebsd answers' 100 answers
		return
	fi
	systemctl start pebsd.service
	expect 'pebsd.service' active "$(systemctl is-active pebsd.service || :)"
}

stop_pebsd() {
	if has_systemd; then
		systemctl stop pebsd.service 2>/dev/null || :
	elif [ -n "$pebsd_pid" ]; then
		kill "$pebsd_pid" 2>/dev/null || :
		wait "$pebsd_pid" || :
		pebsd_pid=''
	fi
}

# pebsd_log SINCE: prints the messages that pebsd logged since this second (date +%s).
pebsd_log() {
	if has_systemd; then
		journalctl --quiet --no-pager --unit=pebsd.service --since="@$1"
	else
		cat /run/pebsd.log
	fi
}

status() {
	pebsctl --json status
}

# Prints the second of pebsd's last collection. (Without jq, which takes a second to start here.)
taken() {
	status | sed -n 's/.*"taken": *"\([^"]*\)".*/\1/p'
}

collected_since() {
	[ "$(taken)" != "$1" ]
}

# await_collections N: waits for at least N more collections
await_collections() {
	local last i
	for ((i = 0; i < $1; i++)); do
		last=$(taken)
		wait_until 'a collection' 100 collected_since "$last"
	done
}

# quiet and continue_workloads stop and continue the workloads, because the test's own work is faster without them.
quiet() {
	pkill -STOP -f "^$here/workload " || :
}

continue_workloads() {
	pkill -CONT -f "^$here/workload " || :
}

# settle: stops the counters and waits until pebsd has everything that happened before. Three collections must
# follow: the first may have begun before the stop, the second begins after it, and the third reports the losses of
# the second.
settle() {
	stop_counting
	quiet
	note_cgroups
	await_collections 3
}

resume() {
	continue_workloads
	count_again
}

# code_of EVENT [PMU]: prints the code of an event of this machine, as in the books.
code_of() {
	local text event mask
	text=$(<"/sys/bus/event_source/devices/${2:-cpu}/events/$1")
	event=${text#event=} event=${event%%,*}
	mask=${text#*,umask=} mask=${mask%%,*}
	printf '0x%x\n' $((mask << 8 | event))
}

# codes: prints the argument `codes` of compare.jq. The events are those in `sampled`: each line has KEY PMU CODE,
# and the codes of operations that pebsd must filter. If `sampled` is empty, they are the loads of each core PMU.
codes() {
	local -a lines=("${sampled[@]}")
	local pmu text='' key code line filtered
	if [ ${#lines[@]} = 0 ]; then
		for pmu in cpu cpu_core cpu_atom; do
			[ -e "/sys/bus/event_source/devices/$pmu/events/mem-loads" ] || continue
			key=loads
			[ $pmu = cpu ] || key=loads:$pmu
			lines+=("$key $pmu $(code_of mem-loads $pmu)")
		done
	fi
	for line in "${lines[@]}"; do
		read -r key pmu code filtered <<<"$line"
		[ -z "$filtered" ] || filtered=",\"filtered\":[\"${filtered// /\",\"}\"]"
		text+=",\"$key\":{\"pmu\":\"$pmu\",\"code\":\"$code\"$filtered}"
	done
	printf '{%s}\n' "${text:1}"
}

# compare: leaves $work/compared, see compare.jq.
compare() {
	take_books
	pebsctl --json top --window all >"$work/top"
	status >"$work/status"
	jq --null-input --raw-output --from-file "$here/compare.jq" --slurpfile books "$work/books" \
		--slurpfile totals "$work/totals" --slurpfile top "$work/top" --slurpfile status "$work/status" \
		--slurpfile cgroups "$cgroups" --argjson codes "$(codes)" --argjson others "$others_sample" \
		>"$work/compared"
}

differences() {
	sed -n 's/^differs\t//p' "$work/compared"
}

# figure NAME [EVENT]: prints a value of the last comparison, of the event `loads` or of EVENT.
figure() {
	awk -v name="$1" -v event="${2:-loads}" '$1 == "figure" && $2 == event && $3 == name { print $4 }' \
		"$work/compared"
}

# samples_of PATH [EVENT]: prints the number of samples of that cgroup in the books, from the last comparison.
samples_of() {
	# Not with -v, which would take the \x2d of a path for a dash.
	PATH_IN_BOOKS=$1 awk -F '\t' -v event="${2:-loads}" '
		$1 == "cgroup" && $2 == event && $3 == ENVIRON["PATH_IN_BOOKS"] { print $4; found = 1 }
		END { if (!found) print 0 }' "$work/compared"
}

# measured [TEXT...]: prints the values of the last comparison and TEXT in one line. The line also goes to the kernel's
# log, which is kept for the tester even if the test passes.
measured() {
	local line
	line=$(awk -F '\t' '
		$1 == "figure" && $2 != event && (event != "" || $2 != "loads") { line = line ", of " $2 ":" }
		$1 == "figure" { event = $2; line = line ", " $3 " " $4 }
		END { gsub(":,", ":", line); print substr(line, 3) }' "$work/compared")
	line="measured: $*${*:+, }$line"
	say "$line"
	# The kernel accepts lines of at most about a thousand bytes.
	printf 'guest-tests: %s: %s\n' "${0##*/}" "${line:0:900}" >/dev/kmsg
}

# agree [TEXT...]: expects every value to equal the books, or to be short by exactly what pebsd reports as lost. TEXT is
# for measured().
agree() {
	compare
	measured "$@"
	[ -z "$(differences)" ] || fail "pebsd and the books differ, $*:" "$(differences | head -n 40)" "$(cat "$work/totals")"
}

# sum_of NAME...: prints the sum over all CPUs and events of these values of the totals: "overflow", "cut",
# "throttles".
sum_of() {
	local names
	names=$(printf '\\|%s' "$@")
	pmu totals |
		grep -o "\"\\(${names:2}\\)\":[0-9]*" | awk -F : '{ sum += $2 } END { printf "%.0f\n", sum }'
}

delivered() {
	sum_of overflow
}

# missed: prints the number of samples that the kernel's guard kept from the program, or that a stop of the event
# cut off.
missed() {
	take_books
	echo $(($(sum_of cut) + $(jq -s 'map(.guarded) | add // 0' "$work/books")))
}

has_delivered() {
	[ "$(delivered)" -ge "$1" ]
}

# books_have N ID...: true if the books have at least N samples of each of these cgroups. Samples that the kernel's
# guard kept from the program do not count.
books_have() {
	local least=$1
	shift
	pmu books | awk -v least="$least" -v ids="$*" '
		match($0, /"cgroup":[0-9]+/) {
			id = substr($0, RSTART + 9, RLENGTH - 9)
			match($0, /"samples":[0-9]+/)
			found[id] += substr($0, RSTART + 10, RLENGTH - 10)
			match($0, /"guarded":[0-9]+/)
			found[id] -= substr($0, RSTART + 10, RLENGTH - 10)
		}
		END {
			n = split(ids, wanted, " ")
			for (i = 1; i <= n; i++) if (found[wanted[i]] < least) exit 1
		}'
}

# await_samples N: waits for N more samples of all CPUs together.
await_samples() {
	wait_until "$1 samples" 200 has_delivered $(($(delivered) + $1))
}

# scrape: leaves $work/metrics.
scrape() {
	curl --silent --show-error --fail "$endpoint" >"$work/metrics"
}

# metric NAME [LABEL]: prints the sum of these series in the last scrape.
metric() {
	awk -v name="$1" -v label="${2:-}" '
		(index($0, name "{") == 1 || index($0, name " ") == 1) && index($0, label) { sum += $NF }
		END { printf "%.6f\n", sum }' "$work/metrics"
}

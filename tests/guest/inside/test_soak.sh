#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A host's life in short, again and again. Cgroups come and go, rules fire and resolve, Prometheus scrapes, people
# use pebsctl, zoom, pause and reload, and a CPU goes offline and comes back. In the first third pebsd is restarted
# and killed. In the end the sums must equal the books. Memory and descriptors of the process that ran through the
# other two thirds must not have grown. `make soak SOAK_SECONDS=3600` runs the test for an hour: the guest reads
# the time as guest.soak from the kernel's command line.
# long
# kernels: 6.12
# cpus: 2
# takes: 260 s
# time limit: 7200 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

seconds=$(sed -n 's/.*guest\.soak=\([0-9]*\).*/\1/p' /proc/cmdline)
seconds=${seconds:-150}
online=/sys/devices/system/cpu/cpu1/online
churn=/sys/fs/cgroup/churn.slice
# Names of removed cgroups are kept for ten minutes. Memory is compared after that, if the soak is long enough.
KEPT_SECONDS=600

# shellcheck disable=SC2317 # called by the trap
end_soak() {
	echo 1 >"$online"
	end_lifetime
	# No later test needs its alerts.
	rm -rf /run/pebsd/alerts
	rmdir "$churn"/* "$churn" 2>/dev/null || :
}
trap end_soak EXIT

declare -A done_so_far=()
count() {
	done_so_far[$1]=$((${done_so_far[$1]:-0} + 1))
}

rules() {
	settings '[rule turning]' 'cgroup = /system.slice/turn.service' 'metric = p50' "above = $1" 'window = 4s' \
		'for = 2s' 'min-samples = 40' '[rule all]' 'cgroup = /**' 'metric = share:remote_dram' \
		'above = 90%' 'window = 4s' 'for = 2s' 'min-samples = 40' 'dry-run = yes'
}

# churn_cgroups: makes ten cgroups, reads memory for a moment in a task of each, and removes them.
churn_cgroups() {
	local i
	for ((i = 0; i < 10; i++)); do
		mkdir "$churn/c$round-$i"
		(echo "$BASHPID" >"$churn/c$round-$i/cgroup.procs" && exec "$here/workload" mix --for 1) &
	done
	wait
	for ((i = 0; i < 10; i++)); do
		until rmdir "$churn/c$round-$i" 2>/dev/null; do sleep 0.1; done
		count cgroups
	done
}

is_again() {
	is_active && [ "${unit[MainPID]}" != "$pid" ]
}

answers() {
	pebsctl status >/dev/null 2>&1
}

# take_figures: writes a line with the present values: the second, the anonymous memory of the main process and its
# children in kB, the descriptors of the main process, and the number of these processes. The last value is memory
# in kB that is kept on purpose, within separate bounds: the trends of an hour, eight zooms, names of addresses.
# test_trend, test_zooms and test_symbols test those bounds.
take_figures() {
	local process memory=0 of descriptors processes=0 kept
	kept=$(pebsctl --json status | jq '(.memory.trend + .detail.zoom_bytes + .detail.symbols.own_bytes) / 1024 | floor') ||
		fail 'pebsctl status does not tell what memory is for'
	for process in "$pid" $(cat "/proc/$pid/task/$pid/children"); do
		of=$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$process/status" 2>/dev/null) || continue
		memory=$((memory + ${of:-0}))
		processes=$((processes + 1))
	done
	descriptors=$(find "/proc/$pid/fd" -mindepth 1 2>/dev/null | wc -l)
	echo "$SECONDS $memory $descriptors $processes $kept"
}

# The comparison at the end leaves out cgroups that no longer have a name, and the events of zooms. It compares the
# sums, and the three services.
play
# The unit's restart limit is meant for a service that fails, not for one that is killed on purpose.
mkdir -p "${drop_in%/*}"
printf '%s\n' '[Unit]' 'StartLimitIntervalSec=0' '[Service]' 'RestartSec=100ms' >"$drop_in"
systemctl daemon-reload
mkdir -p "$churn"
rules 32
load pointer-chase chase.service -- --threads 2 --rest 5
load mix mix.service -- --rest 5
load streaming turn.service -- --rest 10
start_pebsd
more 'at the beginning'
scrape
cp "$work/metrics" "$work/first"

begin=$SECONDS
round=0
look
pid=${unit[MainPID]}
: >"$work/figures"
while [ $((SECONDS - begin)) -lt "$seconds" ]; do
	round=$((round + 1))
	churn_cgroups
	scrape
	curl --silent --fail --header 'Accept: application/openmetrics-text' --header 'Accept-Encoding: gzip' "$endpoint" \
		>/dev/null || fail 'a scrape as OpenMetrics failed'
	count scrapes
	for verb in status top 'show /system.slice/chase.service' rules alerts 'neighbours /system.slice/chase.service'; do
		# shellcheck disable=SC2086 # words
		pebsctl $verb >/dev/null || fail "pebsctl $verb: $?"
		count questions
	done
	# The p50 is above the first value and below the second: the rule fires and resolves.
	rules $((round % 2 == 0 ? 32 : 20000))
	systemctl reload pebsd.service
	count reloads
	case $((round % 3)) in
	0)
		pebsctl zoom /system.slice/chase.service --for 2s >/dev/null || fail "zoom: $?"
		count zooms
		;;
	1)
		pebsctl pause --for 1s >/dev/null
		count pauses
		;;
	2)
		echo 0 >"$online"
		sleep 1
		echo 1 >"$online"
		count hotplugs
		;;
	esac
	# In the first third only, because restarts could hide a leak.
	if [ $((SECONDS - begin)) -lt $((seconds / 3)) ]; then
		if [ $((round % 2)) = 1 ]; then
			systemctl restart pebsd.service
			count restarts
		else
			kill -KILL "$pid"
			count kills
		fi
		wait_until 'pebsd is there again' 60 is_again
		wait_until 'pebsd answers' 60 answers
		pid=${unit[MainPID]}
		: >"$work/figures"
		lives_since=$SECONDS
	fi
	take_figures >>"$work/figures"
done
[ "${done_so_far[restarts]:-0}" -gt 0 ] || fail 'the time was too short for a restart'

look
expect 'the process that ran since the first third' "$pid" "${unit[MainPID]}"
wait_until 'nothing is paused' 60 sh -c '! pebsctl --json status | grep -q "\"paused\": *{"'
more 'at the end'
settle

# Sums over all cgroups, including removed ones, and the samples of the three services.
pebsctl --json top --window all >"$work/top"
status >"$work/status"
take_books
note_cgroups
jq -r --null-input --arg code "$(code_of mem-loads)" --slurpfile books "$work/books" --slurpfile totals "$work/totals" \
	--slurpfile status "$work/status" --slurpfile top "$work/top" '
	def differ(what; due; found): if due == found then empty else "\(what): \(due) by the books, \(found) by pebsd" end;
	[$books[] | select(.event == $code)] as $mine
	| ([$mine[] | .samples] | add) as $delivered | ([$mine[] | .guarded] | add) as $guarded
	| ([$totals[].events[$code].cut // 0] | add) as $cut
	| $status[0].samples as $samples
	| differ("seen"; $delivered - $guarded; $samples.seen),
		differ("lost"; $guarded + $cut; $samples.lost.unexplained),
		differ("in the table"; $samples.seen;
			$samples.unattributed + ([$top[0].cgroups[].events.loads.samples // 0] | add)),
		($top[0].cgroups[] | select(.cgroup | IN("/system.slice/chase.service", "/system.slice/mix.service",
			"/system.slice/turn.service"))
		| . as $one
		| differ($one.cgroup; [$mine[] | select(.cgroup == $one.id) | .samples - .guarded] | add;
			$one.events.loads.samples)),
		"figures: delivered \($delivered), seen \($samples.seen), guarded \($guarded), cut \($cut), lost \($samples.lost.unexplained)"' \
	>"$work/said"
figures "$seconds s: $(for what in "${!done_so_far[@]}"; do printf '%s %s, ' "${done_so_far[$what]}" "$what"; done)" \
	"$(grep '^figures' "$work/said")"
! grep -v '^figures' "$work/said" || fail 'pebsd and the books differ'

# Counters must never decrease, over any restart.
scrape
cp "$work/metrics" "$work/last"
awk '
	/^#/ { kind = $2 == "TYPE" ? $4 : kind; next }
	kind == "counter" || kind == "histogram" {
		value = $NF
		name = substr($0, 1, length($0) - length($NF) - 1)
		if (FNR == NR) first[name] = value
		else if (name in first && value + 0 < first[name] + 0) print name ": " first[name] " fell to " value
	}' "$work/first" "$work/last" >"$work/fell"
[ ! -s "$work/fell" ] || fail "counters fell: $(head -n 5 "$work/fell")"

# Medians of the first and the last third of the readings of the last process, once names no longer increase. In a
# short run the first third of the readings does not count, because not everything has been used once by then.
awk -v since="${lives_since:-$begin}" -v named=$KEPT_SECONDS '
	{ at[NR] = $1; memory[NR] = $2 - $5; descriptors[NR] = $3; processes[NR] = $4; kept[NR] = $5 }
	function median(values, from, to,    n, i, j, one, sorted) {
		n = 0
		for (i = from; i <= to; i++) {
			one = values[i]
			for (j = n++; j > 0 && sorted[j - 1] > one; j--) sorted[j] = sorted[j - 1]
			sorted[j] = one
		}
		return sorted[int(n / 2)]
	}
	END {
		from = int(NR / 3) + 1
		if (at[NR] - since > 2 * named) for (from = 1; at[from] < since + named;) from++
		n = NR - from + 1
		third = int(n / 3)
		if (third < 1) { print "too few"; exit }
		print median(memory, from, from + third), median(memory, NR - third, NR), median(descriptors, from, from + third),
			median(descriptors, NR - third, NR), median(processes, from, from + third),
			median(processes, NR - third, NR), median(kept, from, from + third), median(kept, NR - third, NR),
			at[from] - since, n
	}' "$work/figures" >"$work/medians"
read -r memory memory_last descriptors descriptors_last processes processes_last kept kept_last from \
	n <"$work/medians"
[ "$memory" != too ] || fail "too few readings of memory: $(wc -l <"$work/figures")"
figures "memory $memory and $memory_last kB, with $kept and $kept_last kB of trends, zooms and names left out," \
	"descriptors $descriptors and $descriptors_last, processes $processes and $processes_last, from second $from of the process on, $n readings"
# A tolerance of an eighth: the memory that malloc(3) keeps varies that much from minute to minute. In a short run
# the number of names still grows, and perhaps that of connections to the opener and to the symbolizer.
allowed=$((memory + memory / 8))
more=2
if [ "$seconds" -le $((4 * KEPT_SECONDS)) ]; then
	allowed=$((allowed + 1024))
	more=8
fi
[ "$memory_last" -le "$allowed" ] || fail "memory grew: $(cut -d ' ' -f 1,2,5 "$work/figures" | tr '\n' ';')"
# A scrape or a request that is under way may hold descriptors.
[ "$descriptors_last" -le $((descriptors + more)) ] || fail 'descriptors grew'
[ "$processes_last" -le $((processes + 1)) ] || fail 'processes grew'

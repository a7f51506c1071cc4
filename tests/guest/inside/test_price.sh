#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The cost of a sample, in instructions from the entry of the NMI to its exit, including the kernel's driver and
# pebsd's program. Two runs give the same numbers, so sample_price.txt is a budget: a change that makes a sample
# more expensive fails here. So does one that makes it much cheaper, until the file has the lower cost.
# kernels: 6.12 6.1 7
# machines: skylake-server
# init: small
# takes: 100 s
# time limit: 2000 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

SAMPLES=200
wrong=''

series=$(uname -r)
series=${series%%-*}
case $series in 6.*) series=$(cut -d . -f 1,2 <<<"$series") ;; *) series=${series%%.*} ;; esac

has_programs() {
	[ "$(pmu price | jq -s 'map(.programs) | add')" -ge $SAMPLES ]
}

# within COST BUDGET PERCENT: true if the cost is at most PERCENT above its budget, and at most PERCENT + 3 below
# it.
within() {
	[ $(($1 * 100)) -le $(($2 * (100 + $3))) ] && [ $(($1 * 100)) -ge $(($2 * (97 - $3))) ]
}

# price NAME PERIOD SETTING...: measures events with these settings.
price() {
	local what=$1 period=$2 nmi driver program more=2
	local -a budgets
	shift 2
	play
	stop_counting
	settings '[sampling]' 'budget = off' "period = $period" 'instructions-period = 400009' "$@"
	start_pebsd
	load mix mixed
	count_again
	wait_until "$SAMPLES samples of $what" 500 has_programs
	stop_counting
	pkill -KILL -f "^$here/workload " || :
	read -r nmi driver program < <(pmu price | jq -r -s '
		(map(.programs) | add) as $programs | (map(.nmis) | add) as $nmis
		| "\((map(.nmi_instructions) | add) / $nmis | round) \((map(.driver_instructions) | add) / $nmis | round) \(
			(map(.program_instructions) | add) / $programs | round)"')
	say "measured: $what on $series: $nmi instructions an NMI, $driver of them the driver, $program the program"
	read -r -a budgets < <(awk -v kernel="$series" -v what="$what" '$1 == kernel && $2 == what { print $3, $4, $5 }' \
		"$here/sample_price.txt") || :
	# A small tolerance in percent, because the kernel's own part changes with its updates. The cost of hot
	# tables depends on the code and lines that are hot. Without PEBS the program takes few instructions, of
	# which those that look up the cgroup differ.
	case $what in hot) more=10 ;; cycles | stalls | misses) more=5 ;; esac
	if ! within "$program" "${budgets[2]:-0}" $more || ! within "$nmi" "${budgets[0]:-0}" 5 ||
		! within "$driver" "${budgets[1]:-0}" 5; then
		wrong="$wrong
a sample of $what takes $nmi instructions, $driver of the driver and $program of the program; sample_price.txt has \
${budgets[*]:-nothing}, and would have:
$series $what $nmi $driver $program"
	fi
}

price loads 1009 'events = loads'
price stores 1009 'events = stores'
price instructions 20011 'events = instructions'
price cycles 1009 'events = cycles' 'cycles-period = 50021'
price stalls 1009 'events = stalls' 'stalls-period = 50021'
price misses 1009 'events = misses' 'misses-period = 503'
price hot 1009 'events = loads' '[cgroups]' 'hot = /mixed'
[ -z "$wrong" ] || fail "$wrong"

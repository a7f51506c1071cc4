# SPDX-License-Identifier: GPL-2.0
# fish completion of pebsctl: verbs, options, and the cgroups and rules that the daemon has now.

set -l verbs status top show zoom hot profile rules alerts explain neighbours watch pause resume reload

function __pebsctl_values
    pebsctl --json $argv[1] 2>/dev/null | string match --all --regex --groups-only $argv[2]
end

function __pebsctl_cgroups
    __pebsctl_values top '"cgroup": *"([^"\\\\]*)"'
end

function __pebsctl_rules
    __pebsctl_values rules '"(?:rule|name)": *"([^"\\\\]*)"'
end

complete -c pebsctl -f
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a status -d 'Origin, events, periods, cost, losses, memory'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a top -d 'Cgroups by the latency of their sampled accesses'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a show -d 'One cgroup: latency, sources, snoop, TLB, histogram'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a zoom -d 'Look closer now'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a hot -d 'The code and cache lines that cost most'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a profile -d 'A zoom for other tools'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a rules -d 'The rules in force'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a alerts -d 'What fires, and what did in the last hour'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a explain -d 'Why a rule fires there or does not'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a neighbours -d 'Whose traffic rose when its latency did'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a watch -d 'A line for each thing that happens'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a pause -d 'Free every counter for another tool'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a resume -d 'Sample again'
complete -c pebsctl -n "not __fish_seen_subcommand_from $verbs" -a reload -d 'Have the configuration read again (root)'
complete -c pebsctl -n '__fish_seen_subcommand_from show zoom hot profile neighbours' -a '(__pebsctl_cgroups)' -d Cgroup
complete -c pebsctl -n '__fish_seen_subcommand_from explain' -a '(__pebsctl_rules)' -d Rule
complete -c pebsctl -n '__fish_seen_subcommand_from explain' -a '(__pebsctl_cgroups)' -d Cgroup

complete -c pebsctl -l socket -r -F -d 'The control socket of the daemon'
complete -c pebsctl -l json -d 'Complete and stable, for programs'
complete -c pebsctl -s h -l help -d 'A summary'
complete -c pebsctl -l version -d 'The version of pebsctl'
complete -c pebsctl -n '__fish_seen_subcommand_from top zoom hot' -s n -l limit -x -d 'At most so many'
complete -c pebsctl -n '__fish_seen_subcommand_from top' -l sort -x -d Order \
    -a 'latency samples mean p99 share:l1 share:lfb share:l2 share:l3 share:local_cache share:remote_cache share:local_dram share:remote_dram share:pmem share:cxl share:io share:uncached share:unknown share:hitm'
complete -c pebsctl -n '__fish_seen_subcommand_from top show' -l window -x -a '1s 10s 30s 1m 5m all' -d 'The last so long'
complete -c pebsctl -n '__fish_seen_subcommand_from zoom hot profile pause' -l for -x -a '10s 30s 1m 10m 1h' -d 'For so long'
complete -c pebsctl -n '__fish_seen_subcommand_from zoom profile' -l rate -x -d 'At most so many samples a second'
complete -c pebsctl -n '__fish_seen_subcommand_from zoom' -l no-wait -d 'Do not wait for the end'
complete -c pebsctl -n '__fish_seen_subcommand_from zoom profile' -l last -d 'Of the last zoom'
complete -c pebsctl -n '__fish_seen_subcommand_from zoom' -l stop -d 'End the one that runs'
complete -c pebsctl -n '__fish_seen_subcommand_from profile' -s o -l output -r -F -d 'Where it goes'
complete -c pebsctl -n '__fish_seen_subcommand_from profile' -l folded -d 'Folded stacks, for flame graphs'
complete -c pebsctl -n '__fish_seen_subcommand_from profile' -l latency -d 'With --folded: cycles, not samples'
complete -c pebsctl -n '__fish_seen_subcommand_from profile' -l perf-data -d 'For perf (root)'

# SPDX-License-Identifier: GPL-2.0
# fish completion of pebsctl: verbs, options and their values, and the cgroups and rules that the daemon has now.

# Asks the daemon, through the socket that the command line names.
function __pebsctl_ask
    set -l line (commandline --tokenize --current-process --cut-at-cursor)
    set -l socket
    if set -l at (contains --index -- --socket $line)
        set socket --socket $line[(math $at + 1)]
    end
    command pebsctl $socket --json $argv[1] 2>/dev/null | string match --all --regex --groups-only "\"$argv[2]\": *\"([^\"\\\\]*)\""
end

# True if the verb is one of these.
function __pebsctl_verb
    __fish_seen_subcommand_from $argv
end

# True if the verb has this number of arguments, not counting options and their values. -1: there is no verb yet.
function __pebsctl_arguments
    set -l line (commandline --tokenize --current-process --cut-at-cursor)
    set -l count -1
    set -l value no
    for word in $line[2..]
        if test $value = yes
            set value no
            continue
        end
        switch $word
            case --socket --limit --sort --filter --depth --window --for --rate --output -n -o
                set value yes
            case '-*'
            case '*'
                set count (math $count + 1)
        end
    end
    test $count = $argv[1]
end

complete -c pebsctl -f
complete -c pebsctl -n '__pebsctl_arguments -1' -a status -d 'Origin, events, periods, cost, losses, memory'
complete -c pebsctl -n '__pebsctl_arguments -1' -a top -d 'Cgroups by latency of sampled accesses'
complete -c pebsctl -n '__pebsctl_arguments -1' -a show -d 'One cgroup: latency, sources, snoop, TLB, histogram'
complete -c pebsctl -n '__pebsctl_arguments -1' -a zoom -d 'Look closer now: functions, data, contended lines, nodes'
complete -c pebsctl -n '__pebsctl_arguments -1' -a hot -d 'The code and cache lines that cost most'
complete -c pebsctl -n '__pebsctl_arguments -1' -a profile -d 'Write a zoom to a file: pprof, folded or perf.data'
complete -c pebsctl -n '__pebsctl_arguments -1' -a rules -d 'The rules in force'
complete -c pebsctl -n '__pebsctl_arguments -1' -a alerts -d 'Firing and pending alerts, and those of the last hour'
complete -c pebsctl -n '__pebsctl_arguments -1' -a explain -d 'Why a rule fires or does not'
complete -c pebsctl -n '__pebsctl_arguments -1' -a neighbours -d 'The cgroups whose traffic rose when its latency did'
complete -c pebsctl -n '__pebsctl_arguments -1' -a watch -d 'Print alerts, cgroups born or gone, losses and more, live'
complete -c pebsctl -n '__pebsctl_arguments -1' -a pause -d 'Free all counters for other tools'
complete -c pebsctl -n '__pebsctl_arguments -1' -a resume -d 'Sample again'
complete -c pebsctl -n '__pebsctl_arguments -1' -a reload -d 'Make pebsd read its configuration again (needs root)'
complete -c pebsctl -n '__pebsctl_verb show zoom hot profile neighbours; and __pebsctl_arguments 0' -a '(__pebsctl_ask top cgroup)' -d Cgroup
complete -c pebsctl -n '__pebsctl_verb explain; and __pebsctl_arguments 0' -a '(__pebsctl_ask rules rule)' -d Rule
complete -c pebsctl -n '__pebsctl_verb explain; and __pebsctl_arguments 1' -a '(__pebsctl_ask top cgroup)' -d Cgroup

complete -c pebsctl -l socket -r -F -d 'Control socket of the daemon'
complete -c pebsctl -l json -d 'Print JSON'
complete -c pebsctl -s h -l help -d 'Print the help'
complete -c pebsctl -l version -d 'Print the version'
complete -c pebsctl -n '__pebsctl_verb top zoom hot' -s n -l limit -x -d 'Maximum number of rows'
complete -c pebsctl -n '__pebsctl_verb top' -l sort -x -d Order \
    -a 'latency samples mean p99 share:{l1,lfb,l2,l2_mhb,l3,l4,msc,local_cache,remote_cache,local_dram,remote_dram,pmem,cxl,io,uncached,unknown,hitm}'
complete -c pebsctl -n '__pebsctl_verb top' -l filter -x -d 'Names that contain this'
complete -c pebsctl -n '__pebsctl_verb top' -l depth -x -a '1 2 3 4' -d 'Subtree sums, to this level below the root'
complete -c pebsctl -n '__pebsctl_verb top show' -l window -x -a '1s 10s 30s 1m 5m all' -d 'Cover this time until now'
complete -c pebsctl -n '__pebsctl_verb zoom hot profile pause' -l for -x -a '10s 30s 1m 10m 1h' -d 'How long'
complete -c pebsctl -n '__pebsctl_verb zoom profile' -l rate -x -d 'Maximum of samples a second'
complete -c pebsctl -n '__pebsctl_verb zoom' -l no-wait -d 'Do not wait for the end of the zoom'
complete -c pebsctl -n '__pebsctl_verb zoom profile' -l last -d 'Use the last zoom instead of a new one'
complete -c pebsctl -n '__pebsctl_verb zoom' -l stop -d 'End the running zoom'
complete -c pebsctl -n '__pebsctl_verb profile' -s o -l output -r -F -d 'Write to this file'
complete -c pebsctl -n '__pebsctl_verb profile' -l folded -d 'Write folded stacks, for flame graphs'
complete -c pebsctl -n '__pebsctl_verb profile' -l latency -d 'With --folded: weights are cycles, not samples'
complete -c pebsctl -n '__pebsctl_verb profile' -l perf-data -d 'Write perf.data, for perf (needs root)'

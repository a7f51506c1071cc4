# SPDX-License-Identifier: GPL-2.0
# fish completion of pebsctl: verbs, options and their values, and the present cgroups and rules of the daemon.

# Queries the daemon. If the line has --socket, uses that socket.
function __pebsctl_ask
    set -l line (commandline --tokenize --current-process --cut-at-cursor)
    set -l socket
    if set -l at (contains --index -- --socket $line)
        set socket --socket $line[(math $at + 1)]
    end
    command pebsctl $socket --json $argv[1] 2>/dev/null | string match --all --regex --groups-only "\"$argv[2]\": *\"([^\"\\\\]*)\""
end

# Prints the names of the cgroups; the paths if the current word is the start of one.
function __pebsctl_cgroups
    if string match --quiet --regex '^/|:' -- (commandline --current-token)
        __pebsctl_ask top cgroup
    else
        __pebsctl_ask top name
    end
end

# True if the verb is one of the arguments.
function __pebsctl_verb
    __fish_seen_subcommand_from $argv
end

# True if this number of arguments follow the verb, without options and their values. -1: there is no verb yet.
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
            case --socket --limit --sort --filter --depth --window --at --since --until --with --for --rate --color --output -n -o
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
complete -c pebsctl -n '__pebsctl_arguments -1' -a top -d 'Cgroups by the latency of their sampled accesses'
complete -c pebsctl -n '__pebsctl_arguments -1' -a show -d 'One cgroup: latency, sources, snoop, TLB, histogram'
complete -c pebsctl -n '__pebsctl_arguments -1' -a compare -d 'Two times or two cgroups: what differs, and whether it is proven'
complete -c pebsctl -n '__pebsctl_arguments -1' -a zoom -d 'Look closer now: functions, data, contended cache lines'
complete -c pebsctl -n '__pebsctl_arguments -1' -a hot -d 'The code and cache lines that cost most'
complete -c pebsctl -n '__pebsctl_arguments -1' -a profile -d 'Write a zoom as a file for other tools'
complete -c pebsctl -n '__pebsctl_arguments -1' -a rules -d 'The rules in force'
complete -c pebsctl -n '__pebsctl_arguments -1' -a alerts -d 'Alerts that fire, are pending, or ended in the last hour'
complete -c pebsctl -n '__pebsctl_arguments -1' -a explain -d 'Why a rule fires on a cgroup, or why not'
complete -c pebsctl -n '__pebsctl_arguments -1' -a neighbours -d 'Cgroups whose traffic rose with its latency'
complete -c pebsctl -n '__pebsctl_arguments -1' -a watch -d 'Print a line for each event'
complete -c pebsctl -n '__pebsctl_arguments -1' -a pause -d 'Free all counters for other tools'
complete -c pebsctl -n '__pebsctl_arguments -1' -a resume -d 'Sample again'
complete -c pebsctl -n '__pebsctl_arguments -1' -a reload -d 'Read the configuration again (needs root)'
complete -c pebsctl -n '__pebsctl_verb show compare zoom hot profile neighbours; and __pebsctl_arguments 0' -a '(__pebsctl_cgroups)' -d Cgroup
complete -c pebsctl -n '__pebsctl_verb compare; and __pebsctl_arguments 1' -a '(__pebsctl_cgroups)' -d Cgroup
complete -c pebsctl -n '__pebsctl_verb explain; and __pebsctl_arguments 0' -a '(__pebsctl_ask rules rule)' -d Rule
complete -c pebsctl -n '__pebsctl_verb explain; and __pebsctl_arguments 1' -a '(__pebsctl_cgroups)' -d Cgroup

complete -c pebsctl -l socket -r -F -d 'Control socket of the daemon'
complete -c pebsctl -l json -d 'Print JSON, complete and stable'
complete -c pebsctl -s l -l full -d 'Print paths of cgroups instead of names'
complete -c pebsctl -l utc -d 'Print times in UTC'
complete -c pebsctl -l color -x -a 'auto always never' -d 'Use colours'
complete -c pebsctl -s h -l help -d 'Print a summary'
complete -c pebsctl -l version -d 'Print the version of pebsctl'
complete -c pebsctl -n '__pebsctl_verb top zoom hot' -s n -l limit -x -d 'Maximum number of rows'
complete -c pebsctl -n '__pebsctl_verb top' -l sort -x -d Order \
    -a 'latency samples mean p99 wait cores-lost cpi misses traffic share:{l1,lfb,l2,l2_mhb,l3,l4,msc,local_cache,remote_cache,local_dram,remote_dram,pmem,cxl,io,uncached,unknown,hitm}'
complete -c pebsctl -n '__pebsctl_verb top' -l filter -x -d 'Only cgroups whose name contains this'
complete -c pebsctl -n '__pebsctl_verb top' -l depth -x -a '1 2 3 4' -d 'Sums of subtrees, down to this depth'
complete -c pebsctl -n '__pebsctl_verb top show compare' -l window -x -a '1s 10s 30s 1m 5m all' -d 'Only samples of the last DURATION'
complete -c pebsctl -n '__pebsctl_verb status top show compare alerts explain neighbours' -l at -x -a 'now 03:12 -10min -1h -2h' -d 'As it was at TIME'
complete -c pebsctl -n '__pebsctl_verb status top show compare alerts explain neighbours' -l since -x -a '-10min -1h -2h' -d 'As it was from TIME on'
complete -c pebsctl -n '__pebsctl_verb status top show compare alerts explain neighbours' -l until -x -a 'now -10min -1h' -d 'As it was until TIME'
complete -c pebsctl -n '__pebsctl_verb compare' -l with -x -a '-1d -1w' -d 'Compare with the time from TIME on'
complete -c pebsctl -n '__pebsctl_verb zoom hot profile pause' -l for -x -a '10s 30s 1m 10m 1h' -d Duration
complete -c pebsctl -n '__pebsctl_verb zoom profile' -l rate -x -d 'Maximum number of samples a second'
complete -c pebsctl -n '__pebsctl_verb zoom' -l no-wait -d 'Do not wait for the end'
complete -c pebsctl -n '__pebsctl_verb zoom profile' -l last -d 'Use the last zoom'
complete -c pebsctl -n '__pebsctl_verb zoom' -l stop -d 'End the running zoom'
complete -c pebsctl -n '__pebsctl_verb profile' -s o -l output -r -F -d 'Output file'
complete -c pebsctl -n '__pebsctl_verb profile' -l folded -d 'Folded stacks, for flame graphs'
complete -c pebsctl -n '__pebsctl_verb profile' -l latency -d 'With --folded: cycles instead of samples'
complete -c pebsctl -n '__pebsctl_verb profile' -l perf-data -d 'A perf.data file (needs root)'

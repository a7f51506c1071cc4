# SPDX-License-Identifier: GPL-2.0
# fish completion of pebsd.

complete -c pebsd -f
complete -c pebsd -l config -r -F -d 'Read this instead of /etc/pebsd'
complete -c pebsd -l origin -x -a 'auto perf replay model' -d 'Where samples come from'
complete -c pebsd -l replay -r -F -d 'A recording'
complete -c pebsd -l once -d 'Print the result and exit'
complete -c pebsd -l for -x -a '10s 30s 1m 3m' -d 'Duration of --once or --test-rules'
complete -c pebsd -l json -d 'Print JSON'
complete -c pebsd -l full -d 'Print the paths of cgroups instead of their names'
complete -c pebsd -l socket -r -F -d 'Control socket'
complete -c pebsd -l listen -x -a '127.0.0.1:9754 unix: none' -d 'Where /metrics is served'
complete -c pebsd -l probe -d 'List the events that this machine can sample'
complete -c pebsd -l sysfs-root -x -a '(__fish_complete_directories)' -d 'Read this instead of /sys'
complete -c pebsd -l check-config -d 'List the mistakes in the configuration'
complete -c pebsd -l test-rules -d 'Show which rules would have fired'
complete -c pebsd -l compare -d 'Show what differs between two recordings'
complete -c pebsd -l version -d 'Print the version'
complete -c pebsd -l help -d 'Print a summary'

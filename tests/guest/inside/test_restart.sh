#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# systemctl reload, restart and stop of a pebsd under load, with nothing saved for the next process (test_inherit.sh
# tests a pebsd that keeps its state). A reload must lose nothing, and neither must a refused one. At an orderly
# end the journal must account for at least the samples of the last reading, and for no more than were delivered.
# After a restart, the counters of the new process must be exact.
# kernels: 7 6.12
# takes: 58 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

play
# shellcheck disable=SC2119 # no further lines
adapt_unit
load pointer-chase chase.service
load mix mix.service
before=$(programs)
start_pebsd
[ "$(programs)" != "$before" ] || fail 'the BPF programs of pebsd are not to be found'
look
pid=${unit[MainPID]}
more 'before the reload'

# Loads a valid configuration under load.
settings '[export]' 'top = 7'
exits 'systemctl reload' 0 systemctl reload pebsd.service
look
expect 'the unit after a reload' "active/running/$pid" "${unit[ActiveState]}/${unit[SubState]}/${unit[MainPID]}"
[[ ${unit[StatusText]} == 'Origin perf: '* ]] || fail "the status after a reload: ${unit[StatusText]}"

# A configuration with a mistake is refused and the old one stays in force. The caller of the reload gets the reason.
settings '[export]' 'top = 9' 'listen = nowhere'
exits 'systemctl reload of a mistake' 1 systemctl reload pebsd.service
look
expect 'the unit after a refusal' "active/running/$pid" "${unit[ActiveState]}/${unit[SubState]}/${unit[MainPID]}"
expect_told 'applied: top' '/etc/pebsd/pebsd.conf.d/guest.conf:3:' 'the old one stays in force'
scrape
expect 'pebsd_config_last_reload_successful' 0.000000 "$(metric pebsd_config_last_reload_successful)"
rm /etc/pebsd/pebsd.conf.d/guest.conf
more 'after the reloads'
exact 'over two reloads'
resume

more 'before the restart'
read_last=$(counted)
systemctl restart pebsd.service
look
[ "${unit[MainPID]}" != "$pid" ] || fail 'a restart leaves the same process'
expect 'how the one before ended, and restarts that systemd counts' success/0 "$(<"$openings/result")/${unit[NRestarts]}"
all=$(delivered_before)
words=$(last_words)
# The events end with the process, just after the last collection, so some samples may be missing in the journal.
if [ "$words" -lt "$read_last" ] || [ "$words" -gt "$all" ]; then
	fail "samples of the one before: $all by the books, $words by its last words, $read_last when it was last read"
fi
figures "restart: $(readiness) ms from its start to READY, not sampled for $(absence) ms;" \
	"of $all samples $((all - read_last)) came after the last reading, $((words - read_last)) of them in the journal"
more 'after the restart'
exact 'after a restart'

# When pebsd is stopped, it must leave nothing behind.
systemctl stop pebsd.service
look
expect 'how it ended' inactive/success/0 "${unit[ActiveState]}/${unit[Result]}/${unit[ExecMainStatus]}"
# Only the state of alerts stays, because the next start has to know it.
left=$(find /run/pebsd -mindepth 1 ! -path /run/pebsd/alerts ! -path '/run/pebsd/alerts/*')
[ -z "$left" ] || fail "left behind: $left"
exits 'pebsctl without a daemon' 3 pebsctl status
wait_until 'BPF programs are gone' 30 programs_are "$before"
expect 'what is pinned' '' "$(find /sys/fs/bpf -mindepth 1)"
expect "events of pebsd's that systemd holds" '' "$(find /proc/1/fd -lname 'anon_inode:\[perf_event\]')"

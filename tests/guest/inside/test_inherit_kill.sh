#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Like test_inherit.sh: no sample may be lost if a pebsd under load is killed repeatedly or misses its watchdog.
# kernels: 6.12
# time limit: 600 s
# takes: 91 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"
# shellcheck source=tests/guest/inside/inherit.sh
. "${0%/*}/inherit.sh"

start_under_load
for ((i = 1; i <= times; i++)); do
	remember
	kill -KILL "$pid"
	returned "kill $i"
done
remember
kill -STOP "$pid"
returned 'the watchdog'
expect_told 'Watchdog timeout'
exact "over $times kills and the watchdog"
report_inherited "$times kills and a watchdog timeout"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs one fuzzer for some seconds. A corpus grows beside the program; tests/fuzz/seeds/NAME/ starts it.
#   fuzz.sh PROGRAM SECONDS
set -eu

program=$1 seconds=$2
name=$(basename "$program")
corpus=$(dirname "$program")/corpus/$name
seeds=tests/fuzz/seeds/$name
mkdir -p "$corpus"
set -- "$corpus"
[ ! -d "$seeds" ] || set -- "$@" "$seeds"
# What makes it fail is kept beside the corpus and named in the output.
exec "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
	-artifact_prefix="$corpus-" "$@"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs one fuzzer for some seconds. It extends a corpus next to the program, starting from tests/fuzz/seeds/NAME/.
#   fuzz.sh [-s] PROGRAM SECONDS
#   fuzz.sh -m PROGRAM DIRECTORY
# -s: writes the fuzzer's output next to the corpus and prints one line with the result. -m: copies the useful inputs of
# the corpus that are not seeds to DIRECTORY/NAME.
set -eu

summary='' minimize=''
while getopts sm option; do
	case $option in
	s) summary=yes ;;
	m) minimize=yes ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))

program=$1
name=$(basename "$program")
corpus=$(dirname "$program")/corpus/$name
seeds=tests/fuzz/seeds/$name
mkdir -p "$corpus"
with_seeds=()
[ ! -d "$seeds" ] || with_seeds=("$seeds")

if [ -n "$minimize" ]; then
	rm -rf "${2:?}/$name"
	mkdir -p "$2/$name"
	[ ${#with_seeds[@]} = 0 ] || cp "$seeds"/* "$2/$name"
	"$program" -merge=1 -timeout=10 -rss_limit_mb=1024 "$2/$name" "$corpus" >"$corpus.merge.log" 2>&1 || {
		tail -n 20 "$corpus.merge.log"
		exit 1
	}
	for seed in ${with_seeds[@]+"$seeds"/*}; do
		rm -f "$2/$name/$(basename "$seed")"
	done
	echo "$name: $(find "$2/$name" -type f | wc -l) inputs beyond the seeds in $2/$name"
	exit 0
fi

# Inputs that make the fuzzer fail are kept next to the corpus and named in the output.
command=("$program" -max_total_time="$2" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1
	-artifact_prefix="$corpus-" "$corpus" ${with_seeds[@]+"${with_seeds[@]}"})
[ -n "$summary" ] || exec "${command[@]}"

status=0
"${command[@]}" >"$corpus.log" 2>&1 || status=$?
figures=$(sed -n 's/^#[0-9]*[[:space:]].*cov: \([0-9]*\) ft: \([0-9]*\) corp: \([0-9]*\).*/\1 edges, \2 features, \3 inputs/p' \
	"$corpus.log" | tail -n 1)
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log")
echo "$name: ${runs:-?} executions, ${figures:-no coverage}, $([ "$status" = 0 ] && echo 'no finding' || echo FINDING)"
[ "$status" = 0 ] || tail -n 40 "$corpus.log"
exit "$status"

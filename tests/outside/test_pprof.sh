#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Go's own pprof must read the profiles that pebsd writes, with the same totals. $TOOLS/example_profile writes such
# a profile and prints its totals.
set -u
fail() {
	printf '%s\n' "$*" >&2
	exit 1
}
command -v go >/dev/null || {
	echo 'skipped: go is not here (Debian: golang-go)'
	exit 77
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work PPROF_TMPDIR=$work GOTOOLCHAIN=local
"$TOOLS/example_profile" "$work/profile.pb.gz" >"$work/said" || fail 'no profile was written'
samples=$(sed -n 's/^samples //p' "$work/said")
latency=$(sed -n 's/^latency //p' "$work/said")
function=$(sed -n 's/^function //p' "$work/said")

# pprof WHAT ARGUMENTS...: writes its output to $work/WHAT
pprof() {
	local what=$1
	shift
	go tool pprof -symbolize=none "$@" "$work/profile.pb.gz" >"$work/$what" 2>"$work/$what.err" ||
		fail "pprof $*: $(cat "$work/$what.err")"
}
pprof raw -raw
pprof top -top -nodefraction=0 -nodecount=5
pprof samples -top -sample_index=samples -nodefraction=0 -nodecount=5
pprof traces -traces

# pprof shows the latency by default.
grep -q '^samples/count latency/cycles\[dflt\]$' "$work/raw" || fail "types: $(grep -m1 / "$work/raw")"
sums=$(awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
	on && /^ *[0-9]+ +[0-9]+: / { sub(":", "", $2); s += $1; l += $2 } END { printf "%d %d", s, l }' "$work/raw")
[ "$sums" = "$samples $latency" ] || fail "totals are $sums, not $samples $latency"
grep -q '^Type: latency$' "$work/top" || fail "not of latency: $(cat "$work/top")"
grep -q '^Type: samples$' "$work/samples" || fail "not of samples: $(cat "$work/samples")"
grep -q " of $samples total" "$work/samples" || fail "not of $samples: $(cat "$work/samples")"
hottest=$(sed -n '/flat%/ { n; s/^ *\([^ ]* *\)\{5\}//; s/ (inline)$//; p; q }' "$work/top")
[ "$hottest" = "$function" ] || fail "the hottest is $hottest, not $function"
grep -q 'load;row' "$work/traces" || fail 'traces without functions'
grep -q 'thread:\[\?example' "$work/raw" || fail "no label of threads: $(grep -m1 thread "$work/raw")"
grep -q 'source:\[\?l' "$work/raw" || fail 'no label of sources'

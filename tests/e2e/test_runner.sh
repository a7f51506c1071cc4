#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The test runner must count passes, failures, crashes, time-outs and skips correctly, and must not trust a program
# that reports fewer tests than it planned.
set -eu

runner=$PWD/tests/run.sh
time_limit=$PWD/tests/lib/time_limit.c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# expect STATUS LAST_LINE [PATTERN...] -- RUNNER_ARGUMENT...: the output must contain each pattern. A test has a
# minute unless the arguments say otherwise. A test that is to pass never has less, as this machine may be busy.
expect() {
	local status=0 want=$1 last=$2 output
	local -a patterns=()
	shift 2
	while [ "$1" != -- ]; do
		patterns+=("$1")
		shift
	done
	shift
	output=$("$runner" -o "$work/logs" -t 60 "$@") || status=$?
	for pattern in "${patterns[@]}"; do
		grep -q -- "$pattern" <<<"$output" || {
			printf 'no "%s" in the output of: %s\n%s\n' "$pattern" "$*" "$output"
			exit 1
		}
	done
	if [ "$status" != "$want" ] || [ "$(tail -n 1 <<<"$output")" != "$last" ]; then
		printf 'wanted status %s and "%s" of: %s\ngot status %s and:\n%s\n' "$want" "$last" "$*" "$status" \
			"$output"
		exit 1
	fi
}

script() {
	printf '#!/bin/sh\n%s\n' "$2" >"$1.sh"
	chmod +x "$1.sh"
}

script good 'exit 0'
script measuring 'echo some work; echo "measured: 7 MiB"'
script bad 'echo why it failed; exit 1'
script lacking 'echo starting; echo needs a PMU; exit 77'
script crash 'kill -SEGV $$'
script killed 'kill -KILL $$'
script slow 'sleep 60'
script deaf 'trap "" TERM; sleep 60 & wait; sleep 60'
script interrupted 'kill -INT $$; sleep 60'
script parent 'sleep 61 & echo $! >child; exit 0'

expect 0 '1 passed, 0 failed, 0 skipped' 'passed   good.sh' -- good.sh
expect 0 '1 passed, 0 failed, 0 skipped' '^ *7 MiB$' -- measuring.sh
expect 1 '1 passed, 1 failed, 0 skipped' '^why it failed$' 'failed: bad.sh: exit status 1' -- bad.sh good.sh
expect 0 '1 passed, 0 failed, 1 skipped' '^skipped: lacking.sh: needs a PMU$' -- good.sh lacking.sh
expect 1 '0 passed, 0 failed, 1 skipped' '^no test ran$' -- lacking.sh
expect 0 '0 passed, 0 failed, 1 skipped' '^no test ran$' -- -s lacking.sh
expect 1 '0 passed, 0 failed, 0 skipped' '^no test ran$' -- -s
expect 1 '0 passed, 0 failed, 0 skipped' '^no test ran$' --
expect 1 '0 passed, 2 failed, 0 skipped' 'crash.sh: exit status 139' 'killed.sh: exit status 137' -- crash.sh killed.sh
expect 1 '0 passed, 1 failed, 0 skipped' 'interrupted.sh: exit status 130' -- interrupted.sh
expect 1 '0 passed, 1 failed, 0 skipped' 'slow.sh: not done after 1 seconds' -- -t 1 slow.sh
expect 1 '0 passed, 1 failed, 0 skipped' 'absent.sh: exit status 127' -- absent.sh
expect 0 '1 passed, 0 failed, 0 skipped' -- parent.sh
for ((tries = 0; tries < 600; tries++)); do
	grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$(cat child)/status" || break
	sleep 0.1
done
[ "$tries" -lt 600 ] || {
	echo 'what a test started outlived it'
	exit 1
}
expect 1 '1 passed, 1 failed, 1 skipped' 'failed: exit 4: exit status 4' 'skipped: echo no clang; exit 77: no clang' \
	-- -c true 'exit 4' 'echo no clang; exit 77'

cat >report.sh <<'EOF'
echo '1..2'
echo 'ok - 6.1: first (2 s)'
echo 'ok - 6.1: second # SKIP no such thing'
echo 'not a line of a report'
echo '1..1'
echo 'not ok - 7: third'
echo '# the reason'
EOF
expect 1 '1 passed, 1 failed, 1 skipped' '^passed   6.1: first (2 s)$' '^skipped  6.1: second$' '^FAILED   7: third$' \
	'^         the reason$' '^skipped: 6.1: second: no such thing$' '^failed: 7: third$' -- -p 'sh report.sh'
expect 1 '1 passed, 1 failed, 0 skipped' 'exit status 0 after 1 of 2 tests' -- -p 'echo 1..2; echo ok - one'
expect 1 '0 passed, 1 failed, 0 skipped' '^why not$' 'exit status 0 after 0 of 0 tests' -- -p 'echo why not'
expect 1 '1 passed, 1 failed, 0 skipped' 'exit status 3, though no test of it failed' \
	-- -p 'echo 1..1; echo ok - one; exit 3'
expect 1 '1 passed, 1 failed, 0 skipped' 'not done after 30 seconds' -- -t 30 -p 'echo 1..1; echo ok - one; sleep 600'
# The runner prints each result as soon as the test reports it.
"$runner" -o logs -t 60 -p 'echo 1..2; echo ok - early; until [ -e seen ]; do sleep 0.1; done; echo ok - late' |
	while read -r line; do
		case $line in
		*early) : >seen ;;
		*', 0 failed, '*) echo "$line" >last ;;
		esac
	done
[ "$(cat last)" = '2 passed, 0 failed, 0 skipped' ] || {
	echo "a report that goes on after its first line was read ends with: $(cat last)"
	exit 1
}

# Two tests run at the same time: each waits for the other and counts once. Alone, each of them fails.
script one ': >one; until [ -e two ]; do sleep 0.1; done'
script two 'until [ -e one ]; do sleep 0.1; done; : >two'
for name in one two; do
	expect 1 '0 passed, 1 failed, 0 skipped' "$name.sh: not done after 1 seconds" -- -t 1 -j 1 $name.sh
	rm -f one two
done
expect 0 '2 passed, 0 failed, 0 skipped' '^passed   one.sh$' '^passed   two.sh$' -- -j 2 one.sh two.sh
expect 1 '3 passed, 2 failed, 1 skipped' '^why it failed$' 'failed: bad.sh: exit status 1' \
	'skipped: lacking.sh: needs a PMU' 'failed: absent.sh: exit status 127' \
	-- -j 2 good.sh bad.sh good.sh lacking.sh absent.sh good.sh
# shellcheck disable=SC2016 # the script's
script hangman 'kill -KILL "$(sed -n "s/^PPid:[[:space:]]*//p" "/proc/$PPID/status")"'
expect 1 '1 passed, 1 failed, 0 skipped' 'failed: hangman.sh: what ran it is gone' -- -j 2 good.sh hangman.sh
# A test that must run alone waits for those before it, and those after it wait for it. Each of these tests fails
# if it runs at the same time as another one. To find out, each test runs for the time in the file `patience`, in
# tenths of a second.
# shellcheck disable=SC2016 # the script's
script busy 'mkdir busy || { : >met; exit 1; }
n=$(cat patience)
until [ -e met ] || [ "$n" = 0 ]; do sleep 0.1; n=$((n - 1)); done
rmdir busy'
cp busy.sh lonely.sh
echo 300 >patience
expect 1 '1 passed, 1 failed, 0 skipped' -- -j 2 busy.sh lonely.sh
rm -rf busy met
echo 5 >patience
expect 0 '3 passed, 0 failed, 0 skipped' -- -j 2 -a absent.sh -a 'lone*' busy.sh lonely.sh busy.sh
# If the runner ends, all tests that run end, too.
script waits 'echo $$ >>waiting; sleep 60'
: >waiting
"$runner" -o logs -t 60 -j 2 waits.sh waits.sh &
until [ "$(wc -l <waiting)" = 2 ]; do
	sleep 0.1
done
kill $!
wait $! || :
# A killed process still needs some CPU time for its end.
goes_on() {
	grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"
}
while read -r pid; do
	for _ in {1..300}; do
		goes_on "$pid" || break
		sleep 0.1
	done
	! goes_on "$pid" || {
		echo 'a test goes on though its runner has ended'
		exit 1
	}
done <waiting

cat >criterion.c <<'EOF'
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(MIXED)
Test(mixed, good) { cr_assert(1); }
Test(mixed, bad) { cr_expect(0, "the reason"); }
Test(mixed, crash) { abort(); }
Test(mixed, leaves) { _exit(3); }
Test(mixed, lacking) { cr_skip_test("needs root"); }
#elif defined(SLOW)
Test(slow, slow) { sleep(60); }
#elif defined(GOOD)
Test(good, one) { cr_assert(1); }
Test(good, two) { cr_assert(1); }
#elif defined(HANGS)
static void __attribute__((constructor)) hang(void) { sleep(60); }
Test(hangs, one) { cr_assert(1); }
#endif
EOF
for variant in MIXED SLOW GOOD HANGS NONE; do
	"${CC:-cc}" -D$variant -o "$(tr "[:upper:]" "[:lower:]" <<<$variant)" criterion.c "$time_limit" -lcriterion
done
# Programs that report incompletely: one stops before its report, one reports fewer tests than it planned.
printf '#!/bin/sh\nexit 0\n' >silent
cat >short <<'EOF'
#!/bin/sh
for argument; do
	case $argument in
	--tap=*) printf '1..3\nok - a::one (0.00s)\n' >"${argument#--tap=}" ;;
	esac
done
EOF
chmod +x silent short

expect 0 '2 passed, 0 failed, 0 skipped' 'passed   good (2)' -- good
expect 1 '3 passed, 3 failed, 1 skipped' 'failed: mixed mixed::bad' 'skipped: mixed mixed::lacking: needs root' -- -j 2 mixed good
expect 1 '1 passed, 3 failed, 1 skipped' 'the reason' 'failed: mixed mixed::bad' 'failed: mixed mixed::crash' \
	'failed: mixed mixed::leaves' 'skipped: mixed mixed::lacking: needs root' -- mixed
# The time limit of a whole program is five times that of a test.
expect 1 '0 passed, 1 failed, 0 skipped' 'failed: slow slow::slow timed out' -- -t 5 slow
expect 1 '0 passed, 1 failed, 0 skipped' 'hangs: not done after 5 seconds' -- -t 1 hangs
expect 1 '0 passed, 1 failed, 0 skipped' 'none: exit status 0 after 0 of 0 tests' -- none
expect 1 '0 passed, 1 failed, 0 skipped' 'silent: exit status 0 after 0 of 0 tests' -- silent
expect 1 '1 passed, 1 failed, 0 skipped' 'short: exit status 0 after 1 of 3 tests' -- short
expect 1 '0 passed, 1 failed, 0 skipped' 'deaf.sh: not done after 1 seconds' -- -t 1 deaf.sh

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# .ci/run adds up the counts of its stages. A stage whose tests were all skipped has not failed. A stage that stops
# without a count has failed. If no fresh root can be made, the tests run without one. Long tests run if all are
# requested, and those that passed with this commit are not repeated. Each stage has goals that exist, and a soak lasts
# an hour.
set -eu

# The goals of its stages exist.
for goal in $(sed -n "s/.*stage '[^']*' make \(.*\)/\1/p; s/.*make \(test-guest\) .*/\1/p" .ci/run | tr ' ' '\n' | grep -x '[a-z][a-z-]*'); do
	grep -q -E "^$goal:|^RUNS_${goal#bench-} =|^DEPS_${goal#deps-} =" Makefile tests/*.mk units/*.mk || {
		echo "there is no \"make $goal\""
		exit 1
	}
done

# A soak lasts an hour by default: the guest gets that time from the environment of run.sh.
make -s soak with=@: build=@: IN_GUESTS='sh -c env soak' | grep -q -x SOAK_SECONDS=3600 || {
	echo 'make soak does not tell the guest that it lasts an hour'
	exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/checkout/.ci" "$work/checkout/tests/tools"
cp .ci/run "$work/checkout/.ci/"
cd "$work/checkout"
echo 'true && make test' >README.md

words=(all)
# ends STATUS FAILED PATTERN...: runs .ci/run with the arguments in `words` and the present Makefile. Expects this
# exit code, this number of failures, each pattern in the output, and the sum of all stages in the last line.
ends() {
	local status=0 want=$1 failures=$2 output pattern sum
	shift 2
	output=$(env -u MAKEFLAGS -u MAKELEVEL .ci/run "${words[@]}" 2>&1) || status=$?
	for pattern; do
		grep -q -- "$pattern" <<<"$output" || {
			printf 'no "%s" in:\n%s\n' "$pattern" "$output"
			exit 1
		}
	done
	sum=$(awk '/^.*: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped, [0-9]+ s$/ {
			passed += $(NF - 7); failed += $(NF - 5); skipped += $(NF - 3)
		}
		/: left out: / { skipped++ }
		END { printf "%d passed, %d failed, %d skipped", passed, failed, skipped }' <<<"$output")
	if [ "$status" != "$want" ] || [ "$(tail -n 1 <<<"$output")" != "$sum" ] || [[ $sum != *", $failures failed"* ]]; then
		printf 'wanted status %s, %s failed and "%s", got %s and:\n%s\n' "$want" "$failures" "$sum" "$status" "$output"
		exit 1
	fi
}

# fresh LINE...: writes the script that makes fresh roots.
fresh() {
	printf '%s\n' '#!/bin/sh' "$@" >tests/tools/fresh_root.sh
	chmod +x tests/tools/fresh_root.sh
}

# Every other stage is one test that passes.
fresh 'echo a root is made' 'echo 9 passed, 0 failed, 1 skipped'
cat >Makefile <<'M'
test: ; @echo 7 passed, 0 failed, 1 skipped
test-guest: ; @echo GUEST_TESTS=$(GUEST_TESTS); echo 2 passed, 0 failed, 0 skipped
test-outside: ; @echo 3 passed, 0 failed, 1 skipped
lint: ; @echo 4 passed, 0 failed, 0 skipped
test-sanitize: ; @echo 0 passed, 0 failed, 3 skipped; false
.DEFAULT: ; @true
M
ends 0 0 '^guests, 6.12: 2 passed' '^sanitizers: 0 passed, 0 failed, 3 skipped' '^corpus: left out: .*not there' \
	'^tests in a fresh root: 9 passed, 0 failed, 1 skipped' '^GUEST_TESTS=long$' '^outside tools: 3 passed, 0 failed, 1 skipped' \
	'^fuzz: 1 passed, 0 failed, 0 skipped' '^lint: 4 passed'
words=()
ends 0 0 '^guest, beside the others: 2 passed' '^GUEST_TESTS=$' '^format and scripts: 1 passed'
words=(all)

sed -i 's/^lint: .*/lint: ; @echo no clang-tidy; false/' Makefile
ends 1 1 '^lint: 0 passed, 1 failed, 0 skipped'

fresh 'echo 7 passed, 2 failed, 0 skipped' 'exit 1'
ends 1 3 '^tests in a fresh root: 7 passed, 2 failed, 0 skipped'

# The script stops before any test.
fresh 'echo no package' 'exit 1'
ends 1 2 '^tests in a fresh root: 0 passed, 1 failed, 0 skipped'

fresh 'echo needs root' 'exit 77'
ends 1 1 '^fresh root: left out: needs root' '^tests: 7 passed, 0 failed, 1 skipped'

# Guests run at the same time as the other stages, and .ci/run waits for them.
fresh 'while [ ! -e guest-runs ]; do sleep 0.1; done' 'echo 9 passed, 0 failed, 1 skipped' 'touch stage-done'
sed -i 's/^test-guest: .*/test-guest: ; @touch guest-runs; while [ ! -e stage-done ]; do sleep 0.1; done; exit 3/' Makefile
words=()
ends 1 1 '^guest, beside the others: 0 passed, 1 failed, 0 skipped'

# Stages that passed with this commit are not repeated, nor is any stage of a checkout with changes noted.
fresh 'echo 9 passed, 0 failed, 1 skipped'
cat >Makefile <<'M'
lint: ; @[ "$$LINT" = works ]
soak: ; @echo 5 passed, 0 failed, 2 skipped
.DEFAULT: ; @true
M
# What git would say, in a root without git.
mkdir "$work/bin"
cat >"$work/bin/git" <<G
#!/bin/sh
case \$1 in
rev-parse) cat "$work/commit" ;;
status) cat "$work/changes" ;;
*) exit 1 ;;
esac
G
chmod +x "$work/bin/git"
PATH=$work/bin:$PATH
echo 1234 >"$work/commit"
: >"$work/changes"
words=(all)
LINT=fails ends 1 1 '^lint: 0 passed, 1 failed, 0 skipped' '^==== soak: make soak$' '^soak: 5 passed, 0 failed, 2 skipped'
LINT=works ends 0 0 '^==== lint: make lint$' '^lint: 1 passed' '^==== soak: passed before' '^soak: 5 passed, 0 failed, 2 skipped'
echo ' M Makefile' >"$work/changes"
LINT=works ends 0 0 '^==== soak: make soak$'
: >"$work/changes"
echo 5678 >"$work/commit"
LINT=works ends 0 0 '^==== soak: make soak$'

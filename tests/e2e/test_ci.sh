#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# .ci/run adds up the counts of its stages. A stage whose tests were all skipped has not failed. A stage that stops
# without a count has failed. If no fresh root can be made, the tests run without one. Long tests run if all are
# requested.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/checkout/.ci" "$work/checkout/tests/tools"
cp .ci/run "$work/checkout/.ci/"
cd "$work/checkout"
echo 'true && make test' >README.md

words=(all)
# ends STATUS LAST_LINE PATTERN...: runs .ci/run with the arguments in `words` and the present Makefile. Expects this
# exit code and last line, and each pattern in the output.
ends() {
	local status=0 want=$1 last=$2 output pattern
	shift 2
	output=$(env -u MAKEFLAGS -u MAKELEVEL .ci/run "${words[@]}" 2>&1) || status=$?
	for pattern; do
		grep -q -- "$pattern" <<<"$output" || {
			printf 'no "%s" in:\n%s\n' "$pattern" "$output"
			exit 1
		}
	done
	if [ "$status" != "$want" ] || [ "$(tail -n 1 <<<"$output")" != "$last" ]; then
		printf 'wanted status %s and "%s", got %s and:\n%s\n' "$want" "$last" "$status" "$output"
		exit 1
	fi
}

# fresh LINE...: writes the script that makes fresh roots.
fresh() {
	printf '%s\n' '#!/bin/sh' "$@" >tests/tools/fresh_root.sh
	chmod +x tests/tools/fresh_root.sh
}

fresh 'echo a root is made' 'echo 9 passed, 0 failed, 1 skipped'
cat >Makefile <<'M'
test: ; @echo 7 passed, 0 failed, 1 skipped
test-package: ; @echo 1 passed, 0 failed, 0 skipped
test-guest: ; @echo GUEST_TESTS=$(GUEST_TESTS); echo 2 passed, 0 failed, 0 skipped
deps-develop deps-guest guest-programs: ; @true
test-repeat test-kernels: ; @echo 1 passed, 0 failed, 0 skipped
bench-scrape-crowd bench-coverage bench-alarms-short bench-offcore bench-fleet bench-history bench-panes: ; @true
test-outside: ; @echo 3 passed, 0 failed, 1 skipped
lint-format lint-scripts lint-manuals lint-language lint-cppcheck lint-changed test-sanitize-parsers: ; @true
lint: ; @echo 4 passed, 0 failed, 0 skipped
reproducible: ; @echo 1 passed, 0 failed, 0 skipped
test-sanitize: ; @echo 0 passed, 0 failed, 3 skipped; false
fuzz: ; @echo 1 passed, 0 failed, 0 skipped
M
ends 0 '34 passed, 0 failed, 6 skipped' '^guest, beside the others: 2 passed' 'sanitizers: 0 passed, 0 failed, 3 skipped' 'corpus: left out: .*not there' \
	'tests in a fresh root: 9 passed, 0 failed, 1 skipped' '^GUEST_TESTS=long$'
words=()
ends 0 '16 passed, 0 failed, 2 skipped' '^GUEST_TESTS=$' '^format and scripts: 1 passed'
words=(all)

sed -i 's/^lint: .*/lint: ; @echo no clang-tidy; false/' Makefile
ends 1 '30 passed, 1 failed, 6 skipped' 'lint: 0 passed, 1 failed, 0 skipped'

fresh 'echo 7 passed, 2 failed, 0 skipped' 'exit 1'
ends 1 '28 passed, 3 failed, 5 skipped' 'tests in a fresh root: 7 passed, 2 failed, 0 skipped'

# The script stops before any test.
fresh 'echo no package' 'exit 1'
ends 1 '21 passed, 2 failed, 5 skipped' 'tests in a fresh root: 0 passed, 1 failed, 0 skipped'

fresh 'echo needs root' 'exit 77'
ends 1 '28 passed, 1 failed, 7 skipped' 'fresh root: left out: needs root' 'tests: 7 passed, 0 failed, 1 skipped'

# Guests run at the same time as the other stages, and .ci/run waits for them.
fresh 'while [ ! -e guest-runs ]; do sleep 0.1; done' 'echo 9 passed, 0 failed, 1 skipped' 'touch stage-done'
sed -i 's/^test-guest: .*/test-guest: ; @touch guest-runs; while [ ! -e stage-done ]; do sleep 0.1; done; exit 3/' Makefile
words=()
ends 1 '14 passed, 1 failed, 2 skipped' '^guest, beside the others: 0 passed, 1 failed, 0 skipped'

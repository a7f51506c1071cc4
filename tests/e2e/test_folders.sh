#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No folders and no sources may depend on each other in a circle, daemon/ itself must stay small, each folder must
# have a README that names those that use it, and the picture of the folders in CONTRIBUTING must be up to date. A source
# without a header of its own must begin with what it is for. Each of these checks must also be able to fail.
set -eu

cd "$(dirname "$0")/../.."
python3 -c '' 2>/dev/null || {
	echo 'no python3 here'
	exit 77
}
objects=$(dirname "$PEBSD")/obj
tests/tools/folders.py --check .github/CONTRIBUTING.md "$objects"
[ "$(find "$objects/daemon" -name '*.o' | wc -l)" -gt 300 ] || {
	echo "few objects lie in $objects: calls are not known"
	exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r daemon bpf include "$work"
mkdir "$work/objects"
cp .github/CONTRIBUTING.md "$work"
tool=$PWD/tests/tools/folders.py
cd "$work"

# complains PATTERN [OBJECTS]: expects the check to fail with this message
complains() {
	local output
	if output=$("$tool" --check CONTRIBUTING.md "${@:2}"); then
		echo "nothing is wrong, where this was expected: $1"
		exit 1
	fi
	grep -q -- "$1" <<<"$output" || {
		printf 'no "%s" in:\n%s\n' "$1" "$output"
		exit 1
	}
}

echo '#include "policy/policy.h"' >daemon/base/up.h
complains 'in a circle:.* daemon/base.* daemon/policy'
complains '  daemon/base/up.h includes daemon/policy/policy.h'
rm daemon/base/up.h

echo '#include "base/log.h"' >daemon/state/more.h
echo '#include "store/store.h"' >>daemon/state/more.h
complains 'the picture in CONTRIBUTING.md is out of date: make folders'
"$tool" --write CONTRIBUTING.md
complains 'daemon/store/README.md does not name state, which includes it'
# shellcheck disable=SC2016 # no command: the names are in backquotes
sed -i 's/`kernel`/`kernel`, `state`/' daemon/store/README.md
"$tool" --check CONTRIBUTING.md
grep -A 1 '^  state ' CONTRIBUTING.md | grep -q -- '-> store$'

touch daemon/{one_more.c,another.c}
complains 'daemon/ itself holds .*another.c'
complains 'daemon/another.c has no header of its own, and does not begin with what it is for'
rm daemon/{one_more.c,another.c}

mv daemon/state/README.md .
complains 'daemon/state/README.md has no first line'
mv README.md daemon/state/

mkdir -p objects/daemon/base
for pair in ping:pong pong:ping; do
	echo "int ${pair#*:}(void); int ${pair%:*}(void); int ${pair%:*}(void) { return ${pair#*:}(); }" >"daemon/base/${pair%:*}.c"
	"${CC:-cc}" -c -o "objects/daemon/base/${pair%:*}.o" "daemon/base/${pair%:*}.c"
done
complains 'call each other in a circle: daemon/base/ping.c, daemon/base/pong.c' objects

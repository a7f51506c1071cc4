#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Draws the README's pictures again, from the model on this machine: pictures.sh BUILD TO. All show the demo
# (config/demo.conf) while its scenario has the deploy. Only way.svg is drawn by hand.
set -eu

export PEBSD=$1/pebsd PEBSCTL=$1/pebsctl TOOLS=$1/tests/tools
pictures=$2
cd "$(dirname "$0")/../.."
# shellcheck source=tests/e2e/daemon.sh
. tests/e2e/daemon.sh
# shellcheck source=tests/outside/browser.sh
. tests/outside/browser.sh
trap 'browser_end; end' EXIT
trap 'exit 1' INT TERM
for program in chromium jq; do
	command -v "$program" >/dev/null || fail "the page's picture needs $program (Debian: chromium fonts-dejavu-core jq)"
done

# taken FILE: moves the complete file to its place
taken() {
	mv "$work/$1" "$pictures/$1"
	printf '%s\n' "$pictures/$1"
}

# draw NAME OPTION... -- VERB...: draws what pebsctl shows on a terminal
draw() {
	local name=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$TOOLS/draw_top" --svg "${options[@]}" -- "$PEBSCTL" --socket "$socket" "$@" >"$work/$name.svg" ||
		fail "no picture of $name"
	taken "$name.svg"
}

mkdir -p "$pictures" "$work/state"
STATE_DIRECTORY=$work/state start --origin model --config config/demo.conf
printf 'two and a half minutes go by, until the deploy\n'
sleep 150
# tests/outside/test_demo.sh compares this picture.
draw show --size 140x57 --wait 'stalls: period' -- show shop
# The trend of the last minutes. Then sort by HITM, open the first cgroup, and go to its code and data.
draw top --size 100x16 --wait TREND --for 1000 --frames 4 --keys s --frames 1 --keys s --frames 1 --keys s --frames 1 \
	--keys s --frames 3 --keys '\r' --frames 4 --keys '\e[F' --frames 4 -- top

browser_start
screen 1100 660 dark
ask Page.navigate "{\"url\":\"http://127.0.0.1:$port/\"}"
becomes 'the page' true 'document.querySelectorAll("#table tbody tr").length >= 6 && document.querySelectorAll("#alert-list li").length > 0'
picture "$work/page.png"
taken page.png

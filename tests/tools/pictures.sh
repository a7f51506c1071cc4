#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Draws the README's pictures anew, of the model on this machine: pictures.sh BUILD TO
set -eu

build=$1 to=$2
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid"; wait; rm -r "$work"' EXIT
trap 'exit 1' INT TERM

"$build/pebsd" --origin model --socket "$work/control.sock" --listen none 2>"$work/log" &
pid=$!
printf 'a minute goes by, for the trend\n'
sleep 65
mkdir -p "$to"
# The trend of the last minute.
"$build/tests/tools/draw_top" --svg --size 80x13 --wait TREND --keys tt --for 1500 -- \
	"$build/pebsctl" --socket "$work/control.sock" top >"$work/top.svg"
mv "$work/top.svg" "$to/top.svg"
printf '%s\n' "$to/top.svg"

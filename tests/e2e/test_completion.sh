#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bash, zsh and fish must offer exactly the words that pebsctl and pebsd accept: every verb and order, the options
# of each verb, and the cgroups and rules that the daemon has. The shells themselves do the completion.
# shellcheck source=tests/e2e/daemon.sh
. "${0%/*}/daemon.sh"
need jq

completion=$PWD/config/completion
header=$PWD/include/pebsd/data_source.h
mkdir "$work/bin"
ln -s "$(realpath "$PEBSCTL")" "$work/bin/pebsctl"
ln -s "$(realpath "$PEBSD")" "$work/bin/pebsd"
export PATH=$work/bin:$PATH HOME=$work INPUTRC=/dev/null HISTFILE='' TERM=dumb

# Each of these functions prints the words that its shell offers at the end of a line, sorted.

# insert-completions (M-*) makes readline put all completions on the line. A function that replaces the program gets
# them as its arguments.
offered_by_bash() {
	local line=$1 words
	: >"$work/called"
	# shellcheck disable=SC2016 # the inner shell's
	printf '%s\n' 'called() { printf "%s\n" "$@" >"$CALLED"; }' 'pebsctl() { called "$@"; }' 'pebsd() { called "$@"; }' \
		". $completion/pebsctl.bash" ". $completion/pebsd.bash" "$line"$'\033*' exit |
		CALLED=$work/called timeout 60 bash --norc --noprofile -i >/dev/null 2>&1 || fail "bash does not complete: $line"
	# Skips the arguments that precede the word to complete.
	words=$(awk '{ print NF - 1 - ($0 !~ / $/) }' <<<"$line")
	tail -n "+$((words + 1))" "$work/called" | sort
}

offered_by_fish() {
	fish --no-config -c "source $completion/pebsctl.fish; source $completion/pebsd.fish; complete -C \$argv[1]" "$1" |
		cut -f 1 | sort
}

# An interactive zsh needs a terminal. compadd() appends the words that zsh would offer to $ADDED, and zsh then
# ends.
offered_by_zsh() {
	: >"$work/added"
	cat >"$work/.zshrc" <<-'Z'
		PROMPT=
		fpath=($COMPLETION $fpath)
		autoload -Uz compinit && compinit -u -d $ZDOTDIR/dump
		zstyle ':completion:*' insert-tab false
		bindkey '^I' complete-word
		compadd() {
			if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
				builtin compadd "$@"
				return
			fi
			local -a _hits
			builtin compadd -A _hits "$@"
			(( $#_hits )) && print -rl -- $_hits >>$ADDED
			builtin compadd "$@"
		}
		ended() { exit }
		comppostfuncs=(ended)
	Z
	# shellcheck disable=SC2016 # the inner shell's
	COMPLETION=$completion ADDED=$work/added ZDOTDIR=$work timeout 60 zsh -f -c '
		zmodload zsh/zpty
		zpty z "zsh -i"
		zpty -w -n z "$1"$'"'\\t'"'
		while zpty -r z said; do :; done' zsh "$1" >/dev/null 2>&1 || :
	sort -u "$work/added"
}

# offers SHELL LINE EXPECTED...: expects exactly these completions
offers() {
	local shell=$1 line=$2 found expected
	shift 2
	expected=$(printf '%s\n' "$@" | sort)
	# Others may take the CPUs for longer than pebsctl waits for an answer. Then the shell offers nothing: try
	# again.
	for _ in 1 2 3 4 5 6 7 8; do
		found=$("offered_by_$shell" "$line")
		[ "$found" != "$expected" ] || break
	done
	[ "$found" = "$expected" ] || fail "$shell offers after \"$line\", - what it should not, + what is missing:
$(diff <(echo "$found") <(echo "$expected") | sed -n 's/^</-/p; s/^>/+/p')"
}

# The words that the help of the programs lists.
mapfile -t verbs < <("$PEBSCTL" --help | awk '/^Verbs:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }')
mapfile -t options < <("$PEBSCTL" --help | sed -n '/^Options:/,/^$/s/^  \(-., \)\?\(--[a-z-]*\).*/\2/p')
mapfile -t daemon_options < <("$PEBSD" --help | sed -n 's/^  \(-., \)\?\(--[a-z-]*\).*/\2/p')
[ ${#verbs[@]} -ge 14 ] || fail "verbs of pebsctl --help: ${verbs[*]}"
[ ${#options[@]} -ge 18 ] || fail "options of pebsctl --help: ${options[*]}"
[ ${#daemon_options[@]} -ge 14 ] || fail "options of pebsd --help: ${daemon_options[*]}"
read -r -a origins < <("$PEBSD" --help | sed -n 's/^ *--origin \([a-z|]*\).*/\1/p' | tr '|' ' ')
mapfile -t sources < <(sed -n '/^#define SOURCES/,/^$/s/.*X([A-Z0-9_]*, "\([a-z0-9_]*\)").*/share:\1/p' "$header")
[ ${#sources[@]} -ge 16 ] || fail "sources of $header: ${sources[*]}"

# Finds a verb's options by trying each option of pebsctl, on a socket where no daemon answers.
help=$("$PEBSCTL" --help)
declare -A heeded
for verb in "${verbs[@]}"; do
	read -r -a arguments <<<"$(sed -n "s/^  $verb \([A-Z ]*\) .*/\1/p" <<<"$help")"
	for option in "${options[@]}"; do
		value=()
		[[ ! $help =~ $option\ ([A-Z]+)\  ]] || case ${BASH_REMATCH[1]} in
		DUR) value=(10s) ;;
		TIME) value=(-1h) ;;
		N) value=(1) ;;
		*) value=("$work/nowhere") ;;
		esac
		said=$("$PEBSCTL" --socket "$work/nowhere" "$verb" "${arguments[@]}" "$option" "${value[@]}" 2>&1) || :
		[[ $said == *"$option cannot be used with $verb"* ]] || heeded[$verb]+="$option "
	done
done

cat >"$work/pebsd.conf" <<'C'
[rule slow-loads]
cgroup = model:*
metric = p99
above = 900
[model]
workloads = all
C
start --config "$work/pebsd.conf" --origin model
for _ in $(seq 600); do
	mapfile -t cgroups < <(ctl --json top | jq -r '.cgroups[].name')
	[ ${#cgroups[@]} -lt 7 ] || break
	sleep 0.1
done
[ ${#cgroups[@]} -ge 7 ] || fail "the model has only ${#cgroups[@]} cgroups"

for shell in bash fish zsh; do
	command -v $shell >/dev/null || {
		echo "$shell is not here: not tried"
		continue
	}
	offers $shell 'pebsctl ' "${verbs[@]}"
	for verb in "${verbs[@]}"; do
		read -r -a expected <<<"${heeded[$verb]}"
		offers $shell "pebsctl $verb --" "${expected[@]}"
	done
	offers $shell 'pebsctl top --sort ' latency samples mean p99 wait cores-lost cpi misses traffic share:hitm "${sources[@]}"
	offers $shell 'pebsd --' "${daemon_options[@]}"
	offers $shell 'pebsd --origin ' "${origins[@]}"
	for verb in show zoom hot profile neighbours 'explain slow-loads'; do
		offers $shell "pebsctl --socket $socket $verb " "${cgroups[@]}"
	done
	offers $shell "pebsctl --socket $socket explain " slow-loads
	# No daemon answers on this socket.
	offers $shell "pebsctl --socket $work/nowhere show " ''
	# Nothing is offered after the last argument, except that zsh offers the options.
	[ $shell = zsh ] || offers $shell "pebsctl --socket $socket neighbours /x " ''
done

# The daemon accepts each order and window that is offered, and pebsctl each duration.
for order in $(offered_by_bash 'pebsctl top --sort '); do
	exits "--sort $order" 0 ctl top --sort "$order"
done
for window in $(offered_by_bash 'pebsctl top --window '); do
	exits "--window $window" 0 ctl top --window "$window"
done
for duration in $(offered_by_bash 'pebsctl pause --for '); do
	exits "--for $duration" 3 "$PEBSCTL" --socket "$work/nowhere" pause --for "$duration"
done

# Names contain colons, at which readline splits words. The typed part must stay.
typed() {
	: >"$work/called"
	printf '%s\n' "called() { printf '%s\n' \"\$@\" >'$work/called'; }" 'pebsctl() { called "$@"; }' \
		". $completion/pebsctl.bash" "$1"$'\t' exit | timeout 60 bash --norc --noprofile -i >/dev/null 2>&1
	tail -n 1 "$work/called"
}
# completes WHAT EXPECTED LINE: tries again, as `offers` does
completes() {
	local found
	for _ in 1 2 3 4 5 6 7 8; do
		found=$(typed "$3")
		[ "$found" != "$2" ] || return 0
	done
	expect "$1" "$2" "$found"
}
completes 'a name' pointer-chase "pebsctl --socket $socket show point"
completes 'a path with a colon' model:pointer-chase "pebsctl --socket $socket show model:point"
completes 'an order with a colon' share:remote_dram 'pebsctl top --sort share:remote_d'
completes 'a value after =' --sort=share:remote_dram 'pebsctl top --sort=share:remote_d'

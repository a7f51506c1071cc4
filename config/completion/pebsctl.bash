# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# bash completion of pebsctl: verbs, options and their values, and the present cgroups and rules of the daemon.

# Puts the words of the line up to the cursor into `words`. Readline splits words at colons and equals signs, which
# names of cgroups contain. The function joins these parts again, so that only blanks separate words.
__pebsctl_words() {
	local i part rest=${COMP_LINE:0:COMP_POINT}
	words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		part=${COMP_WORDS[i]}
		if [[ $i == 0 || -z $rest || $rest == [[:blank:]]* ]]; then
			rest=${rest#"${rest%%[![:blank:]]*}"}
			words+=("$part")
		else
			words[${#words[@]} - 1]+=$part
		fi
		rest=${rest#"$part"}
	done
}

# Queries the daemon. If the line has --socket, uses that socket.
__pebsctl_ask() {
	command pebsctl ${socket:+--socket "$socket"} --json "$@" 2>/dev/null
}

# Prints the names in the daemon's JSON, one per line; the paths if the current word is the start of one. It leaves out
# names that JSON escapes: users do not type them.
__pebsctl_cgroups() {
	local key=name
	[[ $current != /* && $current != *:* ]] || key=cgroup
	__pebsctl_ask top | grep -o "\"$key\": *\"[^\"\\\\]*\"" | sed 's/.*: *"//; s/"$//'
}

__pebsctl_rules() {
	__pebsctl_ask rules | grep -o '"rule": *"[^"\\]*"' | sed 's/.*: *"//; s/"$//'
}

# Completes to the lines that begin with the current word. They are quoted for the shell. The part that readline keeps
# before its own last word is removed.
__pebsctl_offer() {
	local line quoted kept=''
	[[ $current != *:* || $COMP_WORDBREAKS != *:* ]] || kept=${current%"${current##*:}"}
	while IFS= read -r line; do
		printf -v quoted '%q' "$line"
		[[ $line == "$current"* || $quoted == "$current"* ]] || continue
		COMPREPLY+=("${quoted#"$kept"}")
	done
}

__pebsctl_values() {
	local values
	case $1 in
	--socket | --output | -o)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	--sort)
		values='latency samples mean p99 wait cores-lost cpi misses traffic share:l1 share:lfb share:l2 share:l2_mhb share:l3 share:l4 share:msc
			share:local_cache share:remote_cache share:local_dram share:remote_dram share:pmem share:cxl share:io
			share:uncached share:unknown share:hitm'
		;;
	--window) values='1s 10s 30s 1m 5m all' ;;
	--at | --since | --until | --with) values='now 03:12 -10min -1h -2h -1d' ;;
	--for) values='10s 30s 1m 10m 1h' ;;
	--depth) values='1 2 3 4' ;;
	--color) values='auto always never' ;;
	# The value is a number or a part of a name, so there is nothing to offer.
	--limit | --rate | --filter | -n) return ;;
	esac
	# shellcheck disable=SC2086 # words
	__pebsctl_offer < <(printf '%s\n' $values)
}

_pebsctl() {
	local words current previous option='' verb='' socket='' arguments=0 i
	local verbs='status top show compare zoom hot profile rules alerts explain neighbours watch pause resume reload'
	COMPREPLY=()
	__pebsctl_words
	current=${words[${#words[@]} - 1]}
	previous=${words[${#words[@]} - 2]}

	for ((i = 1; i < ${#words[@]} - 1; i++)); do
		case ${words[i]} in
		--socket) socket=${words[++i]} ;;
		--socket=*) socket=${words[i]#*=} ;;
		--limit | --sort | --filter | --depth | --window | --at | --since | --until | --with | --for | --rate | --color | --output | -n | -o) i=$((i + 1)) ;;
		-*) ;;
		*) if [[ -z $verb ]]; then verb=${words[i]}; else arguments=$((arguments + 1)); fi ;;
		esac
	done

	case $previous in
	--socket | --limit | --sort | --filter | --depth | --window | --at | --since | --until | --with | --for | --rate | --color | --output | -n | -o)
		__pebsctl_values "$previous"
		return
		;;
	esac
	if [[ $current == --*=* ]]; then
		option=${current%%=*}
		current=${current#*=}
		__pebsctl_values "$option"
		return
	fi
	if [[ $current == -* ]]; then
		local options='--socket --json --full --utc --color --help --version'
		case $verb in
		status | alerts | explain | neighbours) options+=' --at --since --until' ;;
		top) options+=' --limit --sort --filter --depth --window --at --since --until' ;;
		show) options+=' --window --at --since --until' ;;
		compare) options+=' --window --at --since --until --with' ;;
		zoom) options+=' --limit --for --rate --no-wait --last --stop' ;;
		hot) options+=' --limit --for' ;;
		profile) options+=' --for --rate --last --output --folded --latency --perf-data' ;;
		pause) options+=' --for' ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
		return
	fi
	case $verb:$arguments in
	:*) mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current") ;;
	show:0 | compare:0 | compare:1 | zoom:0 | hot:0 | profile:0 | neighbours:0 | explain:1) __pebsctl_offer < <(__pebsctl_cgroups) ;;
	explain:0) __pebsctl_offer < <(__pebsctl_rules) ;;
	esac
}

complete -F _pebsctl pebsctl

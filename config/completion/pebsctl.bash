# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# bash completion of pebsctl: verbs, options, and the cgroups and rules that the daemon has now.

# What the daemon says of itself, through the socket that is on the line already.
__pebsctl_ask() {
	local i socket=()
	for ((i = 1; i < ${#COMP_WORDS[@]} - 1; i++)); do
		[[ ${COMP_WORDS[i]} != --socket ]] || socket=(--socket "${COMP_WORDS[i + 1]}")
	done
	pebsctl "${socket[@]}" --json "$@" 2>/dev/null
}

# Paths are what follows "cgroup": in the daemon's own JSON, where quotes and controls are escaped: such are left out.
__pebsctl_cgroups() {
	__pebsctl_ask top | grep -o '"cgroup": *"[^"\\]*"' | sed 's/.*: *"//; s/"$//'
}

__pebsctl_rules() {
	__pebsctl_ask rules | grep -o '"rule": *"[^"\\]*"\|"name": *"[^"\\]*"' | sed 's/.*: *"//; s/"$//'
}

# Words of $2 on, a line each, that begin with the current word; blanks in them are quoted.
__pebsctl_offer() {
	local word current=$1
	shift
	while IFS= read -r word; do
		[[ $word == "$current"* ]] && COMPREPLY+=("$(printf '%q' "$word")")
	done
}

_pebsctl() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local verbs='status top show zoom hot profile rules alerts explain neighbours watch pause resume reload'
	local common='--socket --json --help --version'
	local verb='' after=0 i
	COMPREPLY=()

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--socket | --sort | --window | --for | --rate | --limit | --output | --depth | --filter | -n | -o) i=$((i + 1)) ;;
		-*) ;;
		*)
			[[ -z $verb ]] || after=$((after + 1))
			[[ -n $verb ]] || verb=${COMP_WORDS[i]}
			;;
		esac
	done

	case $previous in
	--socket | --output | -o)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	--sort)
		local orders='latency samples mean p99 share:l1 share:lfb share:l2 share:l3 share:local_cache
			share:remote_cache share:local_dram share:remote_dram share:pmem share:cxl share:io share:uncached
			share:unknown share:hitm'
		mapfile -t COMPREPLY < <(compgen -W "$orders" -- "$current")
		# A colon is a word's end for readline: what stands before it is there already.
		[[ $current != *:* ]] || COMPREPLY=("${COMPREPLY[@]#"${current%:*}:"}")
		return
		;;
	--window)
		mapfile -t COMPREPLY < <(compgen -W '1s 10s 30s 1m 5m all' -- "$current")
		return
		;;
	--for)
		mapfile -t COMPREPLY < <(compgen -W '10s 30s 1m 10m 1h' -- "$current")
		return
		;;
	--rate | --limit | --depth | --filter | -n) return ;;
	esac

	if [[ $current == -* ]]; then
		local options=$common
		case $verb in
		top) options+=' --limit --sort --window' ;;
		show) options+=' --window' ;;
		zoom) options+=' --for --rate --no-wait --last --stop --limit' ;;
		hot) options+=' --for --limit' ;;
		profile) options+=' --for --rate --last --output --folded --latency --perf-data' ;;
		pause) options+=' --for' ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
		return
	fi
	case $verb:$after in
	:*) mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current") ;;
	show:0 | zoom:0 | hot:0 | profile:0 | neighbours:0 | explain:1) __pebsctl_offer "$current" < <(__pebsctl_cgroups) ;;
	explain:0) __pebsctl_offer "$current" < <(__pebsctl_rules) ;;
	esac
}

complete -F _pebsctl pebsctl

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# bash completion of pebsd.

_pebsd() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} values
	COMPREPLY=()
	# --origin=MODEL comes in three words.
	[[ $current != '=' ]] || current=''
	[[ $previous != '=' || $COMP_CWORD -lt 3 ]] || previous=${COMP_WORDS[COMP_CWORD - 2]}
	case $previous in
	--config | --replay | --socket)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	--sysfs-root)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	--origin) values='auto perf replay model' ;;
	--listen) values='127.0.0.1:9754 unix: none' ;;
	--for) values='10s 30s 1m 3m' ;;
	*)
		values='--config --origin --replay --once --for --json --full --socket --listen --probe --sysfs-root --check-config
			--test-rules --compare --version --help'
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
}

complete -F _pebsd pebsd

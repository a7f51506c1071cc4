# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# bash completion of pebsd.
_pebsd() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	case $previous in
	--config | --replay | --socket)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		;;
	--sysfs-root)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		;;
	--origin) mapfile -t COMPREPLY < <(compgen -W 'auto perf replay model' -- "$current") ;;
	--listen) mapfile -t COMPREPLY < <(compgen -W '127.0.0.1:9754 none' -- "$current") ;;
	--for) mapfile -t COMPREPLY < <(compgen -W '10s 30s 1m 3m' -- "$current") ;;
	*)
		mapfile -t COMPREPLY < <(compgen -W '--config --origin --replay --once --for --json --socket --listen --probe
			--sysfs-root --check-config --test-rules --version --help' -- "$current")
		;;
	esac
}

complete -F _pebsd pebsd

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prints the C files to analyse after a commit: those that changed since then, the last changed first, then one file for
# each changed header that none of these includes.
#   changed.sh COMMIT
set -eu

changed=$({
	git diff --name-only HEAD -- '*.c' '*.h'
	git ls-files --others --exclude-standard '*.c' '*.h'
	git log --format= --name-only "$1..HEAD" -- '*.c' '*.h'
} | awk '!seen[$0]++' | while read -r file; do
	[ ! -e "$file" ] || printf '%s\n' "$file"
done)
[ -n "$changed" ] || exit 0
grep '\.c$' <<<"$changed" || :
{ git grep --untracked '^#include "' -- '*.c' || :; } | sed 's/:#include "\(.*\)".*/ \1/' | LC_ALL=C sort |
	awk -v changed="$changed" '
		BEGIN {
			n = split(changed, list, "\n")
			for (i = 1; i <= n; i++)
				if (list[i] ~ /\.c$/)
					analysed[list[i]] = 1
				else
					headers[++count] = list[i]
		}
		{
			# A header is named from one of the directories that it is in.
			for (i = 1; i <= count; i++) {
				header = "/" headers[i]
				at = length(header) - length($2)
				if (at < 1 || substr(header, at) != "/" $2)
					continue
				users[i] = users[i] " " $1
			}
		}
		END {
			for (i = 1; i <= count; i++) {
				stem = headers[i]
				sub(/.*\//, "", stem)
				sub(/\.h$/, ".c", stem)
				n = split(users[i], list, " ")
				best = ""
				covered = 0
				for (j = 1; j <= n && !covered; j++) {
					covered = list[j] in analysed
					# The file of the same name, or any that is compiled for this machine.
					if (best == "" || substr(list[j], length(list[j]) - length(stem)) == "/" stem ||
							(best ~ /\.bpf\.c$/ && list[j] !~ /\.bpf\.c$/))
						best = list[j]
				}
				if (!covered && best != "") {
					analysed[best] = 1
					print best
				}
			}
		}'

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prints the C files that changed since a commit, those that changed last first, then those that include a changed header,
# each once.
#   changed.sh COMMIT OBJECTS
# OBJECTS: the directory with the dependencies (*.d) of the last build, which list the headers that each file
# includes. A file that was never built is printed only if it changed itself.
set -eu

changed=$({
	git diff --name-only HEAD -- '*.c' '*.h'
	git ls-files --others --exclude-standard '*.c' '*.h'
	git log --format= --name-only "$1..HEAD" -- '*.c' '*.h'
} | awk '!seen[$0]++' | while read -r file; do
	[ ! -e "$file" ] || printf '%s\n' "$file"
done)
{
	grep '\.c$' <<<"$changed" || :
	# The first word of each file is the object, and its source follows.
	[ -z "$changed" ] || find "$2" -name '*.d' -exec awk -v changed="$changed" '
		BEGIN { n = split(changed, list, "\n"); for (i = 1; i <= n; i++) if (list[i] ~ /\.h$/) headers[list[i]] = 1 }
		FNR == 1 { source = "" }
		/^[^ ]+:$/ { next } # an empty rule that -MP adds
		{
			for (i = 1; i <= NF; i++) {
				if (source == "" && $i ~ /\.c$/)
					source = $i
				if ($i in headers && source != "" && !(source in printed)) {
					print source
					printed[source] = 1
				}
			}
		}' {} +
} | awk '!seen[$0]++'

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Loads, attaches and runs each BPF program of pebsd with each kernel that Debian's archive has for amd64: the newest of
# each series in each suite, and the oldest of those series that are in a stable release. Each kernel boots as a guest
# with inside/small_init.sh on an emulated Intel machine, and the newest of each series also on an AMD machine. The
# guests run inside/test_programs.sh.
#   kernels.sh                 all of them, reported in the form that tests/run.sh -p reads
#   kernels.sh --list          prints what would run: SERIES RELEASE VERSION PACKAGE MACHINES SUITES
#   kernels.sh WORD...         only those whose release (`uname -r`) contains one of these words
# Leaves $BUILD/guest/program_instructions.txt with what was counted, and compares it with the file of that name in this
# folder. A series that the file lacks is shown and passes. Needs root. Exits with 77 if the archive cannot be had.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"
# shellcheck source=tests/guest/unpack.sh
. "${0%/*}/unpack.sh"
set -o pipefail

here=${0%/*}
SUITES=(bookworm bookworm-backports trixie trixie-backports forky sid experimental)
SECURITY_SUITES=(bookworm-security trixie-security)
# All kernels boot with this root.
ROOT=6.12
INTEL=skylake-server
AMD=zen3

# apt's state for the suites above, besides that of this system.
place=$GUEST_CACHE/archive
of_archive() {
	"$@" -o Dir::State="$place" -o Dir::State::status="$place/status" -o Dir::Cache="$place/cache" \
		-o Dir::Etc::sourcelist="$place/sources.list" -o Dir::Etc::sourceparts=/dev/null -o APT::Architecture=amd64 \
		-o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false
}

# fetch_lists: fetches the lists of packages of these suites. A suite that the mirror lacks is named, and left out.
fetch_lists() {
	local main security
	main=$(mirror) security=$(mirror -security)
	[ -n "$main" ] || skip "needs a source of Debian in this system's apt configuration"
	lock "$place"
	mkdir -p "$place/lists/partial" "$place/cache/archives/partial"
	in_cache "$place"
	: >"$place/status"
	{
		printf "deb [signed-by=$KEYRING] $main %s main\n" "${SUITES[@]}"
		[ -z "$security" ] || printf "deb [signed-by=$KEYRING] $security %s main\n" "${SECURITY_SUITES[@]}"
	} >"$place/sources.list"
	of_archive apt-get update >"$place/log" 2>&1 || sed -n 's/^E: /# left out: /p' "$place/log"
	exec {lock_fd}>&-
	compgen -G "$place/lists/*_Packages*" >/dev/null || skip "Debian's archive cannot be had from the mirror that apt uses here"
}

# in_archive: prints "SERIES RELEASE VERSION PACKAGE SUITE" of each kernel in the lists. The image of Linux 6.19 and
# later is in linux-binary-RELEASE, and before in linux-image-RELEASE.
in_archive() {
	local list suite
	for list in "$place"/lists/*_Packages*; do
		suite=${list##*_dists_}
		of_archive /usr/lib/apt/apt-helper cat-file "$list" | awk -v suite="${suite%%_*}" '
			/^Package: / { name = $2 }
			/^Version: / { version = $2 }
			# A package that depends on one of these has no image itself.
			/^Depends: / { is_empty = / linux-(binary|image)-/ }
			/^$/ {
				release = name
				if (!is_empty && sub(/^linux-(binary|image)-/, "", release) && release ~ /^[0-9]+\.[0-9].*-cloud-amd64$/) {
					split(release, number, /[.+-]/)
					print number[1] "." number[2], release, version, name, suite
				}
				is_empty = 0
			}'
	done
}

# chosen: prints SERIES RELEASE VERSION PACKAGE MACHINES SUITES of the kernels that this script is for, oldest first.
chosen() {
	in_archive | sort -k 1,1V -k 3,3V | awk -v intel=$INTEL -v amd=$AMD '
		{ line[NR] = $1 " " $2 " " $3 " " $4; release[NR] = $2; series[NR] = $1; suite[NR] = $5 }
		$5 ~ /^(bookworm|trixie)$/ { is_stable[$1] = 1 }
		!($1 in oldest) { oldest[$1] = $2 }
		{ newest[$1, $5] = $2; last[$1] = $2 }
		END {
			for (i = 1; i <= NR; i++) {
				r = release[i]; s = series[i]
				if (newest[s, suite[i]] != r && !(is_stable[s] && oldest[s] == r)) continue
				if (!(r in seen)) { order[++n] = r; text[r] = line[i] " " intel (last[s] == r ? "," amd : "") " " }
				text[r] = text[r] (seen[r]++ ? "," : "") suite[i]
			}
			for (i = 1; i <= n; i++) print text[order[i]]
		}'
}

# fetch RELEASE VERSION PACKAGE: leaves the decompressed kernel in the cache.
fetch() {
	local to
	to=$(kernel_place "$1")
	lock "$to"
	if ! in_cache "$to"; then
		rm -rf "$to.new"
		mkdir "$to.new"
		(cd "$to.new" && of_archive apt-get --quiet=2 download "$3=$2" &&
			dpkg-deb --fsys-tarfile ./*.deb | tar --extract --wildcards --to-stdout '*/vmlinuz*' >vmlinuz) >"$place/log" 2>&1 ||
			return $EXIT_SKIP
		decompress "$to.new/vmlinuz" >"$to.new/vmlinux"
		rm -f "$to.new/vmlinuz" "$to.new"/*.deb
		mv -T "$to.new" "$to"
	fi
	exec {lock_fd}>&-
}

[ "$(id -u)" = 0 ] || skip "needs root: it makes a Debian root"
fetch_lists
if [ "${1:-}" = --list ]; then
	chosen
	exit
fi
kinds=()
mkdir -p "$guest"
: >"$guest/kernels"
while read -r series release version package machines suites; do
	[ $# = 0 ] || grep -q -F -f <(printf '%s\n' "$@") <<<"$release" || continue
	if ! fetch "$release" "$version" "$package"; then
		say 1..1 "ok - $release # SKIP $package $version of $suites cannot be fetched: $(tail -n 1 "$place/log")"
		continue
	fi
	echo "$series $release $version $suites" >>"$guest/kernels"
	for machine in ${machines//,/ }; do
		kinds+=("$ROOT@$release,$machine,1,small")
	done
done < <(chosen)
[ ${#kinds[@]} != 0 ] || fail "no kernel of the archive has a name with: $*"

status=0
"$here/run.sh" "${kinds[*]}" programs | tee "$guest/kernels.log" || status=$?
# Lines of the report: "ok - 6.12@RELEASE,MACHINE,1,small: programs (40 s)", then "# program NAME INSTRUCTIONS
# VERIFIED".
awk '
	FILENAME ~ /kernels$/ { series[$2] = $1; next }
	/^(not )?ok - / { split($0, part, /[@,]/); release = part[2]; machine = part[3] }
	/^# program / { print series[release], release, machine, $3, $4, $5 }' "$guest/kernels" "$guest/kernels.log" |
	sort -s -k 1,1V -k 2,2V >"$guest/counted"
# The newest kernel of each series, in the form of the file that is compared.
{
	sed -n '/^#/p' "$here/program_instructions.txt"
	awk '
		!($1 in known) { known[$1] = 1; columns = columns " " $1; series[++n] = $1 }
		!(($3, $4) in row) { row[$3, $4] = $3 " " $4; rows[++m] = $3 SUBSEP $4 }
		{ figure[$3, $4, $1] = $5 "/" $6 }
		END {
			print "machine program" columns
			for (i = 1; i <= m; i++) {
				line = row[rows[i]]
				for (j = 1; j <= n; j++) line = line " " ((rows[i], series[j]) in figure ? figure[rows[i], series[j]] : "-")
				print line
			}
		}' "$guest/counted"
} >"$guest/program_instructions.txt"
# One result for each kernel and machine: as many instructions as the file has, within these percentages. What the
# verifier walks depends more on the kernel.
awk -v within=2 -v within_verified=10 '
	function far(now, kept, percent) { return now * 100 > kept * (100 + percent) || now * 100 < kept * (100 - percent) }
	/^#/ { next }
	$1 == "machine" { for (i = 3; i <= NF; i++) series[i] = $i; next }
	FILENAME ~ /program_instructions.txt$/ { for (i = 3; i <= NF; i++) kept[$1, $2, series[i]] = $i; next }
	{
		guest = $2 " on " $3
		if (!(guest in programs)) order[++n] = guest
		programs[guest]++; instructions[guest] += $5; verified[guest] += $6
		if (split(kept[$3, $4, $1], figure, "/") != 2) { unknown[guest] = $1; next }
		if (far($5, figure[1], within) || far($6, figure[2], within_verified))
			wrong[guest] = wrong[guest] "\n# " $4 ": " $5 "/" $6 ", program_instructions.txt has " kept[$3, $4, $1]
	}
	END {
		print "1.." n
		for (i = 1; i <= n; i++) {
			guest = order[i]
			print (guest in wrong ? "not ok" : "ok") " - " guest ": " programs[guest] " programs, " instructions[guest] \
				" instructions, " verified[guest] " walked by the verifier" (guest in unknown ? ", not in program_instructions.txt yet" : "") wrong[guest]
		}
	}' "$here/program_instructions.txt" "$guest/counted"
exit $status

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the scripts in this folder: the kernels, the sources of Debian's packages, and the files that are kept between
# runs. The scripts run in the top directory of the checkout. BUILD is the directory for everything that they make for
# one checkout.
set -eu

: "${BUILD:=build}"
case $BUILD in
/*) ;;
*) BUILD=$PWD/$BUILD ;;
esac
export BUILD
# shellcheck disable=SC2034 # used by the other scripts in this folder
guest=$BUILD/guest
# Files from Debian are kept outside of the checkout, for all checkouts.
: "${GUEST_CACHE:=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/pebsd-guests}"
export GUEST_CACHE

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
# Exit with this code if something cannot be obtained: tests/run.sh then counts the test as skipped.
EXIT_SKIP=77

say() {
	printf '%s\n' "$*"
}

fail() {
	printf '%s\n' "$*" >&2
	exit 1
}

skip() {
	printf '%s\n' "$*" >&2
	exit $EXIT_SKIP
}

# release_of SERIES: prints the Debian release under whose root this series of kernels runs, and fails for other series.
release_of() {
	case $1 in
	6.1 | 6.12) echo bookworm ;;
	7) echo trixie ;;
	*) fail "there is no kernel series \"$1\" here: known are 6.1, 6.12 and 7" ;;
	esac
}

suite_of() {
	case $1 in
	6.1) echo bookworm ;;
	6.12) echo bookworm-backports ;;
	7) echo trixie-backports ;;
	esac
}

# mirror [-security]: prints the addresses from which this system's apt gets Debian, without the suite: those of the
# release, or with -security those of its security updates.
mirror() {
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		awk -v suffix="${1:-}" '$3 == "main" &&
			$2 ~ "^(bookworm|trixie|forky|sid|oldstable|stable|testing|unstable)" suffix "$" { print $1; exit }'
}

# sources RELEASE SUITE...: prints the lines of a sources.list for the release and the further suites.
sources() {
	local release=$1 main security suite
	main=$(mirror)
	[ -n "$main" ] || skip "needs a source of Debian in this system's apt configuration"
	security=$(mirror -security)
	for suite; do
		printf 'deb [signed-by=%s] %s %s main\n' $KEYRING "$main" "$suite"
	done
	[ -z "$security" ] || printf 'deb [signed-by=%s] %s %s-security main\n' $KEYRING "$security" "$release"
}

# make_root DIRECTORY_OR_ARCHIVE "SUITE..." MMDEBSTRAP_OPTION...: makes a Debian root. The first suite is the
# release. Packages come from the last suite if it has them.
make_root() {
	local target=$1 log status=0 proxy=''
	local -a suites
	read -r -a suites <<<"$2"
	shift 2
	[ ${#suites[@]} = 1 ] || set -- "$@" --aptopt="APT::Default-Release \"${suites[-1]}\""
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	log=$(mktemp)
	sources "${suites[@]}" |
		mmdebstrap --quiet --architectures=amd64 --aptopt='Acquire::Check-Valid-Until "false"' \
			--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
			${proxy:+--aptopt="Acquire::http::Proxy \"$proxy\""} "$@" "${suites[0]}" "$target" - >"$log" 2>&1 ||
		status=$?
	[ "$status" = 0 ] || tail -n 20 "$log" >&2
	rm -f "$log"
	return $status
}

# hash_of FILE... -- WORD...: prints a hash of the contents and words.
hash_of() {
	local -a files=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		files+=("$1")
		shift
	done
	{
		[ ${#files[@]} = 0 ] || cat "${files[@]}"
		printf '%s\n' "$@"
	} | sha256sum | cut -d ' ' -f 1
}

# cached NAME [WORD]: prints the place in the cache for the result of NAME.sh, for a series or release WORD. The
# place contains the hash of the script, so that checkouts with different scripts do not use each other's.
cached() {
	local scripts=${BASH_SOURCE[0]%/*} hash
	hash=$(hash_of "$scripts/$1.sh" "$scripts/common.sh" -- "${2:-}")
	echo "$GUEST_CACHE/$1${2:+-$2}-${hash:0:12}"
}

# in_cache THING: returns whether THING is in the cache, and notes its use. Removes everything that was not used
# for a month.
in_cache() {
	[ -e "$1" ] || return 1
	touch "$1"
	find "$GUEST_CACHE" -mindepth 1 -maxdepth 1 -mtime +30 ! -name '*.lock' -exec rm -rf --one-file-system {} +
}

# lock THING: keeps others from making THING while this shell or one of its children lives.
lock() {
	mkdir -p "$GUEST_CACHE"
	exec {lock_fd}>"$1.lock"
	flock "$lock_fd"
}

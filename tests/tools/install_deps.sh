#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Installs the Debian packages named as arguments, without recommended ones and without starting a service.
#   install_deps.sh [--if-debian] PACKAGE...
# If all are installed, it does nothing and needs no root. --if-debian: on other systems only print what is needed.
set -eu

POLICY=/usr/sbin/policy-rc.d

say() {
	printf '%s\n' "$*"
}

fail() {
	printf 'deps: %s\n' "$*" >&2
	exit 1
}

missing_of() {
	for package; do
		# shellcheck disable=SC2016 # dpkg-query's own variable
		case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
		installed) ;;
		*) printf '%s ' "$package" ;;
		esac
	done
}

# Writes a policy that refuses every start while process $1 lives. If a kill leaves it behind, it does no harm.
write_policy() {
	printf '#!/bin/sh\n# Made by "make deps" of pebsd for the time of one installation.\n'
	printf 'kill -0 %s 2>/dev/null && exit 101\nexit 0\n' "$1"
}

# policy_refuses SERVICE...: the existing policy refuses to start these services.
policy_refuses() {
	for service; do
		status=0
		"$POLICY" "$service" start >/dev/null 2>&1 || status=$?
		[ "$status" = 101 ] || return 1
	done
}

# Runs apt-get install for these packages while no package can start a service. An existing policy is not changed.
# If it does not refuse by itself, ours is mounted over it in a mount namespace of the command.
install() {
	if [ ! -e "$POLICY" ]; then
		# noclobber: does not replace a policy that another installation just made.
		(set -C && write_policy $$ >"$POLICY") || fail "$POLICY cannot be made"
		made_policy=yes
		chmod 755 "$POLICY"
		overlaid=''
	elif policy_refuses "$@"; then
		overlaid=''
	else
		policy=$(mktemp)
		write_policy $$ >"$policy"
		chmod 755 "$policy"
		overlaid=yes
		unshare --mount mount --bind "$policy" "$POLICY" 2>/dev/null ||
			fail "$POLICY lets services start, and is not mine to change: move it away for the time of this"
	fi
	set -- env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
	if [ -n "$overlaid" ]; then
		# shellcheck disable=SC2016 # the inner shell's
		set -- unshare --mount sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$policy" "$POLICY" "$@"
	fi
	status=0
	"$@" </dev/null || status=$?
	clean_up
	return $status
}

clean_up() {
	[ -z "$policy" ] || rm -f "$policy"
	[ -z "$made_policy" ] || rm -f "$POLICY"
	policy='' made_policy=''
}

policy='' made_policy='' if_debian=''
if [ "${1:-}" = --if-debian ]; then
	if_debian=yes
	shift
fi
[ $# -gt 0 ] || fail "no packages named"

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
	say "This is not Debian; pebsd needs what these Debian 12 packages hold: $*"
	[ -z "$if_debian" ] || exit 0
	fail "install their equivalents with this system's package manager"
fi

missing=$(missing_of "$@")
[ -n "$missing" ] || exit 0
[ "$(id -u)" = 0 ] ||
	fail "these packages are missing, and only root can install them: ${missing% }; run \"sudo apt-get install --no-install-recommends ${missing% }\" first"
say "installs: $missing(and what these depend on; nothing recommended, no service started)"

trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# shellcheck disable=SC2086 # a list of words
{
	# Updates the package lists only if they do not contain a package, or point to one that no longer exists.
	if ! apt-get install --simulate --no-install-recommends $missing >/dev/null 2>&1; then
		apt-get update
		install $missing
	elif ! install $missing; then
		apt-get update
		install $missing
	fi
}
still=$(missing_of "$@")
[ -z "$still" ] || fail "apt-get did not install: $still"

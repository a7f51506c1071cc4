#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make image: makes an OCI image from the Debian package that `make deb` makes, and from Debian's own packages.
#   image.sh PACKAGE OUTPUT NAME
# Leaves OUTPUT/pebsd-VERSION.oci.tar, an archive of an image that is called NAME:VERSION. The image has pebsd, pebsctl,
# the libraries that the dynamic linker finds for them, and what describes these files: their licences, and the records
# of dpkg, which scanners of images read. It has no shell. The same package and the same packages of Debian give the
# same bytes. Times are those of SOURCE_DATE_EPOCH, by default of the last commit.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/../guest/common.sh"
set -o pipefail
umask 022
export LC_ALL=C

[ $# = 3 ] || fail "usage: image.sh PACKAGE OUTPUT NAME"
output=$2 name=$3
[ -f "$1" ] || fail "$1 is not there: make deb makes it"
package=$(realpath "$1")
for tool in jq mmdebstrap umoci; do
	command -v "$tool" >/dev/null || skip "needs $tool (make deps-image)"
done
version=$(dpkg-deb --field "$package" Version)
architecture=$(dpkg-deb --field "$package" Architecture)
# Root may build a checkout of another user. An unpacked archive of the sources has no commit.
commit() {
	git -c safe.directory='*' log -1 --format="$1" 2>/dev/null
}
revision=$(commit %H) || revision=''
: "${SOURCE_DATE_EPOCH:=$(commit %ct || dpkg-parsechangelog -l units/packaging/debian/changelog -S Timestamp)}"
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root tree=$work/tree
# The release whose libraries the package was linked with.
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
# dpkg runs in the root, and apt outside, so the package has the same path for both.
make_root "$work/root.tar" "$release" --variant=essential --include="$package" \
	--setup-hook="mkdir -p \"\$1${package%/*}\"" --setup-hook="upload $package $package" ||
	fail "Debian's packages cannot be installed: is the package of the release $release?"
mkdir "$root"
tar -C "$root" --exclude=./dev --no-same-owner --no-same-permissions -xf "$work/root.tar"

owners=$work/owners
# add FILE...: copies files of the root, with their names but without links, and notes the packages that they are of.
add() {
	local file real
	for file; do
		real=$(realpath --canonicalize-existing "$root$file")
		case $real in
		"$root"/*) ;;
		*) fail "$file leads out of the root" ;;
		esac
		install -D -m "$(stat --format=%a "$real")" "$real" "$tree$file"
		real=${real#"$root"}
		# dpkg knows some files by their names before /lib became a link.
		grep -l -x -F -e "$real" -e "${real#/usr}" "$root"/var/lib/dpkg/info/*.list | sed 's,.*/,,; s/\.list$//' >>"$owners" ||
			fail "$real is of no package"
	done
}

mkdir -p "$tree"/{etc/pebsd,run/pebsd,tmp,proc,sys,dev,usr/bin,usr/sbin,usr/lib,usr/lib64}
chmod 1777 "$tree/tmp"
for directory in bin sbin lib lib64; do
	ln -s "usr/$directory" "$tree/$directory"
done
add /usr/sbin/pebsd /usr/bin/pebsctl
linker=/usr/lib64/ld-linux-x86-64.so.2
# An absolute link would lead out of the root.
ln -sfr "$root$(readlink "$root$linker")" "$root$linker"
mapfile -t libraries < <(for program in usr/sbin/pebsd usr/bin/pebsctl; do
	"$root$linker" --inhibit-cache --library-path "$root/usr/lib/x86_64-linux-gnu:$root/usr/lib" --list "$root/$program"
done | sed -n "s,.*=> $root\(/[^ ]*\) .*,\1,p; s,.*\(not found\).*,/\1,p" | sort -u)
[ ${#libraries[@]} -gt 10 ] || fail "the dynamic linker found only ${#libraries[@]} libraries"
add "$linker" "${libraries[@]}"
# pebsctl top asks for the terminal's features.
mapfile -t terminals < <(cd "$root/usr" && find lib/terminfo -type f -o -type l | sed 's,^,/usr/,' | sort)
add "${terminals[@]}" /usr/lib/os-release
ln -s ../usr/lib/os-release "$tree/etc/os-release"
# Programs look up the names of users.
echo 'root:x:0:0:root:/:/usr/sbin/nologin' >"$tree/etc/passwd"
echo 'root:x:0:' >"$tree/etc/group"
# The records of dpkg in the form of images without dpkg.
mkdir -p "$tree/var/lib/dpkg/status.d"
sort -u "$owners" | sed 's/:.*//' >"$work/packages"
while read -r owner; do
	awk -v RS= -v owner="$owner" '$0 ~ "^Package: " owner "\n"' "$root/var/lib/dpkg/status" >"$tree/var/lib/dpkg/status.d/$owner"
	[ -s "$tree/var/lib/dpkg/status.d/$owner" ] || fail "dpkg does not know $owner"
	install -D -m 644 "$(realpath "$root/usr/share/doc/$owner/copyright")" "$tree/usr/share/doc/$owner/copyright"
done <"$work/packages"
cp -r "$root/usr/share/common-licenses" "$tree/usr/share/common-licenses"

tar -C "$tree" --create --file="$work/layer.tar" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
	--numeric-owner .
created=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%FT%TZ)
layout=$work/layout
image=$layout:$version
umoci init --layout "$layout"
umoci new --image "$image"
umoci raw add-layer --image "$image" --history.created "$created" --history.created_by 'make image' "$work/layer.tar"
labels=(org.opencontainers.image.title=pebsd "org.opencontainers.image.version=$version"
	'org.opencontainers.image.description=continuous memory profiler, by cgroup' org.opencontainers.image.licenses=GPL-2.0-only
	"org.opencontainers.image.created=$created" ${revision:+"org.opencontainers.image.revision=$revision"})
umoci config --image "$image" --no-history --created "$created" --os linux --architecture "$architecture" --config.user 0:0 \
	--config.entrypoint /usr/sbin/pebsd --config.env PATH=/usr/sbin:/usr/bin --config.exposedports 9754/tcp \
	"${labels[@]/#/--config.label=}"
umoci gc --layout "$layout" >/dev/null
# The names that podman and containerd give to an image that they load.
jq --compact-output --arg name "$name:$version" --arg version "$version" '.manifests[0].annotations =
	{"io.containerd.image.name": $name, "org.opencontainers.image.ref.name": $version}' "$layout/index.json" >"$work/index"
cp "$work/index" "$layout/index.json"
chmod -R u=rwX,go=rX "$layout"

mkdir -p "$output"
archive=$output/pebsd-$version.oci.tar
tar -C "$layout" --create --file="$archive.new" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
	--numeric-owner blobs index.json oci-layout
mv "$archive.new" "$archive"
say "$archive: $(($(stat --format=%s "$archive") / 1024)) KiB, unpacked $(($(stat --format=%s "$work/layer.tar") / 1024)) KiB," \
	"${#libraries[@]} libraries of $(wc -l <"$work/packages") packages"

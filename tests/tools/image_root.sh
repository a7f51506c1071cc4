#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the image that `make image` made, without a container runtime. A second image from the same package must have
# the same bytes. Its configuration must fit the DaemonSet. It must have neither a shell nor a file that gives rights,
# and records of its packages. In its files, without a writable root, pebsd must run on the model and answer, and
# pebsctl must draw on a terminal. tests/guest/inside/test_image.sh runs the image in podman, with real BPF programs.
#   image_root.sh PACKAGE IMAGE NAME
# Needs root, and what make deps-image installs.
set -eu

# In KiB. The image has 9,820 with Debian 12's libraries, and unpacked 23,200.
PACKED_MAX=12000
UNPACKED_MAX=28000

fail() {
	echo "$*"
	exit 1
}

# expect WHAT EXPECTED FOUND
expect() {
	[ "$2" = "$3" ] || fail "$1: expected $2, found $3"
}

[ $# = 3 ] || fail "usage: image_root.sh PACKAGE IMAGE NAME"
[ "$(id -u)" = 0 ] || { echo "needs root" && exit 77; }
# All mounts end with this process.
[ -n "${IMAGE_MOUNTS:-}" ] || IMAGE_MOUNTS=own exec unshare --mount "$0" "$@"
package=$1 image=$2 name=$3
work=$(mktemp -d)
daemon=''
# shellcheck disable=SC2317 # called by the trap
clean_up() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || :
	! mountpoint -q "$work/root" || umount --recursive --lazy "$work/root"
	rm -rf --one-file-system "$work"
}
trap clean_up EXIT

mkdir -p "$work/elsewhere/deb" "$work/layout"
cp "$package" "$work/elsewhere/deb/pebsd.deb"
(umask 077 && TZ=Pacific/Kiritimati LC_ALL=C LANGUAGE=de TMPDIR=$work/elsewhere HOME=/nonexistent \
	tests/tools/image.sh "$work/elsewhere/deb/pebsd.deb" "$work/second" "$name") || fail 'no second image can be made'
cmp "$image" "$work/second/${image##*/}" || fail 'two images of one package differ'
echo "the second image has the same bytes (after $SECONDS s)"

tar -C "$work/layout" -xf "$image"
blob() {
	echo "$work/layout/blobs/sha256/${1#sha256:}"
}
manifest=$(blob "$(jq -r '.manifests[0].digest' "$work/layout/index.json")")
config=$(blob "$(jq -r .config.digest "$manifest")")
expect 'layers' 1 "$(jq '.layers | length' "$manifest")"
layer=$(blob "$(jq -r '.layers[0].digest' "$manifest")")
for file in "$work"/layout/blobs/sha256/*; do
	expect 'the digest of a blob' "${file##*/}" "$(sha256sum "$file" | cut -d ' ' -f 1)"
done
version=$(dpkg-deb --field "$package" Version)
expect 'names' "[\"$name:$version\",\"$version\"]" \
	"$(jq -c '.manifests[0].annotations | [."io.containerd.image.name", ."org.opencontainers.image.ref.name"]' "$work/layout/index.json")"
expect 'platform' '["linux","amd64"]' "$(jq -c '[.os, .architecture]' "$config")"
# What the DaemonSet runs, and its configuration in $work/pebsd.conf.
python3 - "$work" <<'END' >"$work/wanted"
import sys, yaml
with open("config/kubernetes/daemonset.yaml") as file:
    objects = {one["kind"]: one for one in yaml.safe_load_all(file)}
(container,) = objects["DaemonSet"]["spec"]["template"]["spec"]["containers"]
user = container["securityContext"]
print(container["image"], *container["command"], f'{user["runAsUser"]}:{user["runAsGroup"]}',
      f'{container["ports"][0]["containerPort"]}/tcp')
with open(sys.argv[1] + "/pebsd.conf", "w") as file:
    file.write(objects["ConfigMap"]["data"]["pebsd.conf"])
END
expect 'the configuration of the image' "$(cat "$work/wanted")" \
	"$name:$version $(jq -r '.config | [.Entrypoint[], .User, (.ExposedPorts | keys[])] | join(" ")' "$config")"

root=$work/root
mkdir "$root"
mount -t tmpfs none "$root"
tar -C "$root" -xf "$layer"
# Everything is root's, and no file gives rights to others.
expect 'files of others' '' "$(find "$root" ! -user 0 -o ! -group 0)"
expect 'files that give rights' "$root/tmp" "$(find "$root" ! -type l -perm /7022)"
# Neither a shell nor another program.
expect 'programs' 'usr/bin/pebsctl usr/sbin/pebsd' \
	"$(cd "$root" && find usr/bin usr/sbin -mindepth 1 | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
for owner in "$root"/var/lib/dpkg/status.d/*; do
	grep -q '^Version: ' "$owner" || fail "$owner does not describe a package"
	[ -s "$root/usr/share/doc/${owner##*/}/copyright" ] || fail "the licence of ${owner##*/} is not there"
done
for owner in pebsd libc6 libbpf1; do
	[ -e "$root/var/lib/dpkg/status.d/$owner" ] || fail "no record of $owner"
done
packed=$(($(stat --format=%s "$image") / 1024)) unpacked=$(gzip -dc "$layer" | wc -c)
unpacked=$((unpacked / 1024))
echo "measured: $packed KiB, unpacked $unpacked KiB, of $(find "$root/var/lib/dpkg/status.d" -type f | wc -l) packages"
[ $packed -le $PACKED_MAX ] || fail "the image has $packed KiB, more than $PACKED_MAX"
[ $unpacked -le $UNPACKED_MAX ] || fail "the image has $unpacked KiB unpacked, more than $UNPACKED_MAX"

# The mounts of the pod, and a root that cannot be written to.
cp "$work/pebsd.conf" "$root/etc/pebsd/pebsd.conf"
mount -o remount,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o size=8M none "$root/run/pebsd"
port=$((20000 + $$ % 10000))
# inside COMMAND...: runs it with the environment of the image, in place of this shell.
inside() {
	exec env -i PATH=/usr/sbin:/usr/bin TERM=xterm chroot "$root" "$@"
}
expect 'pebsd --version' "pebsd $version" "$(inside /usr/sbin/pebsd --version)"
(inside /usr/sbin/pebsd --check-config) >/dev/null || fail 'pebsd refuses the ConfigMap'
inside /usr/sbin/pebsd --origin model --listen "127.0.0.1:$port" >"$work/log" 2>&1 &
daemon=$!
answers() {
	[ "$(curl --silent --max-time 10 "http://127.0.0.1:$port/readyz")" = ok ]
}
began=$(date +%s%N)
for _ in $(seq 1000); do
	! answers || break
	sleep 0.02
done
answers || fail "pebsd does not answer: $(cat "$work/log")"
echo "measured: ready $((($(date +%s%N) - began) / 1000000)) ms after its start, on the model"
sleep 2
(inside /usr/bin/pebsctl top --full -n 5) >"$work/top" || fail "pebsctl has no table: $(cat "$work/log")"
expect 'cgroups of pebsctl top -n 5' 5 "$(grep -o '^model:[a-z]*' "$work/top" | sort -u | wc -l)"
# The live screen needs a terminal and its description.
python3 - "$root" <<'END' || fail 'pebsctl top draws no screen'
import os, pty, select, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.chroot(sys.argv[1])
    os.chdir("/")
    os.execve("/usr/bin/pebsctl", ["pebsctl", "top"], {"TERM": "xterm-256color"})
seen, end = b"", time.monotonic() + 20
while b"database" not in seen and time.monotonic() < end:
    if select.select([terminal], [], [], 1)[0]:
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            break
os.write(terminal, b"q") if b"database" in seen else print(seen[-2000:])
sys.exit(b"database" not in seen or b"\x1b[" not in seen or os.waitpid(pid, 0)[1] != 0)
END
kill "$daemon"
wait "$daemon" || fail "pebsd ended with $?: $(cat "$work/log")"
daemon=''

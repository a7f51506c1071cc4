#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Incus starts containers in its default project and in another one. Their labels must be what Incus says: the name of
# another project is part of the container's name. pebsd must see each of them begin and end, also if it is restarted.
# The samples must be those of the books.
# long
# kernels: 7
# root: machines
# takes: 75 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/runtimes.sh
. "${0%/*}/runtimes.sh"

end_containers() {
	incus delete --force web
	incus delete --force db --project shop
	systemctl stop incus.service incus.socket
}

# path_of NAME PROJECT: prints the cgroup of its first process, as Incus says.
path_of() {
	cgroup_of_process "$(incus list --project "$2" --format json "$1" | jq '.[0].state.pid')"
}

incus admin init --minimal
make_tree "$work/image/rootfs"
printf '%s\n' 'architecture: x86_64' 'creation_date: 1700000000' >"$work/image/metadata.yaml"
tar --directory="$work/image" --create --file="$work/image.tar" metadata.yaml rootfs
incus image import --quiet "$work/image.tar" --alias tree
incus project create --quiet shop --config features.images=false --config features.profiles=false
begin_runtimes

incus launch --quiet tree web
expect 'the cgroup of web' /lxc.payload.web "$(path_of web default)"
expect_container web /lxc.payload.web '{"runtime":"lxc","container":"web"}'
incus launch --quiet tree db --project shop
expect 'the cgroup of db' /lxc.payload.shop_db "$(path_of db shop)"
expect_container db /lxc.payload.shop_db '{"runtime":"lxc","container":"shop_db"}'
await_container_samples
incus restart --force web
expect 'the cgroup of web' /lxc.payload.web "$(path_of web default)"
expect_container web /lxc.payload.web '{"runtime":"lxc","container":"web"}' 2
incus delete --force web
incus delete --force db --project shop
expect_death web /lxc.payload.web 2
expect_death db /lxc.payload.shop_db
expect_labels 'a container that was removed' /lxc.payload.shop_db '{"runtime":"lxc","container":"shop_db"}'
agree_on_containers "Incus $(incus version | sed -n 's/^Server version: //p')"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# LXC starts containers as root, with the cgroups that Proxmox names in its configuration, and for a user without root.
# Their labels must be what LXC says. pebsd must see each of them begin and end, also if it is restarted. The samples
# must be those of the books.
# long
# kernels: 7
# root: machines
# takes: 35 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/runtimes.sh
. "${0%/*}/runtimes.sh"

end_containers() {
	lxc-stop --kill --name web
	lxc-stop --kill --name 101
	as_user lxc-stop --kill --name mine
	rm -rf /var/lib/lxc/{web,101}
}

# configure_container DIRECTORY NAME [LINE...]
configure_container() {
	local directory=$1/$2
	make_tree "$directory/rootfs"
	printf '%s\n' "lxc.rootfs.path = dir:$directory/rootfs" "lxc.uts.name = $2" 'lxc.net.0.type = empty' \
		'lxc.apparmor.profile = unconfined' \
		"lxc.init.cmd = ${program[*]}" "${@:3}" >"$directory/config"
}

# pid_of NAME [as_user]: prints its first process, as LXC says.
pid_of() {
	${2:-} lxc-info --name "$1" --pid --no-humanize
}

begin_runtimes
configure_container /var/lib/lxc web
configure_container /var/lib/lxc 101 'lxc.cgroup.dir.monitor = lxc.monitor/101' 'lxc.cgroup.dir.container = lxc/101' \
	'lxc.cgroup.dir.container.inner = ns'
lxc-start --name web
expect 'the cgroup of web' /lxc.payload.web "$(cgroup_of_process "$(pid_of web)")"
expect_container web /lxc.payload.web '{"runtime":"lxc","container":"web"}'
lxc-start --name 101
expect 'the cgroup of 101' /lxc/101/ns "$(cgroup_of_process "$(pid_of 101)")"
expect_container 101 /lxc/101/ns '{"runtime":"lxc","container":"101"}'

add_user
mkdir -p /home/joe/.local/share/lxc
configure_container /home/joe/.local/share/lxc mine 'lxc.include = /usr/share/lxc/config/userns.conf' \
	'lxc.idmap = u 0 100000 65536' 'lxc.idmap = g 0 100000 65536'
chown -R 100000:100000 /home/joe/.local/share/lxc/mine/rootfs
chmod 755 /home/joe /home/joe/.local /home/joe/.local/share /home/joe/.local/share/lxc /home/joe/.local/share/lxc/mine
chown joe:joe /home/joe/.local /home/joe/.local/share /home/joe/.local/share/lxc /home/joe/.local/share/lxc/mine
# LXC asks the user's systemd for a scope.
as_user lxc-start --name mine
path=$(cgroup_of_process "$(pid_of mine as_user)")
[[ $path == /user.slice/user-1000.slice/user@1000.service/*.scope/lxc.payload.mine ]] || fail "the cgroup of mine: $path"
expect_container mine "$path" '{"runtime":"lxc","container":"mine","user":"1000"}'
expect 'the containers by LXC' '101 web' "$(lxc-ls -1 --running | sort | paste -s -d ' ')"
await_container_samples

lxc-stop --kill --name web
lxc-start --name web
expect 'the cgroup of web' /lxc.payload.web "$(cgroup_of_process "$(pid_of web)")"
expect_container web /lxc.payload.web '{"runtime":"lxc","container":"web"}' 2
lxc-stop --kill --name web
lxc-stop --kill --name 101
as_user lxc-stop --kill --name mine
expect_death web /lxc.payload.web 2
expect_death 101 /lxc/101/ns
expect_death mine "$path"
expect_labels 'a container that was removed' "$path" '{"runtime":"lxc","container":"mine","user":"1000"}'
agree_on_containers "LXC $(lxc-info --version)"

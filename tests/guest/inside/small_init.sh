#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Process 1 of a small guest: does the part of systemd's work that the tests need, and then runs the tests. Such a
# guest boots in a few seconds, so there can be one for each machine and kernel.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
ln -s /proc/self/fd /dev/fd
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t debugfs debugfs /sys/kernel/debug
mount -t bpf bpf /sys/fs/bpf
/usr/lib/pebsd-tests/loopback_up
exec </dev/null >/dev/console 2>&1
/usr/lib/pebsd-tests/run.sh
systemctl poweroff --force --force

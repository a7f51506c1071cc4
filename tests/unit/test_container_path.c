// SPDX-License-Identifier: GPL-2.0
/*
 * Paths as container managers and systemd make them, and the labels that follow from them.
 * pebsd-containers(7) has the same table, and tests/e2e/test_containers_table.sh compares both. Each row is
 * therefore one line here.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cgroup/container_path.h"

/* The rows contain these words instead of the parts that differ from container to container. */
#define ID   "3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
#define ID2  "c46bafd57b2ef55a23c1319893c8aa5bfca24872bd95258700a51059941fb69e"
#define UID  "12fdc709-933e-41d0-917f-cd84de9afa94"
#define UID_ "12fdc709_933e_41d0_917f_cd84de9afa94"
#define HASH "ec26a31a7a2ddcb1c4ab6ad5bfa3ba7a"

static const struct {
	const char *word;
	const char *text;
} places[] = {{"HASH", HASH}, {"UID_", UID_}, {"UID", UID}, {"ID2", ID2}, {"ID", ID}};

static char *expand(const char *row)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	for (const char *at = row; *at;) {
		size_t i = 0;

		while (i < ARRAY_SIZE(places) && strncmp(at, places[i].word, strlen(places[i].word)) != 0)
			i++;
		if (i < ARRAY_SIZE(places))
			(void)fputs(places[i].text, stream);
		else
			(void)fputc(*at, stream);
		at += i < ARRAY_SIZE(places) ? strlen(places[i].word) : 1;
	}
	(void)fclose(stream);
	return text;
}

/* Formats the known labels as word=text, in order and separated by blanks. */
static char *show(const struct container_labels *labels)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	const char *separator = "";

	for (enum container_label label = 0; label < CONTAINER_LABELS; label++) {
		if (!*labels->text[label])
			continue;
		(void)fprintf(stream, "%s%s=%s", separator, container_label_name(label), labels->text[label]);
		separator = " ";
	}
	(void)fclose(stream);
	return text;
}

static void expect(const char *path, const char *wanted)
{
	_cleanup_free_ char *whole_path = expand(path);
	_cleanup_free_ char *whole_wanted = expand(wanted);
	_cleanup_free_ char *shown = NULL;
	struct container_labels labels;
	bool known = container_path_parse(whole_path, &labels);

	shown = show(&labels);
	cr_expect_str_eq(shown, whole_wanted, "%s", path);
	cr_expect_eq(known, *wanted != '\0', "%s", path);
}

Test(container_path, paths_of_each_runtime_are_recognized)
{
	static const char *const rows[][2] = {
		/* clang-format off */
		/* table begins */
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID_.slice/cri-containerd-ID.scope", "runtime=containerd pod_uid=UID container_id=ID"},
		{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podUID_.slice/crio-ID.scope", "runtime=cri-o pod_uid=UID container_id=ID"},
		{"/kubepods.slice/kubepods-podUID_.slice/crio-ID.scope/container", "runtime=cri-o pod_uid=UID container_id=ID"},
		{"/kubepods.slice/kubepods-podUID_.slice/docker-ID.scope", "runtime=docker pod_uid=UID container_id=ID"},
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podHASH.slice/cri-containerd-ID.scope", "runtime=containerd pod_uid=HASH container_id=ID"},
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID_.slice", "pod_uid=UID"},
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID_.slice/crio-conmon-ID.scope", "pod_uid=UID unit=crio-conmon-ID.scope"},
		{"/kubepods/burstable/podUID/ID", "pod_uid=UID container_id=ID"},
		{"/kubepods/podUID/ID", "pod_uid=UID container_id=ID"},
		{"/kubepods/besteffort/podUID/crio-ID", "runtime=cri-o pod_uid=UID container_id=ID"},
		{"/kubelet/kubepods/burstable/podUID/ID", "pod_uid=UID container_id=ID"},
		{"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-podUID_.slice/cri-containerd-ID.scope", "runtime=containerd pod_uid=UID container_id=ID"},
		{"/system.slice/docker-ID2.scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-podUID_.slice/cri-containerd-ID.scope", "runtime=containerd pod_uid=UID container_id=ID"},
		{"/system.slice/containerd.service/kubepods-besteffort-podUID_.slice:cri-containerd:ID", "runtime=containerd pod_uid=UID container_id=ID"},
		{"/system.slice/docker-ID.scope", "runtime=docker container_id=ID"},
		{"/docker/ID", "runtime=docker container_id=ID"},
		{"/system.slice/docker-ID.scope/system.slice/nginx.service", "runtime=docker container_id=ID unit=nginx.service"},
		{"/user.slice/user-1000.slice/user@1000.service/user.slice/docker-ID.scope", "runtime=docker container_id=ID user=1000"},
		{"/ecs/9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d/ID", "runtime=docker container_id=ID"},
		{"/ecstasks.slice/ecstasks-9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d.slice/docker-ID.scope", "runtime=docker container_id=ID"},
		{"/system.slice/nerdctl-ID.scope", "runtime=containerd container_id=ID"},
		{"/default/ID", "runtime=containerd container_id=ID"},
		{"/default/web", "runtime=containerd container=web"},
		{"/machine.slice/libpod-ID.scope/container", "runtime=podman container_id=ID"},
		{"/machine.slice/machine-libpod_pod_ID2.slice/libpod-ID.scope", "runtime=podman container_id=ID"},
		{"/libpod_parent/libpod-ID", "runtime=podman container_id=ID"},
		{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope/container", "runtime=podman container_id=ID user=1000"},
		{"/system.slice/web.service/libpod-payload-ID", "runtime=podman container_id=ID unit=web.service"},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/redis.service/libpod-payload-ID", "runtime=podman container_id=ID unit=redis.service user=1000"},
		{"/machine.slice/libpod-conmon-ID.scope", "unit=libpod-conmon-ID.scope"},
		{"/machine.slice/systemd-nspawn@build.service/payload/system.slice/sshd.service", "runtime=nspawn container=build unit=sshd.service"},
		{"/machine.slice/machine-build\\x2dhost.scope/payload", "runtime=nspawn container=build-host"},
		{"/machine.slice/machine-image.scope", "runtime=machine container=image"},
		{"/machine.slice/machine-qemu\\x2d6\\x2ddebian12\\x2d1.scope/libvirt/vcpu0", "runtime=libvirt container=debian12-1"},
		{"/machine.slice/machine-lxc\\x2d1201\\x2dweb.scope", "runtime=libvirt container=web"},
		{"/machine/qemu-1-instance-0000001d.libvirt-qemu/emulator", "runtime=libvirt container=instance-0000001d"},
		{"/lxc.payload.web", "runtime=lxc container=web"},
		{"/lxc.payload.web/system.slice/nginx.service", "runtime=lxc container=web unit=nginx.service"},
		{"/lxc/101/ns", "runtime=lxc container=101"},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-firefox-2211.scope", "unit=app-gnome-firefox-2211.scope user=1000"},
		{"/user.slice/user-1000.slice/session-3.scope", "unit=session-3.scope user=1000"},
		{"/system.slice/system-getty.slice/getty@tty1.service", "unit=getty@tty1.service"},
		{"/system.slice/postgresql@15-main.service/workers", "unit=postgresql@15-main.service"},
		/* table ends */
		/* clang-format on */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect(rows[i][0], rows[i][1]);
}

Test(container_path, similar_paths_are_not_recognized)
{
	static const char *const nothing[] = {
		"",
		"/",
		"//",
		"comm:docker-ID.scope",
		"model:pointer-chase",
		"cgroup:7/docker-ID.scope",
		"other",
		"/system.slice",
		"/docker",
		"/kubepods/burstable",
		"/kubepods.slice/kubepods-burstable.slice",
		"/kubepods.slice/kubepods-podUID.slice.d", /* not a slice */
		"/podUID",                                 /* not below kubepods */
		"/some-podUID_.slice",
		"/kubepods/pod12fdc709-933e-41d0-917f-cd84de9afa9X",
		"/kubepods/pod12fdc709_933e041d0_917f_cd84de9afa94",
		"/kubepods-podHASH",
		"/docker/3F4A1B9C0D2E5F60718293A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8",
		"/lxc.monitor.web",
		"/lxc.monitor/101",
		"/lxc.payload.",
		"/user.slice/user-.slice",
		"/user.slice/user-1x.slice",
		"/user.slice/user-99999999999.slice",
		"/a:b:ID",
		"/system.slice:docker:",
		"/default",
		"/a/default/web", /* a namespace of containerd is at the root */
	};

	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++)
		expect(nothing[i], "");
}

Test(container_path, the_innermost_container_of_a_path_counts)
{
	/* The node is itself a container. A unit on it also has the labels of that container. */
	expect("/docker/ID/system.slice/kubelet.service",
	       "runtime=docker container_id=ID unit=kubelet.service");
	expect("/docker/ID/docker/ID2", "runtime=docker container_id=ID2");
	/* A container of a pod started this container, which is therefore not a container of that pod. */
	expect("/kubepods/podUID/ID/docker/ID2", "runtime=docker container_id=ID2");
	/* A directory that a container made in its own cgroup. */
	expect("/docker/ID/ID2", "runtime=docker container_id=ID");
	expect("/lxc.payload.a/lxc.payload.b", "runtime=lxc container=b");
	expect("/lxc.payload.a/user.slice/user-0.slice/session-1.scope",
	       "runtime=lxc container=a unit=session-1.scope user=0");
	expect("/ID", "container_id=ID");
}

Test(container_path, names_of_any_bytes_are_accepted)
{
	expect("/lxc.payload.a\nb\"\\", "runtime=lxc container=a\nb\"\\");
	expect("/machine.slice/machine-a\\x20b\\x2.scope", "runtime=machine container=a b\\x2");
	/* An escaped NUL byte stays as it is, so that it cannot end the name. */
	expect("/machine.slice/machine-a\\x00b.scope", "runtime=machine container=a\\x00b");
	expect("/machine.slice/machine-\\x2d.scope", "runtime=machine container=-");
	expect("/machine.slice/machine-qemu\\x2d\\x2da.scope", "runtime=machine container=qemu--a");
	expect("/machine.slice/machine-qemu\\x2d1\\x2d.scope", "runtime=machine container=qemu-1-");
}

Test(container_path, impossible_names_are_refused)
{
	struct container_labels labels;
	char path[1024] = "/lxc.payload.";

	memset(path + strlen(path), 'a', 255);
	cr_expect(container_path_parse(path, &labels));
	cr_expect_eq(strlen(labels.text[CONTAINER_LABEL_CONTAINER]), 255);
	path[strlen(path)] = 'a';
	cr_expect(container_path_parse(path, &labels));
	cr_expect_str_eq(labels.text[CONTAINER_LABEL_CONTAINER], "");
	cr_expect_str_eq(labels.text[CONTAINER_LABEL_RUNTIME], "lxc");
}

// SPDX-License-Identifier: GPL-2.0
/* Names of containers from files below a root directory: files as runtimes write them, and hostile ones. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cgroup/container_path.h"
#include "containers/container_files.h"
#include "tree.h"

#define ID     "3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
#define ID2    "c46bafd57b2ef55a23c1319893c8aa5bfca24872bd95258700a51059941fb69e"
#define UID    "12fdc709-933e-41d0-917f-cd84de9afa94"
#define IN_POD "/kubepods/burstable/pod" UID

#define TASK   "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json"
#define DOCKER "var/lib/docker/containers/" ID "/config.v2.json"

static char *root;

static void begin(void)
{
	root = tree_new();
}

static void end(void)
{
	tree_remove(root);
}

TestSuite(container_files, .init = begin, .fini = end);

static void expect(const char *path, const char *runtime, const char *namespace, const char *pod,
		   const char *container)
{
	_cleanup_close_ int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct container_labels labels;

	cr_assert(container_path_parse(path, &labels), "%s", path);
	container_files_find(fd, &labels);
	cr_expect_str_eq(labels.text[CONTAINER_LABEL_RUNTIME], runtime);
	cr_expect_str_eq(labels.text[CONTAINER_LABEL_NAMESPACE], namespace);
	cr_expect_str_eq(labels.text[CONTAINER_LABEL_POD], pod);
	cr_expect_str_eq(labels.text[CONTAINER_LABEL_CONTAINER], container);
	cr_expect_eq(container_files_complete(&labels), *container != '\0');
}

static char *below(const char *path)
{
	char *whole;

	cr_assert_geq(asprintf(&whole, "%s/%s", root, path), 0);
	return whole;
}

static void link_to(const char *target, const char *path)
{
	_cleanup_free_ char *whole = below(path);

	cr_assert_eq(symlink(target, whole), 0, "%s", whole);
}

Test(container_files, logs_name_pods_and_containers)
{
	tree_write(root, "var/log/pods/shop_cart-0_" UID "/app/0.log", "");
	tree_write(root, "var/log/pods/kube-system_dns_00000000-933e-41d0-917f-cd84de9afa94/dns/0.log", "");
	expect(IN_POD "/" ID, "", "shop", "cart-0", "");
	/*
	 * The labels of a container are not complete without the container's name, as expect() checks. For
	 * the cgroup of a pod, the pod's name would be enough.
	 */
	tree_write(root, "var/log/containers/cart-0_shop_app-" ID ".log", "");
	expect(IN_POD "/" ID, "", "shop", "cart-0", "app");
	expect(IN_POD "/crio-" ID, "cri-o", "shop", "cart-0", "app");
}

Test(container_files, runtimes_name_containers_that_logs_do_not_name)
{
	expect("/docker/" ID, "docker", "", "", "");
	tree_write(root, DOCKER, "{\"Name\":\"/web\"}");
	expect("/docker/" ID, "docker", "", "", "web");
	/* The files of another runtime are not read. */
	expect("/machine.slice/libpod-" ID ".scope", "podman", "", "", "");
	tree_write(root, "var/lib/containers/storage/overlay-containers/volatile-containers.json",
		   "[{\"id\":\"" ID "\",\"names\":[\"db\"]}]");
	expect("/machine.slice/libpod-" ID ".scope", "podman", "", "", "db");
	tree_write(root, "run/containers/storage/overlay-containers/" ID "/userdata/config.json",
		   "{\"annotations\":{\"io.kubernetes.container.name\":\"app\",\"io.kubernetes.pod.name\":"
		   "\"cart-0\",\"io.kubernetes.pod.namespace\":\"shop\"}}");
	expect(IN_POD "/crio-" ID, "cri-o", "shop", "cart-0", "app");
}

Test(container_files, the_runtime_is_found_if_the_path_does_not_show_it)
{
	tree_write(root, TASK,
		   "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"app\","
		   "\"io.kubernetes.cri.sandbox-name\":\"cart-0\","
		   "\"io.kubernetes.cri.sandbox-namespace\":\"shop\"}}");
	expect(IN_POD "/" ID, "containerd", "shop", "cart-0", "app");
}

Test(container_files, directories_of_k3s_and_nerdctl_are_read)
{
	tree_write(root, "run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
		   "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"app\","
		   "\"io.kubernetes.cri.sandbox-name\":\"cart-0\","
		   "\"io.kubernetes.cri.sandbox-namespace\":\"shop\"}}");
	expect(IN_POD "/cri-containerd-" ID, "containerd", "shop", "cart-0", "app");
	tree_write(root, "run/containerd/io.containerd.runtime.v2.task/default/" ID "/config.json",
		   "{\"annotations\":{\"nerdctl/name\":\"web\"}}");
	expect("/default/" ID, "containerd", "", "", "web");
	tree_write(root, "run/containerd/io.containerd.runtime.v2.task/shop/" ID2 "/config.json",
		   "{\"annotations\":{\"nerdctl/name\":\"db\"}}");
	expect("/system.slice/nerdctl-" ID2 ".scope", "containerd", "", "", "db");
}

/* An administrator may have moved Docker's data to another disk. */
Test(container_files, a_well_known_directory_may_be_a_link)
{
	tree_write(root, "disk/containers/" ID "/config.v2.json", "{\"Name\":\"/web\"}");
	tree_write(root, "var/lib/keep", "");
	link_to("../../disk", "var/lib/docker");
	expect("/docker/" ID, "docker", "", "", "web");
}

Test(container_files, links_below_the_directory_are_not_followed)
{
	tree_write(root, "elsewhere/config.v2.json", "{\"Name\":\"/web\"}");
	tree_write(root, "var/lib/docker/containers/keep", "");
	link_to("../../../../elsewhere", "var/lib/docker/containers/" ID);
	expect("/docker/" ID, "docker", "", "", "");
	tree_write(root, "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/keep", "");
	link_to("config.json", TASK);
	expect("/kubepods/pod" UID "/cri-containerd-" ID, "containerd", "", "", "");
}

Test(container_files, a_fifo_instead_of_a_file_does_not_block)
{
	_cleanup_free_ char *fifo = below(DOCKER);
	_cleanup_free_ char *log = below("var/log/pods");

	tree_write(root, "var/lib/docker/containers/" ID "/keep", "");
	cr_assert_eq(mkfifo(fifo, 0600), 0);
	expect("/docker/" ID, "docker", "", "", "");
	tree_write(root, "var/log/keep", "");
	cr_assert_eq(mkfifo(log, 0600), 0);
	expect(IN_POD "/" ID, "", "", "", "");
	link_to("containers", "var/log/containers");
	expect(IN_POD "/" ID, "", "", "", "");
	tree_write(root, TASK "/a-directory", "");
	expect("/kubepods/pod" UID "/cri-containerd-" ID, "containerd", "", "", "");
}

Test(container_files, files_that_are_too_large_are_not_read)
{
	_cleanup_free_ char *path = below(DOCKER);

	tree_write(root, DOCKER, "{\"Name\":\"/web\"}");
	cr_assert_eq(truncate(path, (off_t)1 << 40), 0);
	expect("/docker/" ID, "docker", "", "", "");
	/* Blanks after the JSON text are accepted. NUL bytes are not, because they are not JSON. */
	cr_assert_eq(truncate(path, 4096), 0);
	expect("/docker/" ID, "docker", "", "", "");
	cr_assert_eq(truncate(path, (off_t)strlen("{\"Name\":\"/web\"}")), 0);
	expect("/docker/" ID, "docker", "", "", "web");
}

Test(container_files, invalid_names_are_ignored)
{
	tree_write(root, "var/log/pods/a b_cart-0_" UID "/keep", "");
	tree_write(root, "var/log/pods/shop_cart\"0_" UID "/keep", "");
	tree_write(root, DOCKER, "{\"Name\":\"/we\\nb\"}");
	expect(IN_POD "/" ID, "", "", "", "");
	expect("/docker/" ID, "docker", "", "", "");
}

Test(container_files, a_pod_without_container_needs_only_its_name)
{
	_cleanup_close_ int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct container_labels labels;

	cr_assert(container_path_parse(IN_POD, &labels));
	cr_expect_not(container_files_complete(&labels));
	tree_write(root, "var/log/pods/shop_cart-0_" UID "/app/0.log", "");
	container_files_find(fd, &labels);
	cr_expect(container_files_complete(&labels));
	cr_assert(container_path_parse("/system.slice/nginx.service", &labels));
	cr_expect(container_files_complete(&labels));
}

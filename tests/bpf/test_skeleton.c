// SPDX-License-Identifier: GPL-2.0
/*
 * Both kinds of BPF object load with only CAP_BPF and CAP_PERFMON, which the unit leaves to pebsd. The objects
 * for kernels before 6.2 name nothing that libbpf would look for in modules, on any kernel.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "kernel/kernel_internal.h"
#include "kernel/skeleton.h"
#include "older_pebsd.skel.h"
#include "older_zoom.skel.h"
#include "zoom.skel.h"

#define NOBODY 65534

static int keep_two_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return -errno;
	data[1].permitted = data[1].effective = 1U << (CAP_BPF - 32) | 1U << (CAP_PERFMON - 32);
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static int load_pebsd(void)
{
	struct pebsd_bpf *skeleton = skeleton_open_pebsd();
	int r = skeleton ? pebsd_bpf__load(skeleton) : -errno;

	pebsd_bpf__destroy(skeleton);
	return r;
}

static int load_older_pebsd(void)
{
	struct older_pebsd_bpf *skeleton = older_pebsd_bpf__open();
	int r = skeleton ? older_pebsd_bpf__load(skeleton) : -errno;

	older_pebsd_bpf__destroy(skeleton);
	return r;
}

static int load_zoom(void)
{
	struct zoom_bpf *skeleton = skeleton_open_zoom();
	int r = skeleton ? zoom_bpf__load(skeleton) : -errno;

	zoom_bpf__destroy(skeleton);
	return r;
}

static int load_older_zoom(void)
{
	struct older_zoom_bpf *skeleton = older_zoom_bpf__open();
	int r = skeleton ? older_zoom_bpf__load(skeleton) : -errno;

	older_zoom_bpf__destroy(skeleton);
	return r;
}

Test(skeleton, the_skeleton_opens_without_root)
{
	static const struct {
		const char *name;
		int (*load)(void);
	} objects[] = {
		{"pebsd", load_pebsd},
		{"older_pebsd", load_older_pebsd},
		{"zoom", load_zoom},
		{"older_zoom", load_older_zoom},
	};

	if (geteuid() != 0)
		cr_skip_test("needs root: it loads BPF programs");
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		pid_t pid = fork();
		int status;

		cr_assert_geq(pid, 0);
		if (pid == 0) {
			if (keep_two_capabilities() < 0)
				_exit(126);
			_exit(objects[i].load() < 0);
		}
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: %#x", objects[i].name,
			  (unsigned)status);
	}
}

static bool names(const void *object, size_t bytes, const char *name)
{
	return memmem(object, bytes, name, strlen(name) + 1) != NULL;
}

Test(skeleton, the_older_skeleton_names_no_kernel_function)
{
	const void *bytes;
	size_t size;

	bytes = pebsd_bpf__elf_bytes(&size);
	cr_expect(names(bytes, size, "bpf_cast_to_kern_ctx"));
	bytes = older_pebsd_bpf__elf_bytes(&size);
	cr_expect_not(names(bytes, size, "bpf_cast_to_kern_ctx"));
	bytes = older_zoom_bpf__elf_bytes(&size);
	cr_expect_not(names(bytes, size, "bpf_cast_to_kern_ctx"));
}

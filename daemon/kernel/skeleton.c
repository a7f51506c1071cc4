// SPDX-License-Identifier: GPL-2.0
#include "kernel/skeleton.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "kernel/kernel_internal.h" /* the types of the variables */
#include "older_pebsd.skel.h"
#include "older_zoom.skel.h"
#include "pebsd.skel.h"
#include "zoom.skel.h"

#define VMLINUX_BTF  "/sys/kernel/btf/vmlinux"
#define KFUNC_OF_6_2 "bpf_cast_to_kern_ctx"

_Static_assert(sizeof(struct pebsd_bpf) == sizeof(struct older_pebsd_bpf) &&
		       sizeof(struct pebsd_bpf__rodata) == sizeof(struct older_pebsd_bpf__rodata) &&
		       sizeof(struct pebsd_bpf__bss) == sizeof(struct older_pebsd_bpf__bss) &&
		       sizeof(struct zoom_bpf) == sizeof(struct older_zoom_bpf) &&
		       sizeof(struct zoom_bpf__rodata) == sizeof(struct older_zoom_bpf__rodata),
	       "both objects have the same skeleton");

#define SAME_OFFSET(object, part, variable)                                             \
	_Static_assert(offsetof(struct object##_bpf__##part, variable) ==               \
			       offsetof(struct older_##object##_bpf__##part, variable), \
		       "both objects have their variables at the same offsets")

/* All variables that the daemon uses. */
SAME_OFFSET(pebsd, rodata, block_log2);
SAME_OFFSET(pebsd, rodata, block_mask);
SAME_OFFSET(pebsd, rodata, block_slots);
SAME_OFFSET(pebsd, rodata, stripes_alone);
SAME_OFFSET(pebsd, rodata, dirty_event);
SAME_OFFSET(pebsd, rodata, dirty_owners);
SAME_OFFSET(pebsd, rodata, dirty_offcore);
SAME_OFFSET(pebsd, rodata, dirty_lines);
SAME_OFFSET(pebsd, rodata, events);
SAME_OFFSET(pebsd, rodata, offcore_cpu_count);
SAME_OFFSET(pebsd, rodata, decode_tables);
SAME_OFFSET(pebsd, rodata, cpu_count);
SAME_OFFSET(pebsd, rodata, hot_max);
SAME_OFFSET(pebsd, rodata, hot_events);
SAME_OFFSET(pebsd, rodata, hot_cpus);
SAME_OFFSET(pebsd, rodata, hot_seed);
SAME_OFFSET(pebsd, rodata, read_by_probe);
SAME_OFFSET(pebsd, bss, slot_counters);
SAME_OFFSET(pebsd, bss, rejected);
SAME_OFFSET(pebsd, bss, slots_used);
SAME_OFFSET(pebsd, bss, free_head);
SAME_OFFSET(pebsd, bss, slots_taken);
SAME_OFFSET(pebsd, bss, slots_now);
SAME_OFFSET(pebsd, bss, slots_reported);
SAME_OFFSET(pebsd, bss, index_epoch);
SAME_OFFSET(pebsd, bss, hot_chosen);
SAME_OFFSET(pebsd, bss, hot_choices);
SAME_OFFSET(pebsd, bss, hot_made);
SAME_OFFSET(pebsd, bss, empty_runs);
SAME_OFFSET(zoom, rodata, spacing_ns);
SAME_OFFSET(zoom, rodata, operations);

/*
 * BTF has one table of strings, each with a terminating 0. A string says nothing about the kind of type that has
 * the name, but nothing else in the kernel has the names that this file looks for.
 */
bool skeleton_names(const void *btf, size_t bytes, const char *name)
{
	const size_t length = strlen(name) + 1;
	const char *place = btf;
	const char *end = place + bytes;

	for (; (place = memmem(place, (size_t)(end - place), name, length)); place++)
		if (place > (const char *)btf && place[-1] == '\0')
			return true;
	return false;
}

/* Searches the bytes directly, because parsing the BTF with libbpf takes 20 times as long. */
static bool kernel_has(const char *name)
{
	_cleanup_close_ int fd = open(VMLINUX_BTF, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *bytes = NULL;
	size_t size, got = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0)
		return false;
	size = (size_t)st.st_size;
	bytes = malloc(size);
	while (bytes && got < size) {
		ssize_t n = read(fd, bytes + got, size - got);

		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return bytes && skeleton_names(bytes, size, name);
}

struct pebsd_bpf *skeleton_open_pebsd(void)
{
	struct pebsd_bpf *skeleton;
	int r;

	if (kernel_has(KFUNC_OF_6_2))
		return pebsd_bpf__open();
	/* Kernels before 6.2: the code of older_pebsd.bpf.c, in the same skeleton struct. */
	skeleton = calloc(1, sizeof(*skeleton));
	r = !skeleton ? -ENOMEM : pebsd_bpf__create_skeleton(skeleton);
	if (r == 0) {
		skeleton->skeleton->data = (void *)older_pebsd_bpf__elf_bytes(&skeleton->skeleton->data_sz);
		r = bpf_object__open_skeleton(skeleton->skeleton, NULL);
	}
	if (r == 0)
		return skeleton;
	pebsd_bpf__destroy(skeleton);
	errno = -r;
	return NULL;
}

struct zoom_bpf *skeleton_open_zoom(void)
{
	struct zoom_bpf *skeleton;
	int r;

	if (kernel_has(KFUNC_OF_6_2))
		return zoom_bpf__open();
	/* Kernels before 6.2: the code of older_zoom.bpf.c, in the same skeleton struct. */
	skeleton = calloc(1, sizeof(*skeleton));
	r = !skeleton ? -ENOMEM : zoom_bpf__create_skeleton(skeleton);
	if (r == 0) {
		skeleton->skeleton->data = (void *)older_zoom_bpf__elf_bytes(&skeleton->skeleton->data_sz);
		r = bpf_object__open_skeleton(skeleton->skeleton, NULL);
	}
	if (r == 0)
		return skeleton;
	zoom_bpf__destroy(skeleton);
	errno = -r;
	return NULL;
}

struct bpf_program *skeleton_event_program(const struct pebsd_bpf *skeleton, unsigned event)
{
	struct bpf_program *const programs[EVENTS_MAX] = {
		skeleton->progs.event_0, skeleton->progs.event_1,  skeleton->progs.event_2,
		skeleton->progs.event_3, skeleton->progs.event_4,  skeleton->progs.event_5,
		skeleton->progs.event_6, skeleton->progs.event_7,  skeleton->progs.event_8,
		skeleton->progs.event_9, skeleton->progs.event_10, skeleton->progs.event_11,
	};

	return event < EVENTS_MAX ? programs[event] : NULL;
}

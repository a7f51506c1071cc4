// SPDX-License-Identifier: GPL-2.0
#include "collect/adopt.h"

#include <errno.h>

#include "cgroup/names.h"
#include "cgroup/walk.h"

struct adoption {
	struct kernel *kernel;
	struct names *names;   /* the cgroups of this walk, for a second lookup by path */
	adopt_missing missing; /* NULL: not wanted */
	void *userdata;
	u64 *adopted; /* ids */
	size_t n;
	size_t allocated;
	struct adopt_counts counts;
};

static int remember(struct adoption *adoption, u64 id)
{
	if (adoption->n == adoption->allocated) {
		size_t allocated = adoption->allocated ? adoption->allocated * 2 : 256;
		u64 *adopted = reallocarray(adoption->adopted, allocated, sizeof(*adopted));

		if (!adopted)
			return -ENOMEM;
		adoption->adopted = adopted;
		adoption->allocated = allocated;
	}
	adoption->adopted[adoption->n++] = id;
	return 0;
}

/* The walk meets a parent before its children, so all names on the path of a cgroup were met before. */
static int note_missing(struct adoption *adoption, u64 id, u64 parent_id, const char *name)
{
	_cleanup_free_ char *path = NULL;

	/* Without a stored name, this cgroup and its children have no path: they are only counted. */
	if (!adoption->missing || names_add(adoption->names, id, parent_id, name) < 0)
		return 0;
	return names_path(adoption->names, id, &path) < 0 ? -ENOMEM
							  : adoption->missing(path, adoption->userdata);
}

static int adopt_one(u64 id, u64 parent_id, const char *name, void *userdata)
{
	struct adoption *adoption = userdata;
	int r = kernel_adopt(adoption->kernel, id, parent_id, name);

	if (r == -ENOSPC) {
		adoption->counts.without_slot++;
		return note_missing(adoption, id, parent_id, name);
	}
	if (r < 0)
		return r;
	adoption->counts.adopted++;
	/*
	 * If the name cannot be stored, mark_vanished() does not check this cgroup. Only the tracepoint marks
	 * its slot dead then.
	 */
	if (names_add(adoption->names, id, parent_id, name) < 0)
		return 0;
	return remember(adoption, id);
}

/*
 * The tracepoint may have seen a removal before the adoption. Then nothing else would ever mark the slot
 * dead.
 */
static int mark_vanished(struct adoption *adoption, int root_fd)
{
	for (size_t i = 0; i < adoption->n; i++) {
		_cleanup_free_ char *path = NULL;

		if (names_path(adoption->names, adoption->adopted[i], &path) < 0)
			return -ENOMEM;
		if (cgroup_walk_exists(root_fd, path, adoption->adopted[i]) != 0)
			continue;
		(void)kernel_mark_dead(adoption->kernel, adoption->adopted[i]);
		adoption->counts.vanished++;
	}
	return 0;
}

/*
 * The tracepoint counts each removal after the directory is gone (kernel/cgroup/cgroup.c, cgroup_rmdir(),
 * Linux 6.1). If no removal was counted since before the walk, the tracepoint finds the slot of each cgroup
 * that is removed from now on.
 */
static bool may_have_vanished(const struct kernel *kernel, u64 deaths)
{
	return !kernel_settings(kernel)->births || kernel_slot_counters(kernel).deaths != deaths;
}

int adopt_tree(struct kernel *kernel, int root_fd, adopt_missing missing, void *userdata,
	       struct adopt_counts *ret)
{
	_cleanup_(names_freep) struct names *names = NULL;
	struct cgroup_walk_counts walked = {0};
	struct adoption adoption = {.kernel = kernel, .missing = missing, .userdata = userdata};
	u64 deaths = kernel_slot_counters(kernel).deaths;
	int r;

	r = names_new(KERNEL_SLOTS_MAX, &names);
	if (r < 0)
		return r;
	adoption.names = names;
	r = cgroup_walk(root_fd, adopt_one, &adoption, &walked);
	if (may_have_vanished(kernel, deaths)) {
		int marked = mark_vanished(&adoption, root_fd);

		r = r < 0 ? r : marked;
	}
	free(adoption.adopted);
	adoption.counts.vanished += walked.vanished;
	adoption.counts.unentered = walked.unentered;
	*ret = adoption.counts;
	return r;
}

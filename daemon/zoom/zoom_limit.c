// SPDX-License-Identifier: GPL-2.0
#include "zoom/zoom_limit.h"

#include <errno.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kernel/load_failure.h"
#include "kernel/skeleton.h"
#include "pebsd/zoom.h"
#include "zoom.skel.h"

struct zoom_limit {
	struct zoom_bpf *skeleton;
	int fd; /* of the program; the skeleton owns it */
	size_t n_cpus;
	struct zoom_tally *tallies; /* mapped, one for each CPU */
};

u64 zoom_limit_spacing(u32 rate)
{
	return (NSEC_PER_SEC + ZOOM_BURST_NS) / rate + 1;
}

bool zoom_limit_within(u64 *due_ns, u64 spacing_ns, u64 now_ns)
{
	if (*due_ns > now_ns + ZOOM_BURST_NS)
		return false;
	*due_ns = (*due_ns > now_ns ? *due_ns : now_ns) + spacing_ns;
	return true;
}

static size_t tallies_bytes(const struct zoom_limit *limit)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (limit->n_cpus * sizeof(*limit->tallies) + page - 1) / page * page;
}

static int map_tallies(struct zoom_limit *limit)
{
	void *mapped = mmap(NULL, tallies_bytes(limit), PROT_READ, MAP_SHARED,
			    bpf_map__fd(limit->skeleton->maps.tallies), 0);

	if (mapped == MAP_FAILED)
		return -errno;
	limit->tallies = mapped;
	return 0;
}

static int load(struct zoom_limit *limit, const struct zoom_limit_settings *settings, const char **ret_step)
{
	struct zoom_bpf *skeleton;
	int r;

	*ret_step = "open the zoom's rate-limiting BPF program";
	skeleton = limit->skeleton = skeleton_open_zoom();
	if (!skeleton)
		return -errno;
	skeleton->rodata->spacing_ns = zoom_limit_spacing(settings->rate);
	skeleton->rodata->operations = settings->operations;
	*ret_step = "load the zoom's rate-limiting BPF program";
	r = bpf_map__set_max_entries(skeleton->maps.tallies, (u32)limit->n_cpus);
	/*
	 * Load only one of the two: zoom_selected, which reads the sample, needs privileges that zoom_all
	 * does not.
	 */
	if (r == 0)
		r = bpf_program__set_autoload(skeleton->progs.zoom_all, !settings->operations);
	if (r == 0)
		r = bpf_program__set_autoload(skeleton->progs.zoom_selected, settings->operations != 0);
	if (r == 0)
		r = zoom_bpf__load(skeleton) < 0 ? -errno : 0;
	if (r < 0)
		return r;
	limit->fd = bpf_program__fd(settings->operations ? skeleton->progs.zoom_selected
							 : skeleton->progs.zoom_all);
	*ret_step = "map the counters of the zoom's rate-limiting BPF program";
	return map_tallies(limit);
}

int zoom_limit_open(const struct zoom_limit_settings *settings, struct zoom_limit **ret, char **ret_message)
{
	_cleanup_(zoom_limit_freep) struct zoom_limit *limit = calloc(1, sizeof(*limit));
	_cleanup_(load_log_freep) struct load_log *log = NULL;
	int cpus = libbpf_num_possible_cpus();
	const char *step;
	int r;

	*ret_message = NULL;
	if (!limit)
		return -ENOMEM;
	if (cpus < 0)
		return cpus;
	limit->n_cpus = (size_t)cpus;
	r = load_log_start(&log);
	if (r < 0)
		return r;
	r = load(limit, settings, &step);
	if (r < 0) {
		*ret_message = load_failure(step, r, log);
		return r;
	}
	*ret = TAKE_PTR(limit);
	return 0;
}

struct zoom_limit *zoom_limit_free(struct zoom_limit *limit)
{
	if (!limit)
		return NULL;
	if (limit->tallies)
		(void)munmap(limit->tallies, tallies_bytes(limit));
	zoom_bpf__destroy(limit->skeleton);
	free(limit);
	return NULL;
}

int zoom_limit_fd(const struct zoom_limit *limit)
{
	return limit->fd;
}

/* Reads `limited` before `seen`, so that `limited` never exceeds `seen`. */
void zoom_limit_counts(const struct zoom_limit *limit, u64 *ret_seen, u64 *ret_limited)
{
	*ret_seen = *ret_limited = 0;
	for (size_t i = 0; i < limit->n_cpus; i++) {
		const struct zoom_tally *tally = &limit->tallies[i];

		*ret_limited += __atomic_load_n(&tally->limited, __ATOMIC_ACQUIRE);
		*ret_seen += __atomic_load_n(&tally->seen, __ATOMIC_RELAXED);
	}
}

u64 zoom_limit_bytes(const struct zoom_limit *limit)
{
	return tallies_bytes(limit);
}

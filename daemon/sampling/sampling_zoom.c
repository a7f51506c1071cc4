// SPDX-License-Identifier: GPL-2.0
#include "sampling/sampling_zoom.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include <linux/openat2.h>

#include "zoom/zoom_events.h"

/* Returns whether the same PMU has an event with a lower role number, which is preferred. */
static bool outranked(const struct event_spec *const *specs, size_t n, size_t index)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(specs[i]->event.pmu, specs[index]->event.pmu) == 0 &&
		    specs[i]->event.role < specs[index]->event.role)
			return true;
	return false;
}

_Static_assert(EVENT_LOADS < EVENT_STORES && EVENT_STORES < EVENT_INSTRUCTIONS, "as they are preferred");

void sampling_zoom_choose(const struct event_spec *const *specs, size_t n, bool chosen[static EVENTS_MAX])
{
	size_t taken = 0;

	for (size_t i = 0; i < n; i++) {
		chosen[i] = taken < ZOOM_EVENTS_MAX && specs[i]->event.role <= EVENT_INSTRUCTIONS &&
			    !event_is_count(&specs[i]->event) && !outranked(specs, n, i);
		taken += chosen[i];
	}
}

bool sampling_zoom_displaces(const struct event_spec *const *specs, size_t n,
			     const bool chosen[static EVENTS_MAX], bool displaced[static EVENTS_MAX])
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		displaced[i] = false;
		for (size_t j = 0; j < n; j++)
			displaced[i] |= chosen[j] && specs[j]->only_counter != 0 &&
					specs[j]->only_counter == specs[i]->only_counter &&
					specs[j]->type == specs[i]->type;
		any |= displaced[i];
	}
	return any;
}

int sampling_zoom_directory(int tree, const char *path)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	long fd;

	path += strspn(path, "/");
	fd = syscall(SYS_openat2, tree, *path ? path : ".", &how, sizeof(how));
	if (fd >= 0)
		return (int)fd;
	/* A file, or a path that leads out of the tree, is not a cgroup either. */
	return errno == ENOTDIR || errno == EXDEV || errno == ELOOP || errno == ENODEV ? -ENOENT : -errno;
}

static int refuse(int error, char **ret_message, const char *format, const char *what, const char *why)
{
	if (asprintf(ret_message, format, what, why) < 0)
		*ret_message = NULL;
	return error;
}

/*
 * Returns "the always-on sampling of loads on PMU cpu is paused for all cgroups during the zoom: ...". The
 * caller frees; NULL if memory ran out.
 */
static char *note_displaced(const struct event_spec *const *specs, size_t n,
			    const bool displaced[static EVENTS_MAX])
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	const char *separator = "";

	if (!stream)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const struct event *event = &specs[i]->event;

		if (!displaced[i])
			continue;
		(void)fprintf(
			stream,
			"%sthe always-on sampling of %s on PMU %s is paused for all cgroups during the zoom: ",
			separator, event_role_name(event->role), event->pmu);
		if (strncmp(event->pmu, "ibs_", 4) == 0)
			(void)fprintf(stream, "a CPU has only one unit for instruction based sampling");
		else if (specs[i]->only_counter > 32)
			(void)fprintf(stream, "only fixed counter %u of this CPU can run the event",
				      specs[i]->only_counter - 33U);
		else
			(void)fprintf(stream, "only counter %u of this CPU can run the event",
				      specs[i]->only_counter - 1U);
		separator = "; ";
	}
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

static int resume_displaced(struct sampling_zoom *zoom, struct perf_event_set *const *sets, size_t n_sets,
			    bool paused, char **ret_message)
{
	int result = 0;

	*ret_message = NULL;
	for (size_t i = 0; i < n_sets; i++) {
		_cleanup_free_ char *message = NULL;
		int r = zoom->displaced[i] && !paused ? perf_resume(sets[i], &message) : 0;

		zoom->displaced[i] = false;
		if (r < 0 && result == 0) {
			result = r;
			*ret_message = TAKE_PTR(message);
		}
	}
	return result;
}

static int open_events(const struct event_spec *const *specs, size_t n, const bool chosen[static EVENTS_MAX],
		       int cgroup_fd, u32 rate, struct zoom_source **ret, char **ret_message)
{
	_cleanup_free_ struct event_spec *wanted = calloc(n ? n : 1, sizeof(*wanted));
	struct zoom_events_settings settings = {
		.cgroup_fd = cgroup_fd,
		.specs = wanted,
		.rate = rate,
		.lbr = true,
		.physical = true,
	};

	if (!wanted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (chosen[i])
			wanted[settings.n_specs++] = *specs[i];
	if (settings.n_specs == 0)
		return refuse(-EOPNOTSUPP, ret_message, "%s%s",
			      "none of the sampled events can record stacks", "");
	return zoom_events_open(&settings, ret, ret_message);
}

int sampling_zoom_begin(struct sampling_zoom *zoom, int tree, struct perf_event_set *const *sets,
			size_t n_sets, const char *path, u32 rate, struct zoom_source **ret, char **ret_note,
			char **ret_message)
{
	const struct event_spec *specs[EVENTS_MAX] = {0};
	_cleanup_close_ int cgroup_fd = -1;
	bool chosen[EVENTS_MAX] = {0};
	bool any;
	int r;

	*ret_note = *ret_message = NULL;
	if (zoom->open)
		return refuse(
			-EBUSY, ret_message, "%s%s",
			"another zoom is running, and only one can run at a time because it needs the counters; wait until it ends, or end it with `pebsctl zoom --stop CGROUP`",
			"");
	cgroup_fd = sampling_zoom_directory(tree, path);
	if (cgroup_fd < 0)
		return refuse(cgroup_fd, ret_message, "cannot open the cgroup %s: %s", path,
			      cgroup_fd == -ENOENT ? "it does not exist" : strerror(-cgroup_fd));
	for (size_t i = 0; i < n_sets; i++)
		specs[i] = perf_spec(sets[i]);
	sampling_zoom_choose(specs, n_sets, chosen);
	any = sampling_zoom_displaces(specs, n_sets, chosen, zoom->displaced);
	for (size_t i = 0; i < n_sets; i++)
		if (zoom->displaced[i])
			perf_pause(sets[i]);
	r = open_events(specs, n_sets, chosen, cgroup_fd, rate, ret, ret_message);
	if (r < 0) {
		_cleanup_free_ char *message = NULL;

		(void)resume_displaced(zoom, sets, n_sets, false, &message);
		return r;
	}
	zoom->open = *ret;
	if (any)
		*ret_note = note_displaced(specs, n_sets, zoom->displaced);
	return 0;
}

int sampling_zoom_end(struct sampling_zoom *zoom, struct perf_event_set *const *sets, size_t n_sets,
		      bool paused, char **ret_message)
{
	/* Free the counters of the zoom first: the displaced sets need them. */
	zoom_events_free(zoom->open);
	zoom->open = NULL;
	return resume_displaced(zoom, sets, n_sets, paused, ret_message);
}

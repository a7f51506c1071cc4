// SPDX-License-Identifier: GPL-2.0
#include "fake_zooms.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/profile/zoom_flame.h"
#include "machine/memory_nodes.h"
#include "profile/pprof.h"

#define BEGAN_REAL_S 1795240800ULL /* 2026-11-21T06:00:00Z */
#define KERNEL       0xffffffff81000010ULL

struct fake_zooms fake_zooms;

static const struct symbol *find_name(void *userdata, const struct symbol_query *query)
{
	(void)userdata;
	return fake_zooms.symbol ? fake_zooms.symbol(query) : NULL;
}

struct zoom *fake_zooms_hold(const char *path, enum zoom_state state)
{
	struct zoom_about about = {
		.cgroup = (char *)path,
		.cgroup_id = 7,
		.began_ns = 1000 * NSEC_PER_SEC,
		.ended_ns = state == ZOOM_RUNNING ? 0 : 1030 * NSEC_PER_SEC,
		.began_real_ns = BEGAN_REAL_S * NSEC_PER_SEC,
		.rate = 1000,
		.n_events = 1,
		.events = {{.role = EVENT_LOADS, .pmu = "cpu", .settings = {.has_latency = true}}},
		.counts = {.seen = 120, .limited = 20},
		.origin = "perf",
	};
	struct zoom *zoom = &fake_zooms.zooms[0];

	cr_assert_lt(fake_zooms.n, FAKE_ZOOMS_MAX);
	memmove(zoom + 1, zoom, fake_zooms.n * sizeof(*zoom));
	*zoom = (struct zoom){
		.id = ++fake_zooms.n,
		.state = state,
		.seconds = 30,
		.reason = strdup("asked for by uid 0"),
		.names = {.find = find_name},
		.period = 10007,
	};
	cr_assert_not_null(zoom->reason);
	cr_assert_eq(zoom_recording_new(&about, 1 << 20, &zoom->recording), 0);
	return zoom;
}

void fake_zooms_reset(void)
{
	for (size_t i = 0; i < fake_zooms.n; i++) {
		zoom_recording_free(fake_zooms.zooms[i].recording);
		free(fake_zooms.zooms[i].reason);
		free(fake_zooms.zooms[i].note);
	}
	fake_zooms = (struct fake_zooms){0};
}

static struct zoom *find_running(const char *path)
{
	for (size_t i = 0; i < fake_zooms.n; i++)
		if (fake_zooms.zooms[i].state == ZOOM_RUNNING &&
		    strcmp(zoom_recording_about(fake_zooms.zooms[i].recording)->cgroup, path) == 0)
			return &fake_zooms.zooms[i];
	return NULL;
}

int zooms_begin(struct zooms *zooms, const struct zoom_request *request, u64 *ret_id, char **ret_message)
{
	struct zoom *zoom;

	(void)zooms;
	fake_zooms.request = *request;
	(void)snprintf(fake_zooms.path, sizeof(fake_zooms.path), "%s", request->path);
	*ret_message = fake_zooms.begin_message ? strdup(fake_zooms.begin_message) : NULL;
	if (fake_zooms.begin_error)
		return fake_zooms.begin_error;
	fake_zooms.begun++;
	zoom = find_running(request->path);
	if (!zoom) {
		zoom = fake_zooms_hold(request->path, ZOOM_RUNNING);
		free(zoom->reason);
		zoom->reason = strdup(request->reason);
	}
	zoom->seconds = request->seconds;
	*ret_id = zoom->id;
	return 0;
}

bool zooms_end(struct zooms *zooms, u64 id)
{
	(void)zooms;
	for (size_t i = 0; i < fake_zooms.n; i++)
		if (fake_zooms.zooms[i].id == id && fake_zooms.zooms[i].state == ZOOM_RUNNING) {
			fake_zooms.zooms[i].state = ZOOM_NAMING;
			fake_zooms.ended++;
			return true;
		}
	return false;
}

const struct zoom *zooms_find(struct zooms *zooms, const char *path)
{
	(void)zooms;
	for (size_t i = 0; i < fake_zooms.n; i++)
		if (strcmp(zoom_recording_about(fake_zooms.zooms[i].recording)->cgroup, path) == 0)
			return &fake_zooms.zooms[i];
	return NULL;
}

const struct zoom *zooms_get(struct zooms *zooms, u64 id)
{
	(void)zooms;
	for (size_t i = 0; i < fake_zooms.n; i++)
		if (fake_zooms.zooms[i].id == id)
			return &fake_zooms.zooms[i];
	return NULL;
}

const struct zoom *zooms_nth(struct zooms *zooms, size_t i)
{
	(void)zooms;
	return i < fake_zooms.n ? &fake_zooms.zooms[i] : NULL;
}

void profile_totals(const struct profile *profile, struct profile_totals *ret)
{
	(void)profile;
	*ret = fake_zooms.totals;
}

u64 profile_bytes(const struct profile *profile)
{
	(void)profile;
	return 4096;
}

int profile_report(const struct profile *profile, const struct profile_names *names,
		   const struct report_settings *settings, struct profile_report *ret)
{
	const struct symbol_query kernel = {.address = KERNEL, .kind = SYMBOL_CODE};
	const struct symbol *symbol = names->find(names->userdata, &kernel);

	(void)profile;
	fake_zooms.settings = *settings;
	fake_zooms.kernel_name = symbol && symbol->n_frames ? symbol->frames[0].name : NULL;
	*ret = fake_zooms.report;
	return 0;
}

void profile_report_done(struct profile_report *report)
{
	*report = (struct profile_report){0};
}

static int make_output(u8 **ret, size_t *ret_size)
{
	if (fake_zooms.output_error)
		return fake_zooms.output_error;
	*ret = malloc(fake_zooms.output_size + 1);
	cr_assert_not_null(*ret);
	for (size_t i = 0; i < fake_zooms.output_size; i++)
		(*ret)[i] = (u8)i;
	*ret_size = fake_zooms.output_size;
	fake_zooms.outputs++;
	if (fake_zooms.on_output)
		fake_zooms.on_output();
	return 0;
}

int zoom_flame(const struct zoom *zoom, bool addresses, u8 **ret, size_t *ret_size)
{
	(void)zoom;
	fake_zooms.addresses = addresses;
	return make_output(ret, ret_size);
}

int pprof_write(const struct profile *profile, const struct profile_names *names,
		const struct profile_about *about, u8 **ret, size_t *ret_size)
{
	(void)profile;
	(void)names;
	fake_zooms.kernel_names = about->kernel_names;
	return make_output(ret, ret_size);
}

int folded_write(const struct profile *profile, const struct profile_names *names,
		 const struct profile_about *about, bool latency, char **ret, size_t *ret_size)
{
	(void)profile;
	(void)names;
	(void)latency;
	fake_zooms.kernel_names = about->kernel_names;
	return make_output((u8 **)ret, ret_size);
}

const struct symbol *symbols_find(struct symbols *symbols, const struct symbol_query *query)
{
	(void)symbols;
	return fake_zooms.symbol ? fake_zooms.symbol(query) : NULL;
}

int memory_nodes(const char *sysfs_root, struct node_range **ret, size_t *ret_n)
{
	(void)sysfs_root;
	*ret = calloc(1, sizeof(**ret));
	cr_assert_not_null(*ret);
	(*ret)->end = 1ULL << 30;
	*ret_n = 1;
	return 0;
}

int memory_nodes_of_cpus(const char *sysfs_root, int **ret, size_t *ret_n)
{
	(void)sysfs_root;
	*ret = calloc(2, sizeof(**ret));
	cr_assert_not_null(*ret);
	*ret_n = 2;
	return 0;
}

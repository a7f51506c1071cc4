// SPDX-License-Identifier: GPL-2.0
#include "origin/probe/probe_running.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "varlink/client.h"

DEFINE_CLEANUP(struct client *, client_close)

static struct perf_in_use *counters_on(struct perf_running *running, const char *pmu)
{
	for (size_t i = 0; i < running->n; i++)
		if (strcmp(running->in_use[i].pmu, pmu) == 0)
			return &running->in_use[i];
	if (running->n == EVENTS_MAX || strlen(pmu) >= EVENT_PMU_MAX)
		return NULL;
	(void)stpcpy(running->in_use[running->n].pmu, pmu);
	return &running->in_use[running->n++];
}

/* Adds the online CPUs on which pebsd holds the counter. If the event is in error, another user holds it. */
static void add_cpus(const json_object *per_cpu, struct cpu_list *cpus)
{
	for (size_t i = 0; i < json_object_array_length(per_cpu); i++) {
		const json_object *object = json_object_array_get_idx(per_cpu, i);
		bool online, in_error;
		u64 cpu;

		if (json_get_u64(object, "cpu", &cpu) && cpu <= INT_MAX &&
		    json_get_bool(object, "online", &online) && online &&
		    json_get_bool(object, "in_error", &in_error) && !in_error)
			cpu_list_add(cpus, (int)cpu);
	}
}

void probe_running_read(const json_object *status, struct perf_running *ret)
{
	json_object *events = json_get_object(status, "events");
	bool paused;

	*ret = (struct perf_running){0};
	if (!events || (json_get_bool(status, "paused", &paused) && paused))
		return;
	json_object_object_foreach (events, key, event) {
		const char *pmu = json_get_text(event, "pmu");
		json_object *per_cpu = json_get_array(event, "per_cpu");
		struct perf_in_use *in_use = pmu && per_cpu ? counters_on(ret, pmu) : NULL;

		(void)key;
		if (in_use)
			add_cpus(per_cpu, &in_use->cpus);
	}
}

void probe_running_ask(const char *socket, struct perf_running *ret)
{
	_cleanup_(client_closep) struct client *client = NULL;
	struct client_reply reply = {0};

	*ret = (struct perf_running){0};
	if (client_connect(socket, &client) < 0 ||
	    client_call(client, "io.pebsd.GetStatus", NULL, &reply) < 0)
		return;
	if (!reply.error)
		probe_running_read(reply.parameters, ret);
	json_object_put(reply.root);
}

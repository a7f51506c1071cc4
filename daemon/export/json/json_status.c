// SPDX-License-Identifier: GPL-2.0
/* The status of the daemon, and that of a moment of the past, as JSON. */
#include "export/json/json.h"

#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "export/json/json_event.h"
#include "export/json/json_offcore.h"
#include "export/json/json_waits.h"
#include "export/json/json_writer.h"
#include "history/past.h"
#include "window/trend.h"

static json_object *cpu_object(struct json_writer *writer, const struct snapshot_cpu *cpu)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_u64(writer, object, "cpu", (u64)cpu->cpu);
	json_put(writer, object, "online", json_object_new_boolean(cpu->online));
	json_put(writer, object, "in_error", json_object_new_boolean(cpu->in_error));
	json_put_u64(writer, object, "expected", cpu->expected);
	if (cpu->seen.known)
		json_put_u64(writer, object, "seen", cpu->seen.value);
	if (cpu->filtered.known)
		json_put_u64(writer, object, "filtered", cpu->filtered.value);
	if (cpu->running_ratio.known)
		json_put_number(writer, object, "running_ratio", cpu->running_ratio.value, 6);
	if (cpu->throttled_seconds.known)
		json_put_seconds(writer, object, "throttled_seconds", cpu->throttled_seconds.value);
	return object;
}

static void put_per_cpu(struct json_writer *writer, json_object *object, const struct snapshot_event *event)
{
	json_object *list;

	if (event->n_per_cpu == 0)
		return;
	list = json_checked(writer, json_object_new_array());
	for (size_t i = 0; i < event->n_per_cpu; i++)
		json_append(writer, list, cpu_object(writer, &event->per_cpu[i]));
	json_put(writer, object, "per_cpu", list);
}

/* Lists the measured values of a sample, named like the members of struct event_settings. */
static json_object *measures_array(struct json_writer *writer, const struct event_settings *settings)
{
	const struct {
		bool has;
		const char *word;
	} all[] = {{settings->has_latency, "latency"},
		   {settings->has_instruction_latency, "instruction_latency"},
		   {settings->has_source, "source"},
		   {settings->has_address, "address"},
		   {settings->has_code_address, "code_address"}};
	json_object *array = json_checked(writer, json_object_new_array());

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].has)
			json_append(writer, array, json_object_new_string(all[i].word));
	return array;
}

/* Adds the keys of the events that share a counter with `event`; nothing if `event` has its own counter. */
static void put_multiplexed(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
			    const struct snapshot_event *event)
{
	json_object *others;

	if (!event->multiplexed)
		return;
	others = json_checked(writer, json_object_new_array());
	for (size_t i = 0; i < snapshot->n_events; i++) {
		const struct snapshot_event *other = &snapshot->events[i];

		if (other != event && other->multiplexed && strcmp(other->event.pmu, event->event.pmu) == 0)
			json_append(writer, others, json_name(other->key));
	}
	json_put(writer, object, "takes_turns_with", others);
}

static void put_interrupt(struct json_writer *writer, json_object *object, const char *key,
			  const struct snapshot_interrupt *interrupt)
{
	json_object *figures;

	if (!interrupt->known)
		return;
	figures = json_checked(writer, json_object_new_object());
	json_put_number(writer, figures, "ns", interrupt->ns, 1);
	json_put_number(writer, figures, "per_second", interrupt->per_second, 1);
	json_put(writer, object, key, figures);
}

/* Adds nothing if nothing is known, as in a replay or with the model. */
static void put_cost(struct json_writer *writer, json_object *object, const struct snapshot_cost *cost)
{
	json_object *figures;
	u64 changes = 0;

	if (!cost->program_ns.known && !cost->interrupt_ns.known && !cost->state)
		return;
	figures = json_checked(writer, json_object_new_object());
	if (cost->ratio.known)
		json_put_number(writer, figures, "ratio", cost->ratio.value, 6);
	if (cost->budget.known)
		json_put_number(writer, figures, "budget", cost->budget.value, 6);
	if (cost->interrupt_ns.known)
		json_put_number(writer, figures, "interrupt_ns", cost->interrupt_ns.value, 1);
	put_interrupt(writer, figures, "dense_interrupt", &cost->dense);
	put_interrupt(writer, figures, "sparse_interrupt", &cost->sparse);
	if (cost->program_ns.known)
		json_put_number(writer, figures, "program_ns", cost->program_ns.value, 1);
	if (cost->state)
		json_put_text(writer, figures, "state", cost->state);
	for (int reason = 0; reason < GOVERNOR_REASONS; reason++)
		changes += cost->changes[reason];
	json_put_u64(writer, figures, "period_changes", changes);
	json_put(writer, object, "cost", figures);
}

static json_object *status_event_object(struct json_writer *writer, const struct snapshot *snapshot,
					const struct snapshot_event *event)
{
	json_object *object = json_checked(writer, json_object_new_object());
	const char *kind = event_latency_kind_name(event->event.latency_kind);
	const char *counts = event_count_kind_name(event->event.count_kind);

	json_put_text(writer, object, "role", event_role_name(event->event.role));
	if (event->event.pmu[0])
		json_put_text(writer, object, "pmu", event->event.pmu);
	if (event->event.period)
		json_put_u64(writer, object, "period", event->event.period);
	if (event->event.ldlat)
		json_put_u64(writer, object, "ldlat", event->event.ldlat);
	if (kind)
		json_put_text(writer, object, "latency_kind", kind);
	if (counts)
		json_put_text(writer, object, "counts", counts);
	if (event->frequency_hz.known)
		json_put_u64(writer, object, "frequency", (u64)event->frequency_hz.value);
	if (event->event.nominal_hz > 0)
		json_put_u64(writer, object, "nominal_frequency", (u64)event->event.nominal_hz);
	json_put(writer, object, "measures", measures_array(writer, &event->event.settings));
	put_multiplexed(writer, object, snapshot, event);
	if (event->cpus[0])
		json_put_text(writer, object, "cpus", event->cpus);
	if (event->running_ratio.known)
		json_put_number(writer, object, "running_ratio", event->running_ratio.value, 6);
	json_put_figures(writer, object, FIGURE_IN_EVENT, snapshot, event, 1);
	put_cost(writer, object, &event->cost);
	json_put(writer, object, "samples", json_samples(writer, snapshot, event, 1));
	put_per_cpu(writer, object, event);
	return object;
}

static json_object *config_object(struct json_writer *writer, const struct snapshot *snapshot)
{
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *files = json_checked(writer, json_object_new_array());

	json_put(writer, object, "reloaded", json_object_new_boolean(snapshot->config_reloaded));
	json_put_time(writer, object, "time", &snapshot->config_time);
	for (const char *const *file = snapshot->config_files; file && *file; file++)
		json_append(writer, files, json_name(*file));
	json_put(writer, object, "files", files);
	return object;
}

json_object *json_config(const struct snapshot *snapshot)
{
	struct json_writer writer = {0};
	json_object *object = config_object(&writer, snapshot);

	return json_finish(&writer, object);
}

/* Adds a list of names that other users choose. `page` limits all such lists of one status together. */
static void put_names(struct json_writer *writer, json_object *object, const char *key,
		      const char *const *names, size_t n, struct json_page *page)
{
	json_object *list = json_checked(writer, json_object_new_array());

	for (size_t i = 0; i < n && json_append_to_page(writer, list, json_name(names[i]), page, i); i++)
		;
	json_put(writer, object, key, list);
}

static json_object *detail_object(struct json_writer *writer, const struct detail_counts *detail,
				  struct json_page *page)
{
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *symbols = json_checked(writer, json_object_new_object());
	size_t n_hot = 0;

	while (detail->hot && detail->hot[n_hot])
		n_hot++;
	json_put_u64(writer, object, "zooms_running", detail->zooms_running);
	json_put_u64(writer, object, "zooms_held", detail->zooms_held);
	json_put_u64(writer, object, "zoom_bytes", detail->zoom_bytes);
	put_names(writer, object, "hot", detail->hot, n_hot, page);
	json_put_u64(writer, object, "hot_max", detail->hot_max);
	json_put_u64(writer, symbols, "asked", detail->symbols.asked);
	json_put_u64(writer, symbols, "answered", detail->symbols.answered);
	json_put_u64(writer, symbols, "unknown", detail->symbols.unknown);
	json_put_u64(writer, symbols, "lost", detail->symbols.lost);
	json_put_u64(writer, symbols, "late", detail->symbols.late);
	json_put_u64(writer, symbols, "starts", detail->symbols.starts);
	json_put_u64(writer, symbols, "bytes", detail->symbols.bytes);
	json_put_u64(writer, symbols, "own_bytes", detail->symbols.own_bytes);
	json_put(writer, object, "symbols", symbols);
	return object;
}

static json_object *memory_object(struct json_writer *writer, const struct snapshot *snapshot)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_u64(writer, object, "maps", snapshot->map_bytes);
	if (snapshot->anonymous_bytes.known)
		json_put_u64(writer, object, "anonymous", snapshot->anonymous_bytes.value);
	if (snapshot->anonymous_peak_bytes.known)
		json_put_u64(writer, object, "anonymous_peak", snapshot->anonymous_peak_bytes.value);
	if (snapshot->trend)
		json_put_u64(writer, object, "trend", trend_bytes(snapshot->trend));
	return object;
}

static json_object *counter_users_object(struct json_writer *writer, const struct counter_users *users)
{
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *processes = json_checked(writer, json_object_new_array());
	const char *watchdog = counter_watchdog_name(users->watchdog);
	const bool complete = !users->hidden && !users->cut && users->unread == 0;

	if (watchdog)
		json_put_text(writer, object, "nmi_watchdog", watchdog);
	for (size_t i = 0; i < users->n; i++) {
		json_object *process = json_checked(writer, json_object_new_object());

		json_put_u64(writer, process, "pid", users->users[i].pid);
		json_put(writer, process, "name", json_name(users->users[i].name));
		json_put_u64(writer, process, "events", users->users[i].events);
		json_append(writer, processes, process);
	}
	json_put(writer, object, "processes", processes);
	if (users->more)
		json_put_u64(writer, object, "more_processes", users->more);
	json_put(writer, object, "complete", json_object_new_boolean(complete));
	json_put(writer, object, "guest_pmu", json_object_new_boolean(users->kvm_pmu));
	return object;
}

#define NO_SLOT_NAMED 100UL

/* Adds the number of cgroups without a slot, and the names of the first ones. */
static void put_no_slot(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
			struct json_page *page)
{
	const struct no_slot *list = snapshot->no_slot;

	json_put_u64(writer, object, "without_slot", snapshot->without_slot);
	put_names(writer, object, "no_slot", list ? (const char *const *)list->paths : NULL,
		  list ? MIN(list->n, NO_SLOT_NAMED) : 0, page);
}

/* Adds "events": the state of each event, by its key. */
static void put_event_states(struct json_writer *writer, json_object *object, const struct snapshot *snapshot)
{
	json_object *events = json_checked(writer, json_object_new_object());

	for (size_t i = 0; i < snapshot->n_events; i++)
		json_put_shown(writer, events, snapshot->events[i].key,
			       status_event_object(writer, snapshot, &snapshot->events[i]));
	json_put(writer, object, "events", events);
}

/* The members that a moment of the past has, too. */
static void put_sampling(struct json_writer *writer, json_object *object, const struct snapshot *snapshot)
{
	const struct counters *totals[EVENTS_MAX];

	if (snapshot->nominal_hz.known)
		json_put_u64(writer, object, "nominal_frequency", (u64)snapshot->nominal_hz.value);
	put_event_states(writer, object, snapshot);
	json_totals(snapshot, totals);
	json_put_waits(writer, object, snapshot, totals);
	json_put(writer, object, "samples",
		 json_samples(writer, snapshot, snapshot->events, snapshot->n_events));
}

json_object *json_status(const struct snapshot *snapshot)
{
	struct json_writer writer = {0};
	json_object *object = json_start(&writer, snapshot);
	struct json_page names = {0};

	json_put_recordings(&writer, object, snapshot);
	json_put_time(&writer, object, "taken", &snapshot->taken);
	if (strcmp(snapshot->origin, "replay") == 0)
		json_put(&writer, object, "replay_done", json_object_new_boolean(snapshot->replay_done));
	if (snapshot->opened_by)
		json_put_text(&writer, object, "opened_by", snapshot->opened_by);
	if (snapshot->counter_users)
		json_put(&writer, object, "counter_users",
			 counter_users_object(&writer, snapshot->counter_users));
	json_put(&writer, object, "paused", json_object_new_boolean(snapshot->paused));
	if (snapshot->paused)
		json_put_time(&writer, object, "paused_until", &snapshot->paused_until);
	put_sampling(&writer, object, snapshot);
	if (snapshot->offcore_known || snapshot->offcore_refusal)
		json_put(&writer, object, "offcore", json_offcore_status(&writer, snapshot));
	json_put_u64(&writer, object, "cgroups_alive", snapshot->cgroups_alive);
	json_put_u64(&writer, object, "slots", snapshot->slots);
	json_put_u64(&writer, object, "slots_free", snapshot->slots_free);
	json_put_u64(&writer, object, "slots_limit", snapshot->slots_limit);
	json_put_u64(&writer, object, "stripes", snapshot->stripes);
	if (snapshot->stripe_caches > 0)
		json_put_u64(&writer, object, "stripe_caches", snapshot->stripe_caches);
	json_put_u64(&writer, object, "births_without_slot", snapshot->births_without_slot);
	json_put(&writer, object, "slots_missing", json_object_new_boolean(snapshot->slots_missing));
	put_no_slot(&writer, object, snapshot, &names);
	if (snapshot->in_process)
		json_put(&writer, object, "in_process", json_object_new_boolean(true));
	json_put_u64(&writer, object, "map_bytes", snapshot->map_bytes);
	if (snapshot->map_bytes_max > 0)
		json_put_u64(&writer, object, "map_bytes_max", snapshot->map_bytes_max);
	json_put(&writer, object, "memory", memory_object(&writer, snapshot));
	json_put_seconds(&writer, object, "interval_s", snapshot->interval_seconds);
	json_put_seconds(&writer, object, "collection_s", snapshot->collection_seconds);
	if (snapshot->detail)
		json_put(&writer, object, "detail", detail_object(&writer, snapshot->detail, &names));
	json_put(&writer, object, "config", config_object(&writer, snapshot));
	json_put(&writer, object, "notes", json_notes(&writer, snapshot));
	return json_finish(&writer, object);
}

json_object *json_status_of_past(const struct past *past)
{
	const struct snapshot *snapshot = past_snapshot(past);
	struct json_writer writer = {0};
	json_object *object = json_start(&writer, snapshot);

	json_put_window(&writer, object, snapshot);
	put_sampling(&writer, object, snapshot);
	return json_finish(&writer, object);
}

json_object *json_add_bandwidth(json_object *status, const struct resctrl_rates *rates)
{
	struct json_writer writer = {.failed = !status};
	json_object *list = json_checked(&writer, json_object_new_array());

	for (size_t i = 0; i < rates->n; i++) {
		const struct resctrl_rate *rate = &rates->list[i];
		json_object *object = json_checked(&writer, json_object_new_object());

		json_put_text(&writer, object, "group", rate->group);
		json_put_seconds(&writer, object, "over_s", rates->seconds);
		for (enum resctrl_kind kind = 0; kind < RESCTRL_KINDS; kind++)
			if (rate->known[kind])
				json_put_number(&writer, object, resctrl_kind_name(kind), rate->rates[kind],
						6);
		json_append(&writer, list, object);
	}
	json_put(&writer, status, "bandwidth", list);
	return json_finish(&writer, status);
}

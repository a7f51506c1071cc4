// SPDX-License-Identifier: GPL-2.0
/* The text of `pebsctl status`. */
#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/figure.h"
#include "format/format_event.h"
#include "format/format_offcore.h"
#include "format/format_past.h"
#include "format/format_waits.h"
#include "machine/cpu_list.h"

/* Maximum number of cgroups without a slot that are named. */
#define NO_SLOT_SHOWN 10UL

/* Prints the CPUs on which an event is in error, or was throttled, as lists. The status's notes say what to do. */
static void put_deviating(FILE *out, const struct format_style *style, json_object *per_cpu)
{
	_cleanup_free_ char *in_error = NULL;
	_cleanup_free_ char *throttled = NULL;
	struct cpu_list error_cpus = {0}, throttled_cpus = {0};

	for (size_t i = 0; per_cpu && i < json_object_array_length(per_cpu); i++) {
		json_object *cpu = json_object_array_get_idx(per_cpu, i);
		double seconds;
		bool error;
		u64 number;

		if (!json_get_u64(cpu, "cpu", &number) || number >= CPU_LIST_MAX)
			continue;
		if (json_get_bool(cpu, "in_error", &error) && error)
			cpu_list_add(&error_cpus, (int)number);
		if (json_get_double(cpu, "throttled_seconds", &seconds) && seconds > 0)
			cpu_list_add(&throttled_cpus, (int)number);
	}
	in_error = cpu_list_format(&error_cpus);
	throttled = cpu_list_format(&throttled_cpus);
	if (in_error && *in_error)
		line_put(out, style, "", "in error, not counting: CPUs %s", in_error);
	if (throttled && *throttled)
		line_put(out, style, "", "throttled at some time since the start: CPUs %s", throttled);
}

/* Returns ", taking turns with stores"; the caller frees it. NULL: none, or no memory. */
static char *multiplexed_with(json_object *event)
{
	json_object *others = json_get_array(event, "takes_turns_with");
	_cleanup_free_ char *list = NULL;
	char *text;

	if (!others)
		return NULL;
	if (json_object_array_length(others) > 0)
		list = line_list(others, ", ");
	return asprintf(&text, ", taking turns%s%s", list ? " with " : "", list ? list : "") < 0 ? NULL
												 : text;
}

/* Prints the losses of one of several events: the line about all samples has only the sum. */
static void put_event_samples(FILE *out, const struct format_style *style, json_object *samples)
{
	_cleanup_free_ char *lost = format_counts(json_get_object(samples, "lost"), "not known");
	char number[TEXT_NUMBER_MAX], filtered[TEXT_NUMBER_MAX + 16] = "";
	u64 value;

	if (json_get_u64(samples, "filtered", &value)) {
		text_count(value, number);
		(void)snprintf(filtered, sizeof(filtered), ", %s filtered", number);
	}
	if (!json_get_u64(samples, "seen", &value))
		return;
	text_count(value, number);
	line_put(out, style, "", "%s seen%s; lost: %s", number, filtered, lost ? lost : "?");
}

/* "0.41%": two decimals, because these shares are usually far below one percent. */
static void put_share(double share, char ret[static TEXT_NUMBER_MAX])
{
	(void)snprintf(ret, TEXT_NUMBER_MAX, share > 0 && share < 0.00005 ? "<0.01%%" : "%.2f%%",
		       share * 100);
}

static void put_rounded(double value, char ret[static TEXT_NUMBER_MAX])
{
	if (value < LINE_DIGITS_END)
		text_count(value > 0 ? (u64)(value + 0.5) : 0, ret);
	else
		(void)snprintf(ret, TEXT_NUMBER_MAX, "-");
}

/* Prints the cost of an interrupt at the two rates at which it was timed. */
static void put_timed_interrupts(FILE *out, const struct format_style *style, json_object *cost)
{
	json_object *dense = json_get_object(cost, "dense_interrupt");
	json_object *sparse = json_get_object(cost, "sparse_interrupt");
	char dense_ns[TEXT_NUMBER_MAX], dense_rate[TEXT_NUMBER_MAX];
	char sparse_ns[TEXT_NUMBER_MAX], sparse_rate[TEXT_NUMBER_MAX];
	double values[4];

	if (!json_get_double(dense, "ns", &values[0]) || !json_get_double(dense, "per_second", &values[1]) ||
	    !json_get_double(sparse, "ns", &values[2]) || !json_get_double(sparse, "per_second", &values[3]))
		return;
	put_rounded(values[0], dense_ns);
	put_rounded(values[1], dense_rate);
	put_rounded(values[2], sparse_ns);
	put_rounded(values[3], sparse_rate);
	line_put(out, style, "",
		 "an interrupt takes %s ns at %s samples a second, and %s ns at %s (measured)", dense_ns,
		 dense_rate, sparse_ns, sparse_rate);
}

static void put_cost(FILE *out, const struct format_style *style, json_object *cost)
{
	char ratio[TEXT_NUMBER_MAX], budget[TEXT_NUMBER_MAX], ns[TEXT_NUMBER_MAX];
	char interrupt[TEXT_NUMBER_MAX + 64] = "", program[TEXT_NUMBER_MAX + 64] = "",
					 of[TEXT_NUMBER_MAX + 64] = "";
	_cleanup_free_ char *state = NULL;
	bool known, least;
	double value;
	u64 changes;

	if (json_get_double(cost, "interrupt_ns", &value)) {
		put_rounded(value, ns);
		(void)snprintf(interrupt, sizeof(interrupt), "; a sample takes %s ns for the interrupt", ns);
	}
	if (json_get_double(cost, "program_ns", &value)) {
		put_rounded(value, ns);
		(void)snprintf(program, sizeof(program), "%s %s ns for the BPF program",
			       *interrupt ? " and" : "; a sample takes", ns);
	}
	known = json_get_double(cost, "ratio", &value);
	least = known && !json_get_object(cost, "sparse_interrupt");
	if (known)
		put_share(value, ratio);
	else
		(void)snprintf(ratio, sizeof(ratio), "unknown");
	if (json_get_double(cost, "budget", &value))
		put_share(value, budget);
	else
		(void)snprintf(budget, sizeof(budget), "none");
	if (json_get_text(cost, "state"))
		(void)snprintf(of, sizeof(of), ", budget %s: %s", budget,
			       line_visible(json_get_text(cost, "state"), &state));
	line_put(out, style, "", "cost: %s%s%s%s%s%s", least ? "at least " : "", ratio,
		 known ? " of the time of the CPU with the most samples" : "", of, interrupt, program);
	put_timed_interrupts(out, style, cost);
	if (known)
		line_put(
			out, style, "",
			"the cost does not include what samples take from the other thread of a core, pebsd's own time, or exits to a hypervisor");
	if (json_get_u64(cost, "period_changes", &changes) && changes > 0)
		line_put(out, style, "", "automatic changes of the period since the start: %llu",
			 (unsigned long long)changes);
}

/* Prints the running frequency of an event of cycles. */
static void put_frequency(FILE *out, const struct format_style *style, const json_object *event)
{
	char frequency[TEXT_NUMBER_MAX], nominal[TEXT_NUMBER_MAX];
	double running, hz;

	if (!json_get_double(event, "frequency", &running))
		return;
	text_frequency(running, frequency);
	if (figure_nominal_hz(event, &hz)) {
		text_frequency(hz, nominal);
		line_put(out, style, "",
			 "its CPUs run at %s while they are busy; their nominal frequency is %s", frequency,
			 nominal);
	} else {
		line_put(out, style, "", "its CPUs run at %s while they are busy", frequency);
	}
}

static void put_event(FILE *out, const struct format_style *style, const char *key, json_object *event,
		      bool alone)
{
	_cleanup_free_ char *others = multiplexed_with(event);
	_cleanup_free_ char *pmu = NULL;
	_cleanup_free_ char *cpus = NULL;
	char percent[TEXT_NUMBER_MAX], counting[TEXT_NUMBER_MAX + 32] = "";
	double running;

	format_event(out, style, "Event", key, event);
	if (!alone)
		put_event_samples(out, style, json_get_object(event, "samples"));
	if (json_get_object(event, "cost"))
		put_cost(out, style, json_get_object(event, "cost"));
	if (!json_get_text(event, "cpus"))
		return;
	if (json_get_double(event, "running_ratio", &running)) {
		line_percent(running, 1, percent);
		(void)snprintf(counting, sizeof(counting), ", counting %s of the time", percent);
	}
	line_put(out, style, "", "on %s, CPUs %s%s%s", line_visible(json_get_text(event, "pmu"), &pmu),
		 line_visible(json_get_text(event, "cpus"), &cpus), others ? others : "", counting);
	put_deviating(out, style, json_get_array(event, "per_cpu"));
	put_frequency(out, style, event);
}

static void put_recent(FILE *out, const struct format_style *style, json_object *recent)
{
	u64 seen;
	double seconds;
	char span[TEXT_NUMBER_MAX], rate[TEXT_NUMBER_MAX];

	if (!json_get_double(recent, "window_s", &seconds) || seconds <= 0 ||
	    !json_get_u64(json_get_object(recent, "samples"), "seen", &seen))
		return;
	text_span(seconds, span);
	line_rate((double)seen / seconds, rate);
	line_put(out, style, "Rate", "%s samples a second in the last %s", rate, span);
}

/* Prints the cost of waiting in the last seconds, or if that is not known, since the start. */
static void put_waits(FILE *out, const struct format_style *style, json_object *status, json_object *recent)
{
	double seconds = 0;

	if (json_get_object(recent, "waits")) {
		(void)json_get_double(recent, "window_s", &seconds);
		format_waits_total(out, style, status, recent, seconds);
	} else {
		format_waits_total(out, style, status, status, 0);
	}
}

/* More groups are only counted. The largest ones would need sorting, and groups are few. */
#define GROUPS_SHOWN 8

static void put_byte_rate(const json_object *group, const char *key, char ret[static TEXT_NUMBER_MAX])
{
	double rate;

	if (json_get_double(group, key, &rate))
		line_byte_rate(rate, ret);
	else
		(void)snprintf(ret, TEXT_NUMBER_MAX, "-");
}

static void put_bandwidth(FILE *out, const struct format_style *style, json_object *groups)
{
	size_t n = groups ? json_object_array_length(groups) : 0;

	for (size_t i = 0; i < MIN(n, GROUPS_SHOWN); i++) {
		json_object *group = json_object_array_get_idx(groups, i);
		const char *name = json_get_text(group, "group");
		char total[TEXT_NUMBER_MAX], local[TEXT_NUMBER_MAX], over[TEXT_NUMBER_MAX];
		_cleanup_free_ char *kept = NULL;
		double seconds = 0;

		(void)json_get_double(group, "over_s", &seconds);
		text_span(seconds, over);
		put_byte_rate(group, "total", total);
		put_byte_rate(group, "local", local);
		line_put(out, style, i == 0 ? "Bandwidth" : "",
			 "resctrl /%s: %s with all memory, %s with memory of the same node (last %s)",
			 line_visible(name ? name : "", &kept), total, local, over);
	}
	if (n > GROUPS_SHOWN)
		line_put(out, style, "", "and %zu more groups", n - GROUPS_SHOWN);
}

bool format_no_slot(FILE *out, const struct format_style *style, json_object *object)
{
	json_object *list = json_get_array(object, "no_slot");
	size_t n = list ? json_object_array_length(list) : 0;
	u64 without;

	if (!json_get_u64(object, "without_slot", &without) || without == 0)
		return false;
	line_put(
		out, style, "No slot",
		"%llu cgroup%s: %s samples are unattributed, and no rule judges %s; raise `max-memory` in [cgroups], or `max` if it is a number, and restart pebsd",
		(unsigned long long)without, without == 1 ? "" : "s", without == 1 ? "its" : "their",
		without == 1 ? "it" : "these cgroups");
	n = MIN(n, NO_SLOT_SHOWN);
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *kept = NULL;

		line_put(out, style, "", "%s",
			 line_visible(json_object_get_string(json_object_array_get_idx(list, i)), &kept));
	}
	if (n > 0 && without > n)
		line_put(out, style, "", "and %llu more", (unsigned long long)(without - n));
	return true;
}

static void put_slots(FILE *out, const struct format_style *style, json_object *status)
{
	u64 alive, slots, unused, without, limit;
	char most[TEXT_NUMBER_MAX + 32] = "";
	bool missing;

	if (json_get_u64(status, "slots_limit", &limit) && json_get_u64(status, "slots", &slots) &&
	    limit > slots)
		(void)snprintf(most, sizeof(most), "; the maximum is %llu slots", (unsigned long long)limit);
	if (json_get_u64(status, "cgroups_alive", &alive) && json_get_u64(status, "slots", &slots) &&
	    json_get_u64(status, "slots_free", &unused))
		line_put(out, style, "Cgroups", "%llu with a slot; %llu of %llu slots are free%s",
			 (unsigned long long)alive, (unsigned long long)unused, (unsigned long long)slots,
			 most);
	if (format_no_slot(out, style, status) || !json_get_u64(status, "births_without_slot", &without) ||
	    without == 0)
		return;
	/* An older pebsd does not report "slots_missing": then assume that slots are missing. */
	if (json_get_bool(status, "slots_missing", &missing) && !missing)
		line_put(out, style, "",
			 "cgroups that found no slot when they were created: %llu; every cgroup has one now",
			 (unsigned long long)without);
	else
		line_put(
			out, style, "",
			"cgroups that found no slot: %llu; their samples are unattributed; raise `max-memory` in [cgroups], or `max` if it is a number, and restart pebsd",
			(unsigned long long)without);
}

static void put_memory(FILE *out, const struct format_style *style, json_object *status)
{
	char maps[TEXT_NUMBER_MAX], own_text[TEXT_NUMBER_MAX], peak_text[TEXT_NUMBER_MAX], of[64] = "";
	json_object *memory = json_get_object(status, "memory");
	u64 bytes, own, peak, stripes, caches;
	bool in_process = false;

	if (!json_get_u64(status, "map_bytes", &bytes) || !json_get_u64(status, "stripes", &stripes))
		return;
	text_bytes(bytes, maps);
	(void)json_get_bool(status, "in_process", &in_process);
	if (json_get_u64(status, "stripe_caches", &caches))
		(void)snprintf(of, sizeof(of), ", divided among %llu last-level cache%s",
			       (unsigned long long)caches, caches == 1 ? "" : "s");
	line_put(out, style, "Memory", "%s of %s; %llu stripe%s per slot%s", maps,
		 in_process ? "records in pebsd's process, without BPF" : "BPF maps",
		 (unsigned long long)stripes, stripes == 1 ? "" : "s", of);
	if (!json_get_u64(memory, "anonymous", &own))
		return;
	text_bytes(own, own_text);
	if (json_get_u64(memory, "anonymous_peak", &peak)) {
		text_bytes(peak, peak_text);
		line_put(out, style, "", "%s in the daemon itself, at most %s while it started", own_text,
			 peak_text);
	} else {
		line_put(out, style, "", "%s in the daemon itself", own_text);
	}
}

/* Prints the zooms and hot tables, and the memory and symbols that they use. */
static void put_detail(FILE *out, const struct format_style *style, json_object *detail)
{
	json_object *hot = json_get_array(detail, "hot"), *symbols = json_get_object(detail, "symbols");
	size_t n = hot ? json_object_array_length(hot) : 0;
	char memory[TEXT_NUMBER_MAX], asked_text[TEXT_NUMBER_MAX], number[TEXT_NUMBER_MAX];
	u64 running, held, bytes, most, asked, unknown, lost, late;

	if (json_get_u64(detail, "zooms_running", &running) && json_get_u64(detail, "zooms_held", &held) &&
	    json_get_u64(detail, "zoom_bytes", &bytes)) {
		text_bytes(bytes, memory);
		if (held)
			line_put(out, style, "Zooms", "%llu held (%llu of them running): %s",
				 (unsigned long long)held, (unsigned long long)running, memory);
		else
			line_put(out, style, "Zooms", "none held");
	}
	if (json_get_u64(detail, "hot_max", &most) && (most > 0 || n > 0))
		line_put(out, style, "Hot tables", "%zu of %llu are in use%s", n, (unsigned long long)most,
			 n ? ", by" : "");
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *kept = NULL;

		line_put(out, style, "", "%s",
			 line_visible(json_object_get_string(json_object_array_get_idx(hot, i)), &kept));
	}
	if (json_get_u64(symbols, "asked", &asked) && asked > 0 &&
	    json_get_u64(symbols, "unknown", &unknown) && json_get_u64(symbols, "lost", &lost)) {
		text_count(asked, asked_text);
		text_count(unknown, number);
		text_count(lost, memory);
		line_put(out, style, "Names",
			 "%s address%s looked up: %s without a name, %s without an answer", asked_text,
			 asked == 1 ? "" : "es", number, memory);
		if (json_get_u64(symbols, "late", &late) && late > 0) {
			text_count(late, number);
			line_put(out, style, "", "%s lookup%s took more than ten seconds", number,
				 late == 1 ? "" : "s");
		}
		if (json_get_u64(symbols, "own_bytes", &bytes)) {
			text_bytes(bytes, memory);
			line_put(out, style, "", "%s of memory for the names", memory);
		}
	}
}

/* Returns "perf (pid 4711) 12, systemd (pid 1) 8"; the caller frees it. NULL: none, or no memory. */
static char *users_of(json_object *users)
{
	json_object *list = json_get_array(users, "processes");
	size_t n = list ? json_object_array_length(list) : 0;
	_cleanup_fclose_ FILE *out = NULL;
	_cleanup_free_ char *text = NULL;
	const char *separator = "";
	size_t length;
	u64 more;

	if (n == 0)
		return NULL;
	out = open_memstream(&text, &length);
	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		json_object *user = json_object_array_get_idx(list, i);
		_cleanup_free_ char *kept = NULL;
		u64 pid, events;

		if (!json_get_u64(user, "pid", &pid) || !json_get_u64(user, "events", &events))
			continue;
		(void)fprintf(out, "%s%s (pid %llu) %llu", separator,
			      line_visible(json_get_text(user, "name"), &kept), (unsigned long long)pid,
			      (unsigned long long)events);
		separator = ", ";
	}
	if (json_get_u64(users, "more_processes", &more))
		(void)fprintf(out, ", and %llu more", (unsigned long long)more);
	return fclose(TAKE_PTR(out)) == 0 ? TAKE_PTR(text) : NULL;
}

/* Prints the other users of the counters. */
static void put_counter_users(FILE *out, const struct format_style *style, json_object *users)
{
	const char *watchdog = json_get_text(users, "nmi_watchdog");
	_cleanup_free_ char *processes = users_of(users);
	const char *label = "Counters";
	bool flag;

	if (watchdog) {
		line_put(out, style, label, "the NMI watchdog %s one on each CPU%s",
			 strcmp(watchdog, "unknown") == 0 ? "may hold" : "holds",
			 strcmp(watchdog, "cycles") == 0 ? " (CPU cycles)"
			 : strcmp(watchdog, "raw") == 0  ? " (a raw event of the kernel's command line)"
							 : "");
		label = "";
	}
	if (processes) {
		line_put(out, style, label, "other processes have perf events, which may use counters: %s",
			 processes);
		label = "";
	}
	if (json_get_bool(users, "guest_pmu", &flag) && flag) {
		line_put(out, style, label,
			 "virtual machines of KVM use counters if their virtual PMU is in use");
		label = "";
	}
	if (json_get_bool(users, "complete", &flag) && !flag)
		line_put(
			out, style, label,
			"pebsd does not see all processes; to list those that have perf events, run `pebsd --probe` as root");
}

/* The first file is the main one; the others are its drop-ins. */
static void put_files(FILE *out, const struct format_style *style, json_object *files)
{
	size_t n = files ? json_object_array_length(files) : 0;
	_cleanup_free_ char *first = NULL, *last = NULL;
	char more[TEXT_NUMBER_MAX + 16] = "";

	if (n == 0)
		return;
	if (n > 2)
		(void)snprintf(more, sizeof(more), ", %zu more", n - 2);
	line_put(out, style, "", "%s%s%s%s",
		 line_visible(json_object_get_string(json_object_array_get_idx(files, 0)), &first), more,
		 n > 1 ? n > 2 ? " and " : ", " : "",
		 n > 1 ? line_visible(json_object_get_string(json_object_array_get_idx(files, n - 1)), &last)
		       : "");
}

static void put_config(FILE *out, const struct format_style *style, json_object *config)
{
	char time[LINE_TIME_MAX];
	bool reloaded;

	if (!json_get_bool(config, "reloaded", &reloaded))
		return;
	line_put(
		out, style, "Config", "read at %s%s", line_time(style, json_get_text(config, "time"), time),
		reloaded
			? ""
			: "; the last reload failed, so this one stays in force; see the journal, or run `pebsd --check-config`");
	put_files(out, style, json_get_array(config, "files"));
}

/* Says how far the history reaches, or why there is none. */
static void put_history(FILE *out, const struct format_style *style, json_object *history)
{
	const char *off = json_get_text(history, "off_reason"), *oldest = json_get_text(history, "oldest");
	const char *trouble = json_get_text(history, "trouble");
	_cleanup_free_ char *kept = NULL;
	char used[TEXT_NUMBER_MAX] = "-", most[TEXT_NUMBER_MAX] = "-", since[LINE_TIME_MAX];
	bool on;
	u64 value;

	if (!json_get_bool(history, "on", &on))
		return;
	if (!on) {
		line_put(out, style, "History", "none: %s", line_sentence(style, off, &kept));
		return;
	}
	if (json_get_u64(history, "bytes", &value))
		text_bytes(value, used);
	if (json_get_u64(history, "bytes_max", &value))
		text_bytes(value, most);
	if (oldest)
		line_put(out, style, "History", "since %s, %s of at most %s", line_time(style, oldest, since),
			 used, most);
	else
		line_put(out, style, "History", "nothing stored yet");
	if (json_get_u64(history, "panes_lost", &value) && value > 0)
		line_put(out, style, "", "%llu pane%s of 10 s %s not stored", (unsigned long long)value,
			 value == 1 ? "" : "s", value == 1 ? "was" : "were");
	if (trouble)
		line_put(out, style, "", "%s", line_sentence(style, trouble, &kept));
}

void format_status(FILE *out, json_object *status, json_object *recent, const struct format_style *style)
{
	json_object *events = json_get_object(status, "events");
	json_object *notes = json_get_array(status, "notes");
	char since[LINE_TIME_MAX], interval[TEXT_NUMBER_MAX], collection[TEXT_NUMBER_MAX];
	_cleanup_free_ char *origin = NULL;
	double interval_s, collection_s;
	u64 firing;
	const char *opened_by;
	bool done;

	if (!format_is_past(status))
		format_state(out, style, status);
	if (format_is_past(status))
		format_origin(out, style, "Origin", status);
	else
		line_put(out, style, "Origin", "%s since %s%s", format_origin_name(status, &origin),
			 line_time(style, json_get_text(status, "since"), since),
			 !json_get_bool(status, "replay_done", &done) ? ""
			 : done                                       ? "; reading has ended"
								      : "; still reading");
	format_recordings(out, style, status);
	opened_by = json_get_text(status, "opened_by");
	if (opened_by && strcmp(opened_by, "opener") == 0)
		line_put(out, style, "Events",
			 "opened by pebsd-opener.service, because pebsd itself may not open them");
	format_pause(out, style, status);
	if (events) {
		json_object_object_foreach (events, key, event)
			put_event(out, style, key, event, json_object_object_length(events) == 1);
	}
	format_samples(out, style, json_get_object(status, "samples"), 0);
	put_recent(out, style, recent);
	put_waits(out, style, status, recent);
	put_bandwidth(out, style, json_get_array(status, "bandwidth"));
	format_offcore_status(out, style, status);
	put_counter_users(out, style, json_get_object(status, "counter_users"));
	put_slots(out, style, status);
	put_memory(out, style, status);
	put_detail(out, style, json_get_object(status, "detail"));
	if (json_get_double(status, "interval_s", &interval_s) &&
	    json_get_double(status, "collection_s", &collection_s)) {
		text_span(interval_s, interval);
		text_span(collection_s, collection);
		line_put(out, style, "Collection", "every %s; the last took %s", interval, collection);
	}
	put_history(out, style, json_get_object(status, "history"));
	put_config(out, style, json_get_object(status, "config"));
	if (json_get_u64(status, "alerts_firing", &firing) && firing > 0)
		line_put(out, style, "Alerts", "%llu firing (see `pebsctl alerts`)",
			 (unsigned long long)firing);
	for (size_t i = 0; notes && !format_is_past(status) && i < json_object_array_length(notes); i++) {
		_cleanup_free_ char *kept = NULL;

		line_put(out, style, "Note", "%s",
			 line_sentence(style, json_object_get_string(json_object_array_get_idx(notes, i)),
				       &kept));
	}
}

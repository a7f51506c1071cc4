// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_hot.h"

#include <sys/param.h>

#include "export/json/json_writer.h"
#include "profile/hidden_names.h"

#define MILLION 1000000

/* The state while one event is written. `total` is 100% of its shares. */
struct hot_writer {
	struct json_writer *writer;
	const struct json_hot *hot;
	struct profile_names names;
	struct json_page *page;
	bool latency;
	bool cpus_known;
	u64 total;
	u64 unnamed;
};

static void put_bounds(struct json_writer *writer, json_object *object, const char *key, u64 high, u64 error)
{
	json_object *bounds = json_checked(writer, json_object_new_object());

	json_put_u64(writer, bounds, "low", high - MIN(error, high));
	json_put_u64(writer, bounds, "high", high);
	json_put(writer, object, key, bounds);
}

/* Rounds outwards, so that the true share lies between the printed bounds. */
static void put_share(const struct hot_writer *event, json_object *object, const struct hot_place *place)
{
	const unsigned __int128 low = place->weight - MIN(place->weight_error, place->weight);
	const unsigned __int128 high = place->weight;
	json_object *bounds;

	if (event->total == 0)
		return;
	bounds = json_checked(event->writer, json_object_new_object());
	json_put_number(event->writer, bounds, "low", (double)(u64)(low * MILLION / event->total) / MILLION,
			6);
	json_put_number(event->writer, bounds, "high",
			(double)(u64)((high * MILLION + event->total - 1) / event->total) / MILLION, 6);
	json_put(event->writer, object, "share", bounds);
}

static void put_counts(const struct hot_writer *event, json_object *object, const struct hot_place *place)
{
	if (event->latency)
		put_bounds(event->writer, object, "latency", place->weight, place->weight_error);
	put_share(event, object, place);
	put_bounds(event->writer, object, "samples", place->samples, place->samples_error);
}

static void put_address(struct json_writer *writer, json_object *object, u64 address)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	json_put_text(writer, object, "address", text);
}

/*
 * Finds the name of an address. An address whose name may still come is counted as unnamed. An address that
 * belongs to neither a process nor the kernel (in the model or a recording) is not counted: its name is known
 * from the start or never.
 */
static const struct symbol *find(struct hot_writer *event, const struct hot_place *place,
				 enum symbol_kind kind)
{
	const struct symbol_query query = {.address = place->address, .pid = place->pid, .kind = kind};
	const struct symbol *symbol;

	if (!event->names.find)
		return NULL;
	symbol = event->names.find(event->names.userdata, &query);
	if (!symbol && (place->pid != 0 || SYMBOL_IS_KERNEL(place->address)))
		event->unnamed++;
	return symbol;
}

/* Returns true if the address is of the kernel and the client must not see it. */
static bool is_hidden(const struct hot_writer *event, const struct hot_place *place)
{
	return !event->hot->kernel_addresses && SYMBOL_IS_KERNEL(place->address);
}

static bool has_name(const struct symbol *symbol)
{
	return symbol && symbol->n_frames > 0;
}

static void put_name(struct json_writer *writer, json_object *object, const char *key,
		     const struct symbol *symbol)
{
	_cleanup_free_ char *text = symbol_text(symbol);

	if (text)
		json_put_text(writer, object, key, text);
	else
		writer->failed = true;
}

static void put_function(struct json_writer *writer, json_object *object, const struct symbol *symbol)
{
	const struct symbol_frame *frame;

	if (symbol->module)
		json_put_text(writer, object, "module", symbol->module);
	if (symbol->n_frames == 0)
		return;
	frame = &symbol->frames[0];
	/* An inlined function has no start address. */
	if (!frame->inlined)
		json_put_u64(writer, object, "offset", frame->offset);
	if (frame->file)
		json_put_text(writer, object, "file", frame->file);
	if (frame->line)
		json_put_u64(writer, object, "line", frame->line);
}

static json_object *code_object(struct hot_writer *event, const struct hot_place *place,
				const struct symbol *symbol)
{
	static const struct symbol unknown;
	struct json_writer *writer = event->writer;
	json_object *object = json_checked(writer, json_object_new_object());

	put_name(writer, object, "name", symbol ? symbol : &unknown);
	if (is_hidden(event, place)) {
		if (symbol && symbol->module)
			json_put_text(writer, object, "module", symbol->module);
	} else {
		if (symbol)
			put_function(writer, object, symbol);
		put_address(writer, object, place->address);
	}
	if (place->pid)
		json_put_u64(writer, object, "pid", place->pid);
	put_counts(event, object, place);
	return object;
}

/* Adds the numbers of CPUs only if samples contain them. */
static void put_sharing(const struct hot_writer *event, json_object *object, const struct hot_place *place)
{
	json_put_u64(event->writer, object, "hitm", place->hitm);
	if (!event->cpus_known)
		return;
	json_put_u64(event->writer, object, "hitm_cpus", place->hitm_cpus);
	json_put_u64(event->writer, object, "cpus", place->cpus);
}

static json_object *line_object(struct hot_writer *event, const struct hot_place *place,
				const struct symbol *symbol)
{
	struct json_writer *writer = event->writer;
	json_object *object = json_checked(writer, json_object_new_object());

	if (!is_hidden(event, place))
		put_address(writer, object, place->address);
	if (symbol)
		put_name(writer, object, "object", symbol);
	if (place->pid)
		json_put_u64(writer, object, "pid", place->pid);
	put_counts(event, object, place);
	put_sharing(event, object, place);
	return object;
}

/* The sum of the hidden kernel addresses that have no name. */
static json_object *kernel_object(struct hot_writer *event, enum hot_kind kind, const struct hot_place *sum)
{
	struct json_writer *writer = event->writer;
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_text(writer, object, kind == HOT_CODE ? "name" : "object", HIDDEN_KERNEL);
	put_counts(event, object, sum);
	if (kind == HOT_LINES)
		put_sharing(event, object, sum);
	return object;
}

/* Adds `place` to `sum`. The sum has at least as many CPUs as each place; their exact number is not known. */
static void add_place(struct hot_place *sum, const struct hot_place *place)
{
	sum->weight += place->weight;
	sum->weight_error += place->weight_error;
	sum->samples += place->samples;
	sum->samples_error += place->samples_error;
	sum->hitm += place->hitm;
	sum->hitm_cpus = MAX(sum->hitm_cpus, place->hitm_cpus);
	sum->cpus = MAX(sum->cpus, place->cpus);
}

/* Adds up the hidden kernel addresses that have no name. `ret_n` gets the number of places in the sum. */
static struct hot_place sum_unnamed_kernel(struct hot_writer *event, const struct hot_places *places,
					   enum symbol_kind kind, size_t *ret_n)
{
	const u64 unnamed = event->unnamed;
	struct hot_place sum = {0};

	*ret_n = 0;
	for (size_t i = 0; i < places->n; i++)
		if (is_hidden(event, &places->places[i]) &&
		    !has_name(find(event, &places->places[i], kind))) {
			add_place(&sum, &places->places[i]);
			(*ret_n)++;
		}
	event->unnamed = unnamed; /* places_array() counts these items again, up to the end of its list */
	return sum;
}

/* The known facts about the items that are not listed. */
struct left_out {
	struct hot_place most; /* the maximum that each item can have */
	u64 n;                 /* number of these items that are in the tables */
};

static void leave_out(struct left_out *left_out, const struct hot_place *place)
{
	left_out->most.weight = MAX(left_out->most.weight, place->weight);
	left_out->most.samples = MAX(left_out->most.samples, place->samples);
}

/* Takes `item`. `room` gets the number of items that may follow: none after one that did not fit on the page. */
static bool list_item(struct hot_writer *event, json_object *array, json_object *item, u64 *room)
{
	bool fits = json_append_to_page(event->writer, array, item, event->page, 0);

	*room = fits ? *room - 1 : 0;
	return fits;
}

static json_object *places_array(struct hot_writer *event, const struct hot_places *places,
				 struct left_out *ret_left_out)
{
	const enum symbol_kind kind = places->kind == HOT_CODE ? SYMBOL_CODE : SYMBOL_DATA;
	json_object *array = json_checked(event->writer, json_object_new_array());
	size_t merged;
	struct hot_place kernel = sum_unnamed_kernel(event, places, kind, &merged);
	u64 room = event->hot->limit, listed = 0;

	*ret_left_out = (struct left_out){
		.most = {.weight = places->absent_weight, .samples = places->absent_samples}};
	for (size_t i = 0; i < places->n; i++) {
		const struct hot_place *place = &places->places[i];
		const struct symbol *symbol;

		if (room > 0 && kernel.samples > 0 && kernel.weight >= place->weight &&
		    list_item(event, array, kernel_object(event, places->kind, &kernel), &room)) {
			kernel = (struct hot_place){0};
			listed++;
		}
		if (room == 0) {
			leave_out(ret_left_out, place);
			continue;
		}
		symbol = find(event, place, kind);
		if (is_hidden(event, place) && !has_name(symbol))
			continue;
		if (list_item(event, array,
			      places->kind == HOT_CODE ? code_object(event, place, symbol)
						       : line_object(event, place, symbol),
			      &room))
			listed++;
		else
			leave_out(ret_left_out, place);
	}
	if (kernel.samples > 0 && room > 0 &&
	    list_item(event, array, kernel_object(event, places->kind, &kernel), &room))
		listed++;
	else if (kernel.samples > 0)
		leave_out(ret_left_out, &kernel);
	ret_left_out->n = places->n - merged + (merged > 0) - listed;
	return array;
}

static json_object *absent_object(struct json_writer *writer, const struct hot_places *places,
				  const struct left_out *left_out)
{
	json_object *object = json_checked(writer, json_object_new_object());

	if (places->latency)
		json_put_u64(writer, object, "latency", left_out->most.weight);
	json_put_u64(writer, object, "samples", left_out->most.samples);
	if (left_out->n)
		json_put_u64(writer, object, "left_out", left_out->n);
	return object;
}

/*
 * Each total is the larger one of code and lines: samples of an event may have a code address and no data
 * address, or the other way round. `lists` is the number of lists for which `page` still needs space.
 */
static json_object *event_object(struct json_writer *writer, const struct json_hot *hot,
				 const struct snapshot_event *event, const struct json_hot_event *found,
				 struct json_page *page, size_t *lists, u64 *unnamed)
{
	static const char *const keys[HOT_KINDS] = {[HOT_CODE] = "code", [HOT_LINES] = "lines"};
	struct hot_writer state = {.writer = writer, .hot = hot, .names = hot->names, .page = page};
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *absent = json_checked(writer, json_object_new_object());
	u64 samples = 0;

	for (size_t kind = 0; kind < HOT_KINDS; kind++) {
		const struct hot_places *places = found->places[kind];

		if (!places)
			continue;
		state.latency = places->latency;
		state.cpus_known = places->cpus_known;
		state.total = MAX(state.total, places->weight);
		samples = MAX(samples, places->samples);
	}
	if (event->event.pmu[0])
		json_put_text(writer, object, "pmu", event->event.pmu);
	json_put_text(writer, object, "weight", state.latency ? "latency" : "samples");
	if (state.latency)
		json_put_u64(writer, object, "latency", state.total);
	json_put_u64(writer, object, "samples", samples);
	for (size_t kind = 0; kind < HOT_KINDS; kind++) {
		struct left_out left_out;

		if (!found->places[kind])
			continue;
		json_page_share(page, (*lists)--);
		json_put(writer, object, keys[kind], places_array(&state, found->places[kind], &left_out));
		json_put(writer, absent, keys[kind], absent_object(writer, found->places[kind], &left_out));
	}
	json_put(writer, object, "absent", absent);
	*unnamed += state.unnamed;
	return object;
}

/* Converts a CLOCK_MONOTONIC time to CLOCK_REALTIME. */
static struct timespec time_at(const struct json_hot *hot, u64 at_ns)
{
	s64 ns = (s64)hot->now.tv_sec * (s64)NSEC_PER_SEC + hot->now.tv_nsec + (s64)(at_ns - hot->now_ns);

	return (struct timespec){.tv_sec = ns / (s64)NSEC_PER_SEC, .tv_nsec = ns % (s64)NSEC_PER_SEC};
}

static json_object *chosen_object(struct json_writer *writer, const struct json_hot *hot)
{
	const struct hot_choice *choice = &hot->choice;
	json_object *object = json_checked(writer, json_object_new_object());
	struct timespec since = time_at(hot, choice->since_ns);
	u64 for_ns = hot->now_ns - MIN(choice->since_ns, hot->now_ns);

	json_put_text(writer, object, "by", choice->configured ? "configuration" : "request");
	json_put_time(writer, object, "since", &since);
	json_put_number(writer, object, "for_s", (double)for_ns / (double)NSEC_PER_SEC, 3);
	if (!choice->configured && choice->until_ns) {
		struct timespec until = time_at(hot, choice->until_ns);

		json_put_time(writer, object, "until", &until);
	}
	return object;
}

static size_t count_lists(const struct snapshot *snapshot, const struct json_hot *hot)
{
	size_t n = 0;

	for (size_t i = 0; i < snapshot->n_events; i++)
		for (size_t kind = 0; kind < HOT_KINDS; kind++)
			n += hot->events[i].places[kind] != NULL;
	return n;
}

json_object *json_hot(const struct snapshot *snapshot, const struct json_hot *hot)
{
	size_t lists = count_lists(snapshot, hot);
	struct json_page page = {0};
	struct json_writer writer = {0};
	json_object *object = json_start(&writer, snapshot);
	json_object *events = json_checked(&writer, json_object_new_object());
	u64 unnamed = 0;

	json_put_text(&writer, object, "cgroup", hot->path);
	json_put_u64(&writer, object, "id", hot->id);
	json_put(&writer, object, "chosen", chosen_object(&writer, hot));
	for (size_t i = 0; i < snapshot->n_events; i++)
		if (hot->events[i].places[HOT_CODE] || hot->events[i].places[HOT_LINES])
			json_put_shown(&writer, events, snapshot->events[i].key,
				       event_object(&writer, hot, &snapshot->events[i], &hot->events[i],
						    &page, &lists, &unnamed));
	json_put(&writer, object, "events", events);
	json_put_u64(&writer, object, "unnamed", unnamed);
	return json_finish(&writer, object);
}

// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols.h"

#include <errno.h>
#include <string.h>

#include "symbols/symbols_link.h"
#include "symbols/symbols_parts.h"

#define ASK_AGAIN_NS       NSEC_PER_SEC
#define ASK_AGAIN_DOUBLING 10

static int copy_text(const char *text, char **ret)
{
	if (text && !(*ret = strdup(text)))
		return -ENOMEM;
	return 0;
}

int symbols_new(const struct symbols_settings *settings, struct symbols **ret)
{
	const struct symbols_cache_limits limits = {SYMBOLS_KEPT_MAX, SYMBOLS_KEPT_BYTES_MAX};
	_cleanup_(symbols_freep) struct symbols *symbols = calloc(1, sizeof(*symbols));
	int r;

	if (!symbols)
		return -ENOMEM;
	symbols->child = CHILD_NONE;
	symbols->event = sd_event_ref(settings->event);
	symbols->question_ns =
		settings->question_ns ? settings->question_ns : SYMBOLS_QUESTION_S * NSEC_PER_SEC;
	symbols->idle_ns = settings->idle_ns ? settings->idle_ns : SYMBOLS_IDLE_S * NSEC_PER_SEC;
	if ((r = copy_text(settings->debuginfod, &symbols->debuginfod)) < 0 ||
	    (r = copy_text(settings->program, &symbols->program)) < 0 ||
	    (r = copy_text(settings->socket, &symbols->socket)) < 0 ||
	    (r = symbols_cache_new(&limits, &symbols->cache)) < 0 || (r = symbols_link_open(symbols)) < 0)
		return r;
	*ret = TAKE_PTR(symbols);
	return 0;
}

struct symbols *symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return NULL;
	symbols_link_close(symbols);
	if (symbols->cache) {
		const struct symbols_asked *asked;

		/* Dropped entries belong to the queue only. This frees them. */
		while ((asked = symbols_queue_first(&symbols->queue))) {
			if (asked->entry)
				symbols_cache_answer(symbols->cache, asked->entry, NULL, 1);
			symbols_queue_remove_first(&symbols->queue);
		}
	}
	symbols_queue_clear(&symbols->queue);
	(void)symbols_cache_free(symbols->cache);
	(void)sd_event_unref(symbols->event);
	free(symbols->debuginfod);
	free(symbols->program);
	free(symbols->socket);
	free(symbols);
	return NULL;
}

static int add(struct symbols *symbols, struct symbols_wire_request *request, u32 pid,
	       struct symbols_entry *entry)
{
	int r = symbols_queue_add(&symbols->queue, request, pid, entry);

	if (r < 0)
		return r;
	if (symbols->queue.n == 1 && symbols_link_runs(symbols))
		symbols_link_begin_time(symbols);
	symbols_link_soon(symbols);
	return 0;
}

/*
 * Passes an event on if a symbolizer runs or requests wait. Otherwise the next symbolizer will read the state
 * itself.
 */
static int tell(struct symbols *symbols, struct symbols_wire_request *request, u32 pid)
{
	symbols_link_soon(symbols);
	if (!symbols_link_runs(symbols) && symbols->queue.n == 0)
		return 0;
	return add(symbols, request, pid, NULL);
}

int symbols_process(struct symbols *symbols, u32 pid)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_PROCESS, .pid = pid};
	u64 now = symbols_link_now_ns(symbols);

	if (symbols_link_cannot_start(symbols, now) || symbols_backoff_is_barred(&symbols->backoff, pid, now))
		return 0;
	return add(symbols, &request, pid, NULL);
}

int symbols_mapped(struct symbols *symbols, const struct symbol_mapping *mapping)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_MAPPED, .mapping = *mapping};

	symbols_cache_drop_range(symbols->cache, mapping->pid, mapping->start, mapping->size);
	return tell(symbols, &request, mapping->pid);
}

int symbols_executed(struct symbols *symbols, u32 pid)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_EXECUTED, .pid = pid};

	symbols_cache_drop(symbols->cache, pid);
	return tell(symbols, &request, pid);
}

int symbols_forked(struct symbols *symbols, u32 pid, u32 parent)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_FORKED, .pid = pid, .parent = parent};

	/* A new thread, not a process. */
	if (pid == parent)
		return 0;
	/* The pid may have belonged to another process before. */
	symbols_cache_drop(symbols->cache, pid);
	return tell(symbols, &request, pid);
}

static bool may_ask_again(const struct symbols_entry *entry, u64 now)
{
	unsigned int doublings = entry->answers ? entry->answers - 1U : 0;

	if (doublings > ASK_AGAIN_DOUBLING)
		doublings = ASK_AGAIN_DOUBLING;
	return entry->symbol.region == SYMBOL_UNKNOWN && !entry->barred &&
	       now - entry->answered_ns >= ASK_AGAIN_NS << doublings;
}

static const struct symbol *ask(struct symbols *symbols, struct symbols_entry *entry, u64 now)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_FIND, .query = entry->query};
	bool said = symbols_link_cannot_start(symbols, now) ||
		    symbols_backoff_is_barred(&symbols->backoff, entry->query.pid, now);

	if (!said && add(symbols, &request, entry->query.pid, entry) == 0) {
		symbols->figures.asked++;
		return NULL;
	}
	symbols->figures.lost++;
	symbols_link_soon(symbols);
	if (!said) {
		/* Too many requests are in flight. Keep no answer, so that the next call tries again. */
		symbols_cache_discard(symbols->cache, entry);
		return NULL;
	}
	symbols_cache_answer(symbols->cache, entry, NULL, now);
	return &entry->symbol;
}

const struct symbol *symbols_find(struct symbols *symbols, const struct symbol_query *query)
{
	struct symbol_query key = symbols_cache_key(query);
	struct symbols_entry *entry = symbols_cache_get(symbols->cache, &key);
	u64 now = symbols_link_now_ns(symbols);

	if (entry && entry->pending)
		return NULL;
	if (entry && !may_ask_again(entry, now))
		return &entry->symbol;
	if (entry)
		symbols_cache_ask_again(symbols->cache, entry);
	else if (symbols_cache_add(symbols->cache, &key, &entry) < 0) {
		symbols->figures.lost++;
		return NULL;
	}
	return ask(symbols, entry, now);
}

u64 symbols_kernel_start(const struct symbols *symbols)
{
	return symbols->kernel_start;
}

size_t symbols_pending(const struct symbols *symbols)
{
	return symbols->queue.questions;
}

struct symbols_figures symbols_figures(const struct symbols *symbols)
{
	struct symbols_figures figures = symbols->figures;

	figures.own_bytes =
		sizeof(*symbols) + symbols_cache_bytes(symbols->cache) + symbols_queue_bytes(&symbols->queue);
	figures.bytes = figures.own_bytes + symbols->held;
	figures.running = symbols_link_runs(symbols);
	return figures;
}

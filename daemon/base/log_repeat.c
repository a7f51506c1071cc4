// SPDX-License-Identifier: GPL-2.0
#include "base/log_repeat.h"

#include <string.h>

/* FNV-1a: nobody gains anything from a collision of two messages. */
static u64 hash_of(const char *text)
{
	u64 hash = 0xcbf29ce484222325ULL;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	return hash ? hash : 1;
}

static bool over(const struct log_repeat *repeat, u64 now_ns)
{
	return now_ns - repeat->begun_ns >= LOG_REPEAT_NS;
}

static struct log_repeat *find(struct log_repeats *repeats, u64 hash)
{
	for (size_t i = 0; i < LOG_REPEATS; i++)
		if (repeats->list[i].hash == hash)
			return &repeats->list[i];
	return NULL;
}

/*
 * Returns an unused entry, otherwise the oldest one with no suppressed count left to report, otherwise NULL.
 */
static struct log_repeat *take(struct log_repeats *repeats)
{
	struct log_repeat *oldest = NULL;

	for (size_t i = 0; i < LOG_REPEATS; i++) {
		struct log_repeat *repeat = &repeats->list[i];

		if (repeat->hash == 0)
			return repeat;
		if (repeat->left_out == 0 && (!oldest || repeat->begun_ns < oldest->begun_ns))
			oldest = repeat;
	}
	return oldest;
}

bool log_repeats_say(struct log_repeats *repeats, int priority, const char *kind, const char *text,
		     u64 now_ns)
{
	u64 hash = hash_of(kind ? kind : text);
	struct log_repeat *repeat = find(repeats, hash);

	if (!repeat || (repeat->left_out == 0 && over(repeat, now_ns))) {
		if (!repeat)
			repeat = take(repeats);
		if (!repeat)
			return true;
		*repeat = (struct log_repeat){
			.hash = hash, .begun_ns = now_ns, .said = 1, .priority = priority};
		strncpy(repeat->text, text, sizeof(repeat->text) - 1);
		return true;
	}
	if (kind && strncmp(repeat->text, text, sizeof(repeat->text) - 1) != 0) {
		repeat->varies = true;
		strncpy(repeat->text, text, sizeof(repeat->text) - 1);
	}
	if (repeat->said < LOG_REPEAT_BURST) {
		repeat->said++;
		return true;
	}
	repeat->left_out++;
	return false;
}

bool log_repeats_next(struct log_repeats *repeats, u64 now_ns, bool at_end, struct log_repeat *ret)
{
	for (size_t i = 0; i < LOG_REPEATS; i++) {
		struct log_repeat *repeat = &repeats->list[i];

		if (repeat->left_out == 0 || (!at_end && !over(repeat, now_ns)))
			continue;
		*ret = *repeat;
		/* From now on a persistent fault is logged by its count alone, once per interval. */
		repeat->begun_ns = now_ns;
		repeat->left_out = 0;
		return true;
	}
	return false;
}

u64 log_sum_add(struct log_sum *sum, u64 more, u64 now_ns, bool at_end, u64 *ret_ns)
{
	const bool waits = sum->logged && !at_end && now_ns - sum->logged_ns < LOG_REPEAT_NS;
	u64 ret;

	*ret_ns = sum->unlogged > 0 ? now_ns - sum->logged_ns : 0;
	sum->unlogged += more;
	if (sum->unlogged == 0 || waits)
		return 0;
	ret = sum->unlogged;
	*sum = (struct log_sum){.logged = true, .logged_ns = now_ns};
	return ret;
}

// SPDX-License-Identifier: GPL-2.0
#include "profile/profile.h"

#include <errno.h>
#include <string.h>

#include "profile/profile_internal.h"

int profile_new(bool latency, struct profile **ret)
{
	_cleanup_(profile_freep) struct profile *profile = calloc(1, sizeof(*profile));
	int r;

	if (!profile)
		return -ENOMEM;
	profile->has_latency = latency;
	profile->budget.max = PROFILE_SAMPLES_BYTES_MAX;
	profile->key = siphash_key_new();
	r = name_table_new(&profile->table);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(profile);
	return 0;
}

struct profile *profile_free(struct profile *profile)
{
	if (!profile)
		return NULL;
	free(profile->nodes.list);
	free(profile->node_index.slots);
	free(profile->cells.list);
	free(profile->cell_index.slots);
	free(profile->accesses.list);
	free(profile->access_index.slots);
	free(profile->threads.list);
	free(profile->thread_index.slots);
	name_table_free(profile->table);
	free(profile);
	return NULL;
}

/* Makes room for one more entry of a table. */
static int reserve(struct profile *profile, struct growing *array, size_t size, struct hash_index *index)
{
	int r = growing_reserve(array, size, 1, &profile->budget);

	return r < 0 ? r : hash_index_reserve(index, &profile->budget);
}

struct node_wanted {
	const struct profile *profile;
	struct node node;
};

static bool same_node(const void *userdata, u32 i)
{
	const struct node_wanted *wanted = userdata;
	const struct node *node = node_of(wanted->profile, i);

	return node->address == wanted->node.address && node->caller == wanted->node.caller &&
	       node->kernel == wanted->node.kernel && node->exact == wanted->node.exact;
}

static int enter_node(struct profile *profile, const struct node_wanted *wanted, u32 *ret)
{
	u64 words[2] = {wanted->node.address,
			wanted->node.caller | (u64)wanted->node.kernel << 32 | (u64)wanted->node.exact << 33};
	u64 hash = siphash_words(&profile->key, words, ARRAY_SIZE(words));
	int r;

	*ret = hash_index_find(&profile->node_index, hash, same_node, wanted);
	if (*ret != NONE)
		return 0;
	r = reserve(profile, &profile->nodes, sizeof(struct node), &profile->node_index);
	if (r < 0)
		return r;
	*ret = (u32)profile->nodes.n++;
	*node_of(profile, *ret) = wanted->node;
	hash_index_add(&profile->node_index, hash, *ret);
	return 0;
}

/* Finds or adds the callee of `*at` with this address, and sets `*at` to it. */
static int step(struct profile *profile, u64 address, bool kernel, bool exact, u32 *at)
{
	struct node_wanted wanted = {profile,
				     {.address = address,
				      .caller = *at,
				      .pid = *at == NONE ? (u32)address : node_of(profile, *at)->pid,
				      .place = NONE,
				      .last = NONE,
				      .kernel = kernel,
				      .exact = exact,
				      .root = *at == NONE}};
	u32 guess = *at == NONE ? NONE : node_of(profile, *at)->last;
	u32 found;
	int r;

	if (guess != NONE && same_node(&wanted, guess)) {
		*at = guess;
		return 0;
	}
	r = enter_node(profile, &wanted, &found);
	if (r < 0)
		return r;
	if (*at != NONE)
		node_of(profile, *at)->last = found;
	*at = found;
	return 0;
}

/*
 * Enters the stack from the process down to the sampled instruction. For a sample in the kernel, the
 * innermost user address is that of the next instruction in user space. It is entered as exact, like the
 * sampled instruction. All other addresses are return addresses.
 */
static int enter_stack(struct profile *profile, const struct zoom_sample *sample, u32 pid, u32 *ret)
{
	bool has_code = sample->of.fields & SAMPLE_CODE_ADDRESS;
	bool in_kernel = has_code ? SYMBOL_IS_KERNEL(sample->of.code_address) : sample->n_kernel > 0;
	u32 at = NONE;
	int r = step(profile, pid, false, false, &at);

	for (size_t i = sample->n_user; i > 0 && r == 0; i--)
		r = step(profile, sample->user[i - 1], false, i == 1 && in_kernel, &at);
	for (size_t i = sample->n_kernel; i > 0 && r == 0; i--)
		r = step(profile, sample->kernel[i - 1], true, false, &at);
	if (has_code && r == 0)
		r = step(profile, sample->of.code_address, in_kernel, true, &at);
	*ret = at;
	return r;
}

struct cell_wanted {
	const struct profile *profile;
	u32 node, thread;
	u8 source;
};

static bool same_cell(const void *userdata, u32 i)
{
	const struct cell_wanted *wanted = userdata;
	const struct cell *cell = cell_of(wanted->profile, i);

	return cell->node == wanted->node && cell->thread == wanted->thread && cell->source == wanted->source;
}

static int enter_cell(struct profile *profile, u32 node, u32 thread, u8 source, u32 *ret)
{
	struct cell_wanted wanted = {profile, node, thread, source};
	u64 words[2] = {node | (u64)thread << 32, source};
	u64 hash = siphash_words(&profile->key, words, ARRAY_SIZE(words));
	int r;

	*ret = hash_index_find(&profile->cell_index, hash, same_cell, &wanted);
	if (*ret != NONE)
		return 0;
	r = reserve(profile, &profile->cells, sizeof(struct cell), &profile->cell_index);
	if (r < 0)
		return r;
	*ret = (u32)profile->cells.n++;
	*cell_of(profile, *ret) = (struct cell){.node = node, .thread = thread, .source = source};
	hash_index_add(&profile->cell_index, hash, *ret);
	return 0;
}

struct access_wanted {
	const struct profile *profile;
	struct access access;
};

static bool same_access(const void *userdata, u32 i)
{
	const struct access_wanted *wanted = userdata;
	const struct access *one = access_of(wanted->profile, i), *other = &wanted->access;

	return one->address == other->address && one->code == other->code &&
	       one->physical == other->physical && one->pid == other->pid && one->cpu == other->cpu &&
	       one->source == other->source && one->hitm == other->hitm && one->store == other->store &&
	       one->has_code == other->has_code;
}

static int enter_access(struct profile *profile, const struct access *access, u32 *ret)
{
	struct access_wanted wanted = {profile, *access};
	u64 words[5] = {access->address, access->code, access->physical, access->pid | (u64)access->cpu << 32,
			access->source | (u64)access->hitm << 8 | (u64)access->store << 9 |
				(access->has_code ? 1U << 10 : 0)};
	u64 hash = siphash_words(&profile->key, words, ARRAY_SIZE(words));
	int r;

	*ret = hash_index_find(&profile->access_index, hash, same_access, &wanted);
	if (*ret != NONE)
		return 0;
	r = reserve(profile, &profile->accesses, sizeof(struct access), &profile->access_index);
	if (r < 0)
		return r;
	*ret = (u32)profile->accesses.n++;
	*access_of(profile, *ret) = *access;
	hash_index_add(&profile->access_index, hash, *ret);
	return 0;
}

struct thread_wanted {
	const struct profile *profile;
	u32 pid, tid;
};

static bool same_thread(const void *userdata, u32 i)
{
	const struct thread_wanted *wanted = userdata;
	const struct thread *thread = thread_of(wanted->profile, i);

	return thread->tid == wanted->tid && thread->pid == wanted->pid;
}

static u64 thread_hash(const struct profile *profile, u32 pid, u32 tid)
{
	u64 word = pid | (u64)tid << 32;

	return siphash_words(&profile->key, &word, 1);
}

static u32 find_thread(const struct profile *profile, u32 pid, u32 tid)
{
	struct thread_wanted wanted = {profile, pid, tid};

	return hash_index_find(&profile->thread_index, thread_hash(profile, pid, tid), same_thread, &wanted);
}

static int enter_thread(struct profile *profile, u32 pid, u32 tid, u32 *ret)
{
	int r;

	*ret = find_thread(profile, pid, tid);
	if (*ret != NONE)
		return 0;
	r = reserve(profile, &profile->threads, sizeof(struct thread), &profile->thread_index);
	if (r < 0)
		return r;
	*ret = (u32)profile->threads.n++;
	*thread_of(profile, *ret) = (struct thread){.pid = pid, .tid = tid, .first = NONE, .now = NONE};
	hash_index_add(&profile->thread_index, thread_hash(profile, pid, tid), *ret);
	return 0;
}

int profile_name(struct profile *profile, u32 pid, u32 tid, const char *name)
{
	size_t strings = profile->table->strings.n;
	struct thread *thread;
	u32 i, text;
	int r = enter_thread(profile, pid, tid, &i);

	if (r == 0 && profile->n_thread_names >= PROFILE_THREAD_NAMES_MAX)
		name = PROFILE_OTHER_THREADS;
	if (r == 0)
		r = name_table_string(profile->table, name, &text);
	if (r < 0)
		return r == -ENOSPC ? 0 : r;
	profile->n_thread_names += profile->table->strings.n - strings;
	thread = thread_of(profile, i);
	if (thread->first == NONE)
		thread->first = text;
	thread->now = text;
	return 0;
}

u32 cell_thread_string(const struct profile *profile, const struct cell *cell)
{
	const struct thread *thread;
	u32 leader;

	if (cell->thread == NONE || !(cell->thread & CELL_THREAD))
		return cell->thread;
	thread = thread_of(profile, cell->thread & ~CELL_THREAD);
	if (thread->first != NONE)
		return thread->first;
	/* A thread that never set a name inherits that of its creator, usually its process' first thread. */
	leader = find_thread(profile, thread->pid, thread->pid);
	return leader == NONE ? NONE : thread_of(profile, leader)->first;
}

static struct access access_from(const struct zoom_sample *sample, u32 pid)
{
	const struct sample *of = &sample->of;
	bool has_source = of->fields & SAMPLE_DATA_SOURCE;
	bool has_code = of->fields & SAMPLE_CODE_ADDRESS;
	bool of_kernel = SYMBOL_IS_KERNEL(of->address) && (!has_code || SYMBOL_IS_KERNEL(of->code_address));

	return (struct access){
		.address = of->address,
		.code = has_code ? of->code_address : 0,
		.has_code = has_code,
		.physical = sample->physical,
		.pid = of_kernel ? 0 : pid,
		.cpu = sample->cpu,
		.data_place = NONE,
		.code_place = NONE,
		.source = (u8)(has_source ? data_source_source(of->data_source) : SOURCE_UNKNOWN),
		.hitm = has_source && data_source_snoop(of->data_source) == SNOOP_HITM,
		.store = has_source && (DATA_SOURCE_OP(of->data_source) & OP_STORE),
	};
}

/* Counts a sample in all tables or in none, so that evaluations of different tables have the same total. */
static int enter(struct profile *profile, const struct zoom_sample *sample, u64 latency)
{
	struct access from;
	u32 pid = pid_number(sample->pid);
	u32 node, leader, thread, name = NONE, cell = NONE, access = NONE;
	int r = enter_thread(profile, sample->pid, sample->pid, &leader);

	if (r < 0)
		return r;
	pid |= thread_of(profile, leader)->life << PROFILE_PID_BITS;
	from = access_from(sample, pid);
	r = enter_thread(profile, sample->pid, sample->tid, &thread);

	if (r == 0) {
		name = thread_of(profile, thread)->now;
		if (name == NONE)
			name = thread | CELL_THREAD;
	}
	r = enter_stack(profile, sample, pid, &node);
	if (r == 0)
		r = enter_cell(profile, node, name, from.source, &cell);
	if (r == 0 && (sample->of.fields & SAMPLE_ADDRESS))
		r = enter_access(profile, &from, &access);
	if (r < 0)
		return r;
	cell_of(profile, cell)->samples++;
	cell_of(profile, cell)->latency += latency;
	if (access != NONE) {
		access_of(profile, access)->samples++;
		access_of(profile, access)->latency += latency;
	}
	return 0;
}

void profile_executed(struct profile *profile, u32 pid)
{
	u32 leader = find_thread(profile, pid, pid);
	struct thread *thread;

	/* No sample or name of this process so far. */
	if (leader == NONE)
		return;
	thread = thread_of(profile, leader);
	(void)profile_resolve(profile, NULL);
	name_table_give_up(profile->table, pid_number(pid) | thread->life << PROFILE_PID_BITS);
	thread->life = (thread->life + 1) % PROFILE_LIVES;
}

int profile_add(struct profile *profile, const struct zoom_sample *sample)
{
	bool user_code =
		(sample->of.fields & SAMPLE_CODE_ADDRESS) && !SYMBOL_IS_KERNEL(sample->of.code_address);
	u64 latency = profile->has_latency && (sample->of.fields & SAMPLE_LATENCY) ? sample->of.latency : 0;
	struct profile_totals *totals = &profile->totals;
	int r = enter(profile, sample, latency);

	totals->samples++;
	totals->latency += latency;
	totals->hitm += (sample->of.fields & SAMPLE_DATA_SOURCE) &&
			data_source_snoop(sample->of.data_source) == SNOOP_HITM;
	totals->with_address += (sample->of.fields & SAMPLE_ADDRESS) != 0;
	totals->with_physical += (sample->of.fields & SAMPLE_ADDRESS) && sample->physical;
	if (r < 0) {
		totals->dropped++;
		totals->dropped_latency += latency;
		return r == -ENOSPC ? 0 : r;
	}
	totals->user_stacks += sample->n_user > 0 || user_code;
	return 0;
}

void profile_totals(const struct profile *profile, struct profile_totals *ret)
{
	*ret = profile->totals;
	ret->early = count_early(profile);
}

u64 profile_bytes(const struct profile *profile)
{
	return sizeof(*profile) + profile->budget.used + name_table_bytes(profile->table);
}

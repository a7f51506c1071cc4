// SPDX-License-Identifier: GPL-2.0
#include "kernel/kernel_inherit.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/log.h"
#include "kernel/skeleton.h"

const struct kernel_saved *kernel_saved_before(const struct handover *handover)
{
	const struct kernel_saved_copies *part =
		handover ? handover_before(handover, HANDOVER_KERNEL, sizeof(struct kernel_saved_copies))
			 : NULL;

	return part ? &part->copies[part->current & 1] : NULL;
}

/* `injected` is not saved, because it holds data only during a call. */
static bool is_saved(const struct kernel *kernel, const struct bpf_map *map)
{
	return bpf_map__autocreate(map) && map != kernel->skeleton->maps.injected;
}

static bool is_settings(const struct kernel *kernel, const struct bpf_map *map)
{
	return map == kernel->skeleton->maps.rodata;
}

static void drop(struct handover *handover, enum stored_kind kind, const char *label, u32 number)
{
	char name[STORED_NAME_MAX];

	handover_name(kind, label, 1, &number, name);
	(void)store_remove(handover_store(handover), name);
}

/* Removes all maps and links of the previous process from the store, whether they were taken over or not. */
static void forget(struct handover *handover)
{
	const struct kernel_saved *before = kernel_saved_before(handover);

	if (!before)
		return;
	for (size_t i = 0; i < INHERIT_MAPS_MAX; i++)
		if (before->maps[i].number)
			drop(handover, STORED_MAP, before->maps[i].label, before->maps[i].number);
	for (size_t i = 0; i < INHERIT_LINKS_MAX; i++)
		if (before->links[i].number)
			drop(handover, STORED_LINK, before->links[i].label, before->links[i].number);
	for (size_t i = 0; i < SLOT_BLOCKS_MAX; i++)
		for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
			if (before->blocks[i][kind])
				drop(handover, STORED_MAP, kernel_block_label(kind), before->blocks[i][kind]);
}

/*
 * The names of the record types in blocks. The BPF object does not contain the maps of blocks, so their types
 * are found by name.
 */
static const char *const block_records[BLOCK_KINDS] = {
	[BLOCK_LATENCY] = "latency_record",
	[BLOCK_PLAIN] = "plain_record",
	[BLOCK_OWNERS] = "slot_owner",
	[BLOCK_OFFCORE] = "offcore_record",
};

static struct inherited_identity identify(const struct kernel *kernel)
{
	const struct kernel_settings *settings = &kernel->settings;
	const struct btf *btf = bpf_object__btf(kernel->skeleton->obj);
	struct inherited_identity identity = {
		.records = INHERITED_HASH + INHERITED_RECORDS,
		.slots = kernel->slots_max,
		.block_slots = kernel->blocks.slots,
		.stripes = kernel->stripes,
		.cpus = kernel->cpus,
		.n_events = (u32)settings->n_events,
		.measured = settings->measured,
		.hot_max = kernel->hot_max,
		.hot_cpus = kernel->hot_cpus,
		.offcore_cpus = settings->offcore_cpus,
	};
	const u64 hot_bytes = sizeof(struct hot_table);
	const struct bpf_map *map;
	const void *baked;
	size_t bytes;

	for (size_t i = 0; i < settings->n_events; i++)
		identity.with_latency |= (u32)(settings->events[i].has_latency != 0) << i;
	bpf_object__for_each_map(map, kernel->skeleton->obj)
	{
		if (!is_saved(kernel, map) || is_settings(kernel, map))
			continue;
		identity.records = inherited_layout(identity.records, btf, map);
	}
	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
		identity.records = inherited_layout_struct(identity.records, btf, block_records[kind]);
	/* The hot tables begin at zero, but they must have the size that the programs expect. */
	identity.records = inherited_hash(identity.records, &hot_bytes, sizeof(hot_bytes));
	baked = bpf_map__initial_value(kernel->skeleton->maps.rodata, &bytes);
	identity.settings = inherited_hash(
		inherited_layout(INHERITED_HASH, btf, kernel->skeleton->maps.rodata), baked, bytes);
	return identity;
}

static u32 number_of(const struct kernel_saved_part *parts, size_t n, const char *label)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(parts[i].label, label, sizeof(parts[i].label)) == 0)
			return parts[i].number;
	return 0;
}

static void set_number(struct kernel_saved_part *parts, size_t n, const char *label, u32 number)
{
	for (size_t i = 0; i < n; i++) {
		if (*parts[i].label && strncmp(parts[i].label, label, sizeof(parts[i].label)) != 0)
			continue;
		memset(parts[i].label, 0, sizeof(parts[i].label));
		memcpy(parts[i].label, label, strnlen(label, sizeof(parts[i].label) - 1));
		parts[i].number = number;
		return;
	}
}

static bool is_the_map(int fd, const struct bpf_map *map)
{
	struct bpf_map_info info = {0};
	u32 bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 && info.type == (u32)bpf_map__type(map) &&
	       info.key_size == bpf_map__key_size(map) && info.value_size == bpf_map__value_size(map) &&
	       info.max_entries == bpf_map__max_entries(map) && info.map_flags == bpf_map__map_flags(map);
}

/* Logs why this process takes no maps over. Returns -ESTALE. */
static int __attribute__((format(printf, 1, 2))) cannot_take(const char *format, ...)
{
	_cleanup_free_ char *reason = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&reason, format, arguments) < 0)
		reason = NULL;
	va_end(arguments);
	log_notice(
		"cannot use the BPF maps of the previous process: %s; the counts of that process are kept, but samples since its last collection are lost",
		reason ? reason : "out of memory");
	return -ESTALE;
}

static int take_map(struct kernel *kernel, struct bpf_map *map)
{
	const char *label = bpf_map__name(map);
	const u32 number = number_of(kernel->saved->maps, INHERIT_MAPS_MAX, label);
	_cleanup_close_ int fd = -1;
	char name[STORED_NAME_MAX];

	handover_name(STORED_MAP, label, 1, &number, name);
	fd = store_take(handover_store(kernel->handover), name);
	if (fd < 0)
		return cannot_take("the service manager did not pass on %s", label);
	if (!is_the_map(fd, map))
		return cannot_take("the descriptor that the service manager passed on as %s is not that map",
				   label);
	return bpf_map__reuse_fd(map, fd);
}

static int take_block_map(struct kernel *kernel, enum slot_block_kind kind, u32 number)
{
	char name[STORED_NAME_MAX];

	handover_name(STORED_MAP, kernel_block_label(kind), 1, &number, name);
	return store_take(handover_store(kernel->handover), name);
}

static int take_block(struct kernel *kernel, const struct kernel_saved *before, u32 block)
{
	struct kernel_blocks *blocks = &kernel->blocks;
	int fds[BLOCK_KINDS];
	int r;

	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
		fds[kind] = blocks->entries[kind] ? take_block_map(kernel, kind, before->blocks[block][kind])
						  : -1;
	r = kernel_block_take(blocks, fds, &blocks->list[block]);
	if (r == 0) {
		memcpy(blocks->list[block].numbers, before->blocks[block], sizeof(before->blocks[block]));
		blocks->n++;
		return 0;
	}
	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
		cleanup_close(&fds[kind]);
	return cannot_take("block %u of its slots was not passed on, or is another block", block);
}

static int take_blocks(struct kernel *kernel, const struct kernel_saved *before)
{
	int r = 0;

	if (before->n_blocks > kernel->blocks.max)
		return cannot_take("it had %u blocks of slots, and this process can have at most %u",
				   before->n_blocks, kernel->blocks.max);
	for (u32 block = 0; block < before->n_blocks && r == 0; block++)
		r = take_block(kernel, before, block);
	return r;
}

int kernel_inherit_maps(struct kernel *kernel)
{
	const struct kernel_saved *before = kernel_saved_before(kernel->handover);
	struct inherited_identity own;
	struct bpf_map *map;
	int r;

	kernel->inherited = INHERITED_NOTHING;
	if (!kernel->handover)
		return 0;
	if (!before || !kernel->settings.inherit) {
		if (!before && kernel->settings.inherit && handover_has_before(kernel->handover))
			(void)cannot_take("they belong to another version of pebsd");
		kernel->saved->identity = identify(kernel);
		return handover_begin(kernel->handover);
	}
	/*
	 * The seed is random and not a property of the machine: the one of the previous process remains in
	 * use.
	 */
	kernel->skeleton->rodata->hot_seed = before->hot_seed;
	own = identify(kernel);
	if (inherited_decide(&before->identity, &own) == INHERITED_NOTHING)
		return cannot_take("%s changed", inherited_difference(&before->identity, &own));
	kernel->inherited = INHERITED_MAPS;
	*kernel->saved = *before;
	bpf_object__for_each_map(map, kernel->skeleton->obj)
	{
		/*
		 * If the settings differ, the new programs get their own map of settings and the old programs
		 * keep theirs.
		 */
		if (!is_saved(kernel, map) ||
		    (is_settings(kernel, map) && before->identity.settings != own.settings))
			continue;
		r = take_map(kernel, map);
		if (r < 0)
			return r;
	}
	kernel->saved->identity = own;
	return take_blocks(kernel, before);
}

static int hash_tag(const struct bpf_program *program, u64 *hash)
{
	struct bpf_prog_info info = {0};
	u32 bytes = sizeof(info);

	if (!bpf_program__autoload(program))
		return 0;
	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) < 0)
		return -errno;
	*hash = inherited_hash(*hash, info.tag, sizeof(info.tag));
	return 0;
}

static int hash_programs(struct kernel *kernel)
{
	const struct pebsd_bpf *skeleton = kernel->skeleton;
	u64 hash = INHERITED_HASH;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < EVENTS_MAX; i++)
		r = hash_tag(skeleton_event_program(skeleton, i), &hash);
	if (r < 0 || (r = hash_tag(skeleton->progs.cgroup_born, &hash)) < 0 ||
	    (r = hash_tag(skeleton->progs.cgroup_died, &hash)) < 0 ||
	    (r = hash_tag(skeleton->progs.offcore_switched, &hash)) < 0)
		return r;
	kernel->saved->identity.programs = hash;
	return 0;
}

/*
 * Discards the hot tables of the previous process, because this process cannot map them. New ones are made
 * when they are needed.
 *
 * The order matters. First no program is directed to any table. Then the tables are removed, which waits for
 * programs that still run. Last, the choices are cleared. If this process is killed in between, the next one
 * does the rest.
 */
static void end_hot(struct kernel *kernel)
{
	const int tables = bpf_map__fd(kernel->skeleton->maps.hot_tables);
	u64 *made = &kernel->skeleton->bss->hot_made;

	__atomic_store_n((u32 *)&kernel->skeleton->bss->hot_chosen, 0, __ATOMIC_SEQ_CST);
	for (u32 choice = 0; choice < kernel->hot_max; choice++)
		if (*made >> choice & 1)
			(void)bpf_map_delete_elem(tables, &choice);
	*made = 0;
	memset((void *)kernel->skeleton->bss->hot_choices, 0, kernel->slots_max);
}

int kernel_inherit_programs(struct kernel *kernel)
{
	const u64 settings = kernel->saved->identity.settings;
	const struct kernel_saved *before;
	int r;

	if (!kernel->handover)
		return 0;
	r = hash_programs(kernel);
	if (r < 0)
		return r;
	if (kernel->inherited == INHERITED_NOTHING) {
		kernel->saved->epoch = 1;
		kernel->saved->stripes_alone = kernel->skeleton->rodata->stripes_alone;
		kernel->saved->hot_seed = kernel->skeleton->rodata->hot_seed;
		return 0;
	}
	before = kernel_saved_before(kernel->handover);
	kernel->inherited = before->identity.settings == settings
				    ? inherited_decide(&before->identity, &kernel->saved->identity)
				    : INHERITED_MAPS;
	if (kernel->inherited == INHERITED_MAPS)
		kernel->saved->epoch++;
	end_hot(kernel);
	return 0;
}

static bool is_the_link(int fd)
{
	struct bpf_link_info info = {0};
	u32 bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 && info.type == BPF_LINK_TYPE_RAW_TRACEPOINT;
}

static void add_link(struct kernel *kernel, const char *label, int fd, bool taken)
{
	struct kernel_link *link = &kernel->links[kernel->n_links++];

	*link = (struct kernel_link){.fd = fd, .taken = taken};
	memcpy(link->label, label, strnlen(label, sizeof(link->label) - 1));
}

/*
 * An inherited link belongs to the old program. With INHERITED_MAPS, the old program stays attached until
 * kernel_inherit_done() has stored the link of the new one.
 */
int kernel_inherit_link(struct kernel *kernel, struct bpf_program *program, struct bpf_link **ret)
{
	const char *label = bpf_program__name(program);
	const u32 number = number_of(kernel->saved->links, INHERIT_LINKS_MAX, label);
	char name[STORED_NAME_MAX];
	int fd = -1;

	if (kernel->handover && kernel->inherited != INHERITED_NOTHING) {
		handover_name(STORED_LINK, label, 1, &number, name);
		fd = store_take(handover_store(kernel->handover), name);
		if (fd >= 0 && !is_the_link(fd)) {
			cleanup_close(&fd);
			fd = -1;
		}
		if (fd < 0)
			(void)log_warning(
				0,
				"the service manager did not pass on the BPF program %s of the previous process, which therefore missed what happened between the two processes",
				label);
	}
	if (fd >= 0)
		add_link(kernel, label, fd, true);
	if (fd >= 0 && kernel->inherited == INHERITED_ALL)
		return 0;
	*ret = bpf_program__attach(program);
	if (!*ret)
		return -errno;
	if (kernel->handover)
		add_link(kernel, label, bpf_link__fd(*ret), false);
	return 0;
}

static int put(struct kernel *kernel, enum stored_kind kind, const char *label, u32 number, int fd)
{
	char name[STORED_NAME_MAX];

	handover_name(kind, label, 1, &number, name);
	return store_put(handover_store(kernel->handover), name, fd);
}

static int put_maps(struct kernel *kernel, const struct kernel_saved *before)
{
	const struct bpf_map *map;

	bpf_object__for_each_map(map, kernel->skeleton->obj)
	{
		const char *label = bpf_map__name(map);
		u32 number = handover_number(kernel->handover);
		int r;

		if (!is_saved(kernel, map) ||
		    (before && (!is_settings(kernel, map) ||
				before->identity.settings == kernel->saved->identity.settings)))
			continue;
		r = put(kernel, STORED_MAP, label, number, bpf_map__fd(map));
		if (r < 0)
			return r;
		set_number(kernel->saved->maps, INHERIT_MAPS_MAX, label, number);
	}
	return 0;
}

/* Stores the maps of blocks that are not stored yet, and notes the numbers of all in the saved data. */
static int put_blocks(struct kernel *kernel)
{
	struct kernel_blocks *blocks = &kernel->blocks;

	for (u32 i = 0; i < blocks->n; i++) {
		struct kernel_block *block = &blocks->list[i];

		for (unsigned kind = 0; kind < BLOCK_KINDS; kind++) {
			u32 number;
			int r;

			if (!blocks->entries[kind] || block->numbers[kind])
				continue;
			number = handover_number(kernel->handover);
			r = put(kernel, STORED_MAP, kernel_block_label(kind), number, block->fds[kind]);
			if (r < 0)
				return r;
			block->numbers[kind] = number;
		}
		memcpy(kernel->saved->blocks[i], block->numbers, sizeof(block->numbers));
	}
	kernel->saved->n_blocks = blocks->n;
	return 0;
}

static int put_links(struct kernel *kernel)
{
	for (size_t i = 0; i < kernel->n_links; i++) {
		const struct kernel_link *link = &kernel->links[i];
		u32 number = handover_number(kernel->handover);
		int r;

		if (link->taken)
			continue;
		r = put(kernel, STORED_LINK, link->label, number, link->fd);
		if (r < 0)
			return r;
		set_number(kernel->saved->links, INHERIT_LINKS_MAX, link->label, number);
	}
	return 0;
}

static void drop_replaced(struct handover *handover, enum stored_kind kind,
			  const struct kernel_saved_part *before, const struct kernel_saved_part *now,
			  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		u32 number = number_of(now, n, before[i].label);

		if (before[i].number && number != before[i].number)
			drop(handover, kind, before[i].label, before[i].number);
	}
}

/* Closes inherited links of replaced programs. After this only one program reports each birth. */
static void close_replaced_links(struct kernel *kernel)
{
	for (size_t i = 0; kernel->inherited == INHERITED_MAPS && i < kernel->n_links; i++) {
		if (!kernel->links[i].taken)
			continue;
		cleanup_close(&kernel->links[i].fd);
		kernel->links[i].fd = -1;
	}
}

static int write_saved(struct kernel *kernel)
{
	struct kernel_saved_copies *part;
	void *memory;
	int r = handover_part(kernel->handover, HANDOVER_KERNEL, sizeof(*part), &memory);

	if (r < 0)
		return r;
	part = memory;
	handover_commit_copy(&part->current, part->copies, kernel->saved, sizeof(*kernel->saved));
	return 0;
}

/* Removes the maps of blocks from `first` on from the store. The saved data must not name them. */
static void drop_blocks(struct kernel *kernel, u32 first)
{
	for (u32 i = first; i < kernel->blocks.n; i++) {
		u32 *numbers = kernel->blocks.list[i].numbers;

		for (unsigned kind = 0; kind < BLOCK_KINDS; kind++) {
			if (numbers[kind])
				drop(kernel->handover, STORED_MAP, kernel_block_label(kind), numbers[kind]);
			numbers[kind] = 0;
		}
	}
}

int kernel_save_blocks(struct kernel *kernel, u32 first)
{
	const struct kernel_saved before = *kernel->saved;
	int r;

	if (!kernel->handover)
		return 0;
	r = put_blocks(kernel);
	if (r == 0)
		r = write_saved(kernel);
	if (r == 0)
		return 0;
	*kernel->saved = before;
	drop_blocks(kernel, first);
	return r;
}

void kernel_save_fewer_blocks(struct kernel *kernel, u32 n)
{
	if (!kernel->handover)
		return;
	kernel->saved->n_blocks = n;
	memset(kernel->saved->blocks[n], 0, (SLOT_BLOCKS_MAX - n) * sizeof(kernel->saved->blocks[n]));
	if (write_saved(kernel) == 0)
		drop_blocks(kernel, n);
}

int kernel_inherit_done(struct kernel *kernel)
{
	const struct kernel_saved *counts = kernel->handover && kernel->inherited != INHERITED_NOTHING
						    ? kernel_saved_before(kernel->handover)
						    : NULL;
	const struct kernel_saved before = counts ? *counts : (struct kernel_saved){0};
	int r;

	if (!kernel->handover)
		return 0;
	if (kernel->inherited == INHERITED_NOTHING)
		forget(kernel->handover);
	if ((r = put_maps(kernel, counts)) < 0 || (r = put_blocks(kernel)) < 0 ||
	    (r = put_links(kernel)) < 0 || (r = write_saved(kernel)) < 0)
		return r;
	if (!counts)
		return 0;
	drop_replaced(kernel->handover, STORED_MAP, before.maps, kernel->saved->maps, INHERIT_MAPS_MAX);
	drop_replaced(kernel->handover, STORED_LINK, before.links, kernel->saved->links, INHERIT_LINKS_MAX);
	close_replaced_links(kernel);
	return 0;
}

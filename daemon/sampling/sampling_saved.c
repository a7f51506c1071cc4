// SPDX-License-Identifier: GPL-2.0
#include "sampling/sampling_saved.h"

#include <errno.h>

#include "base/log.h"
#include "engine/engine.h"

void sampling_saved_done(struct sampling_saved *saved)
{
	saved->state = state_free(saved->state);
	saved->handover = handover_free(saved->handover);
}

/*
 * Finds the last stored state that has contents. A process that was killed while it started may have left
 * several. Sets `*ret` only if there is one. Empty and invalid states are removed from the store. If this
 * process fails to take over a state for another reason, the state stays for the next try.
 */
static int find_state(struct store *store, struct state **ret)
{
	for (u32 number = handover_highest(store, STORED_STATE, UINT32_MAX); number;
	     number = handover_highest(store, STORED_STATE, number)) {
		_cleanup_close_ int fd = -1;
		char name[STORED_NAME_MAX];
		const char *wrong;
		int r;

		handover_name(STORED_STATE, "", 1, &number, name);
		fd = store_take(store, name);
		if (fd < 0)
			continue;
		r = state_inherit(fd, engine_records(), ret, &wrong);
		if (r == 0)
			return 0;
		if (r != -ENODATA && r != -EBADMSG)
			return r;
		if (r == -EBADMSG)
			(void)log_warning(0, "cannot continue the counts of the previous process: %s", wrong);
		(void)store_remove(store, name);
	}
	return 0;
}

static int begin_state(struct store *store, struct handover *handover, struct state **ret)
{
	_cleanup_(state_freep) struct state *state = NULL;
	const u32 number = handover_number(handover);
	char name[STORED_NAME_MAX];
	int r = state_new(engine_records(), &state);

	if (r < 0)
		return r;
	handover_name(STORED_STATE, "", 1, &number, name);
	r = store_put(store, name, state_fd(state));
	if (r == 0)
		*ret = TAKE_PTR(state);
	return r;
}

static void remove_states(struct store *store)
{
	for (u32 number = handover_highest(store, STORED_STATE, UINT32_MAX); number;
	     number = handover_highest(store, STORED_STATE, number)) {
		char name[STORED_NAME_MAX];
		int fd;

		handover_name(STORED_STATE, "", 1, &number, name);
		fd = store_take(store, name);
		cleanup_close(&fd);
		(void)store_remove(store, name);
	}
}

int sampling_saved_open(struct store *store, struct sampling_saved *ret)
{
	int r;

	*ret = (struct sampling_saved){0};
	if (!store_has_manager(store))
		return 0;
	r = handover_open(store, &ret->handover);
	if (r < 0)
		return r;
	if (handover_gave_up(ret->handover))
		remove_states(store);
	r = find_state(store, &ret->state);
	if (r == 0 && !ret->state)
		r = begin_state(store, ret->handover, &ret->state);
	if (r < 0)
		sampling_saved_done(ret);
	return r;
}

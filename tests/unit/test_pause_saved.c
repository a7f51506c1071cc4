// SPDX-License-Identifier: GPL-2.0
/* A pause that outlives its process. The test plays the service manager. */

#include <criterion/criterion.h>

#include "child_expect.h"
#include "notify_socket.h"
#include "sampling/pause_saved.h"

TestSuite(pause_saved, .init = manager_start, .fini = manager_stop);

struct life {
	bool begins;
	void (*run)(struct handover *handover);
};

static int life_of(struct store *store, void *userdata)
{
	const struct life *life = userdata;
	struct handover *handover;

	EXPECT(handover_open(store, &handover) == 0);
	EXPECT(!life->begins || handover_begin(handover) == 0);
	life->run(handover);
	EXPECT(handover_commit(handover) == 0);
	return 0;
}

static void live(bool begins, void (*run)(struct handover *handover))
{
	cr_assert_eq(manager_run(life_of, &(struct life){begins, run}), 0);
}

static void is_not_paused(struct handover *handover)
{
	struct maybe_double seconds;

	EXPECT(!pause_inherited(handover, &seconds));
}

static void pauses(struct handover *handover)
{
	pause_save(handover, true, &(struct maybe_double){.known = true, .value = 100});
}

static void is_paused_until_then(struct handover *handover)
{
	struct maybe_double seconds;

	EXPECT(pause_inherited(handover, &seconds));
	EXPECT(seconds.known && seconds.value > 50 && seconds.value <= 100);
}

static void pauses_for_good(struct handover *handover)
{
	pause_save(handover, true, &(struct maybe_double){0});
}

static void is_paused_for_good(struct handover *handover)
{
	struct maybe_double seconds;

	EXPECT(pause_inherited(handover, &seconds));
	EXPECT(!seconds.known);
}

static void pauses_briefly(struct handover *handover)
{
	pause_save(handover, true, &(struct maybe_double){.known = true, .value = 1e-6});
}

static void resumes(struct handover *handover)
{
	pause_save(handover, false, NULL);
}

Test(pause_saved, a_pause_continues_after_a_restart_until_its_end)
{
	live(true, is_not_paused);
	live(false, pauses);
	live(false, is_paused_until_then);
	/* The pause also stays if the rest of the state is dropped. */
	live(true, is_paused_until_then);
	live(false, is_paused_until_then);
	live(false, pauses_for_good);
	live(false, is_paused_for_good);
	live(false, resumes);
	live(false, is_not_paused);
	live(false, pauses_briefly);
	live(false, is_not_paused);
	live(true, is_not_paused);
}

Test(pause_saved, without_a_store_a_pause_is_not_saved)
{
	struct maybe_double seconds;

	pause_save(NULL, true, &(struct maybe_double){0});
	cr_expect_not(pause_inherited(NULL, &seconds));
}

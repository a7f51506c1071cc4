// SPDX-License-Identifier: GPL-2.0
/* What the ledger (ledger.c) and keeping it (ledger_state.c) share. */
#ifndef PEBSD_LEDGER_PARTS_H
#define PEBSD_LEDGER_PARTS_H

#include "collect/ledger.h"

struct ledger {
	void *by_path; /* tsearch(3) tree of struct ledger_entry */
	struct ledger_entry **entries;
	size_t n;
	size_t allocated;
	u32 next_number;
	struct ledger_entry *other;
	struct ledger_entry *unattributed;
	struct ledger_entry *counted;           /* those with a difference of off-core responses */
	struct ledger_entry *oldest, *youngest; /* of those that nobody holds */
	size_t n_unheld;
	u64 begun;           /* collections */
	struct state *state; /* not owned; NULL: nothing is kept */
};

/* An entry with the next number that is in no array yet; ledger_enter() takes it over. 0 or -ENOMEM. */
int ledger_entry_new(struct ledger *ledger, const char *path, struct ledger_entry **ret);
void ledger_entry_free(struct ledger_entry *entry);
DEFINE_CLEANUP(struct ledger_entry *, ledger_entry_free)
int ledger_enter(struct ledger *ledger, struct ledger_entry *entry);
struct ledger_sum *ledger_new_sum(struct ledger_entry *entry, unsigned event, bool present);
int ledger_need_offcore(struct offcore_figures **figures);

/* Puts what changed into the state. */
void ledger_save_entry(struct ledger_entry *entry);
void ledger_save_left(const struct ledger_entry *entry, struct ledger_sum *sum);
void ledger_save_offcore(struct ledger_entry *entry);

#endif

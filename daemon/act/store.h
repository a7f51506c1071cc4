// SPDX-License-Identifier: GPL-2.0
/*
 * What must outlive the process, in the file state.json of the alerts' directory: where the policy is, which
 * actions were begun, and which alerts have an ID.env. The file is replaced as a whole and is on disk before
 * anything that it tells of begins.
 *
 * Names of cgroups may hold any byte. They stand in their shown form (base/utf8.h), which can be read back.
 */
#ifndef PEBSD_ACT_STORE_H
#define PEBSD_ACT_STORE_H

#include "base/cleanup.h"
#include "policy/policy.h"

#define STORE_FILE "state.json"
#define STORE_BAD  "state.json.bad"

/* Of the kernel's random/boot_id, with its NUL. */
#define STORE_BOOT_MAX 40

/* Actions of one transition that may have been begun and have not ended. */
struct store_intent {
	u64 alert;
	bool firing;      /* else resolved */
	unsigned actions; /* enum rule_action; never 0 */
};

/* An alert that has an ID.env. */
struct store_file {
	u64 alert;
	struct timespec resolved; /* CLOCK_REALTIME; 0: not so far */
};

struct store {
	char boot[STORE_BOOT_MAX];
	u64 next_number; /* at least 1, above all others here */
	u64 judged_ns;   /* CLOCK_MONOTONIC in that boot of the tick that the memories are of; 0: not known */
	struct policy_memory *memories; /* with their strings the store's */
	size_t n_memories;
	struct store_intent *intents;
	size_t n_intents;
	struct store_file *files; /* by number */
	size_t n_files;
};

/* The state of a directory that has none. */
void store_init(struct store *store);
void store_clear(struct store *store);

/* In the place of those that are there. 0 or -ENOMEM, and then the old ones stay. */
int store_set_memories(struct store *store, const struct policy_memory *memories, size_t n);

/* Notes that actions of a transition are begun. 0 or -ENOMEM. */
int store_begin(struct store *store, u64 alert, bool firing, unsigned actions);

/* They have ended, whatever came of them. */
void store_end(struct store *store, u64 alert, bool firing, unsigned actions);

/* An alert has an ID.env, or no longer. 0 or -ENOMEM. */
int store_add_file(struct store *store, u64 alert);
void store_remove_file(struct store *store, u64 alert);
struct store_file *store_find_file(const struct store *store, u64 alert);

/* The file's text, and back. 0; -EBADMSG, with what is wrong in a constant; -ENOMEM. */
int store_format(const struct store *store, char **ret, size_t *ret_length);
int store_parse(const char *text, size_t length, struct store *ret, const char **ret_wrong);

/*
 * Reads the file in the directory. What is no state of this version is moved aside as state.json.bad, which
 * is told in `*ret_message` (the caller frees; else NULL), and the state is that of store_init(), but for the
 * next number: CLOCK_REALTIME's seconds, above all that the lost state gave. 0, -ENOMEM, or -errno where
 * there is a file that can't be read.
 */
int store_read(int directory, struct store *ret, char **ret_message);

/* Replaces the file; when it returns 0 that is on disk. 0 or -errno. */
int store_write(int directory, const struct store *store);

/* A file of that name and mode 0600 with these bytes, in the place of what is there. On disk when it returns
 * 0. */
int store_replace(int directory, const char *name, const char *text, size_t length);

#endif

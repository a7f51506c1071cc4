// SPDX-License-Identifier: GPL-2.0
/*
 * What must outlive the process, in the file state.json of the alerts' directory: where the policy is, which
 * actions were begun, and which alerts have an ID.env. The file is replaced as a whole and is on disk before
 * anything that it tells of begins.
 *
 * Names of cgroups may hold any byte. They stand in their shown form (base/utf8.h), which can be read back.
 */
#ifndef PEBSD_ALERT_STORE_H
#define PEBSD_ALERT_STORE_H

#include "base/cleanup.h"
#include "policy/policy.h"

#define ALERT_STORE_FILE "state.json"
#define ALERT_STORE_BAD  "state.json.bad"

/* Numbers of alerts that are taken over are below it: those that follow never wrap. */
#define ALERT_STORE_NUMBERS_MAX (1ULL << 62)

/* Of the kernel's random/boot_id, with its NUL. */
#define ALERT_STORE_BOOT_MAX 40

/* Actions of one transition that may have been begun and have not ended. */
struct alert_store_intent {
	u64 alert;
	bool firing;      /* else resolved */
	unsigned actions; /* enum rule_action; never 0 */
};

/* An alert that has an ID.env. */
struct alert_store_file {
	u64 alert;
	struct timespec resolved; /* CLOCK_REALTIME; 0: not so far */
};

struct alert_store {
	char boot[ALERT_STORE_BOOT_MAX];
	u64 next_number; /* at least 1, above all others here, and at most ALERT_STORE_NUMBERS_MAX */
	u64 judged_ns;   /* CLOCK_MONOTONIC in that boot of the tick that the memories are of; 0: not known */
	struct policy_memory *memories; /* with their strings the store's */
	size_t n_memories;
	struct alert_store_intent *intents;
	size_t n_intents;
	struct alert_store_file *files; /* by number */
	size_t n_files;
};

/* The state of a directory that has none. */
void alert_store_init(struct alert_store *store);
void alert_store_clear(struct alert_store *store);

/* In the place of those that are there. 0 or -ENOMEM, and then the old ones stay. */
int alert_store_set_memories(struct alert_store *store, const struct policy_memory *memories, size_t n);

/* Notes that actions of a transition are begun. 0 or -ENOMEM. */
int alert_store_begin(struct alert_store *store, u64 alert, bool firing, unsigned actions);

/* They have ended, whatever came of them. */
void alert_store_end(struct alert_store *store, u64 alert, bool firing, unsigned actions);

/* An alert has an ID.env, or no longer. 0 or -ENOMEM. */
int alert_store_add_file(struct alert_store *store, u64 alert);
void alert_store_remove_file(struct alert_store *store, u64 alert);
struct alert_store_file *alert_store_find_file(const struct alert_store *store, u64 alert);

/* The file's text, and back. 0; -EBADMSG, with what is wrong in a constant; -ENOMEM. */
int alert_store_format(const struct alert_store *store, char **ret, size_t *ret_length);
int alert_store_parse(const char *text, size_t length, struct alert_store *ret, const char **ret_wrong);

/*
 * Reads the file in the directory. A file that does not hold a state of this version is moved aside as
 * state.json.bad, `*ret_message` says so (the caller frees; else NULL), and the state is that of alert_store_init(), but for the
 * next number: CLOCK_REALTIME's seconds, above all that the lost state gave. 0, -ENOMEM, or -errno where there
 * is a file that can't be read.
 */
int alert_store_read(int directory, struct alert_store *ret, char **ret_message);

/* Replaces the file; when it returns 0 that is on disk. 0 or -errno. */
int alert_store_write(int directory, const struct alert_store *store);

/* A file of that name and mode 0600 with these bytes, in the place of what is there. On disk when it returns
 * 0. */
int alert_store_replace(int directory, const char *name, const char *text, size_t length);

#endif

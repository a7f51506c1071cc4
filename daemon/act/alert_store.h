// SPDX-License-Identifier: GPL-2.0
/*
 * Alerts and started actions that survive a restart, in the file state.json of the directory of alerts: the alerts of
 * the policy, the actions that were begun, and the alerts that have a file of facts, NUMBER.env (act.h).
 * alerts/alerts_saved.h usually has a newer copy of the alerts in memory. The file is replaced as a whole, before any
 * action in it begins. act.h says which actions run if that fails.
 *
 * Names of cgroups may contain any byte. They are written in their shown form (base/utf8.h), which can be read
 * back.
 */
#ifndef PEBSD_ALERT_STORE_H
#define PEBSD_ALERT_STORE_H

#include "base/cleanup.h"
#include "policy/policy.h"

#define ALERT_STORE_FILE "state.json"
#define ALERT_STORE_BAD  "state.json.bad"

/* Numbers of restored alerts are below this, so that the numbers after them never wrap. */
#define ALERT_STORE_NUMBERS_MAX (1ULL << 62)

/* Room for the kernel's random/boot_id, which has 36 characters, and a NUL. */
#define ALERT_STORE_BOOT_MAX 40

/* Actions of one transition that may have been begun and have not ended. */
struct alert_store_intent {
	u64 alert;
	bool firing;      /* else resolved */
	unsigned actions; /* enum rule_action; never 0 */
};

/* An alert that has a NUMBER.env. */
struct alert_store_file {
	u64 alert;
	struct timespec resolved; /* CLOCK_REALTIME; 0: not resolved yet */
};

struct alert_store {
	char boot[ALERT_STORE_BOOT_MAX];
	u64 next_number; /* above the number of each alert in the store; 1 to ALERT_STORE_NUMBERS_MAX */
	u64 judged_ns; /* CLOCK_MONOTONIC (of that boot) of the tick that `saved_alerts` describe; 0: not known */
	struct policy_saved_alert *saved_alerts; /* owned, with their strings */
	size_t n_saved_alerts;
	struct alert_store_intent *intents;
	size_t n_intents;
	struct alert_store_file *files; /* sorted by number */
	size_t n_files;
};

/* An empty store, as for a directory without a file. */
void alert_store_init(struct alert_store *store);
void alert_store_clear(struct alert_store *store);

/* Replaces the saved alerts by copies of `saved_alerts`. Returns 0, or -ENOMEM and keeps the old ones. */
int alert_store_set_alerts(struct alert_store *store, const struct policy_saved_alert *saved_alerts,
			   size_t n);

/* Notes that actions of a transition are about to begin. Returns 0 or -ENOMEM. */
int alert_store_begin(struct alert_store *store, u64 alert, bool firing, unsigned actions);

/* Notes that the actions have ended, with or without success. */
void alert_store_end(struct alert_store *store, u64 alert, bool firing, unsigned actions);

/* Notes that an alert has a NUMBER.env, or no longer has one. Returns 0 or -ENOMEM. */
int alert_store_add_file(struct alert_store *store, u64 alert);
void alert_store_remove_file(struct alert_store *store, u64 alert);
struct alert_store_file *alert_store_find_file(const struct alert_store *store, u64 alert);

/*
 * Encodes and decodes the text of the file. Returns 0, -ENOMEM, or -EBADMSG: `*ret_wrong` is a constant that says why.
 */
int alert_store_format(const struct alert_store *store, char **ret, size_t *ret_length);
int alert_store_parse(const char *text, size_t length, struct alert_store *ret, const char **ret_wrong);

/*
 * Reads the file in the directory. A file that does not hold a state of this version is moved aside as
 * state.json.bad. Then `*ret_message` says so (the caller frees it; else NULL), and the store is empty. Its
 * next number is then the seconds of CLOCK_REALTIME, which is above the numbers of all earlier alerts.
 * Returns 0, -ENOMEM, or -errno if the file exists and cannot be read or moved aside.
 */
int alert_store_read(int directory, struct alert_store *ret, char **ret_message);

/*
 * Replaces the file. Returns 0 if the new file is on disk, or -errno; -E2BIG: it would be larger than
 * alert_store_read() accepts, and the old file stays.
 */
int alert_store_write(int directory, const struct alert_store *store);

/* Replaces the file `name` by one of mode 0600 with these bytes. Returns 0 if it is on disk, or -errno. */
int alert_store_replace(int directory, const char *name, const char *text, size_t length);

#endif

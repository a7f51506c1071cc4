// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between pebsd and the keeper, the process that has the history on disk. Each is one packet of a
 * SOCK_SEQPACKET socket (child/child.h), some with a descriptor of a memfd that holds panes or alerts. Both
 * sides are one program on one machine: numbers have the byte order of the machine. A message that does not
 * have exactly this form is refused. Pure functions, except those that send and receive.
 */
#ifndef PEBSD_HISTORY_WIRE_H
#define PEBSD_HISTORY_WIRE_H

#include <stdbool.h>

#include "history/shared/history_pane.h"

enum history_message_type {
	/* To the keeper. */
	HISTORY_SETTINGS, /* `bytes_max`, `age_max_s`, `alerts_ended`; also at a reload */
	HISTORY_STORE,    /* `number`; a descriptor with one pane */
	HISTORY_ALERT,    /* `number`; a descriptor with one alert (struct history_alert) */
	HISTORY_ASK,      /* `number`, `query` */
	HISTORY_STOP,     /* finish what was received, then end */
	/* To pebsd. HISTORY_STORED answers HISTORY_STORE and HISTORY_ALERT, in their order. */
	HISTORY_STORED, /* `number`, `error` 0: acknowledged, it survives a crash; else it is a gap */
	HISTORY_ANSWER, /* `number`, `error`; if that is 0 a descriptor with the answer */
	HISTORY_STATUS, /* `status`; after each store, and at the start */
	HISTORY_MESSAGE_TYPES,
};

enum history_question {
	HISTORY_ASK_PANES, /* panes of the range, as bytes one after another, by ascending start */
	/*
	 * Alerts that were pending or firing in the range: one JSON array of objects, a text. Each object is the record
	 * that was stored last, with `firing` (struct history_alert) and, if it has ended, `to_us`. With `path`, which
	 * is a cgroup in its shown form, only the alerts of `rule` on it. The newest HISTORY_EXPLAINED_MAX of these
	 * have their sentences, and each older one is null.
	 */
	HISTORY_ASK_ALERTS,
	HISTORY_ASK_TOTALS, /* as HISTORY_ASK_PANES, with all cgroups added up to one, HISTORY_TOTAL; `path` is "" */
	HISTORY_QUESTIONS,
};

/* Limits of one answer. The keeper refuses a larger one with -E2BIG as soon as it knows. */
#define HISTORY_PANES_MAX        3600
#define HISTORY_ANSWER_BYTES_MAX (16UL << 20)
/*
 * The same for alerts, some 1,700 that fired and resolved. Parsed they take 9.4 times as much, and a reply may take
 * 32 MiB while it is made.
 */
#define HISTORY_ALERTS_BYTES_MAX (3UL << 20)

#define HISTORY_RULE_MAX      64 /* bytes of the name of a rule, with the NUL */
#define HISTORY_EXPLAINED_MAX 16 /* alerts; each may have twice HISTORY_ALERT_MAX */

#define HISTORY_TOTAL "/" /* path of the cgroup that stands for all */

struct history_query {
	enum history_question question;
	u64 since_us; /* the range (since, until], CLOCK_REALTIME; since < until */
	u64 until_us;
	/*
	 * The range is divided into this many equal bins, 1 to HISTORY_PANES_MAX; the panes in a bin are
	 * added up to one. A pane of 10 s belongs to the bin of its middle. A longer pane, of which nothing
	 * shorter is stored, belongs to the bin 5 s before its end. If the whole range lies inside a longer
	 * pane, the answer is that pane. If a short range spans the edge between two longer panes, the answer
	 * is the one that contains `until_us`. Bins without a pane are left out: they are gaps. If an event
	 * had several settings, the last one of a key in the pane is the newest.
	 */
	u32 bins;
	/*
	 * 0: the shortest panes that are still stored; else only panes of at least this many seconds
	 * (neighbours).
	 */
	u32 least_seconds;
	bool subtree; /* `path` and everything below it, each cgroup by itself */
	/* Only this cgroup; "": all cgroups. A pane always has all of its events. */
	char path[HISTORY_TEXT_MAX];
	char rule[HISTORY_RULE_MAX]; /* for HISTORY_ASK_ALERTS with `path` */
};

#define HISTORY_ALERT_MAX (64UL << 10) /* bytes of an alert's JSON, with the NUL */

/*
 * The record that `HISTORY_ALERT` stores. A later record with the same `key` replaces it. The first record with the
 * member `fired` is kept inside the later ones, as their member `firing`.
 */
struct history_alert {
	const char *key;  /* identity: the same for all transitions of one alert */
	const char *json; /* the alert as an object, as Explain shows it; without sentences unless it fired */
	u64 from_us;      /* CLOCK_REALTIME: since when it has been pending or firing */
	u64 to_us;        /* when it ended; 0: it has not ended */
};

struct history_status {
	int error;      /* of the last attempt to store, 0: stored */
	char what[256]; /* what failed, on what, and what to do; "" without error */
	u64 bytes;      /* of the files */
	u64 oldest_us;  /* start of the oldest pane; 0: there is none */
	u64 newest_us;  /* end of the newest one */
	u64 panes;      /* stored since the keeper started */
	u64 lost;       /* panes and alerts that could not be stored, since the keeper started */
	bool limited;   /* older panes were dropped for `bytes_max`, not for `age_max_s` */
};

struct history_message {
	enum history_message_type type;
	u32 number;
	int error; /* 0 or an errno */
	u64 bytes_max;
	u64 age_max_s;
	bool alerts_ended; /* stored alerts without an end have ended; alerts that continue follow as HISTORY_ALERT */
	struct history_query query;
	struct history_status status;
};

/*
 * Sends a message without blocking; `passed` -1: no descriptor. The caller keeps the descriptor. Returns 0 or
 * -errno; -EAGAIN: the other side does not read; -EINVAL: not a message that the other side accepts.
 */
int history_send(int fd, const struct history_message *message, int passed);

/*
 * Receives the next message. Returns 1, and the caller closes `*ret_passed` (-1: none); 0: the other side is
 * gone; -EAGAIN; -EBADMSG; or another -errno.
 */
int history_receive(int fd, struct history_message *ret, int *ret_passed);

/*
 * An alert as a block, as history_pane_write() and history_pane_read() do it for panes. Not more than one
 * alert is in a block. An alert cannot end before it began: -EBADMSG.
 */
int history_alert_write(const struct history_alert *alert, u8 **ret, size_t *ret_size);
int history_alert_read(const u8 *block, size_t size, struct history_alert *ret);

/*
 * history_block_new() puts a block into a new sealed memfd. history_block_map() maps one that was received:
 * it must be sealed against every change and at most `most` bytes, otherwise -EBADMSG. Unmap it with
 * history_block_unmap().
 */
struct history_block {
	const u8 *bytes;
	size_t size;
};
int history_block_new(const u8 *bytes, size_t size, int *ret_fd);
int history_block_map(int fd, size_t most, struct history_block *ret);
void history_block_unmap(struct history_block *block);

#endif

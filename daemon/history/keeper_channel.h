// SPDX-License-Identifier: GPL-2.0
/*
 * The side that sends panes, alerts and questions to the keeper, and gets its answers. It starts the process, and
 * starts it again after KEEPER_REST_SECONDS if it ends. Nothing here waits for the keeper, except the end.
 *
 * Panes and alerts wait until the keeper has acknowledged them. If it ends before that, a new one gets them again. If
 * it ends KEEPER_TRIES times with the same one, this one is lost, because it may be the reason. If more than
 * KEEPER_PANES_MAX panes or KEEPER_ALERTS_MAX changes of alerts would wait, or more than KEEPER_WAITING_BYTES_MAX
 * bytes of both, the new one is lost.
 *
 * The keeper gets one question at a time, and panes before the next one.
 */
#ifndef PEBSD_KEEPER_CHANNEL_H
#define PEBSD_KEEPER_CHANNEL_H

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "history/shared/history_wire.h"

#define KEEPER_PANES_MAX         6
#define KEEPER_ALERTS_MAX        4096 /* a disk that takes 10 ms for each has stored them before panes are lost */
#define KEEPER_WAITING_BYTES_MAX HISTORY_PANE_BYTES_MAX
#define KEEPER_QUESTIONS_MAX     16
#define KEEPER_REST_SECONDS      5
#define KEEPER_ANSWER_SECONDS    9 /* a question without an answer fails */
#define KEEPER_STOP_SECONDS      2 /* the end waits this long for the last acknowledgement */
#define KEEPER_TRIES             3

/* The environment variable with the directory, for the process. */
#define KEEPER_CHANNEL_DIRECTORY "PEBSD_HISTORY_DIRECTORY"

struct keeper_channel_settings {
	sd_event *event;
	const char *program;   /* NULL: this program */
	const char *directory; /* absolute; copied */
	u64 bytes_max;
	u64 age_max_s;
	bool alerts_ended; /* history_wire.h; each process gets it once, until one has acknowledged or answered */
	/*
	 * Called for each question, once: `error` is 0 or -errno, -ETIMEDOUT without an answer in time. `passed` is the
	 * descriptor with the answer, which the callback closes; -1: an error.
	 */
	void (*answered)(void *userdata, u32 number, int error, int passed);
	/* Called when a pane is acknowledged (0), or lost (-errno). */
	void (*stored)(void *userdata, int error);
	void *userdata;
};

struct keeper_channel_state {
	bool running; /* it has sent a message since its last start */
	u64 restarts;
	u64 stored;                   /* panes that were acknowledged */
	u64 lost;                     /* panes that were lost */
	u64 waiting;                  /* panes that wait */
	struct history_status status; /* the last one; all zero: none yet */
};

struct keeper_channel;

/* Starts the process. Returns 0 or -ENOMEM. A process that cannot be started is tried again later. */
int keeper_channel_new(const struct keeper_channel_settings *settings, struct keeper_channel **ret);

/*
 * Lets the keeper store what waits, waits for its end for at most KEEPER_STOP_SECONDS, and frees the channel. Waiting
 * questions get no answer.
 */
struct keeper_channel *keeper_channel_free(struct keeper_channel *channel);

/* Send a block of a pane or an alert (history_wire.h). Failures are reported by `stored`, and logged. */
void keeper_channel_store(struct keeper_channel *channel, const u8 *block, size_t size);
void keeper_channel_alert(struct keeper_channel *channel, const u8 *block, size_t size);

/* Asks. Returns 0 and the number of the question, -EUSERS if too many wait, or -ENOMEM. */
int keeper_channel_ask(struct keeper_channel *channel, const struct history_query *query, u32 *ret_number);

/* Sets other limits, for a reload. */
void keeper_channel_limit(struct keeper_channel *channel, u64 bytes_max, u64 age_max_s);

void keeper_channel_describe(const struct keeper_channel *channel, struct keeper_channel_state *ret);

/* The process, for tests; -1: none. */
pid_t keeper_channel_pid(const struct keeper_channel *channel);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "history/keeper/keeper.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/log.h"
#include "child/child.h"
#include "history/keeper/archive.h"
#include "history/keeper/keeper_confine.h"

DEFINE_CLEANUP(struct archive *, archive_free)

/* Waits until the socket can be read or written. The other side may have ended: the next call notices. */
static void wait_for(int channel, short what)
{
	struct pollfd waited = {.fd = channel, .events = what};

	(void)poll(&waited, 1, -1);
}

/* If pebsd has closed its end, the answer is dropped without an error: messages that came before are still stored. */
static int answer(int channel, const struct history_message *message, int passed)
{
	int r;

	while ((r = history_send(channel, message, passed)) == -EAGAIN)
		wait_for(channel, POLLOUT);
	return r == -EPIPE || r == -ECONNRESET ? 0 : r;
}

static int send_status(int channel, struct archive *archive)
{
	struct history_message message = {.type = HISTORY_STATUS};

	archive_status(archive, &message.status);
	return answer(channel, &message, -1);
}

/* Returns the result of storing in `ret_stored`, or -EBADMSG if the block is not a pane. */
static int archive_block(struct archive *archive, const struct history_block *block, int *ret_stored)
{
	struct history_pane pane;
	size_t used;
	int r = history_pane_read(block->bytes, block->size, &pane, &used);

	if (r == -ENOMEM) {
		*ret_stored = r;
		return 0;
	}
	if (r < 0)
		return r;
	if (used == block->size)
		*ret_stored = archive_pane(archive, &pane);
	history_pane_done(&pane);
	return used == block->size ? 0 : -EBADMSG;
}

static int archive_alert_block(struct archive *archive, const struct history_block *block, int *ret_stored)
{
	struct history_alert alert;
	int r = history_alert_read(block->bytes, block->size, &alert);

	if (r == 0)
		*ret_stored = archive_alert(archive, &alert);
	return r;
}

static int handle_store(int channel, struct archive *archive, const struct history_message *message,
			int passed)
{
	struct history_message reply = {.type = HISTORY_STORED, .number = message->number};
	struct history_block block;
	int r = history_block_map(passed, HISTORY_PANE_BYTES_MAX, &block);
	int stored = 0;

	if (r < 0)
		return r;
	r = message->type == HISTORY_ALERT ? archive_alert_block(archive, &block, &stored)
					   : archive_block(archive, &block, &stored);
	history_block_unmap(&block);
	if (r < 0)
		return r;
	reply.error = -stored;
	r = answer(channel, &reply, -1);
	return r < 0 ? r : send_status(channel, archive);
}

static int handle_question(int channel, struct archive *archive, const struct history_message *message)
{
	struct history_message reply = {.type = HISTORY_ANSWER, .number = message->number};
	_cleanup_free_ u8 *bytes = NULL;
	_cleanup_close_ int block = -1;
	size_t size;
	int r = archive_ask(archive, &message->query, &bytes, &size);

	if (r == 0)
		r = history_block_new(bytes, size, &block);
	reply.error = -r;
	return answer(channel, &reply, block);
}

/* Returns 1 if the process is to end, 0, or -errno. */
static int handle(int channel, struct archive *archive, const struct history_message *message, int passed)
{
	switch (message->type) {
	case HISTORY_SETTINGS:
		archive_limit(archive, message->bytes_max, message->age_max_s);
		/* If this fails, they stay open. The next pane fails for the same reason, and the status says why. */
		if (message->alerts_ended)
			(void)archive_end_alerts(archive);
		return 0;
	case HISTORY_STORE:
	case HISTORY_ALERT:
		return handle_store(channel, archive, message, passed);
	case HISTORY_ASK:
		return handle_question(channel, archive, message);
	case HISTORY_STOP:
		return 1;
	case HISTORY_STORED:
	case HISTORY_ANSWER:
	case HISTORY_STATUS:
	case HISTORY_MESSAGE_TYPES:
		break;
	}
	return -EBADMSG;
}

int keeper_serve(int channel, struct archive *archive)
{
	struct history_message message;
	int r = send_status(channel, archive);

	while (r == 0) {
		_cleanup_close_ int passed = -1;

		r = history_receive(channel, &message, &passed);
		if (r == 0)
			return 0;
		if (r == -EAGAIN) {
			wait_for(channel, POLLIN);
			r = 0;
		} else if (r == 1) {
			r = handle(channel, archive, &message, passed);
		}
	}
	return r < 0 ? r : 0;
}

static int run(int channel, const char *directory)
{
	_cleanup_(archive_freep) struct archive *archive = NULL;
	int r = keeper_confine(directory);

	if (r < 0) {
		(void)log_error(
			0,
			"the process that keeps the history cannot drop its privileges, so it exits: %s; `keep = no` in [history] disables it",
			strerror(-r));
		return EXIT_FAILED;
	}
	r = archive_new(&(struct archive_settings){.directory = directory}, &archive);
	/* A file that cannot be opened is tried again with each pane, and the status says why. */
	if (r == 0)
		(void)archive_begin(archive);
	if (r == 0)
		r = keeper_serve(channel, archive);
	if (r < 0)
		(void)log_error(r, "the process that keeps the history cannot communicate with pebsd");
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

int keeper_worker(int channel)
{
	const char *directory = getenv(KEEPER_DIRECTORY);

	if (!child_is_ours(channel) || !directory || directory[0] != '/') {
		(void)log_error(
			0,
			"--keeper: standard input is not a socket from pebsd; pebsd starts this process itself if it keeps a history, see pebsd-history(7)");
		return EXIT_INPUT;
	}
	return run(channel, directory);
}

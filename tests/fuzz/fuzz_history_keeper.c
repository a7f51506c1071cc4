// SPDX-License-Identifier: GPL-2.0
/*
 * Any messages to the keeper of the history, over a real socket, with a database in memory. The input is a
 * list of steps: a letter, a length of two bytes, and as many bytes. `p`: a packet as it is. `s`: a pane to
 * store. `a`: an alert. `q`: a question. The keeper stores, answers or ends with an error. Everything that it
 * stored must be readable afterwards.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "history/keeper/archive.h"
#include "history/keeper/keeper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)         \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

/* Fewer than the socket holds. */
#define STEPS_MAX 8

static void send_block(int line, enum history_message_type type, const uint8_t *data, size_t size)
{
	int fd;

	DEMAND(history_block_new(data, size, &fd) == 0);
	(void)history_send(line, &(struct history_message){.type = type, .number = 1}, fd);
	(void)close(fd);
}

static void send_question(int line, const uint8_t *data, size_t size)
{
	static struct history_message message;
	struct {
		u64 since_us, until_us;
		u32 bins, least_seconds;
		u8 question, subtree;
	} head = {0};

	memcpy(&head, data, size < sizeof(head) ? size : sizeof(head));
	message = (struct history_message){
		.type = HISTORY_ASK,
		.query = {.question = (enum history_question)(head.question % HISTORY_QUESTIONS),
			  .since_us = head.since_us,
			  .until_us = head.until_us,
			  .bins = head.bins,
			  .least_seconds = head.least_seconds,
			  .subtree = head.subtree & 1}};
	if (size > sizeof(head) && size - sizeof(head) < HISTORY_TEXT_MAX)
		memcpy(message.query.path, data + sizeof(head), size - sizeof(head));
	(void)history_send(line, &message, -1);
}

static void send_steps(int line, const uint8_t *data, size_t size)
{
	for (int i = 0; i < STEPS_MAX && size >= 3; i++) {
		char letter = (char)data[0];
		size_t length = (size_t)data[1] | (size_t)data[2] << 8;

		data += 3;
		size -= 3;
		length = length < size ? length : size;
		if (letter == 's' || letter == 'a')
			send_block(line, letter == 's' ? HISTORY_STORE : HISTORY_ALERT, data, length);
		else if (letter == 'q')
			send_question(line, data, length);
		else
			(void)send(line, data, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		data += length;
		size -= length;
	}
}

static void read_all(struct archive *archive)
{
	static const struct history_query query = {.until_us = ~0ULL, .bins = 3};
	u8 *answer;
	size_t size, used;

	if (archive_ask(archive, &query, &answer, &size) < 0)
		return;
	for (size_t at = 0; at < size; at += used) {
		struct history_pane pane;

		DEMAND(history_pane_read(answer + at, size - at, &pane, &used) == 0);
		history_pane_done(&pane);
	}
	free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct archive *archive;
	int line[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) < 0)
		abort();
	DEMAND(archive_new(&(struct archive_settings){.directory = "/none", .vfs = "memdb"}, &archive) == 0);
	send_steps(line[1], data, size);
	(void)close(line[1]);
	r = keeper_serve(line[0], archive);
	DEMAND(r == 0 || r == -EBADMSG);
	read_all(archive);
	archive_free(archive);
	(void)close(line[0]);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "history/shared/history_wire.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/passed.h"
#include "base/sealed.h"
#include "history/shared/history_bytes.h"

/* The largest error number of the kernel (include/linux/err.h, MAX_ERRNO). */
#define ERROR_MAX 4095

/* A message as it is sent: every value of it has a defined meaning, other than with enum and bool. */
struct packet {
	u32 type;
	u32 number;
	u32 error;
	u32 question;
	u64 bytes_max;
	u64 age_max_s;
	u64 since_us;
	u64 until_us;
	u32 bins;
	u32 least_seconds;
	u32 subtree;
	u32 status_error;
	u64 bytes;
	u64 oldest_us;
	u64 newest_us;
	u64 panes;
	u64 lost;
	u64 limited;
	u64 alerts_ended;
	char path[HISTORY_TEXT_MAX];
	char rule[HISTORY_RULE_MAX];
	char what[sizeof(((struct history_status *)0)->what)];
};

_Static_assert(sizeof(struct packet) == 8 * 4 + 11 * 8 + HISTORY_TEXT_MAX + HISTORY_RULE_MAX + 256,
	       "a packet has no holes");

static bool is_question(const struct packet *packet)
{
	return packet->question < HISTORY_QUESTIONS && packet->since_us < packet->until_us &&
	       packet->bins >= 1 && packet->bins <= HISTORY_PANES_MAX;
}

static bool is_message(const struct packet *packet)
{
	if (packet->type >= HISTORY_MESSAGE_TYPES || packet->error > ERROR_MAX ||
	    packet->status_error > ERROR_MAX || packet->subtree > 1 || packet->limited > 1 ||
	    packet->alerts_ended > 1 || !memchr(packet->path, '\0', sizeof(packet->path)) ||
	    !memchr(packet->rule, '\0', sizeof(packet->rule)) ||
	    !memchr(packet->what, '\0', sizeof(packet->what)))
		return false;
	return packet->type != HISTORY_ASK || is_question(packet);
}

static bool needs_descriptor(const struct packet *packet)
{
	return packet->type == HISTORY_STORE || packet->type == HISTORY_ALERT ||
	       (packet->type == HISTORY_ANSWER && packet->error == 0);
}

static void to_packet(const struct history_message *message, struct packet *ret)
{
	const struct history_query *query = &message->query;
	const struct history_status *status = &message->status;

	*ret = (struct packet){
		.type = message->type,
		.number = message->number,
		.error = (u32)message->error,
		.question = query->question,
		.bytes_max = message->bytes_max,
		.age_max_s = message->age_max_s,
		.since_us = query->since_us,
		.until_us = query->until_us,
		.bins = query->bins,
		.least_seconds = query->least_seconds,
		.subtree = query->subtree,
		.status_error = (u32)status->error,
		.bytes = status->bytes,
		.oldest_us = status->oldest_us,
		.newest_us = status->newest_us,
		.panes = status->panes,
		.lost = status->lost,
		.limited = status->limited,
		.alerts_ended = message->alerts_ended,
	};
	memcpy(ret->path, query->path, sizeof(ret->path));
	memcpy(ret->rule, query->rule, sizeof(ret->rule));
	memcpy(ret->what, status->what, sizeof(ret->what));
}

static void of_packet(const struct packet *packet, struct history_message *ret)
{
	*ret = (struct history_message){
		.type = (enum history_message_type)packet->type,
		.number = packet->number,
		.error = (int)packet->error,
		.bytes_max = packet->bytes_max,
		.age_max_s = packet->age_max_s,
		.alerts_ended = packet->alerts_ended,
		.query = {.question = (enum history_question)packet->question,
			  .since_us = packet->since_us,
			  .until_us = packet->until_us,
			  .bins = packet->bins,
			  .least_seconds = packet->least_seconds,
			  .subtree = packet->subtree},
		.status = {.error = (int)packet->status_error,
			   .bytes = packet->bytes,
			   .oldest_us = packet->oldest_us,
			   .newest_us = packet->newest_us,
			   .panes = packet->panes,
			   .lost = packet->lost,
			   .limited = packet->limited},
	};
	memcpy(ret->query.path, packet->path, sizeof(ret->query.path));
	memcpy(ret->query.rule, packet->rule, sizeof(ret->query.rule));
	memcpy(ret->status.what, packet->what, sizeof(ret->status.what));
}

int history_send(int fd, const struct history_message *message, int passed)
{
	struct packet packet;
	int r;

	to_packet(message, &packet);
	if (!is_message(&packet) || needs_descriptor(&packet) != (passed >= 0))
		return -EINVAL;
	do {
		if (passed >= 0)
			r = passed_send(fd, &packet, sizeof(packet), passed);
		else
			r = send(fd, &packet, sizeof(packet), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
	} while (r == -EINTR);
	return r;
}

int history_receive(int fd, struct history_message *ret, int *ret_passed)
{
	union passed_control control = {0};
	struct packet packet;
	struct iovec data = {.iov_base = &packet, .iov_len = sizeof(packet)};
	struct msghdr all = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	_cleanup_close_ int passed = -1;
	ssize_t n;

	do {
		n = recvmsg(fd, &all, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	passed = passed_take(&all);
	/* Neither side sends empty messages, so this is the end. */
	if (n == 0)
		return 0;
	if ((size_t)n != sizeof(packet) || (all.msg_flags & MSG_TRUNC) || !is_message(&packet) ||
	    needs_descriptor(&packet) != (passed >= 0))
		return -EBADMSG;
	of_packet(&packet, ret);
	*ret_passed = TAKE_FD(passed);
	return 1;
}

int history_alert_write(const struct history_alert *alert, u8 **ret, size_t *ret_size)
{
	size_t key = strnlen(alert->key, HISTORY_TEXT_MAX);
	size_t json = strnlen(alert->json, HISTORY_ALERT_MAX);
	struct state_writer writer;
	u8 *block;

	if (key == HISTORY_TEXT_MAX || json == HISTORY_ALERT_MAX)
		return -E2BIG;
	block = malloc(4UL * VARINT_MAX + key + json + 2);
	if (!block)
		return -ENOMEM;
	writer.to = block;
	history_put_text(&writer, alert->key);
	history_put_text(&writer, alert->json);
	state_put_number(&writer, alert->from_us);
	state_put_number(&writer, alert->to_us);
	*ret_size = (size_t)(writer.to - block);
	*ret = block;
	return 0;
}

int history_alert_read(const u8 *block, size_t size, struct history_alert *ret)
{
	struct state_reader reader = {.from = block, .end = block + size};
	struct history_alert alert = {0};

	alert.key = history_get_text(&reader, HISTORY_TEXT_MAX);
	alert.json = history_get_text(&reader, HISTORY_ALERT_MAX);
	alert.from_us = state_get_number(&reader);
	alert.to_us = state_get_number(&reader);
	if (!state_read_whole(&reader) || (alert.to_us != 0 && alert.to_us < alert.from_us))
		return -EBADMSG;
	*ret = alert;
	return 0;
}

int history_block_new(const u8 *bytes, size_t size, int *ret_fd)
{
	return sealed_new("pebsd-history", bytes, size, ret_fd);
}

int history_block_map(int fd, size_t most, struct history_block *ret)
{
	struct stat status;
	void *bytes;

	if (!sealed_is(fd) || fstat(fd, &status) < 0 || (u64)status.st_size > most)
		return -EBADMSG;
	/* The kernel maps no empty file. */
	if (status.st_size == 0) {
		*ret = (struct history_block){.bytes = (const u8 *)""};
		return 0;
	}
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	*ret = (struct history_block){.bytes = bytes, .size = (size_t)status.st_size};
	return 0;
}

void history_block_unmap(struct history_block *block)
{
	if (block->size > 0)
		(void)munmap((void *)block->bytes, block->size);
	*block = (struct history_block){0};
}

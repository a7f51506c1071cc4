// SPDX-License-Identifier: GPL-2.0
/* Messages between pebsd and the keeper of the history. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "history/shared/history_wire.h"

struct channel {
	int ours;
	int its;
};

static struct channel channel_new(void)
{
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	return (struct channel){pair[0], pair[1]};
}

static void channel_done(struct channel *channel)
{
	(void)close(channel->ours);
	(void)close(channel->its);
}

static const struct history_message whole = {
	.type = HISTORY_ASK,
	.number = 0xfffffffe,
	.error = 4095,
	.bytes_max = 1ULL << 40,
	.age_max_s = 7,
	.alerts_ended = true,
	.query = {.question = HISTORY_ASK_ALERTS,
		  .since_us = 1,
		  .until_us = ~0ULL,
		  .bins = HISTORY_PANES_MAX,
		  .least_seconds = 60,
		  .subtree = true,
		  .path = "/a",
		  .rule = "slow"},
	.status = {.error = ENOSPC,
		   .what = "cannot store",
		   .bytes = 1,
		   .oldest_us = 2,
		   .newest_us = 3,
		   .panes = 4,
		   .lost = 5,
		   .limited = true},
};

static bool takes_descriptor(enum history_message_type type)
{
	return type == HISTORY_STORE || type == HISTORY_ALERT;
}

Test(history_wire, every_message_arrives_unchanged)
{
	_cleanup_(channel_done) struct channel channel = channel_new();

	for (int type = 0; type < HISTORY_MESSAGE_TYPES; type++) {
		struct history_message sent = whole, read;
		_cleanup_close_ int block = -1, passed = -1;

		sent.type = (enum history_message_type)type;
		cr_assert_eq(history_block_new((const u8 *)"x", 1, &block), 0);
		cr_assert_eq(history_send(channel.ours, &sent, takes_descriptor(sent.type) ? block : -1), 0);
		cr_assert_eq(history_receive(channel.its, &read, &passed), 1);
		cr_expect_eq(passed >= 0, takes_descriptor(sent.type));
		cr_expect(read.type == sent.type && read.number == sent.number && read.error == sent.error);
		cr_expect(read.bytes_max == sent.bytes_max && read.age_max_s == sent.age_max_s);
		cr_expect(read.alerts_ended);
		cr_expect(read.query.question == sent.query.question && read.query.bins == sent.query.bins);
		cr_expect(read.query.since_us == 1 && read.query.until_us == ~0ULL && read.query.subtree);
		cr_expect_eq(read.query.least_seconds, 60);
		cr_expect_str_eq(read.query.path, "/a");
		cr_expect_str_eq(read.query.rule, "slow");
		cr_expect_str_eq(read.status.what, "cannot store");
		cr_expect(read.status.error == ENOSPC && read.status.bytes == 1 && read.status.limited);
		cr_expect(read.status.oldest_us == 2 && read.status.newest_us == 3);
		cr_expect(read.status.panes == 4 && read.status.lost == 5);
	}
}

Test(history_wire, an_answer_without_error_has_a_descriptor)
{
	_cleanup_(channel_done) struct channel channel = channel_new();
	struct history_message answer = {.type = HISTORY_ANSWER, .number = 1}, read;
	_cleanup_close_ int block = -1, passed = -1;
	struct history_block mapped;

	cr_assert_eq(history_block_new((const u8 *)"pane", 4, &block), 0);
	cr_expect_eq(history_send(channel.ours, &answer, -1), -EINVAL);
	cr_assert_eq(history_send(channel.ours, &answer, block), 0);
	cr_assert_eq(history_receive(channel.its, &read, &passed), 1);
	cr_assert_eq(history_block_map(passed, 4, &mapped), 0);
	cr_expect_eq(mapped.size, 4);
	cr_expect_arr_eq(mapped.bytes, "pane", 4);
	history_block_unmap(&mapped);
	cr_expect_eq(history_block_map(passed, 3, &mapped), -EBADMSG);
}

Test(history_wire, an_empty_block_is_mapped)
{
	_cleanup_close_ int block = -1;
	struct history_block mapped;

	cr_assert_eq(history_block_new(NULL, 0, &block), 0);
	cr_assert_eq(history_block_map(block, 0, &mapped), 0);
	cr_expect_eq(mapped.size, 0);
	history_block_unmap(&mapped);
}

Test(history_wire, memory_that_can_change_is_not_mapped)
{
	_cleanup_close_ int open = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct history_block mapped;

	cr_assert_eq(ftruncate(open, 10), 0);
	cr_expect_eq(history_block_map(open, 10, &mapped), -EBADMSG);
	cr_assert_eq(fcntl(open, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	cr_expect_eq(history_block_map(open, 10, &mapped), -EBADMSG);
	cr_expect_eq(history_block_map(STDIN_FILENO, 10, &mapped), -EBADMSG);
}

Test(history_wire, messages_out_of_range_are_not_sent)
{
	struct history_message wrong = whole;

	wrong.query.until_us = wrong.query.since_us;
	cr_expect_eq(history_send(-1, &wrong, -1), -EINVAL);
	wrong = whole;
	wrong.query.bins = 0;
	cr_expect_eq(history_send(-1, &wrong, -1), -EINVAL);
	wrong.query.bins = HISTORY_PANES_MAX + 1;
	cr_expect_eq(history_send(-1, &wrong, -1), -EINVAL);
	wrong = whole;
	memset(wrong.query.path, 'a', sizeof(wrong.query.path));
	cr_expect_eq(history_send(-1, &wrong, -1), -EINVAL);
	wrong = whole;
	wrong.query.question = HISTORY_QUESTIONS;
	cr_expect_eq(history_send(-1, &wrong, -1), -EINVAL);
	wrong = whole;
	wrong.error = 4096;
	cr_expect_eq(history_send(-1, &wrong, -1), -EINVAL);
	wrong.error = -1;
	cr_expect_eq(history_send(-1, &wrong, -1), -EINVAL);
}

/* Sends the bytes of a good message with one 32-bit word changed. */
static int receive_changed(const struct channel *channel, size_t at, u32 value, size_t size)
{
	static u8 packet[32768];
	struct history_message read;
	_cleanup_close_ int passed = -1;
	ssize_t n;

	cr_assert_eq(history_send(channel->ours, &whole, -1), 0);
	n = recv(channel->its, packet, sizeof(packet), 0);
	cr_assert_gt(n, HISTORY_TEXT_MAX);
	memcpy(packet + at, &value, sizeof(value));
	cr_assert_geq(send(channel->ours, packet, size ? size : (size_t)n, 0), 0);
	return history_receive(channel->its, &read, &passed);
}

Test(history_wire, malformed_packets_are_refused)
{
	struct channel channel = channel_new();
	struct history_message read;
	int passed = -1;

	cr_expect_eq(receive_changed(&channel, 0, HISTORY_ASK, 0), 1);
	cr_expect_eq(receive_changed(&channel, 0, HISTORY_MESSAGE_TYPES, 0), -EBADMSG);
	cr_expect_eq(receive_changed(&channel, 0, HISTORY_STORE, 0), -EBADMSG); /* no descriptor */
	cr_expect_eq(receive_changed(&channel, 0, 0xffffffff, 0), -EBADMSG);
	cr_expect_eq(receive_changed(&channel, 8, 0xffffffff, 0), -EBADMSG);
	cr_expect_eq(receive_changed(&channel, 12, HISTORY_QUESTIONS, 0), -EBADMSG);
	cr_expect_eq(receive_changed(&channel, 0, HISTORY_ASK, 100), -EBADMSG);
	cr_expect_eq(receive_changed(&channel, 0, HISTORY_ASK, 32768), -EBADMSG);
	cr_expect_eq(receive_changed(&channel, 0, HISTORY_ASK, 1), -EBADMSG);
	cr_expect_eq(history_receive(channel.its, &read, &passed), -EAGAIN);
	(void)close(channel.ours);
	cr_expect_eq(history_receive(channel.its, &read, &passed), 0);
	cr_expect_eq(passed, -1);
	(void)close(channel.its);
}

Test(history_wire, a_descriptor_with_a_message_that_needs_none_is_refused)
{
	_cleanup_(channel_done) struct channel channel = channel_new();
	union {
		struct cmsghdr head;
		u8 room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	static u8 packet[32768];
	struct iovec data = {.iov_base = packet};
	struct msghdr all = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	struct history_message read;
	int passed = -1, fd = channel.ours;

	cr_assert_eq(history_send(channel.ours, &whole, -1), 0);
	data.iov_len = (size_t)recv(channel.its, packet, sizeof(packet), 0);
	control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	cr_assert_gt(sendmsg(channel.ours, &all, 0), 0);
	cr_expect_eq(history_receive(channel.its, &read, &passed), -EBADMSG);
	cr_expect_eq(passed, -1);
}

Test(history_wire, sending_to_a_side_that_does_not_read_does_not_block)
{
	_cleanup_(channel_done) struct channel channel = channel_new();
	int r;

	do {
		r = history_send(channel.ours, &whole, -1);
	} while (r == 0);
	cr_expect_eq(r, -EAGAIN);
}

Test(history_wire, alerts_are_read_again_and_damaged_ones_refused)
{
	const struct history_alert alert = {"rule /a", "{\"state\":\"firing\"}", 5, 9};
	struct history_alert read;
	_cleanup_free_ u8 *block = NULL;
	size_t size;

	cr_assert_eq(history_alert_write(&alert, &block, &size), 0);
	cr_assert_eq(history_alert_read(block, size, &read), 0);
	cr_expect_str_eq(read.key, alert.key);
	cr_expect_str_eq(read.json, alert.json);
	cr_expect(read.from_us == 5 && read.to_us == 9);
	for (size_t part = 0; part < size; part++)
		cr_expect_eq(history_alert_read(block, part, &read), -EBADMSG);
	block[size - 1] = 4; /* before its start */
	cr_expect_eq(history_alert_read(block, size, &read), -EBADMSG);
	block[size - 1] = 0;
	cr_expect_eq(history_alert_read(block, size, &read), 0);
	block[2] = '\0';
	cr_expect_eq(history_alert_read(block, size, &read), -EBADMSG);
}

Test(history_wire, an_alert_that_is_too_long_is_not_written)
{
	static char json[HISTORY_ALERT_MAX + 1];
	struct history_alert alert = {"a", json, 1, 0}, read;
	_cleanup_free_ u8 *block = NULL;
	u8 *none;
	size_t size;

	memset(json, ' ', HISTORY_ALERT_MAX);
	cr_expect_eq(history_alert_write(&alert, &none, &size), -E2BIG);
	json[HISTORY_ALERT_MAX - 1] = '\0';
	cr_assert_eq(history_alert_write(&alert, &block, &size), 0);
	cr_expect_eq(history_alert_read(block, size, &read), 0);
}

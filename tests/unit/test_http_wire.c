// SPDX-License-Identifier: GPL-2.0
/* Messages between pebsd and the process that speaks HTTP. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "http/shared/http_wire.h"

Test(http_wire, messages_arrive_unchanged)
{
	u8 packet[HTTP_WIRE_MAX];

	for (int type = 0; type < HTTP_MESSAGE_TYPES; type++) {
		const struct http_message message = {
			.type = (enum http_message_type)type,
			.form = type == HTTP_ASK_PROFILE ? HTTP_PROFILE_FLAME : 3,
			.number = 0xfffffffe,
			.error = 4095,
			.value = type == HTTP_ASK_VIEW ? HTTP_VIEWS - 1 : HTTP_PROFILE_SECONDS_MAX,
			.size = 1ULL << 40,
			.text = type % 2 ? "/a\nb" : NULL};
		struct http_message read;
		size_t size = http_wire_write(&message, packet);

		cr_assert_gt(size, HTTP_WIRE_HEAD);
		cr_assert_eq(http_wire_read(packet, size, &read), 0);
		cr_expect_eq(read.type, message.type);
		cr_expect_eq(read.form, message.form);
		cr_expect_eq(read.number, message.number);
		cr_expect_eq(read.error, message.error);
		cr_expect_eq(read.value, message.value);
		cr_expect_eq(read.size, message.size);
		cr_expect_str_eq(read.text, message.text ? message.text : "");
		/* A message that is cut short is refused, and so is one that is too long. */
		for (size_t part = 0; part < size; part++)
			cr_expect_eq(http_wire_read(packet, part, &read), -EBADMSG);
		packet[size] = 0;
		cr_expect_eq(http_wire_read(packet, size + 1, &read), -EBADMSG);
	}
}

Test(http_wire, texts_arrive_unchanged)
{
	_cleanup_free_ char *text = malloc(HTTP_WIRE_TEXT_MAX + 1);
	struct http_message message = {.type = HTTP_ASK_PROFILE, .value = 1, .text = text}, read;
	u8 packet[HTTP_WIRE_MAX];
	size_t size;

	memset(text, 'a', HTTP_WIRE_TEXT_MAX);
	text[HTTP_WIRE_TEXT_MAX] = '\0';
	cr_expect_eq(http_wire_write(&message, packet), 0);
	text[HTTP_WIRE_TEXT_MAX - 1] = '\0';
	size = http_wire_write(&message, packet);
	cr_expect_eq(size, HTTP_WIRE_MAX);
	cr_expect_eq(http_wire_read(packet, size, &read), 0);
	packet[100] = 0; /* a NUL byte within the text */
	cr_expect_eq(http_wire_read(packet, size, &read), -EBADMSG);
	packet[100] = 'a';
	packet[size - 1] = 'a'; /* no NUL byte at the end */
	cr_expect_eq(http_wire_read(packet, size, &read), -EBADMSG);
}

Test(http_wire, values_out_of_range_are_refused)
{
	static const struct http_message wrong[] = {
		{.type = HTTP_MESSAGE_TYPES},
		{.type = (enum http_message_type)0xffffffff},
		{.type = HTTP_ASK_BODY, .form = HTTP_FORMS},
		{.type = HTTP_TELL_FAILED, .error = 4096},
		{.type = HTTP_ASK_PROFILE, .value = 0},
		{.type = HTTP_ASK_PROFILE, .value = HTTP_PROFILE_SECONDS_MAX + 1},
		{.type = HTTP_ASK_PROFILE, .value = 1, .form = HTTP_PROFILE_FORMS},
		{.type = HTTP_ASK_VIEW, .value = HTTP_VIEWS},
	};
	struct http_message read;
	u8 packet[HTTP_WIRE_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		cr_expect_eq(http_wire_read(packet, http_wire_write(&wrong[i], packet), &read), -EBADMSG,
			     "case %zu", i);
}

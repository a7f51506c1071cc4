// SPDX-License-Identifier: GPL-2.0
#include "http/shared/http_wire.h"

#include <errno.h>
#include <string.h>

/* The largest error number of the kernel (include/linux/err.h, MAX_ERRNO). */
#define ERROR_MAX 4095

struct head {
	u32 type;
	u32 form;
	u32 number;
	u32 error;
	u64 value;
	u64 size;
	u64 length; /* bytes of the text, including its NUL */
};

_Static_assert(sizeof(struct head) == HTTP_WIRE_HEAD, "a head has no holes");

size_t http_wire_write(const struct http_message *message, u8 buffer[static HTTP_WIRE_MAX])
{
	const char *text = message->text ? message->text : "";
	const struct head head = {
		.type = message->type,
		.form = message->form,
		.number = message->number,
		.error = message->error,
		.value = message->value,
		.size = message->size,
		.length = strlen(text) + 1,
	};

	if (head.length > HTTP_WIRE_TEXT_MAX)
		return 0;
	memcpy(buffer, &head, sizeof(head));
	memcpy(buffer + sizeof(head), text, head.length);
	return sizeof(head) + head.length;
}

static bool in_range(const struct head *head)
{
	if (head->type >= HTTP_MESSAGE_TYPES || head->form >= HTTP_FORMS || head->error > ERROR_MAX)
		return false;
	if (head->type == HTTP_ASK_VIEW)
		return head->value < HTTP_VIEWS;
	return head->type != HTTP_ASK_PROFILE || (head->form < HTTP_PROFILE_FORMS && head->value >= 1 &&
						  head->value <= HTTP_PROFILE_SECONDS_MAX);
}

int http_wire_read(const void *packet, size_t size, struct http_message *ret)
{
	const char *text = (const char *)packet + sizeof(struct head);
	struct head head;

	if (size <= sizeof(head) || size > HTTP_WIRE_MAX)
		return -EBADMSG;
	memcpy(&head, packet, sizeof(head));
	if (head.length != size - sizeof(head) || !in_range(&head) ||
	    memchr(text, '\0', head.length) != text + head.length - 1)
		return -EBADMSG;
	*ret = (struct http_message){
		.type = (enum http_message_type)head.type,
		.form = head.form,
		.number = head.number,
		.error = head.error,
		.value = head.value,
		.size = head.size,
		.text = text,
	};
	return 0;
}

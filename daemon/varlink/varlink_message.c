// SPDX-License-Identifier: GPL-2.0
#include "varlink/varlink_message.h"

#include <errno.h>
#include <string.h>

#include "base/json_get.h"

/* An absent member and the value null count as false. */
static int get_flag(const json_object *root, const char *key, bool *ret)
{
	*ret = false;
	return json_get(root, key) && !json_get_bool(root, key, ret) ? -EPROTO : 0;
}

int varlink_message_parse(const char *text, size_t length, struct varlink_message *ret)
{
	_cleanup_json_ json_object *root = NULL;
	struct varlink_message message = {0};
	const char *point;
	int r;

	r = json_parse(text, length, VARLINK_DEPTH_MAX, &root);
	if (r < 0)
		return r;

	message.method = json_get_text(root, "method");
	point = message.method ? strrchr(message.method, '.') : NULL;
	if (!point || point == message.method || !point[1])
		return -EPROTO;
	message.interface_length = (size_t)(point - message.method);

	message.parameters = json_get_object(root, "parameters");
	if (!message.parameters && json_get(root, "parameters"))
		return -EPROTO;
	if (get_flag(root, "oneway", &message.oneway) < 0 || get_flag(root, "more", &message.more) < 0 ||
	    get_flag(root, "upgrade", &message.upgrade) < 0)
		return -EPROTO;

	message.root = TAKE_PTR(root);
	*ret = message;
	return 0;
}

void varlink_message_done(struct varlink_message *message)
{
	json_object_put(message->root);
	*message = (struct varlink_message){0};
}

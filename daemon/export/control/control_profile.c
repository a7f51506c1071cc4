// SPDX-License-Identifier: GPL-2.0
/* The method GetProfile. */
#include <errno.h>
#include <string.h>
#include <sys/param.h>

#include "base/base64.h"
#include "base/json_get.h"
#include "export/control/control_call.h"
#include "export/control/control_detail.h"
#include "export/control/control_methods.h"
#include "export/json/json_writer.h"
#include "export/json/json_zoom.h"
#include "export/profile/profile_pieces.h"

static int reply_busy(struct varlink_call *call, const struct zoom *zoom)
{
	const struct zoom_about *about = zoom_recording_about_const(zoom->recording);
	struct timespec until = json_zoom_until(zoom, about);

	if (zoom->state == ZOOM_RUNNING)
		return control_busy(call, "the zoom is running", &until);
	return control_busy(call, "the names of the zoom's addresses are still being looked up", NULL);
}

static int reply_failure(struct varlink_call *call, int error)
{
	switch (error) {
	case -ESTALE:
		return control_not_measured_why(
			call, "profile", "the file is no longer kept; fetch it again from its beginning");
	case -ENODATA:
		return control_not_measured_why(
			call, "latency",
			"the samples of this zoom have no latency; use the format `folded` (pebsctl: --folded without --latency), which counts samples");
	case -E2BIG:
		return control_not_measured_why(call, "profile",
						"the zoom is too large for this format; make a shorter one");
	default:
		return error;
	}
}

static int reply_piece(struct varlink_call *call, const struct zoom *zoom,
		       const struct profile_pieces_file *file, u64 offset)
{
	size_t length = MIN(file->size - offset, PROFILE_PIECE_BYTES);
	_cleanup_free_ char *text = base64_encode(file->data + offset, length);
	struct json_writer writer = {.failed = !text};
	json_object *object;

	if (!text)
		return -ENOMEM;
	object = json_checked(&writer, json_object_new_object());
	json_put_u64(&writer, object, "zoom", zoom->id);
	json_put_text(&writer, object, "state", json_zoom_state(zoom->state));
	json_put_text(&writer, object, "format", zoom_format_name(file->format));
	json_put_u64(&writer, object, "size", file->size);
	json_put_u64(&writer, object, "offset", offset);
	json_put(&writer, object, "data", json_object_new_string(text));
	if (offset + length < file->size)
		json_put_u64(&writer, object, "next", offset + length);
	return control_reply(call, json_finish(&writer, object));
}

int control_get_profile(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(
		parameters, (const char *const[]){"cgroup", "zoom", "format", "offset", NULL});
	const char *name = json_get_text(parameters, "format");
	bool kernel_addresses = varlink_peer(call)->uid == 0;
	const struct profile_pieces_file *file;
	struct control *control = userdata;
	struct control_zoom_request request;
	const struct zoom *zoom;
	enum zoom_format format;
	const char *invalid;
	u64 offset = 0;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	invalid = control_read_zoom_request(parameters, &request);
	if (invalid)
		return varlink_invalid_parameter(call, invalid);
	if (!name || zoom_format_parse(name, &format) < 0)
		return varlink_invalid_parameter(call, "format");
	if (json_get(parameters, "offset") && !json_get_u64(parameters, "offset", &offset))
		return varlink_invalid_parameter(call, "offset");
	if (format == ZOOM_PERF_DATA && !control_permitted(call, control, PERMISSION_ROOT))
		return control_deny(call, control, PERMISSION_ROOT);
	zoom = control_find_zoom(control, &request);
	if (!zoom)
		return control_no_zoom(call, control, &request);
	if (zoom->state != ZOOM_DONE)
		return reply_busy(call, zoom);
	r = profile_pieces_get(&control->pieces, control->event, zoom, format, kernel_addresses, offset,
			       &file);
	if (r < 0)
		return reply_failure(call, r);
	if (offset > 0 && offset >= file->size)
		return varlink_invalid_parameter(call, "offset");
	return reply_piece(call, zoom, file, offset);
}

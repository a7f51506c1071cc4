// SPDX-License-Identifier: GPL-2.0
/*
 * Serves invented zooms, hot places and profiles on a control socket. Tests use it to check how pebsctl shows
 * them, and that it waits and ends as it should:
 *
 *     fake_detail SOCKET
 *
 * A zoom takes its real time. A profile in the format perf.data is refused. In every other format it has
 * PROFILE_BYTES bytes, each of which is the lowest byte of its offset. Ends with SIGTERM or SIGINT.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "example_zoom.h"
#include "varlink/varlink.h"

#define ERROR(name)   "io.pebsd." name
#define PROFILE_BYTES 3000
#define PIECE_BYTES   1200
#define NAMING_S      0.3

static struct {
	double began, seconds, chosen;
	double asked; /* requested seconds; if the zoom is ended early, only `seconds` changes */
	bool any;
} now_running;

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static json_object *parse(const char *text)
{
	json_object *object = json_tokener_parse(text);

	if (!object)
		abort();
	return object;
}

static double running_for(void)
{
	double seconds = now() - now_running.began;

	return seconds < now_running.seconds ? seconds : now_running.seconds;
}

static const char *state(void)
{
	double since = now() - now_running.began - now_running.seconds;

	return since < 0 ? "running" : since < NAMING_S ? "naming" : "done";
}

/* Returns the example zoom at its current progress. */
static json_object *zoom_now(void)
{
	json_object *zoom = parse(example_zoom_state), *samples = json_get_object(zoom, "samples");
	double share = now_running.seconds > 0 ? running_for() / now_running.seconds : 1;

	(void)json_object_object_add(zoom, "state", json_object_new_string(state()));
	(void)json_object_object_add(zoom, "seconds", json_object_new_double(now_running.asked));
	(void)json_object_object_add(zoom, "ran_s", json_object_new_double(running_for()));
	if (strcmp(state(), "running") == 0)
		(void)json_object_object_add(zoom, "until", json_object_new_string("2026-11-21T06:00:30Z"));
	(void)json_object_object_add(samples, "taken", json_object_new_int64((int64_t)(29412 * share)));
	return zoom;
}

static bool is_known(json_object *parameters)
{
	const char *cgroup = json_get_text(parameters, "cgroup");

	return !cgroup || strcmp(cgroup, EXAMPLE_ZOOM_CGROUP) == 0;
}

static int no_such(struct varlink_call *call, json_object *parameters)
{
	return varlink_error(call, ERROR("NoSuchCgroup"), json_object_get(parameters));
}

static int refuse(struct varlink_call *call, const char *error, const char *parameters)
{
	return varlink_error(call, error, parse(parameters));
}

static int begin(struct varlink_call *call, json_object *parameters, void *userdata)
{
	(void)userdata;
	if (!is_known(parameters))
		return no_such(call, parameters);
	now_running.any = true;
	now_running.began = now();
	now_running.seconds = 30;
	(void)json_get_double(parameters, "seconds", &now_running.seconds);
	now_running.asked = now_running.seconds;
	return varlink_reply(call, parse("{\"version\":1,\"origin\":\"perf\",\"zoom\":17,\"cgroup\":"
					 "\"" EXAMPLE_ZOOM_CGROUP "\",\"until\":\"2026-11-21T06:00:30Z\"}"));
}

static int end_zoom(struct varlink_call *call, json_object *parameters, void *userdata)
{
	bool runs = now_running.any && strcmp(state(), "running") == 0;

	(void)parameters;
	(void)userdata;
	if (runs)
		now_running.seconds = running_for();
	return varlink_reply(call, parse(runs ? "{\"ended\":true}" : "{\"ended\":false}"));
}

static int get_zooms(struct varlink_call *call, json_object *parameters, void *userdata)
{
	json_object *reply = json_object_new_object(), *list = json_object_new_array();

	(void)parameters;
	(void)userdata;
	if (now_running.any)
		(void)json_object_array_add(list, zoom_now());
	(void)json_object_object_add(reply, "zooms", list);
	return varlink_reply(call, reply);
}

static int get_zoom(struct varlink_call *call, json_object *parameters, void *userdata)
{
	json_object *reply;

	(void)userdata;
	if (!is_known(parameters))
		return no_such(call, parameters);
	if (!now_running.any)
		return refuse(call, ERROR("NotMeasured"),
			      "{\"what\":\"zoom\",\"reason\":\"there is no zoom of this cgroup\"}");
	reply = parse(example_zoom_report);
	(void)json_object_object_add(reply, "zoom", zoom_now());
	return varlink_reply(call, reply);
}

static int get_hot(struct varlink_call *call, json_object *parameters, void *userdata)
{
	json_object *reply;

	(void)userdata;
	if (!is_known(parameters))
		return no_such(call, parameters);
	if (now_running.chosen <= 0)
		now_running.chosen = now();
	reply = parse(example_hot);
	(void)json_object_object_add(json_get_object(reply, "chosen"), "for_s",
				     json_object_new_double(now() - now_running.chosen));
	return varlink_reply(call, reply);
}

static int get_status(struct varlink_call *call, json_object *parameters, void *userdata)
{
	(void)parameters;
	(void)userdata;
	return varlink_reply(
		call,
		parse("{\"version\":1,\"origin\":\"perf\",\"since\":\"2026-11-21T05:00:00Z\",\"events\":"
		      "{\"loads\":{\"pmu\":\"cpu\",\"ldlat\":30,\"latency_kind\":\"use\",\"period\":10007}}"
		      ",\"detail\":{\"zooms_running\":1,\"zooms_held\":3,\"zoom_bytes\":13002342,\"hot\":"
		      "[\"" EXAMPLE_ZOOM_CGROUP "\",\"/system.slice/nginx.service\"],\"hot_max\":8,"
		      "\"symbols\":{\"asked\":1234,\"answered\":1200,\"unknown\":30,\"lost\":4,"
		      "\"starts\":1,\"bytes\":1000}}}"));
}

static int get_cgroup(struct varlink_call *call, json_object *parameters, void *userdata)
{
	(void)userdata;
	if (!is_known(parameters))
		return no_such(call, parameters);
	return varlink_reply(call,
			     parse("{\"version\":1,\"origin\":\"perf\",\"cgroup\":\"" EXAMPLE_ZOOM_CGROUP
				   "\",\"events\":{}}"));
}

static char *encode(size_t from, size_t to)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = calloc(1, (to - from) / 3 * 4 + 8);
	size_t length = 0;

	if (!text)
		abort();
	for (size_t at = from; at < to; at += 3) {
		unsigned int word =
			(unsigned int)((at & 0xff) << 16 | (at + 1 < to ? (at + 1) & 0xff : 0) << 8 |
				       (at + 2 < to ? (at + 2) & 0xff : 0));

		for (size_t i = 0; i < 4; i++)
			text[length++] = (char)(at + i > to ? '=' : digits[word >> (18 - 6 * i) & 63]);
	}
	return text;
}

static int get_profile(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *format = json_get_text(parameters, "format");
	_cleanup_free_ char *data = NULL;
	json_object *reply;
	u64 offset = 0, end;

	(void)userdata;
	(void)json_get_u64(parameters, "offset", &offset);
	if (!is_known(parameters))
		return no_such(call, parameters);
	if (!now_running.any || offset > PROFILE_BYTES)
		return refuse(call, ERROR("NotMeasured"),
			      "{\"what\":\"zoom\",\"reason\":\"there is no zoom of this cgroup\"}");
	if (strcmp(state(), "done") != 0)
		return refuse(call, ERROR("Busy"),
			      "{\"reason\":\"the zoom runs\",\"until\":\"2026-11-21T06:00:30Z\"}");
	if (format && strcmp(format, "perf.data") == 0)
		return refuse(call, "org.varlink.service.PermissionDenied", "{\"permitted\":\"root alone\"}");
	end = offset + PIECE_BYTES < PROFILE_BYTES ? offset + PIECE_BYTES : PROFILE_BYTES;
	data = encode(offset, end);
	reply = parse("{\"zoom\":17,\"state\":\"done\"}");
	(void)json_object_object_add(reply, "format", json_object_new_string(format ? format : "?"));
	(void)json_object_object_add(reply, "size", json_object_new_int(PROFILE_BYTES));
	(void)json_object_object_add(reply, "offset", json_object_new_uint64(offset));
	(void)json_object_object_add(reply, "data", json_object_new_string(data));
	if (end < PROFILE_BYTES)
		(void)json_object_object_add(reply, "next", json_object_new_uint64(end));
	return varlink_reply(call, reply);
}

static int listen_on(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		return -1;
	(void)strcpy(address.sun_path, path);
	(void)unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0)
		return -1;
	return fd;
}

int main(int argc, char **argv)
{
	static const struct varlink_method methods[] = {
		{.name = "GetStatus", .handle = get_status}, {.name = "GetCgroup", .handle = get_cgroup},
		{.name = "Zoom", .handle = begin},           {.name = "EndZoom", .handle = end_zoom},
		{.name = "GetZoom", .handle = get_zoom},     {.name = "GetZooms", .handle = get_zooms},
		{.name = "GetHot", .handle = get_hot},       {.name = "GetProfile", .handle = get_profile},
	};
	const struct varlink_service service = {.vendor = "pebsd",
						.product = "fake_detail",
						.version = "0",
						.url = "",
						.interface = "io.pebsd",
						.description = "interface io.pebsd",
						.methods = methods,
						.n_methods = ARRAY_SIZE(methods)};
	struct varlink_server *server = NULL;
	sd_event *event = NULL;
	sigset_t mask;

	if (argc != 2)
		return 2;
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGTERM);
	(void)sigaddset(&mask, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &mask, NULL);
	if (sd_event_default(&event) < 0 || sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL) < 0 ||
	    sd_event_add_signal(event, NULL, SIGINT, NULL, NULL) < 0 ||
	    varlink_server_new(event, listen_on(argv[1]), &service, &server) < 0) {
		perror("fake_detail");
		return 1;
	}
	(void)sd_event_loop(event);
	varlink_server_free(server);
	sd_event_unref(event);
	(void)unlink(argv[1]);
	return 0;
}

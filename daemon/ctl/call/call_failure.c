// SPDX-License-Identifier: GPL-2.0
#include "ctl/call/call_failure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "base/text.h"
#include "ctl/call/call_style.h"
#include "ctl/call/call_when.h"
#include "format/line.h"

#define VARLINK(name) "org.varlink.service." name
#define PEBSD(name)   "io.pebsd." name

enum ctl_exit failure_of_connection(const struct ctl_options *options, int error)
{
	switch (error) {
	case -ENOMEM:
		return failure_of_memory();
	case -ENOENT:
	case -ECONNREFUSED:
		(void)fprintf(
			stderr,
			"pebsctl: no daemon answers on %s: %s; start it with `systemctl start pebsd`, or name its socket with --socket\n",
			options->socket, strerror(-error));
		return CTL_NO_DAEMON;
	case -EACCES:
	case -EPERM:
		(void)fprintf(
			stderr,
			"pebsctl: not permitted to connect to %s; become root, or join the group that `group` in [control] names, by default pebsd (usermod --append --groups pebsd USER, then log in again)\n",
			options->socket);
		return CTL_NOT_PERMITTED;
	case -ETIMEDOUT:
	case -EAGAIN:
		(void)fprintf(stderr,
			      "pebsctl: the daemon on %s has not answered for %d s; see `systemctl status "
			      "pebsd`\n",
			      options->socket, CLIENT_PATIENCE_SECONDS);
		return CTL_NO_DAEMON;
	case -ECONNRESET:
		(void)fprintf(
			stderr,
			"pebsctl: the daemon on %s closed the connection: it has stopped, or has too many clients; try again, or see `systemctl status pebsd`\n",
			options->socket);
		return CTL_NO_DAEMON;
	case -EPROTO:
		(void)fprintf(
			stderr,
			"pebsctl: the program that answers on %s does not speak Varlink; name pebsd's socket with --socket\n",
			options->socket);
		return CTL_FAILED;
	case -ENAMETOOLONG:
		(void)fprintf(stderr, "pebsctl: invalid --socket '%s': expected a path of 1 to 107 bytes\n",
			      options->socket);
		return CTL_USAGE;
	default:
		(void)fprintf(stderr,
			      "pebsctl: cannot talk to the daemon on %s: %s; name its socket with --socket\n",
			      options->socket, strerror(-error));
		return CTL_FAILED;
	}
}

static enum ctl_exit invalid_parameter(const struct ctl_options *options, const char *parameter)
{
	if (strcmp(parameter, "sort") == 0 && options->sort) {
		(void)fprintf(
			stderr,
			"pebsctl: invalid --sort '%s': expected latency, samples, mean, p99, wait, cores-lost, cpi, misses, traffic, share:hitm, or share:SOURCE with a source such as l3 or remote_dram (pebsctl(1) lists them)\n",
			options->sort);
		return CTL_USAGE;
	}
	(void)fprintf(
		stderr,
		"pebsctl: the daemon does not know the parameter '%s': its version differs from pebsctl's; restart pebsd after an upgrade\n",
		parameter);
	return CTL_FAILED;
}

static enum ctl_exit permission_denied(json_object *parameters)
{
	const char *permitted = json_get_text(parameters, "permitted");
	_cleanup_free_ char *visible = text_visible(permitted ? permitted : "root only");

	(void)fprintf(stderr, "pebsctl: the daemon permits this to %s; use sudo\n",
		      visible ? visible : "root");
	return CTL_NOT_PERMITTED;
}

static enum ctl_exit invalid_config(json_object *mistakes)
{
	(void)fprintf(stderr, "pebsctl: cannot use the new configuration; the old one stays in force:\n");
	for (size_t i = 0; mistakes && i < json_object_array_length(mistakes); i++) {
		const char *mistake = json_object_get_string(json_object_array_get_idx(mistakes, i));
		_cleanup_free_ char *visible = mistake ? text_visible(mistake) : NULL;

		(void)fprintf(stderr, "  %s\n", visible ? visible : "?");
	}
	return CTL_FAILED;
}

static const char *refused(const struct ctl_options *options, const char *what)
{
	static const char *const words[][2] = {
		{"pause", "cannot pause"}, {"zoom", "cannot zoom"}, {"hot", "no hot table"},
		{"profile", "no profile"}, {"depth", "no sums"},
	};

	if (what && strcmp(what, "zoom") == 0 && (options->last || options->stop))
		return "cannot find the zoom";
	for (size_t i = 0; what && i < ARRAY_SIZE(words); i++)
		if (strcmp(what, words[i][0]) == 0)
			return words[i][1];
	return "not measured";
}

/* A reason with a semicolon says itself what to do. */
static enum ctl_exit busy(const struct ctl_options *options, json_object *parameters, const char *reason)
{
	const struct format_style style = call_style(options);
	const char *until = json_get_text(parameters, "until");
	char time[LINE_TIME_MAX];

	if (strcmp(reason, "?") == 0)
		reason = "another zoom is running";
	if (until)
		(void)fprintf(stderr, "pebsctl: cannot do this now: %s until %s; try again then\n", reason,
			      line_time(&style, until, time));
	else
		(void)fprintf(stderr, "pebsctl: cannot do this now: %s%s\n", reason,
			      strchr(reason, ';') ? "" : "; try again later");
	return CTL_FAILED;
}

static enum ctl_exit no_such_cgroup(const struct ctl_options *options, const char *visible)
{
	_cleanup_free_ char *nearest = options->nearest ? text_visible(options->nearest) : NULL;

	(void)fprintf(stderr, "pebsctl: no cgroup '%s' is known, or it has no sample%s; ", visible,
		      call_is_past(options) ? " then" : "");
	if (nearest)
		(void)fprintf(stderr, "did you mean %s? ", nearest);
	if (call_is_past(options))
		(void)fprintf(stderr, "`pebsctl top --at TIME` lists the cgroups of that time\n");
	else
		(void)fprintf(stderr, "`pebsctl top --window all` lists all sampled cgroups\n");
	return CTL_NO_SUCH;
}

enum ctl_exit failure_of_call(const struct ctl_options *options, const struct client_reply *reply)
{
	const struct format_style style = call_style(options);
	const char *name = json_get_text(reply->parameters, "parameter"),
		   *reason = json_get_text(reply->parameters, "reason");
	_cleanup_free_ char *visible = NULL;

	if (!name)
		name = json_get_text(reply->parameters, "cgroup");
	/* Times are converted in a reason only: a name may look like a time. */
	if (name)
		(void)line_visible(name, &visible);
	else
		(void)line_sentence(&style, reason ? reason : "?", &visible);
	if (!visible)
		return failure_of_memory();

	if (strcmp(reply->error, PEBSD("NoSuchCgroup")) == 0)
		return no_such_cgroup(options, visible);
	if (strcmp(reply->error, PEBSD("NotMeasured")) == 0) {
		const char *what = json_get_text(reply->parameters, "what");

		(void)fprintf(stderr, "pebsctl: %s: %s\n", refused(options, what), visible);
		return CTL_FAILED;
	}
	if (strcmp(reply->error, PEBSD("Busy")) == 0)
		return busy(options, reply->parameters, visible);
	if (strcmp(reply->error, PEBSD("ConfigInvalid")) == 0)
		return invalid_config(json_get_array(reply->parameters, "mistakes"));
	if (strcmp(reply->error, PEBSD("ReplyTooLarge")) == 0) {
		(void)fprintf(
			stderr,
			"pebsctl: the reply is too large: the daemon sends at most 1 MiB at once; ask for less, for example with --limit\n");
		return CTL_FAILED;
	}
	if (strcmp(reply->error, VARLINK("PermissionDenied")) == 0)
		return permission_denied(reply->parameters);
	if (strcmp(reply->error, VARLINK("InvalidParameter")) == 0)
		return invalid_parameter(options, visible);

	free(TAKE_PTR(visible));
	visible = text_visible(reply->error);
	(void)fprintf(
		stderr,
		"pebsctl: the daemon on %s answered %s: its version differs from pebsctl's, or it is not pebsd; restart pebsd after an upgrade, or name pebsd's socket with --socket\n",
		options->socket, visible ? visible : "an error");
	return CTL_FAILED;
}

enum ctl_exit failure_of_reply(const struct ctl_options *options, const char *what)
{
	(void)fprintf(stderr, "pebsctl: the daemon on %s sent an inconsistent %s; try again\n",
		      options->socket, what);
	return CTL_FAILED;
}

enum ctl_exit failure_of_output(int error)
{
	if (error == 0 || error == -EPIPE)
		return CTL_DONE;
	(void)fprintf(stderr, "pebsctl: cannot write to standard output: %s\n", strerror(-error));
	return CTL_FAILED;
}

enum ctl_exit failure_of_memory(void)
{
	(void)fprintf(stderr, "pebsctl: out of memory\n");
	return CTL_FAILED;
}

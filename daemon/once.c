// SPDX-License-Identifier: GPL-2.0
#include "once.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "containers/containers.h"
#include "export/json/json.h"
#include "export/json/json_names.h"
#include "format/format.h"
#include "format/style.h"
#include "sampling/sampling.h"

/*
 * Collects once an interval until `ns` are over or a signal comes. In both cases, all samples so far are the
 * result. After sampling has stopped, expected samples that have not come count as lost, however short the run
 * was.
 */
static int sample_for(struct sampling *sampling, u64 ns, u64 interval_ns)
{
	sigset_t signals;
	int r = 0;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return -errno;
	while (r == 0 && ns > 0) {
		u64 nap = ns < interval_ns ? ns : interval_ns;
		const struct timespec timeout = {.tv_sec = (time_t)(nap / NSEC_PER_SEC),
						 .tv_nsec = (long)(nap % NSEC_PER_SEC)};
		bool interrupted = sigtimedwait(&signals, NULL, &timeout) > 0;

		r = sampling_tick(sampling);
		ns = interrupted ? 0 : ns - nap;
	}
	return r < 0 ? r : sampling_stop(sampling);
}

/* Reads the recordings to their end, or up to the first damaged record. All records so far are the result. */
static int replay_all(struct sampling *sampling, struct failure *failure)
{
	const char *message;
	int r;

	while ((r = sampling_step(sampling)) > 0 || r == -EAGAIN) {
		struct pollfd input = {.fd = sampling_input(sampling), .events = POLLIN};

		if (r == -EAGAIN)
			(void)poll(&input, 1, -1);
	}
	if (r < 0 && !sampling_complete(sampling, &message) && !message) {
		if (asprintf(&failure->message,
			     "cannot count the recorded samples: %s; the partial result is not printed",
			     strerror(-r)) < 0)
			failure->message = NULL;
		return r;
	}
	return sampling_tick(sampling);
}

static int put_text(const char *text, size_t length, void *userdata)
{
	(void)fwrite(text, 1, length, userdata);
	return 0;
}

static int print_json(const struct snapshot *snapshot, struct short_names *names)
{
	const struct json_more more = {.names = names};
	int r = json_write_top(snapshot, NULL, snapshot->n_cgroups, &more, JSON_C_TO_STRING_PLAIN, put_text,
			       stdout);

	if (r == 0)
		(void)putchar('\n');
	return r;
}

static int print_text(const struct snapshot *snapshot, struct short_names *names, bool full)
{
	json_object *top = json_add_names(json_top(snapshot), names);
	json_object *status = json_status(snapshot);
	struct format_style style;
	int r = top && status ? 0 : -ENOMEM;

	(void)setlocale(LC_CTYPE, "");
	style = style_of_output(STYLE_COLOUR_AUTO);
	style.full = full;
	if (r == 0)
		format_top(stdout, status, top, &style);
	json_object_put(top);
	json_object_put(status);
	return r;
}

static int print(const struct snapshot *snapshot, const struct options *options, struct failure *failure)
{
	_cleanup_(short_names_freep) struct short_names *names = NULL;
	int r = json_names_new(snapshot, &names);

	if (r == 0)
		r = options->json ? print_json(snapshot, names) : print_text(snapshot, names, options->full);
	if (r < 0)
		return r;
	if (fflush(stdout) != 0)
		r = -errno;
	else if (ferror(stdout)) /* an earlier write failed, and its reason is lost */
		r = -EIO;
	if (r < 0 &&
	    asprintf(&failure->message, "cannot write the result to standard output: %s", strerror(-r)) < 0)
		failure->message = NULL;
	return r;
}

int once(const struct options *options, const struct config *config, struct failure *ret_failure)
{
	_cleanup_(containers_freep) struct containers *containers = NULL;
	_cleanup_(sampling_freep) struct sampling *sampling = NULL;
	const struct containers_settings paths_alone = {0};
	const struct sampling_settings settings = {
		.config = config,
		.recordings = options->recordings,
		.n_recordings = options->n_recordings,
	};
	const struct maybe_double all = {0};
	const struct snapshot *snapshot;
	const char *message;
	bool complete;
	int r;

	*ret_failure = (struct failure){.code = EXIT_FAILED};
	r = containers_new(&paths_alone, &containers);
	if (r < 0)
		return r;
	r = sampling_open(&settings, &sampling, ret_failure);
	if (r < 0)
		return r;
	engine_head(sampling_engine(sampling))->containers = containers_lookup(containers);
	if (config->origin == CONFIG_ORIGIN_REPLAY)
		r = replay_all(sampling, ret_failure);
	else
		r = sample_for(sampling, options->once_ns, config->interval_ns);
	if (r == 0)
		r = engine_snapshot(sampling_engine(sampling), &all, &snapshot);
	if (r == 0)
		r = print(snapshot, options, ret_failure);
	if (r < 0)
		return r;
	complete = sampling_complete(sampling, &message);
	if (!complete)
		(void)log_error(0, "%s", message ? message : "a recording could not be read to its end");
	return complete ? EXIT_DONE : EXIT_INPUT;
}

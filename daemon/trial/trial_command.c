// SPDX-License-Identifier: GPL-2.0
#include "trial/trial_command.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/failure.h"
#include "base/log.h"
#include "format/style.h"
#include "sampling/model_setup.h"
#include "trial/json_trial.h"
#include "trial/trial.h"
#include "trial/trial_recordings.h"
#include "trial/trial_text.h"

/* A test on the model. The modelled computer runs as fast as possible, and rules are judged in its own time. */
struct run {
	struct trial *trial;
	struct computer *computer;
	size_t n_events;
	u64 seen[EVENTS_MAX]; /* in the present collection */
	int result;           /* the first error of trial_add() */
};

static void take(void *userdata, const struct sample *sample)
{
	struct run *run = userdata;

	run->seen[sample->event]++;
	if (run->result == 0)
		run->result = trial_add(run->trial, sample, 1);
}

static u64 expected_of(const struct run *run, size_t event)
{
	return event == 0 ? computer_expected(run->computer) : computer_counted(run->computer, event - 1);
}

/* Runs the model for one collection, which includes the records that are still in the DS areas. */
static int run_for(struct run *run, u64 ns)
{
	struct sliding_time times[EVENTS_MAX] = {0};
	u64 before[EVENTS_MAX] = {0};
	int r;

	for (size_t i = 0; i < run->n_events; i++) {
		before[i] = expected_of(run, i);
		run->seen[i] = 0;
	}

	r = computer_run(run->computer, ns, take, run);
	if (r == 0)
		r = computer_drain(run->computer, take, run);
	if (r == 0)
		r = run->result;
	if (r < 0)
		return r;
	for (size_t i = 0; i < run->n_events; i++) {
		struct sliding_time *time = &times[i];

		time->enabled_ns = time->running_ns = ns * computer_cores(run->computer);
		time->expected = expected_of(run, i) - before[i];
		time->lost = time->expected > run->seen[i] ? time->expected - run->seen[i] : 0;
	}
	return trial_collect(run->trial, computer_ns(run->computer), times);
}

static int name_cgroups(const struct run *run)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < computer_cgroups(run->computer); i++) {
		char name[COMPUTER_NAME_MAX];
		u64 id = computer_cgroup(run->computer, i, name);

		r = trial_name(run->trial, id, name);
	}
	return r;
}

static int run_all(struct run *run, const struct config *config, u64 ns)
{
	char *note;
	int r = model_note(config, &note);

	if (r == 0)
		r = trial_note(run->trial, note);
	if (r == 0)
		r = trial_begin(run->trial, NULL, 0, NULL);
	if (r == 0)
		r = name_cgroups(run);
	while (r == 0 && ns > 0) {
		u64 step = ns < config->interval_ns ? ns : config->interval_ns;

		r = run_for(run, step);
		ns -= step;
	}
	return r;
}

/*
 * Runs the configured workloads for `ns` of the model's time. Returns 0, or -errno: then `*ret` is not
 * written. If the computer cannot be made, `ret_failure` has the reason.
 */
static int trial_model(const struct config *config, u64 ns, struct trial **ret, struct failure *ret_failure)
{
	_cleanup_(computer_freep) struct computer *computer = NULL;
	_cleanup_(trial_freep) struct trial *trial = NULL;
	struct event events[EVENTS_MAX];
	struct trial_settings settings = {.config = config, .origin = "model", .events = events};
	struct run run;
	int r;

	r = model_computer(config, &computer, ret_failure);
	if (r < 0)
		return r;
	settings.frequency_hz = MODEL_HERTZ;
	settings.n_events = model_events(config, computer_period(computer), events);
	r = trial_new(&settings, &trial);
	if (r < 0)
		return r;
	run = (struct run){.trial = trial, .computer = computer, .n_events = settings.n_events};
	r = run_all(&run, config, ns);
	if (r == 0)
		*ret = TAKE_PTR(trial);
	return r;
}

static int fail_without_rules(const struct options *options, struct failure *failure)
{
	failure->code = EXIT_INPUT;
	if (asprintf(&failure->message,
		     "there is no rule to test in %s; add sections [rule NAME] there%s (see "
		     "pebsd.conf(5)), or name a file that has some with --config",
		     options->config ? options->config : "/etc/pebsd/pebsd.conf",
		     options->config ? "" : " or in /etc/pebsd/pebsd.conf.d/*.conf") < 0)
		failure->message = NULL;
	return -EINVAL;
}

static int print(const struct trial_report *report, const struct options *options)
{
	struct format_style style;
	json_object *object;

	for (size_t i = 0; i < report->n_notes; i++)
		log_notice("%s", report->notes[i]);
	if (options->json) {
		object = json_trial(report);
		if (!object)
			return -ENOMEM;
		(void)puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
									  JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(object);
	} else {
		(void)setlocale(LC_CTYPE, "");
		style = style_of_output(STYLE_COLOUR_AUTO);
		style.full = options->full;
		trial_text(stdout, report, &style);
	}
	/* If an earlier write failed, its reason is lost. */
	return fflush(stdout) != 0 ? -errno : ferror(stdout) ? -EIO : 0;
}

/* Adds a note about the cgroups that were not judged because of [cgroups] max. */
static int note_left_out(struct trial *trial, const struct trial_report *report)
{
	char *note;

	if (!report->cgroups_left_out)
		return 0;
	if (asprintf(&note,
		     "cgroups beyond `max` in [cgroups] are not judged: %llu; set `max` to a larger number",
		     (unsigned long long)report->cgroups_left_out) < 0)
		return -ENOMEM;
	return trial_note(trial, note);
}

static int finish(struct trial *trial, const struct options *options)
{
	const struct trial_report *report = trial_finish(trial);
	int r = note_left_out(trial, report);

	return r < 0 ? r : print(report, options);
}

static int test_recordings(const struct options *options, const struct config *config,
			   struct failure *failure)
{
	_cleanup_(trial_freep) struct trial *trial = NULL;
	_cleanup_free_ char *message = NULL;
	int tested = trial_recordings(config, options->recordings, options->n_recordings, &trial, &message);
	int r = trial ? finish(trial, options) : 0;

	if (r < 0 || tested == 0)
		return r < 0 ? r : EXIT_DONE;
	failure->code = tested == -ENOMEM ? EXIT_FAILED : EXIT_INPUT;
	failure->message = TAKE_PTR(message);
	return tested;
}

static int test_model(const struct options *options, const struct config *config, struct failure *failure)
{
	_cleanup_(trial_freep) struct trial *trial = NULL;
	int r = trial_model(config, options->test_ns, &trial, failure);

	if (r == 0)
		r = finish(trial, options);
	return r < 0 ? r : EXIT_DONE;
}

int trial_command(const struct options *options, const struct config *config, struct failure *ret_failure)
{
	*ret_failure = (struct failure){.code = EXIT_FAILED};
	if (config->n_rules == 0)
		return fail_without_rules(options, ret_failure);
	if (config->origin == CONFIG_ORIGIN_MODEL)
		return test_model(options, config, ret_failure);
	return test_recordings(options, config, ret_failure);
}

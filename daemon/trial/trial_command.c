// SPDX-License-Identifier: GPL-2.0
#include "trial/trial_command.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "trial/json_trial.h"
#include "trial/trial_model.h"
#include "trial/trial_recordings.h"
#include "trial/trial_text.h"

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

static int print(const struct trial_report *report, bool json)
{
	json_object *object;

	for (size_t i = 0; i < report->n_notes; i++)
		log_notice("%s", report->notes[i]);
	if (json) {
		object = json_trial(report);
		if (!object)
			return -ENOMEM;
		(void)puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
		json_object_put(object);
	} else {
		(void)setlocale(LC_CTYPE, "");
		trial_text(stdout, report);
	}
	return fflush(stdout) == 0 ? 0 : -errno;
}

/* Adds a note about the cgroups that were not judged because of [cgroups] max. */
static int note_left_out(struct trial *trial, const struct trial_report *report)
{
	char *note;

	if (!report->cgroups_left_out)
		return 0;
	if (asprintf(&note, "%llu cgroups are not judged because they exceed max in [cgroups]; raise it",
		     (unsigned long long)report->cgroups_left_out) < 0)
		return -ENOMEM;
	return trial_note(trial, note);
}

static int finish(struct trial *trial, bool json)
{
	const struct trial_report *report = trial_finish(trial);
	int r = note_left_out(trial, report);

	return r < 0 ? r : print(report, json);
}

static int test_recordings(const struct options *options, const struct config *config,
			   struct failure *failure)
{
	_cleanup_(trial_freep) struct trial *trial = NULL;
	_cleanup_free_ char *message = NULL;
	int judged = trial_recordings(config, options->recordings, options->n_recordings, &trial, &message);
	int r = trial ? finish(trial, options->json) : 0;

	if (r < 0 || judged == 0)
		return r < 0 ? r : EXIT_DONE;
	failure->code = judged == -ENOMEM ? EXIT_FAILED : EXIT_INPUT;
	failure->message = TAKE_PTR(message);
	return judged;
}

static int test_model(const struct options *options, const struct config *config, struct failure *failure)
{
	_cleanup_(trial_freep) struct trial *trial = NULL;
	int r = trial_model(config, options->test_ns, &trial, failure);

	if (r == 0)
		r = finish(trial, options->json);
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

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/listen_address.h"
#include "config/config.h"
#include "config/options.h"

#define ARGUMENTS_MAX 16

static struct options options;
static char *problem;
static char *copy;

static void end(void)
{
	options_clear(&options);
	free(problem);
	free(copy);
	problem = copy = NULL;
}

TestSuite(options, .fini = end);

/* `line` has the arguments, separated by blanks. '' is an empty argument. */
static int parse(const char *line)
{
	char *arguments[ARGUMENTS_MAX + 1] = {(char *)"pebsd"};
	int n = 1;
	char *rest;
	char *word;

	end();
	rest = copy = strdup(line);
	cr_assert(rest);
	while (n < ARGUMENTS_MAX && (word = strsep(&rest, " ")))
		if (*word)
			arguments[n++] = strcmp(word, "''") == 0 ? word + 2 : word;
	return options_parse(n, arguments, &options, &problem);
}

#define expect_problem(line, expected)                                             \
	do {                                                                       \
		cr_expect_eq(parse(line), -EINVAL, "%s", line);                    \
		cr_expect_str_eq(problem ? problem : "", expected, "%s", problem); \
	} while (0)

Test(options, without_options_pebsd_is_the_service)
{
	cr_assert_eq(parse(""), 0);
	cr_expect_eq(options.action, OPTIONS_RUN);
	cr_expect_null(options.config);
	cr_expect_not(options.has_origin);
	cr_expect_not(options.has_listen);
	cr_expect_not(options.once);
	cr_expect_eq(options.once_ns, 10 * NSEC_PER_SEC);
	cr_expect_str_eq(options.socket, "/run/pebsd/control.sock");
}

Test(options, internal_modes_are_accepted_but_not_in_the_help)
{
	cr_assert_eq(parse("--symbolizer"), 0);
	cr_expect_eq(options.action, OPTIONS_SYMBOLIZER);
	expect_problem("--symbolizer --json",
		       "--json cannot be used with --symbolizer; remove one of the two");
	expect_problem("--probe --symbolizer",
		       "--probe cannot be used with --symbolizer; run one after the other");
	cr_assert_eq(parse("--http"), 0);
	cr_expect_eq(options.action, OPTIONS_HTTP);
	cr_assert_eq(parse("--container-names"), 0);
	cr_expect_eq(options.action, OPTIONS_CONTAINER_NAMES);
	expect_problem("--container-names --json",
		       "--json cannot be used with --container-names; remove one of the two");
	cr_assert_eq(parse("--keeper"), 0);
	cr_expect_eq(options.action, OPTIONS_KEEPER);
	expect_problem("--keeper --json", "--json cannot be used with --keeper; remove one of the two");
	/* language: quoted (tests/tools/language.py): the wrong spelling is the input */
	expect_problem("--symboliser", "unknown option --symboliser; see pebsd --help");
}

Test(options, all_options_of_the_service_are_read)
{
	cr_assert_eq(parse("--config /c --origin=perf --socket /s --listen [::1]:80"), 0);
	cr_expect_str_eq(options.config, "/c");
	cr_expect(options.has_origin);
	cr_expect_eq(options.origin, CONFIG_ORIGIN_PERF);
	cr_expect_str_eq(options.socket, "/s");
	cr_expect(options.has_listen);
	cr_expect_eq(options.listen.port, 80);
}

Test(options, the_model_can_run_for_a_time)
{
	cr_assert_eq(parse("--origin model --once --for 5s"), 0);
	cr_expect_eq(options.origin, CONFIG_ORIGIN_MODEL);
	cr_expect_eq(options.once_ns, 5 * NSEC_PER_SEC);
	expect_problem("--origin model --replay a",
		       "--replay cannot be used with an --origin other than replay; remove one of the two");
}

Test(options, recordings_imply_the_origin)
{
	cr_assert_eq(parse("--replay a --replay - --once --json --listen none"), 0);
	cr_expect(options.has_origin);
	cr_expect_eq(options.origin, CONFIG_ORIGIN_REPLAY);
	cr_assert_eq(options.n_recordings, 2);
	cr_expect_str_eq(options.recordings[0], "a");
	cr_expect_str_eq(options.recordings[1], "-");
	cr_expect(options.once);
	cr_expect(options.json);
	cr_expect(options.listen.none);
	cr_expect_eq(parse("--origin replay --replay a"), 0);
}

Test(options, once_can_have_a_duration)
{
	cr_assert_eq(parse("--for 250ms --once"), 0);
	cr_expect_eq(options.once_ns, 250 * NSEC_PER_MSEC);
}

Test(options, other_actions_are_read)
{
	cr_assert_eq(parse("--probe --sysfs-root /x --json --config /c"), 0);
	cr_expect_eq(options.action, OPTIONS_PROBE);
	cr_expect_str_eq(options.sysfs_root, "/x");
	cr_expect(options.json);
	cr_assert_eq(parse("--check-config --config /c"), 0);
	cr_expect_eq(options.action, OPTIONS_CHECK_CONFIG);
	cr_assert_eq(parse("--version"), 0);
	cr_expect_eq(options.action, OPTIONS_VERSION);
	cr_expect_not(options.json);
	cr_assert_eq(parse("--version --json"), 0);
	cr_expect_eq(options.action, OPTIONS_VERSION);
	cr_expect(options.json);
	cr_assert_eq(parse("--json --version"), 0);
	cr_expect_eq(options.action, OPTIONS_VERSION);
	cr_assert_eq(parse("--once --help --nonsense"), 0);
	cr_expect_eq(options.action, OPTIONS_HELP);
	cr_assert_eq(parse("--once -h --nonsense"), 0);
	cr_expect_eq(options.action, OPTIONS_HELP);
}

Test(options, rules_are_tested_on_recordings_or_the_model)
{
	cr_assert_eq(parse("--test-rules --replay a --replay b --json --config /c"), 0);
	cr_expect_eq(options.action, OPTIONS_TEST_RULES);
	cr_expect_eq(options.origin, CONFIG_ORIGIN_REPLAY);
	cr_expect_eq(options.n_recordings, 2);
	cr_expect(options.json);
	cr_assert_eq(parse("--test-rules --origin model"), 0);
	cr_expect_eq(options.test_ns, 180 * NSEC_PER_SEC);
	cr_assert_eq(parse("--test-rules --origin model --for 2h"), 0);
	cr_expect_eq(options.test_ns, 7200 * NSEC_PER_SEC);
}

Test(options, rules_are_not_tested_on_this_machine)
{
	static const char *const lines[] = {"--test-rules", "--test-rules --origin perf",
					    "--test-rules --origin replay"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct config *config;

		cr_assert_eq(parse(lines[i]), 0);
		cr_assert_eq(config_new(&config), 0);
		cr_expect_eq(options_override(&options, config, &problem), -EINVAL);
		cr_expect_str_eq(
			problem ? problem : "",
			"--test-rules needs a recording or the model; add --replay FILE or --origin model");
		config_free(config);
	}
}

Test(options, invalid_options_are_refused)
{
	expect_problem("--onec", "unknown option --onec; did you mean --once?");
	expect_problem("--once --nonsense=3", "unknown option --nonsense; see pebsd --help");
	expect_problem("--test-ruels", "unknown option --test-ruels; did you mean --test-rules?");
	expect_problem("-xy", "unknown option -xy; see pebsd --help");
	expect_problem("-:", "unknown option -:; see pebsd --help");
	expect_problem("--once perf.data", "unexpected argument 'perf.data'; see pebsd --help");
	expect_problem("-- x", "unexpected argument 'x'; see pebsd --help");
	expect_problem("--once=1", "--once takes no value; remove it");
	expect_problem("--config", "--config needs a value: FILE");
	expect_problem("--replay ''", "--replay needs a value: FILE");
	expect_problem("--origin ''", "--origin needs a value: auto|perf|replay|model");
	expect_problem("--origin pref", "invalid --origin 'pref': expected auto|perf|replay|model");
	expect_problem("--listen 9754", "invalid --listen '9754': expected " LISTEN_ADDRESS_FORM);
	expect_problem(
		"--once --for 5x",
		"invalid --for '5x': expected a time from 100ms to 7d, a whole number with ms, s, m, h or d");
	cr_expect_eq(parse("--once --for 0"), -EINVAL);
	cr_expect_eq(parse("--once --for 8d"), -EINVAL);
	expect_problem("--replay - --replay -",
		       "--replay - is given twice; standard input can be read only once");
}

Test(options, a_socket_path_fits_its_address)
{
	char line[160] = "--socket /";
	char *end_of_line = line + strlen(line);

	memset(end_of_line, 'a', 106);
	cr_expect_eq(parse(line), 0);
	memset(end_of_line, 'a', 107);
	cr_expect_eq(parse(line), -EINVAL);
	cr_expect(strstr(problem, "at most 107 bytes"));
}

Test(options, conflicting_options_are_refused)
{
	expect_problem("--probe --check-config",
		       "--probe cannot be used with --check-config; run one after the other");
	expect_problem("--compare --once", "--once cannot be used with --compare; remove one of the two");
	expect_problem("--compare --test-rules",
		       "--test-rules cannot be used with --compare; run one after the other");
	expect_problem("--test-rules --probe",
		       "--probe cannot be used with --test-rules; run one after the other");
	expect_problem("--test-rules --once",
		       "--once cannot be used with --test-rules; remove one of the two");
	expect_problem("--test-rules --listen none",
		       "--listen cannot be used with --test-rules; remove one of the two");
	expect_problem(
		"--test-rules --for 5s --replay a",
		"--for cannot be used with --replay: a recording is always read to its end; remove --for");
	expect_problem("--probe --once", "--once cannot be used with --probe; remove one of the two");
	cr_assert_eq(parse("--check-config --json"), 0);
	cr_expect(options.json);
	expect_problem("--sysfs-root /x",
		       "--sysfs-root cannot be used without --probe; add --probe or remove --sysfs-root");
	expect_problem("--origin perf --replay a",
		       "--replay cannot be used with an --origin other than replay; remove one of the two");
	expect_problem("--replay a --origin auto",
		       "--replay cannot be used with an --origin other than replay; remove one of the two");
	expect_problem(
		"--for 5s",
		"--for cannot be used without --once or --test-rules; add one of them, or remove --for");
	expect_problem(
		"--once --for 5s --replay a",
		"--for cannot be used with --replay: a recording is always read to its end; remove --for");
	expect_problem(
		"--json",
		"--json cannot be used without --once, --probe, --check-config, --test-rules, --compare or --version; add one of them");
	expect_problem("--probe --version", "--probe cannot be used with --version; run one after the other");
}

Test(options, the_command_line_overrides_the_configuration)
{
	_cleanup_(config_freep) struct config *config = NULL;

	cr_assert_eq(config_new(&config), 0);
	cr_assert_eq(parse(""), 0);
	cr_expect_eq(options_override(&options, config, &problem), 0);
	cr_expect_eq(config->origin, CONFIG_ORIGIN_AUTO);
	cr_expect_str_eq(config->listen.text, "127.0.0.1:9754");

	config->origin = CONFIG_ORIGIN_PERF;
	cr_assert_eq(parse("--replay a --listen none"), 0);
	cr_expect_eq(options_override(&options, config, &problem), 0);
	cr_expect_eq(config->origin, CONFIG_ORIGIN_REPLAY);
	cr_expect(config->listen.none);

	cr_assert_eq(parse(""), 0);
	cr_expect_eq(options_override(&options, config, &problem), -EINVAL);
	cr_expect_str_eq(problem, "the origin replay needs a recording; add --replay FILE");
	cr_assert_eq(parse("--probe"), 0);
	cr_expect_eq(options_override(&options, config, &problem), 0);
}

Test(options, help_names_every_option_and_fits_a_terminal)
{
	static const char *const names[] = {
		"--config FILE",  "--origin auto|perf|replay|model",
		"--replay FILE",  "--once",
		"--for DUR",      "--json",
		"--socket PATH",  "--listen ADDR:PORT|unix:PATH|none",
		"--probe",        "--sysfs-root DIR",
		"--check-config", "--version",
		"--help",
	};
	char text[8192] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	char *line;
	char *rest = text;

	cr_assert(out);
	options_print_help(out);
	(void)fclose(out);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		cr_expect(strstr(text, names[i]), "%s", names[i]);
	while ((line = strsep(&rest, "\n")))
		cr_expect_leq(strlen(line), 80, "%s", line);
}

Test(options, the_version_is_printed)
{
	char text[64] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	cr_assert(out);
	options_print_version(out);
	(void)fclose(out);
	cr_expect_str_eq(text, "pebsd " PEBSD_VERSION "\n");
}

Test(options, compare_needs_two_recordings)
{
	static const char *const lines[] = {"--compare", "--compare --replay a",
					    "--compare --replay a --replay b --replay c"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_(config_freep) struct config *config = NULL;
		_cleanup_free_ char *message = NULL;

		cr_assert_eq(config_new(&config), 0);
		cr_assert_eq(parse(lines[i]), 0);
		cr_expect_eq(options_override(&options, config, &message), -EINVAL);
		cr_expect_str_eq(
			message,
			"--compare needs two recordings; give --replay FILE twice: the one before and the one after");
	}
	cr_assert_eq(parse("--compare --replay a --replay b --json"), 0);
	cr_expect_eq(options.action, OPTIONS_COMPARE);
	cr_expect(options.json && options.n_recordings == 2);
}

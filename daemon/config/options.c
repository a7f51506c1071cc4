// SPDX-License-Identifier: GPL-2.0
#include "config/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "base/suggest.h"
#include "config/config_keys.h"
#include "config/config_words.h"

#define ONCE_NS_MIN (100 * NSEC_PER_MSEC)
#define ONCE_NS_MAX (7ULL * 86400 * NSEC_PER_SEC)

enum option_id {
	OPTION_CONFIG,
	OPTION_ORIGIN,
	OPTION_REPLAY,
	OPTION_ONCE,
	OPTION_FOR,
	OPTION_JSON,
	OPTION_FULL,
	OPTION_SOCKET,
	OPTION_LISTEN,
	OPTION_PROBE,
	OPTION_SYSFS_ROOT,
	OPTION_CHECK_CONFIG,
	OPTION_TEST_RULES,
	OPTION_COMPARE,
	OPTION_SYMBOLIZER,
	OPTION_HTTP,
	OPTION_CONTAINER_NAMES,
	OPTION_KEEPER,
	OPTION_VERSION,
	OPTION_HELP,
	OPTIONS_COUNT,
};

/* Width of the column of option names in the help. */
#define HELP_HEAD 25

#define BIT(n) (1U << (n))

/* `goes_with`: BIT() of each action that the option can be used with. */
static const struct {
	const char *name;
	const char *argument; /* NULL: takes none */
	unsigned int goes_with;
	const char *help; /* NULL: not shown in the help; lines after the first are indented when
			     printed */
} table[OPTIONS_COUNT] = {
	[OPTION_CONFIG] = {"config", "FILE",
			   BIT(OPTIONS_RUN) | BIT(OPTIONS_PROBE) | BIT(OPTIONS_CHECK_CONFIG) |
				   BIT(OPTIONS_TEST_RULES) | BIT(OPTIONS_COMPARE),
			   "read FILE instead of /etc/pebsd/pebsd.conf\nand /etc/pebsd/pebsd.conf.d/*.conf"},
	[OPTION_ORIGIN] =
		{"origin", "auto|perf|replay|model", BIT(OPTIONS_RUN) | BIT(OPTIONS_TEST_RULES),
		 "where samples come from; auto: perf if this machine\nsupports it, else exit with 3; model: a PEBS unit\nin software, whose figures are not measurements"},
	[OPTION_REPLAY] =
		{"replay", "FILE", BIT(OPTIONS_RUN) | BIT(OPTIONS_TEST_RULES) | BIT(OPTIONS_COMPARE),
		 "read a recording (perf.data; - for a pipe);\nmay be repeated; implies --origin replay"},
	[OPTION_ONCE] = {"once", NULL, BIT(OPTIONS_RUN), "print the result and exit"},
	[OPTION_FOR] = {"for", "DUR", BIT(OPTIONS_RUN) | BIT(OPTIONS_TEST_RULES),
			"with --once: how long to sample (default 10s);\nwith --test-rules: how much of the "
			"model's time to\ncompute (default 3m)"},
	[OPTION_JSON] =
		{"json", NULL,
		 BIT(OPTIONS_RUN) | BIT(OPTIONS_PROBE) | BIT(OPTIONS_CHECK_CONFIG) | BIT(OPTIONS_TEST_RULES) |
			 BIT(OPTIONS_COMPARE) | BIT(OPTIONS_VERSION),
		 "with --once, --probe, --check-config, --compare,\nor with --test-rules or --version: print JSON"},
	[OPTION_FULL] = {"full", NULL, BIT(OPTIONS_RUN) | BIT(OPTIONS_TEST_RULES),
			 "with --once or --test-rules: print the paths of\ncgroups instead of their names"},
	[OPTION_SOCKET] = {"socket", "PATH", BIT(OPTIONS_RUN) | BIT(OPTIONS_PROBE),
			   "control socket (default " DEFAULT_SOCKET
			   ");\nwith --probe: the socket of the running pebsd"},
	[OPTION_LISTEN] = {"listen", "ADDR:PORT|unix:PATH|none", BIT(OPTIONS_RUN),
			   "serve /metrics at this address\n(default: as configured, else 127.0.0.1:9754)"},
	[OPTION_PROBE] =
		{"probe", NULL, BIT(OPTIONS_PROBE),
		 "print what this machine can and cannot sample,\nwhy, and what it costs; exit with 0 if one of the\nconfigured events is usable, else with 3"},
	[OPTION_SYSFS_ROOT] = {"sysfs-root", "DIR", BIT(OPTIONS_PROBE),
			       "with --probe: read DIR instead of /sys"},
	[OPTION_CHECK_CONFIG] =
		{"check-config", NULL, BIT(OPTIONS_CHECK_CONFIG),
		 "check the configuration; list its first hundred\nmistakes, each with file, line and remedy"},
	[OPTION_TEST_RULES] =
		{"test-rules", NULL, BIT(OPTIONS_TEST_RULES),
		 "with --replay FILE or --origin model: print which\nof the configured rules would have fired, and when;\nneeds no privileges, and loads no BPF program"},
	[OPTION_COMPARE] =
		{"compare", NULL, BIT(OPTIONS_COMPARE),
		 "with --replay A --replay B: print what differs in\nthe second recording, and whether that is proven"},
	[OPTION_SYMBOLIZER] = {"symbolizer", NULL, BIT(OPTIONS_SYMBOLIZER), NULL},
	[OPTION_HTTP] = {"http", NULL, BIT(OPTIONS_HTTP), NULL},
	[OPTION_CONTAINER_NAMES] = {"container-names", NULL, BIT(OPTIONS_CONTAINER_NAMES), NULL},
	[OPTION_KEEPER] = {"keeper", NULL, BIT(OPTIONS_KEEPER), NULL},
	[OPTION_VERSION] =
		{"version", NULL, BIT(OPTIONS_VERSION),
		 "print the version; with --json also the libraries\nand BPF objects, with their versions"},
	[OPTION_HELP] = {"help", NULL, BIT(OPTIONS_HELP), "print this help"},
};

static int refuse_unknown(const char *argument, char **ret_problem)
{
	const char *names[OPTIONS_COUNT];
	_cleanup_free_ char *name = NULL;
	const char *near;
	size_t n = 0;

	if (strncmp(argument, "--", 2) != 0)
		return config_refuse(ret_problem, "unknown option %s; see pebsd --help", argument);
	name = strndup(argument + 2, strcspn(argument + 2, "="));
	if (!name)
		return -ENOMEM;
	for (size_t i = 0; i < OPTIONS_COUNT; i++)
		if (table[i].help)
			names[n++] = table[i].name;
	near = suggest_nearest(name, names, n);
	if (near)
		return config_refuse(ret_problem, "unknown option --%s; did you mean --%s?", name, near);
	return config_refuse(ret_problem, "unknown option --%s; see pebsd --help", name);
}

static int add_recording(struct options *options, const char *file, char **ret_problem)
{
	const char **recordings;

	for (size_t i = 0; i < options->n_recordings; i++)
		if (strcmp(file, "-") == 0 && strcmp(options->recordings[i], "-") == 0)
			return config_refuse(
				ret_problem,
				"--replay - is given twice; standard input can be read only once");
	recordings = reallocarray(options->recordings, options->n_recordings + 1, sizeof(*recordings));
	if (!recordings)
		return -ENOMEM;
	recordings[options->n_recordings++] = file;
	options->recordings = recordings;
	return 0;
}

/* The command line and the configuration use the same words for an origin. */
static int take_origin(struct options *options, const char *name, char **ret_problem)
{
	_cleanup_free_ char *problem = NULL;
	struct config config = {0};
	int r;

	r = config_key_set(config_key_find("sampling", "origin"), &config, name, &problem);
	if (r == -EINVAL)
		return config_refuse(ret_problem, "invalid --origin '%s': expected %s", name,
				     table[OPTION_ORIGIN].argument);
	if (r < 0)
		return r;
	options->has_origin = true;
	options->origin = config.origin;
	return 0;
}

static int take_option(struct options *options, enum option_id id, const char *value, char **ret_problem)
{
	if (table[id].argument && (!value || !*value))
		return config_refuse(ret_problem, "--%s needs a value: %s", table[id].name,
				     table[id].argument);
	switch (id) {
	case OPTION_CONFIG:
		options->config = value;
		return 0;
	case OPTION_ORIGIN:
		return take_origin(options, value, ret_problem);
	case OPTION_REPLAY:
		return add_recording(options, value, ret_problem);
	case OPTION_ONCE:
		options->once = true;
		return 0;
	case OPTION_FOR:
		if (duration_parse(value, ONCE_NS_MIN, ONCE_NS_MAX, &options->test_ns) < 0)
			return config_refuse(
				ret_problem,
				"invalid --for '%s': expected a time from 100ms to 7d, a whole number with ms, s, m, h or d",
				value);
		options->once_ns = options->test_ns;
		return 0;
	case OPTION_FULL:
		options->full = true;
		return 0;
	case OPTION_JSON:
		options->json = true;
		return 0;
	case OPTION_SOCKET:
		if (strlen(value) >= sizeof((struct sockaddr_un){0}.sun_path))
			return config_refuse(
				ret_problem,
				"invalid --socket '%s': the path of a socket has at most %zu bytes; use a shorter one",
				value, sizeof((struct sockaddr_un){0}.sun_path) - 1);
		options->socket = value;
		return 0;
	case OPTION_LISTEN:
		if (listen_address_parse(value, &options->listen) < 0)
			return config_refuse(ret_problem,
					     "invalid --listen '%s': expected " LISTEN_ADDRESS_FORM, value);
		options->has_listen = true;
		return 0;
	case OPTION_SYSFS_ROOT:
		options->sysfs_root = value;
		return 0;
	case OPTION_PROBE:
		options->action = OPTIONS_PROBE;
		return 0;
	case OPTION_CHECK_CONFIG:
		options->action = OPTIONS_CHECK_CONFIG;
		return 0;
	case OPTION_TEST_RULES:
		options->action = OPTIONS_TEST_RULES;
		return 0;
	case OPTION_COMPARE:
		options->action = OPTIONS_COMPARE;
		return 0;
	case OPTION_SYMBOLIZER:
		options->action = OPTIONS_SYMBOLIZER;
		return 0;
	case OPTION_HTTP:
		options->action = OPTIONS_HTTP;
		return 0;
	case OPTION_CONTAINER_NAMES:
		options->action = OPTIONS_CONTAINER_NAMES;
		return 0;
	case OPTION_KEEPER:
		options->action = OPTIONS_KEEPER;
		return 0;
	case OPTION_VERSION:
		options->action = OPTIONS_VERSION;
		return 0;
	case OPTION_HELP:
		options->action = OPTIONS_HELP;
		return 0;
	case OPTIONS_COUNT:
		break;
	}
	return -EINVAL;
}

/* Refuses an option that cannot be used with the action. Without an action, this is only --sysfs-root. */
static int refuse_with(enum option_id id, enum options_action action, char **ret_problem)
{
	static const enum option_id names[] = {
		[OPTIONS_PROBE] = OPTION_PROBE,
		[OPTIONS_CHECK_CONFIG] = OPTION_CHECK_CONFIG,
		[OPTIONS_TEST_RULES] = OPTION_TEST_RULES,
		[OPTIONS_COMPARE] = OPTION_COMPARE,
		[OPTIONS_SYMBOLIZER] = OPTION_SYMBOLIZER,
		[OPTIONS_VERSION] = OPTION_VERSION,
		[OPTIONS_HTTP] = OPTION_HTTP,
		[OPTIONS_CONTAINER_NAMES] = OPTION_CONTAINER_NAMES,
		[OPTIONS_KEEPER] = OPTION_KEEPER,
	};

	if (action == OPTIONS_RUN)
		return config_refuse(ret_problem,
				     "--%s cannot be used without --probe; add --probe or remove --%s",
				     table[id].name, table[id].name);
	return config_refuse(ret_problem, "--%s cannot be used with --%s; remove one of the two",
			     table[id].name, table[names[action]].name);
}

/* Checks that the options can be used together. `given`: BIT() of each option on the command line. */
static int check_together(const struct options *options, unsigned int given, char **ret_problem)
{
	static const enum option_id actions[] = {
		OPTION_PROBE,      OPTION_CHECK_CONFIG, OPTION_TEST_RULES,
		OPTION_SYMBOLIZER, OPTION_HTTP,         OPTION_CONTAINER_NAMES,
		OPTION_KEEPER,     OPTION_VERSION,      OPTION_COMPARE};

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		for (size_t j = i + 1; j < ARRAY_SIZE(actions); j++)
			if ((given & BIT(actions[i])) && (given & BIT(actions[j])))
				return config_refuse(ret_problem,
						     "--%s cannot be used with --%s; run one after the other",
						     table[actions[i]].name, table[actions[j]].name);
	for (unsigned int id = 0; id < OPTIONS_COUNT; id++)
		if ((given & BIT(id)) && !(table[id].goes_with & BIT(options->action)))
			return refuse_with(id, options->action, ret_problem);
	if (options->n_recordings > 0 && options->has_origin && options->origin != CONFIG_ORIGIN_REPLAY)
		return config_refuse(
			ret_problem,
			"--replay cannot be used with an --origin other than replay; remove one of the two");
	if ((given & BIT(OPTION_FOR)) && !options->once && options->action != OPTIONS_TEST_RULES)
		return config_refuse(
			ret_problem,
			"--for cannot be used without --once or --test-rules; add one of them, or remove --for");
	if ((given & BIT(OPTION_FOR)) && options->n_recordings > 0)
		return config_refuse(
			ret_problem,
			"--for cannot be used with --replay: a recording is always read to its end; remove --for");
	if (options->full && !options->once && options->action == OPTIONS_RUN)
		return config_refuse(
			ret_problem,
			"--full cannot be used without --once or --test-rules; add one of them, or remove --full");
	if (options->json && !options->once && options->action == OPTIONS_RUN)
		return config_refuse(
			ret_problem,
			"--json cannot be used without --once, --probe, --check-config, --test-rules, --compare or --version; add one of them");
	return 0;
}

static int parse(int argc, char *argv[], struct options *options, char **ret_problem)
{
	struct option list[OPTIONS_COUNT + 1] = {0};
	unsigned int given = 0;

	for (int i = 0; i < OPTIONS_COUNT; i++)
		list[i] = (struct option){
			.name = table[i].name,
			.has_arg = table[i].argument ? required_argument : no_argument,
			/* Larger than every character that getopt_long() returns for a mistake. */
			.val = 256 + i,
		};

	optind = 0; /* glibc: reset the scan */
	opterr = 0;
	for (;;) {
		/* The current argument: getopt_long() advances `optind` to the next one. */
		int at = optind ? optind : 1;
		int c = getopt_long(argc, argv, "+:h", list, NULL);
		int r;

		if (c == -1)
			break;
		if (c == ':')
			return config_refuse(ret_problem, "--%s needs a value: %s", list[optopt - 256].name,
					     table[optopt - 256].argument);
		if (c == '?' && optopt >= 256)
			return config_refuse(ret_problem, "--%s takes no value; remove it",
					     list[optopt - 256].name);
		if (c == '?')
			return refuse_unknown(argv[at], ret_problem);
		if (c == 'h')
			c = 256 + OPTION_HELP;
		r = take_option(options, (enum option_id)(c - 256), optarg, ret_problem);
		if (r < 0)
			return r;
		/* --help ignores the arguments after it. */
		if (options->action == OPTIONS_HELP)
			return 0;
		given |= BIT((unsigned int)(c - 256));
	}
	if (optind < argc)
		return config_refuse(ret_problem, "unexpected argument '%s'; see pebsd --help", argv[optind]);
	return check_together(options, given, ret_problem);
}

int options_parse(int argc, char *argv[], struct options *ret, char **ret_problem)
{
	_cleanup_(options_clear) struct options options = {
		.once_ns = OPTIONS_ONCE_NS_DEFAULT,
		.test_ns = OPTIONS_TEST_NS_DEFAULT,
	};
	int r;

	r = parse(argc, argv, &options, ret_problem);
	if (r < 0)
		return r;
	if (options.n_recordings > 0) {
		options.has_origin = true;
		options.origin = CONFIG_ORIGIN_REPLAY;
	}
	*ret = options;
	if (!ret->socket)
		ret->socket = options.action == OPTIONS_PROBE ? default_socket_to_ask(ret->own_socket)
							      : default_socket_to_serve(ret->own_socket);
	options.recordings = NULL;
	return 0;
}

void options_clear(struct options *options)
{
	free(options->recordings);
	*options = (struct options){0};
}

int options_override(const struct options *options, struct config *config, char **ret_problem)
{
	enum config_origin origin = options->has_origin ? options->origin : config->origin;

	if (options->action == OPTIONS_TEST_RULES && options->n_recordings == 0 &&
	    origin != CONFIG_ORIGIN_MODEL)
		return config_refuse(
			ret_problem,
			"--test-rules needs a recording or the model; add --replay FILE or --origin model");
	if (options->action == OPTIONS_COMPARE && options->n_recordings != 2)
		return config_refuse(
			ret_problem,
			"--compare needs two recordings; give --replay FILE twice: the one before and the one after");
	if (options->action == OPTIONS_RUN && origin == CONFIG_ORIGIN_REPLAY && options->n_recordings == 0)
		return config_refuse(ret_problem, "the origin replay needs a recording; add --replay FILE");
	config->origin = origin;
	if (options->has_listen)
		config->listen = options->listen;
	return 0;
}

void options_print_help(FILE *out)
{
	(void)fprintf(out, "pebsd [OPTION]...\n"
			   "Continuous memory profiler: load latency and data source, cgroup by cgroup.\n"
			   "\n");
	for (size_t i = 0; i < OPTIONS_COUNT; i++) {
		const char *line = table[i].help;
		char head[48];

		if (!line)
			continue;
		(void)snprintf(head, sizeof(head), "%s--%s%s%s", i == OPTION_HELP ? "-h, " : "",
			       table[i].name, table[i].argument ? " " : "",
			       table[i].argument ? table[i].argument : "");
		if (strlen(head) > HELP_HEAD) {
			(void)fprintf(out, "  %s\n", head);
			head[0] = '\0';
		}
		for (;;) {
			int length = (int)strcspn(line, "\n");

			(void)fprintf(out, "  %-*s %.*s\n", HELP_HEAD, head, length, line);
			if (!line[length])
				break;
			line += length + 1;
			head[0] = '\0';
		}
	}
	(void)fprintf(out, "\n"
			   "Exit codes: 0 success; 1 failure at run time; 2 invalid usage, configuration or\n"
			   "input; 3 not possible on this machine or with these privileges.\n");
}

void options_print_version(FILE *out)
{
	(void)fprintf(out, "pebsd " PEBSD_VERSION "\n");
}

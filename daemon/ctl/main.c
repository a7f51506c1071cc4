// SPDX-License-Identifier: GPL-2.0
/* pebsctl: the command line. The same tables serve for parsing, checking and --help. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/build_info.h"
#include "base/cleanup.h"
#include "base/default_socket.h"
#include "base/moment.h"
#include "base/number.h"
#include "base/standard_descriptors.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/version.h"
#include "ctl/call/call_cgroup.h"
#include "ctl/call/call_failure.h"
#include "ctl/call/call_when.h"
#include "ctl/verbs.h"

/* A year: a longer window is a typing mistake. */
#define WINDOW_NS_MAX (365ULL * 86400 * NSEC_PER_SEC)

enum option_id {
	OPTION_SOCKET,
	OPTION_JSON,
	OPTION_LIMIT,
	OPTION_SORT,
	OPTION_FILTER,
	OPTION_DEPTH,
	OPTION_WINDOW,
	OPTION_AT,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_WITH,
	OPTION_FOR,
	OPTION_RATE,
	OPTION_NO_WAIT,
	OPTION_LAST,
	OPTION_STOP,
	OPTION_OUTPUT,
	OPTION_FOLDED,
	OPTION_LATENCY,
	OPTION_PERF_DATA,
	OPTION_FULL,
	OPTION_UTC,
	OPTION_COLOUR,
	OPTION_HELP,
	OPTION_VERSION
};

struct option_spec {
	const char *name;
	char letter; /* 0: none */
	const char *argument;
	const char *help;
	int (*set)(struct ctl_options *options, const char *value);
	const char *expected; /* values that set() accepts; NULL: any */
};

static int set_socket(struct ctl_options *options, const char *value)
{
	options->socket = value;
	return 0;
}

/* main() only needs to know that the option was given. */
static int set_nothing(struct ctl_options *options, const char *value)
{
	(void)options;
	(void)value;
	return 0;
}

static int set_json(struct ctl_options *options, const char *value)
{
	(void)value;
	options->json = true;
	return 0;
}

/* Parses a whole number of at least 1. */
static int parse_count(const char *value, u64 most, u64 *ret)
{
	u64 count;
	char *end;

	errno = 0;
	count = strtoul(value, &end, 10);
	if (errno || *end || strspn(value, "0123456789") == 0 || count == 0 || count > most)
		return -EINVAL;
	*ret = count;
	return 0;
}

static int set_limit(struct ctl_options *options, const char *value)
{
	options->has_limit = true;
	return parse_count(value, 1000000, &options->limit);
}

static int set_rate(struct ctl_options *options, const char *value)
{
	options->has_rate = true;
	return parse_count(value, OPTIONS_RATE_MAX, &options->rate);
}

static int set_no_wait(struct ctl_options *options, const char *value)
{
	(void)value;
	options->no_wait = true;
	return 0;
}

static int set_last(struct ctl_options *options, const char *value)
{
	(void)value;
	options->last = true;
	return 0;
}

static int set_stop(struct ctl_options *options, const char *value)
{
	(void)value;
	options->stop = true;
	return 0;
}

static int set_output(struct ctl_options *options, const char *value)
{
	options->output = value;
	return *value ? 0 : -EINVAL;
}

static int set_folded(struct ctl_options *options, const char *value)
{
	(void)value;
	options->folded = true;
	return 0;
}

static int set_latency(struct ctl_options *options, const char *value)
{
	(void)value;
	options->latency = true;
	return 0;
}

static int set_perf_data(struct ctl_options *options, const char *value)
{
	(void)value;
	options->perf_data = true;
	return 0;
}

static int set_colour(struct ctl_options *options, const char *value)
{
	static const char *const words[] = {
		[STYLE_COLOUR_AUTO] = "auto",
		[STYLE_COLOUR_ALWAYS] = "always",
		[STYLE_COLOUR_NEVER] = "never",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i], value) == 0) {
			options->colour = (enum style_colour)i;
			return 0;
		}
	return -EINVAL;
}

static int set_full(struct ctl_options *options, const char *value)
{
	(void)value;
	options->full = true;
	return 0;
}

static int set_utc(struct ctl_options *options, const char *value)
{
	(void)value;
	options->utc = true;
	return 0;
}

static int set_sort(struct ctl_options *options, const char *value)
{
	options->sort = value;
	return 0;
}

static int set_filter(struct ctl_options *options, const char *value)
{
	options->filter = value;
	/* As call_add_name() sends it. */
	return (utf8_is_valid(value) ? strlen(value) : utf8_shown_length(value)) <= OPTIONS_FILTER_MAX
		       ? 0
		       : -EINVAL;
}

static int set_depth(struct ctl_options *options, const char *value)
{
	options->has_depth = true;
	options->depth = 0;
	/* Depth 0 is the sum at the root. */
	if (strcmp(value, "0") == 0)
		return 0;
	return parse_count(value, OPTIONS_DEPTH_MAX, &options->depth);
}

static int set_window(struct ctl_options *options, const char *value)
{
	u64 ns;

	if (strcmp(value, "all") == 0) {
		options->window = WINDOW_ALL;
		return 0;
	}
	options->window = WINDOW_SECONDS;
	if (duration_parse(value, NSEC_PER_MSEC, WINDOW_NS_MAX, &ns) < 0)
		return -EINVAL;
	options->window_seconds = (double)ns / (double)NSEC_PER_SEC;
	return 0;
}

/* parse_for() checks the limits, which depend on the verb. */
static int set_for(struct ctl_options *options, const char *value)
{
	options->has_for = true;
	options->for_text = value;
	return 0;
}

static int set_at(struct ctl_options *options, const char *value)
{
	options->has_at = true;
	return moment_parse(value, options->now, localtime_r, &options->at);
}

static int set_since(struct ctl_options *options, const char *value)
{
	options->has_since = true;
	return moment_parse(value, options->now, localtime_r, &options->since);
}

static int set_until(struct ctl_options *options, const char *value)
{
	options->has_until = true;
	return moment_parse(value, options->now, localtime_r, &options->until);
}

static int set_with(struct ctl_options *options, const char *value)
{
	options->has_with = true;
	return moment_parse(value, options->now, localtime_r, &options->with);
}

static const struct option_spec option_specs[] = {
	[OPTION_SOCKET] = {"socket", 0, "PATH", "control socket (default $PEBSD_SOCKET, or the service's)",
			   set_socket, NULL},
	[OPTION_JSON] = {"json", 0, NULL, "print JSON: complete and stable, for programs", set_json, NULL},
	[OPTION_LIMIT] = {"limit", 'n', "N", "print at most N cgroups or rows (zoom: at most 10000)",
			  set_limit, "1 to 1000000"},
	[OPTION_SORT] = {"sort", 0, "ORDER", "by latency, samples, p99, cores-lost, ... (pebsctl(1))",
			 set_sort, NULL},
	[OPTION_FILTER] = {"filter", 0, "TEXT", "top: names that contain TEXT, or match it (* ** ?)",
			   set_filter, "at most 247 bytes"},
	[OPTION_DEPTH] = {"depth", 0, "N", "top: subtree sums, to N levels below the root (0 to 99)",
			  set_depth, "0 to 99"},
	[OPTION_WINDOW] = {"window", 0, "DUR", "cover the last DUR, such as 500ms, 10s or 5m; or all",
			   set_window, "a time such as 500ms, 10s or 5m, or all"},
	[OPTION_AT] = {"at", 0, "TIME", "as it was at TIME: 03:12, \"yesterday 22:00\", -2h, RFC 3339",
		       set_at, NULL},
	[OPTION_SINCE] = {"since", 0, "TIME", "as it was from TIME on", set_since, NULL},
	[OPTION_UNTIL] = {"until", 0, "TIME", "as it was until TIME (default of --since: pebsctl(1))",
			  set_until, NULL},
	[OPTION_WITH] = {"with", 0, "TIME", "compare: with the time from TIME on, of the same length",
			 set_with, NULL},
	[OPTION_FOR] = {"for", 0, "DUR", "how long, such as 30s or 10m (zoom: at most 1h, hot: 1d)", set_for,
			NULL},
	[OPTION_RATE] = {"rate", 0, "N", "zoom: at most N samples/s, 1 to 20000 (default 1000)", set_rate,
			 "1 to 20000"},
	[OPTION_NO_WAIT] = {"no-wait", 0, NULL, "zoom: start it, and do not wait for its end", set_no_wait,
			    NULL},
	[OPTION_LAST] = {"last", 0, NULL, "use the last zoom instead of a new one", set_last, NULL},
	[OPTION_STOP] = {"stop", 0, NULL, "zoom: end the running zoom, and print its result", set_stop, NULL},
	[OPTION_OUTPUT] = {"output", 'o', "FILE", "profile: write to FILE; - is standard output", set_output,
			   "a file name, or - for standard output"},
	[OPTION_FOLDED] = {"folded", 0, NULL, "profile: write folded stacks, for flame graphs", set_folded,
			   NULL},
	[OPTION_LATENCY] = {"latency", 0, NULL, "with --folded: weights are cycles of latency, not samples",
			    set_latency, NULL},
	[OPTION_PERF_DATA] = {"perf-data", 0, NULL, "profile: write perf.data, for perf (needs root)",
			      set_perf_data, NULL},
	[OPTION_FULL] = {"full", 'l', NULL, "print the paths of cgroups instead of their names", set_full,
			 NULL},
	[OPTION_UTC] = {"utc", 0, NULL, "print times in UTC instead of local time", set_utc, NULL},
	[OPTION_COLOUR] = {"color", 0, "WHEN", "use colours: auto (default), always or never", set_colour,
			   "auto, always or never"},
	[OPTION_HELP] = {"help", 'h', NULL, "print this help, or with a verb the help of the verb",
			 set_nothing, NULL},
	[OPTION_VERSION] = {"version", 0, NULL, "print the version; with --json, also of its libraries",
			    set_nothing, NULL},
};

#define USES(option) (1U << (option))
#define USES_ALWAYS \
	(USES(OPTION_SOCKET) | USES(OPTION_JSON) | USES(OPTION_FULL) | USES(OPTION_UTC) | USES(OPTION_COLOUR))
#define USES_TIME (USES(OPTION_AT) | USES(OPTION_SINCE) | USES(OPTION_UNTIL))

struct verb {
	const char *name;
	const char *arguments; /* separated by blanks; NULL: none */
	const char *help;
	unsigned int options; /* options that it accepts; others are refused */
	verb_function run;
	verb_time time; /* NULL: its cgroups are always those of the present */
};

#define ARGUMENTS_MAX 2 /* of a verb */

static const struct verb verbs[] = {
	{"status", NULL, "origin, events, periods, cost, losses, memory", USES_ALWAYS | USES_TIME,
	 verb_status, NULL},
	{"top", NULL, "cgroups by latency of sampled accesses; live on a terminal",
	 USES_ALWAYS | USES(OPTION_LIMIT) | USES(OPTION_SORT) | USES(OPTION_FILTER) | USES(OPTION_DEPTH) |
		 USES(OPTION_WINDOW) | USES_TIME,
	 verb_top, NULL},
	{"show", "CGROUP", "one cgroup: latency, sources, snoop, TLB, histogram",
	 USES_ALWAYS | USES(OPTION_WINDOW) | USES_TIME, verb_show, verb_show_time},
	{"compare", "CGROUP [CGROUP]", "two times or cgroups: what differs, with proof",
	 USES_ALWAYS | USES(OPTION_WINDOW) | USES_TIME | USES(OPTION_WITH), verb_compare, verb_compare_time},
	{"zoom", "CGROUP", "look closer now: functions, data, contended lines, nodes",
	 USES_ALWAYS | USES(OPTION_LIMIT) | USES(OPTION_FOR) | USES(OPTION_RATE) | USES(OPTION_NO_WAIT) |
		 USES(OPTION_LAST) | USES(OPTION_STOP),
	 verb_zoom, NULL},
	{"hot", "CGROUP", "the code and cache lines that cost most, with bounds",
	 USES_ALWAYS | USES(OPTION_LIMIT) | USES(OPTION_FOR), verb_hot, NULL},
	{"profile", "CGROUP", "write a zoom to -o FILE: pprof, --folded or --perf-data",
	 USES_ALWAYS | USES(OPTION_FOR) | USES(OPTION_RATE) | USES(OPTION_LAST) | USES(OPTION_OUTPUT) |
		 USES(OPTION_FOLDED) | USES(OPTION_LATENCY) | USES(OPTION_PERF_DATA),
	 verb_profile, NULL},
	{"rules", NULL, "the rules in force, and on how many cgroups each fires", USES_ALWAYS, verb_rules,
	 NULL},
	{"alerts", NULL, "firing and pending alerts, and those of the last hour", USES_ALWAYS | USES_TIME,
	 verb_alerts, NULL},
	{"explain", "RULE CGROUP", "why a rule fires or does not, and what would change that",
	 USES_ALWAYS | USES_TIME, verb_explain, verb_explain_time},
	{"neighbours", "CGROUP", "the cgroups whose traffic rose when this one's latency did",
	 USES_ALWAYS | USES_TIME, verb_neighbours, verb_neighbours_time},
	{"watch", NULL, "print alerts, cgroups born or gone, losses and more, live", USES_ALWAYS, verb_watch,
	 NULL},
	{"pause", NULL, "free all counters for other tools, until resume or --for",
	 USES_ALWAYS | USES(OPTION_FOR), verb_pause, NULL},
	{"resume", NULL, "sample again", USES_ALWAYS, verb_resume, NULL},
	{"reload", NULL, "make pebsd read its configuration again (needs root)", USES_ALWAYS, verb_reload,
	 NULL},
};

static void print_options(unsigned int options)
{
	printf("\nOptions:\n");
	for (size_t i = 0; i < ARRAY_SIZE(option_specs); i++) {
		const struct option_spec *spec = &option_specs[i];
		const char *argument = spec->argument ? spec->argument : "";
		char name[32];

		if (!(options & USES(i)))
			continue;
		if (spec->letter)
			(void)snprintf(name, sizeof(name), "-%c, --%s %s", spec->letter, spec->name,
				       argument);
		else
			(void)snprintf(name, sizeof(name), "--%s %s", spec->name, argument);
		printf("  %-19s %s\n", name, spec->help);
	}
}

static void print_help(void)
{
	printf("pebsctl [OPTION]... [VERB]\n"
	       "Prints what a running pebsd has sampled, and controls it. Without a verb: top.\n\nVerbs:\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "%s %s", verbs[i].name,
			       verbs[i].arguments ? verbs[i].arguments : "");
		printf("  %-19s %s\n", name, verbs[i].help);
	}
	print_options(~0U);
	printf("\nA CGROUP is a name that pebsctl shows, a path, the end of one, or the name of a\n"
	       "unit, pod or container.\n"
	       "Times are local; TIME can also be in the form that is shown.\n"
	       "Without --window, text covers the last 10s (all of a replay), JSON everything.\n"
	       "Without --for, a zoom lasts 30s, and hot collects for 10s before it prints.\n"
	       "Exit codes: 0 done, 1 failed, 2 usage, 3 no daemon answers, 4 no such cgroup\n"
	       "or rule, 5 not permitted. See pebsctl(1).\n");
}

static void print_verb_help(const struct verb *verb)
{
	printf("pebsctl [OPTION]... %s%s%s\n%s\n", verb->name, verb->arguments ? " " : "",
	       verb->arguments ? verb->arguments : "", verb->help);
	print_options(verb->options | USES(OPTION_HELP));
	printf("\n`pebsctl --help` lists all verbs. See pebsctl(1).\n");
}

__attribute__((format(printf, 1, 2))) static enum ctl_exit usage(const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	(void)fprintf(stderr, "pebsctl: %s%s `pebsctl --help`\n", text ? text : "wrong usage",
		      text && strchr(text, '\0')[-1] == '?' ? " See" : "; see");
	return CTL_USAGE;
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static enum ctl_exit refuse_long_option(const char *word)
{
	_cleanup_free_ char *name = strndup(word + 2, strcspn(word + 2, "="));
	const char *names[ARRAY_SIZE(option_specs)];
	const char *nearest;

	for (size_t i = 0; i < ARRAY_SIZE(option_specs); i++)
		names[i] = option_specs[i].name;
	nearest = name ? suggest_nearest(name, names, ARRAY_SIZE(option_specs)) : NULL;
	return nearest ? usage("unknown option %s; did you mean --%s?", word, nearest)
		       : usage("unknown option %s", word);
}

/* Reports an option that getopt_long() refused. `optopt` is 0 if it is an unknown long option (`word`). */
static enum ctl_exit refuse_option(bool lacks_value, const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(option_specs); i++) {
		const struct option_spec *spec = &option_specs[i];

		if (optopt != 256 + (int)i && (!optopt || optopt != spec->letter))
			continue;
		return lacks_value ? usage("--%s needs a value: give --%s %s", spec->name, spec->name,
					   spec->argument)
				   : usage("--%s takes no value; remove it", spec->name);
	}
	if (optopt)
		return usage("unknown option -%c", optopt);
	return refuse_long_option(word);
}

/*
 * Returns true if the program goes on. Otherwise an option is not valid, and `ret_result` is the exit code.
 */
static bool parse_options(int argc, char **argv, struct ctl_options *options, unsigned int *ret_used,
			  enum ctl_exit *ret_result)
{
	struct option table[ARRAY_SIZE(option_specs) + 1] = {0};
	char letters[2 * ARRAY_SIZE(option_specs) + 2] = ":";
	size_t n_letters = 1;
	int id, r;

	for (size_t i = 0; i < ARRAY_SIZE(option_specs); i++) {
		const struct option_spec *spec = &option_specs[i];

		table[i] = (struct option){.name = spec->name,
					   .has_arg = spec->argument ? required_argument : no_argument,
					   .val = 256 + (int)i};
		if (spec->letter)
			letters[n_letters++] = spec->letter;
		if (spec->letter && spec->argument)
			letters[n_letters++] = ':';
	}
	while ((id = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		const struct option_spec *spec = NULL;
		size_t i;

		for (i = 0; i < ARRAY_SIZE(option_specs); i++)
			if (id == 256 + (int)i || (id < 256 && id == option_specs[i].letter))
				break;
		if (i == ARRAY_SIZE(option_specs)) {
			*ret_result = refuse_option(id == ':', argv[optind - 1]);
			return false;
		}
		spec = &option_specs[i];
		r = spec->set(options, optarg);
		if (r < 0) {
			*ret_result = usage("invalid --%s '%s': %s%s", spec->name, optarg,
					    spec->expected ? "expected " : "",
					    spec->expected ? spec->expected : moment_why(r));
			return false;
		}
		*ret_used |= USES(i);
	}
	return true;
}

static enum ctl_exit refuse_verb(const char *word)
{
	const char *names[ARRAY_SIZE(verbs)];
	const char *nearest;

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		names[i] = verbs[i].name;
	nearest = suggest_nearest(word, names, ARRAY_SIZE(verbs));
	return nearest ? usage("unknown verb '%s'; did you mean %s?", word, nearest)
		       : usage("unknown verb '%s'", word);
}

/*
 * Parses --for within the limits of the verb, which the message names. Returns false, and prints it, if it is outside.
 */
static bool parse_for(const struct verb *verb, struct ctl_options *options)
{
	/* The limits of the daemon (detail/zooms.h, control_detail.c, control_sampling.c). */
	const char *most = verb->run == verb_pause ? "365d" : verb->run == verb_hot ? "1d" : "1h";
	u64 most_ns = 0, ns;

	(void)duration_parse(most, 0, UINT64_MAX, &most_ns);
	if (duration_parse(options->for_text, NSEC_PER_MSEC, most_ns, &ns) < 0) {
		(void)usage("invalid --for '%s': expected a time from 1ms to %s for %s, such as 30s or 10m",
			    options->for_text, most, verb->name);
		return false;
	}
	options->for_seconds = (double)ns / (double)NSEC_PER_SEC;
	return true;
}

static enum ctl_exit print_version(const struct ctl_options *options)
{
	int r = 0;

	if (options->json)
		r = build_info_print(stdout, "pebsctl", NULL, 0);
	else
		(void)printf("pebsctl %s\n", PEBSD_VERSION);
	if (r == 0 && fflush(stdout) != 0)
		r = -errno;
	return failure_of_output(r);
}

/*
 * Runs the verb with each argument CGROUP replaced by the path of the cgroup that it names, up to the first one that is
 * not known: the verb reports that one. `found` gets the paths, which the caller frees.
 */
static enum ctl_exit run_verb(const struct verb *verb, struct ctl_options *options, char **arguments,
			      char *found[static ARGUMENTS_MAX])
{
	const char *wanted = verb->arguments;
	_cleanup_free_ char *nearest = NULL;
	enum ctl_exit result = CTL_DONE;
	struct call_range range = {0};
	bool past = call_is_past(options) && verb->time, known = true;

	if (past)
		range = verb->time(options, arguments);
	for (size_t i = 0; wanted && arguments[i] && result == CTL_DONE && known; i++) {
		if (strncmp(wanted + (*wanted == '['), "CGROUP", strlen("CGROUP")) == 0) {
			result = call_cgroup(options, arguments[i], past ? &range : NULL, &found[i], &known,
					     &nearest);
			arguments[i] = found[i];
		}
		wanted = strchr(wanted, ' ');
		wanted = wanted ? wanted + 1 : NULL;
	}
	options->nearest = nearest;
	return result == CTL_DONE ? verb->run(options, arguments) : result;
}

int main(int argc, char **argv)
{
	const char *socket = getenv("PEBSD_SOCKET");
	char own_socket[DEFAULT_SOCKET_MAX];
	struct ctl_options options = {
		.socket = socket && *socket ? socket : default_socket_to_ask(own_socket), .now = time(NULL)};
	char *found[ARGUMENTS_MAX] = {0};
	enum ctl_exit result = CTL_USAGE;
	const struct verb *verb;
	unsigned int used = 0;
	int given, wanted = 0, needed = 0;

	standard_descriptors_occupy();
	(void)setlocale(LC_CTYPE, "");
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (!parse_options(argc, argv, &options, &used, &result))
		return result;
	if (used & USES(OPTION_VERSION))
		return print_version(&options);
	if (optind == argc && used & USES(OPTION_HELP)) {
		print_help();
		return failure_of_output(fflush(stdout) != 0 ? -errno : 0);
	}
	verb = find_verb(optind < argc ? argv[optind] : "top");
	if (!verb)
		return refuse_verb(argv[optind]);
	if (used & USES(OPTION_HELP)) {
		print_verb_help(verb);
		return failure_of_output(fflush(stdout) != 0 ? -errno : 0);
	}
	given = optind < argc ? argc - optind - 1 : 0;
	for (const char *at = verb->arguments; at; at = strchr(at + 1, ' ')) {
		wanted++;
		needed += at[at != verb->arguments] != '[';
	}
	if (given < needed)
		return usage("%s needs %s", verb->name, verb->arguments);
	if (given > wanted)
		return usage("unexpected argument '%s' for %s", argv[optind + 1 + wanted], verb->name);
	for (size_t i = 0; i < ARRAY_SIZE(option_specs); i++)
		if (used & ~verb->options & USES(i))
			return usage("--%s cannot be used with %s", option_specs[i].name, verb->name);
	if (options.has_for && !parse_for(verb, &options))
		return CTL_USAGE;
	if (options.has_at && (options.has_since || options.has_until))
		return usage("--at cannot be used with --since or --until");
	if (options.window != WINDOW_DEFAULT && (options.has_since || options.has_until))
		return usage("--window cannot be used with --since or --until");
	if (options.window == WINDOW_ALL && options.has_at)
		return usage("--window all cannot be used with --at");
	if (options.window == WINDOW_ALL && verb->run == verb_compare)
		return usage("--window all cannot be used with compare");
	if (options.has_since && options.since >= (options.has_until ? options.until : options.now))
		return usage("--since must be before --until");
	if (verb->run == verb_compare && verb_compare_is_of_files(argv + optind + 1))
		return usage(
			"compare takes cgroups; run `pebsd --compare --replay A --replay B` to compare recordings");
	result = run_verb(verb, &options, argv + (optind < argc ? optind + 1 : optind), found);
	for (size_t i = 0; i < ARGUMENTS_MAX; i++)
		free(found[i]);
	return result;
}

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cgroup/container_label.h"
#include "config/config.h"
#include "config/config_check.h"
#include "config/config_file.h"
#include "config/config_keys.h"
#include "model/workload.h"
#include "origin/event.h"

#define ALL_WORKLOADS ((1U << WORKLOAD_COUNT) - 1)
#define SCENARIO      ((1U << WORKLOAD_KINDS) - 1 - ALL_WORKLOADS)

static struct config *config;
static struct config_mistakes mistakes;

static void begin(void)
{
	cr_assert_eq(config_new(&config), 0);
}

static void end(void)
{
	config = config_free(config);
	config_mistakes_clear(&mistakes);
}

TestSuite(config, .init = begin, .fini = end);

static void parse(const char *text)
{
	cr_assert_eq(config_file_parse("x.conf", text, strlen(text), config, &mistakes), 0);
}

/* Returns the mistakes in `text` as they are printed. */
static const char *printed(const char *text)
{
	static char buffer[8192];
	_cleanup_fclose_ FILE *out = fmemopen(buffer, sizeof(buffer), "w");

	config_mistakes_clear(&mistakes);
	parse(text);
	cr_assert(out);
	config_mistakes_print(&mistakes, "", out);
	(void)fflush(out);
	return mistakes.n ? buffer : "";
}

#define expect_mistakes(text, expected)                               \
	do {                                                          \
		const char *_printed = printed(text);                 \
		cr_expect_str_eq(_printed, expected, "%s", _printed); \
	} while (0)

static bool all_equal(const struct config *a, const struct config *b)
{
	const char *names[CONFIG_KEYS_MAX];
	char **changes;
	const int changed = config_rule_changes(a, b, &changes);

	cr_assert_geq(changed, 0);
	config_rule_changes_free(changes);
	return changed == 0 && config_restart_keys(a, b, names) == 0 && config_reload_keys(a, b, names) == 0;
}

Test(config, a_new_configuration_has_the_defaults)
{
	cr_expect_eq(config->origin, CONFIG_ORIGIN_AUTO);
	cr_expect_eq(config->events, CONFIG_EVENTS_AUTO);
	cr_expect_eq(config->ldlat, 31);
	cr_expect_float_eq(config->budget, 0.005, 1e-15);
	cr_expect_eq(config->periods.accesses, CONFIG_PERIOD_AUTO);
	cr_expect_eq(config->interval_ns, NSEC_PER_SEC);
	cr_expect_str_eq(config->cpu->name, "skylake");
	cr_expect_eq(config->seed, 1);
	cr_expect_eq(config->workloads, SCENARIO);
	cr_expect_eq(config->cgroups_max, CONFIG_CGROUPS_MAX_AUTO);
	cr_assert_eq(config->include.n, 1);
	cr_expect_str_eq(config->include.list[0], "/**");
	cr_expect_eq(config->exclude.n, 0);
	cr_expect_eq(config->hot.n, 0);
	cr_expect_eq(config->hot_max, 8);
	cr_expect_not(config_hot(config, "/a"), "nothing by itself");
	cr_expect_not(config->listen.none);
	cr_expect_str_eq(config->listen.text, "127.0.0.1:9754");
	cr_expect_eq(config->top, CONFIG_TOP_AUTO);
	cr_expect_not(config->detail_metrics);
	cr_expect_not(config->profiles);
	cr_expect_str_eq(config->group, "pebsd");
	cr_expect_str_eq(config->detail, "root");
}

Test(config, every_key_is_read)
{
	parse("; comment\n"
	      "# comment\n"
	      "[sampling]\r\n"
	      "\torigin = replay\r\n"
	      "events=loads\n"
	      "ldlat = 64\n"
	      "period = 2003\n"
	      "interval = 250ms\n"
	      "\n"
	      "[cgroups]\n"
	      "max = 1024\n"
	      "include = /a/**  /b/*\t/c\n"
	      "exclude = /a/x\n"
	      "[export]\n"
	      "listen = [::1]:80\n"
	      "top = 0\n"
	      "detail-metrics = yes\n"
	      "profiles = yes\n"
	      "[control]\n"
	      "group = adm\n"
	      "detail = ops");
	cr_assert_eq(mistakes.n, 0, "%s", mistakes.n ? mistakes.list[0].message : "");
	cr_expect_eq(config->origin, CONFIG_ORIGIN_REPLAY);
	cr_expect_eq(config->ldlat, 64);
	cr_expect_eq(config->periods.accesses, 2003);
	cr_expect_eq(config->interval_ns, 250 * NSEC_PER_MSEC);
	cr_expect_eq(config->cgroups_max, 1024);
	cr_assert_eq(config->include.n, 3);
	cr_expect_str_eq(config->include.list[1], "/b/*");
	cr_expect_str_eq(config->include.list[2], "/c");
	cr_assert_eq(config->exclude.n, 1);
	cr_expect_eq(config->listen.port, 80);
	cr_expect_eq(config->listen.address.any.sa_family, AF_INET6);
	cr_expect_eq(config->listen.address.ipv6.sin6_port, htons(80));
	cr_expect_eq(config->top, 0);
	cr_expect(config->detail_metrics);
	cr_expect(config->profiles);
	cr_expect_str_eq(config->group, "adm");
	cr_expect_str_eq(config->detail, "ops");
}

Test(config, an_empty_value_clears_a_list_or_restores_the_default)
{
	parse("[sampling]\nldlat = 64\n[cgroups]\nexclude = /a\n[export]\nlisten = none\n"
	      "[control]\ndetail = ops\n");
	parse("[sampling]\nldlat =\n[cgroups]\ninclude =\nexclude =\n[export]\nlisten =\n[control]\ngroup "
	      "=\ndetail =\n");
	cr_assert_eq(mistakes.n, 0);
	cr_expect_eq(config->ldlat, 31);
	cr_expect_eq(config->include.n, 0);
	cr_expect_eq(config->exclude.n, 0);
	cr_expect_str_eq(config->listen.text, "127.0.0.1:9754");
	cr_expect_str_eq(config->group, "");
	cr_expect_str_eq(config->detail, "root", "nobody but root is root");
}

Test(config, unknown_sections_and_keys_are_refused)
{
	expect_mistakes("[samplng]\nldlat = 3\n",
			"x.conf:1: unknown section [samplng]; did you mean [sampling]?\n");
	expect_mistakes(
		"[network]\nx = 3\n",
		"x.conf:1: unknown section [network]; valid sections: sampling, model, cgroups, containers, history, export, control, symbols, rule NAME\n");
	expect_mistakes(
		"[]\nx = 3\n",
		"x.conf:1: unknown section []; valid sections: sampling, model, cgroups, containers, history, export, control, symbols, rule NAME\n");
	expect_mistakes("[export]\ntpo = 3\n", "x.conf:2: unknown key tpo in [export]; did you mean top?\n");
	expect_mistakes("[export]\nTop = 3\n", "x.conf:2: unknown key Top in [export]; did you mean top?\n");
	expect_mistakes(
		"[export]\nwhatever = 3\n",
		"x.conf:2: unknown key whatever in [export]; valid keys: listen, hosts, top, detail-metrics, profiles\n");
	expect_mistakes("[export]\ninterval = 3\n",
			"x.conf:2: interval belongs in [sampling]; move it there\n");
}

Test(config, debuginfod_servers_are_read)
{
	parse("");
	cr_expect_str_eq(config->debuginfod, "");
	parse("[symbols]\ndebuginfod = https://debuginfod.example \t http://[::1]:8002/x\n");
	cr_assert_eq(mistakes.n, 0);
	cr_expect_str_eq(config->debuginfod, "https://debuginfod.example http://[::1]:8002/x");
	parse("[symbols]\ndebuginfod =\n");
	cr_expect_str_eq(config->debuginfod, "");
	expect_mistakes(
		"[symbols]\ndebuginfod = debuginfod.example\n",
		"x.conf:2: debuginfod: debuginfod.example is not a valid URL of a debuginfod server; begin it with https:// or http://, without a user name\n");
	cr_expect(strstr(printed("[symbols]\ndebuginfod = https://\n"), "https:// is not a valid URL"));
	cr_expect(strstr(printed("[symbols]\ndebuginfod = http://a file:///etc\n"),
			 "file:///etc is not a valid URL"));
	cr_expect(strstr(printed("[symbols]\ndebuginfod = http://me:secret@a\n"), "without a user"));
	cr_expect(strstr(printed("[symbols]\ndebuginfod = http://\xc3\xa4\n"), "is not a valid URL"));
}

Test(config, hot_cgroups_are_read)
{
	expect_mistakes("[cgroups]\nhot = /a/**  /b\nhot-max = 0\n", "");
	cr_assert_eq(config->hot.n, 2);
	cr_expect_eq(config->hot_max, 0);
	cr_expect(config_hot(config, "/a/x"));
	cr_expect(config_hot(config, "/b"));
	cr_expect_not(config_hot(config, "/b/x"));
	expect_mistakes(
		"[cgroups]\nhot-max = 65\n",
		"x.conf:2: hot-max = 65: expected a whole number from 0 to 64 (maximum number of cgroups with hot tables at a time)\n");
	cr_expect(strstr(printed("[cgroups]\nhot = a//b\n"),
			 "x.conf:2: hot: the pattern a//b cannot match a cgroup"));
}

Test(config, patterns_that_match_no_path_are_mistakes)
{
	static const char *const wrong[] = {"/a/", "/a//b", "**/a/", "**//a"};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_free_ char *text = NULL, *expected = NULL;

		cr_assert_gt(asprintf(&text, "[cgroups]\nhot = %s\n", wrong[i]), 0);
		cr_assert_gt(asprintf(&expected, "x.conf:2: hot: the pattern %s cannot match", wrong[i]), 0);
		cr_expect(strstr(printed(text), expected), "%s", wrong[i]);
	}
	/* The root is the only path that ends with a slash. */
	expect_mistakes("[cgroups]\nhot = / **/ ** **/a /**/a\n", "");
	cr_expect(config_hot(config, "/"));
}

Test(config, the_containers_section_is_read)
{
	cr_expect(config->container_names);
	cr_expect_eq(config->container_labels, 0);
	expect_mistakes("[containers]\nnames = no\nlabels = pod  namespace container_id\n", "");
	cr_expect_not(config->container_names);
	cr_expect_eq(config->container_labels,
		     1U << CONTAINER_LABEL_POD | 1U << CONTAINER_LABEL_NAMESPACE | 1U << CONTAINER_LABEL_ID);
	expect_mistakes(
		"[containers]\nlabels = pods\n",
		"x.conf:2: labels = pods: unknown value; did you mean pod? Expected one of runtime, namespace, pod, container, pod_uid, container_id, unit, user (labels that metrics have besides cgroup, if they are known)\n");
	cr_expect_neq(config->container_labels, 0, "a mistake changes nothing");
	expect_mistakes("[containers]\nlabels =\nnames =\n", "");
	cr_expect(config->container_names);
	cr_expect_eq(config->container_labels, 0);
}

Test(config, the_history_section_is_read)
{
	cr_expect_eq(config->history, CONFIG_HISTORY_AUTO);
	cr_expect_eq(config->history_bytes, 256 << 20);
	cr_expect_eq(config->history_age_ns, 14ULL * 86400 * NSEC_PER_SEC);
	expect_mistakes("[history]\nkeep = yes\nsize = 2G\nage = 30d\n", "");
	cr_expect_eq(config->history, CONFIG_HISTORY_YES);
	cr_expect_eq(config->history_bytes, 2ULL << 30);
	cr_expect_eq(config->history_age_ns, 30ULL * 86400 * NSEC_PER_SEC);
	expect_mistakes("[history]\nkeep = no\n", "");
	cr_expect_eq(config->history, CONFIG_HISTORY_NO);
	expect_mistakes(
		"[history]\nkeep = on\nsize = 100\nage = 5m\n",
		"x.conf:2: keep = on: expected auto, yes or no (whether a history is kept on disk)\n"
		"x.conf:3: size = 100: expected a size from 8M to 1T, a whole number with K, M, G or T (maximum size of the history on disk)\n"
		"x.conf:4: age = 5m: expected a time from 1h to 3650d, a whole number with ms, s, m, h or d (maximum age of the history)\n");
	expect_mistakes("[history]\nkeep =\n", "");
	cr_expect_eq(config->history, CONFIG_HISTORY_AUTO);
}

Test(config, the_model_section_is_read)
{
	expect_mistakes("[sampling]\norigin = model\n[model]\ncpu = icelake-server\nseed = 42\n"
			"workloads = mix  false-sharing\n",
			"");
	cr_expect_eq(config->origin, CONFIG_ORIGIN_MODEL);
	cr_expect_str_eq(config->cpu->name, "icelake-server");
	cr_expect_eq(config->seed, 42);
	cr_expect_eq(config->workloads, 1U << WORKLOAD_MIX | 1U << WORKLOAD_FALSE_SHARING);
	expect_mistakes("[model]\nworkloads = mix all\n", "");
	cr_expect_eq(config->workloads, ALL_WORKLOADS);
	expect_mistakes("[model]\nworkloads = scenario mix\n", "");
	cr_expect_eq(config->workloads, SCENARIO | 1U << WORKLOAD_MIX);
	expect_mistakes("[model]\nworkloads = database backup\n", "");
	cr_expect_eq(config->workloads, 1U << WORKLOAD_DATABASE | 1U << WORKLOAD_BACKUP);
	expect_mistakes("[model]\nworkloads =\ncpu =\nseed =\n", "");
	cr_expect_eq(config->workloads, SCENARIO);
	cr_expect_str_eq(config->cpu->name, "skylake");
	cr_expect_eq(config->seed, 1);
}

Test(config, unknown_machines_and_workloads_of_the_model_are_refused)
{
	const char *text;

	expect_mistakes(
		"[model]\nworkloads = streaming pointer-chaes\n",
		"x.conf:2: workloads = pointer-chaes: unknown value; did you mean pointer-chase? Expected one of scenario, all, streaming, pointer-chase, remote-numa, false-sharing, tlb-thrash, locked-counters, mix, database, backup, shop, batch, cache, monitor (workloads of the model, each in its own cgroup)\n");
	cr_expect_eq(config->workloads, SCENARIO, "a mistake changes nothing");
	expect_mistakes(
		"[model]\nworkloads = nothing\n",
		"x.conf:2: workloads = nothing: unknown value; expected one of scenario, all, streaming, pointer-chase, remote-numa, false-sharing, tlb-thrash, locked-counters, mix, database, backup, shop, batch, cache, monitor (workloads of the model, each in its own cgroup)\n");
	text = printed("[model]\ncpu = skylaek\n");
	cr_expect(
		strstr(text,
		       "x.conf:2: cpu = skylaek: unknown value; did you mean skylake? Expected one of nehalem, "),
		"%s", text);
	/* The message lists every CPU that can be configured, and no CPU that would be refused. */
	text = printed("[model]\ncpu = z80\n");
	for (size_t i = 0; i < machines_count; i++)
		cr_expect_eq(!strstr(text, machines[i].name), machine_refusal(&machines[i]) != NULL,
			     "%s in %s", machines[i].name, text);
}

Test(config, a_cpu_without_load_latency_is_refused_with_the_reason)
{
	size_t refused = 0;

	for (size_t i = 0; i < machines_count; i++) {
		const char *reason = machine_refusal(&machines[i]);
		char text[64];

		(void)snprintf(text, sizeof(text), "[model]\ncpu = %s\n", machines[i].name);
		if (!reason) {
			expect_mistakes(text, "");
			cr_expect_eq(config->cpu, &machines[i]);
		} else {
			refused++;
			cr_expect(strstr(printed(text), reason), "%s: %s", machines[i].name, printed(text));
			cr_expect(strstr(printed(text), "use one of nehalem, "));
		}
	}
	cr_expect_eq(refused, 3, "NetBurst, Core and Goldmont");
}

Test(config, values_out_of_range_are_refused)
{
	static const struct {
		const char *section;
		const char *good;
		const char *bad;
	} values[] = {
		{"sampling", "ldlat = 3", "ldlat = 2"},
		{"sampling", "ldlat = 65535", "ldlat = 65536"},
		{"sampling", "ldlat = 30", "ldlat = auto"},
		{"sampling", "period = 100", "period = 99"},
		{"sampling", "period = 2147483647", "period = 2147483648"},
		{"sampling", "interval = 100ms", "interval = 99ms"},
		{"sampling", "interval = 60", "interval = 61"},
		{"sampling", "interval = 1m", "interval = 1 s"},
		{"cgroups", "max = 16", "max = 15"},
		{"cgroups", "max = 65536", "max = 65537"},
		{"cgroups", "include = **", "include = /a b"},
		{"cgroups", "include = comm:*", "include = *.service"},
		{"cgroups", "include = model:*", "include = mode:*"},
		{"cgroups", "include = /", "include = /a/"},
		{"cgroups", "include = /a/**", "include = /a//b"},
		{"sampling", "origin = model", "origin = modell"},
		{"model", "cpu = skylake-server", "cpu = Skylake"},
		{"model", "cpu = sapphirerapids", "cpu = goldmont"},
		{"model", "cpu = nehalem", "cpu = core"},
		{"model", "cpu = icelake", "cpu = netburst"},
		{"model", "seed = 18446744073709551615", "seed = 18446744073709551616"},
		{"model", "seed = 0", "seed = -1"},
		{"model", "workloads = streaming mix", "workloads = streaming, mix"},
		{"model", "workloads = all", "workloads = none"},
		{"model", "workloads = scenario", "workloads = scene"},
		{"export", "listen = none", "listen = localhost:9754"},
		{"export", "listen = 0.0.0.0:1", "listen = 0.0.0.0:0"},
		{"export", "listen = 0.0.0.0:65535", "listen = 0.0.0.0:65536"},
		{"export", "listen = [::]:9754", "listen = :::9754"},
		{"export", "listen = [fe80::1]:9754", "listen = [fe80::1:9754"},
		{"export", "listen = 127.0.0.1:1", "listen = 127.0.0.1"},
		{"export", "listen = 127.0.0.1:1", "listen = :9754"},
		{"export", "listen = 127.0.0.1:1", "listen = []:9754"},
		{"export", "listen = 127.0.0.1:1", "listen = [127.0.0.1]:1"},
		{"export", "top = 10000", "top = 10001"},
		{"export", "top = 0", "top = -1"},
		{"export", "top = auto", "top = automatic"},
		{"export", "detail-metrics = yes", "detail-metrics = true"},
		{"export", "profiles = yes", "profiles = 1"},
		{"control", "group = systemd-journal", "group = 1000"},
		{"control", "group = _x", "group = a b"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		char text[128];

		(void)snprintf(text, sizeof(text), "[%s]\n%s\n", values[i].section, values[i].good);
		cr_expect_str_eq(printed(text), "", "%s", text);
		(void)snprintf(text, sizeof(text), "[%s]\n%s\n", values[i].section, values[i].bad);
		printed(text);
		cr_expect_eq(mistakes.n, 1, "%s", text);
		cr_expect_eq(mistakes.n ? mistakes.list[0].line : 0, 2);
	}
	expect_mistakes(
		"[sampling]\nperiod = 5\ninterval = 5h\n",
		"x.conf:2: period = 5: expected auto or a whole number from 100 to 2147483647 (loads or stores from one sample to the next)\n"
		"x.conf:3: interval = 5h: expected a time from 100ms to 1m, a whole number with ms, s, m, h or d (time from one collection to the next)\n");
}

Test(config, malformed_lines_are_refused)
{
	expect_mistakes(
		"ldlat = 30\n[sampling\nldlat = 2\n[export] # x\nlisten\n= 5\ntop: 5\n/a\n  /b\n",
		"x.conf:1: the key is not in a section; add a header [NAME] above it, where NAME is one of sampling, model, cgroups, containers, history, export, control, symbols, rule NAME\n"
		"x.conf:2: the section header is not closed; write [NAME]\n"
		"x.conf:3: ldlat = 2: expected a whole number from 3 to 65535 (cycles a load must take to be sampled)\n"
		"x.conf:4: there is text after the section header; put it on a line of its own\n"
		"x.conf:5: the line is neither a [section], nor key = value, nor a # comment; correct or remove it\n"
		"x.conf:6: the line is neither a [section], nor key = value, nor a # comment; correct or remove it\n"
		"x.conf:7: there is a colon after the key; write key = value\n"
		"x.conf:8: the line is neither a [section], nor key = value, nor a # comment; correct or remove it\n"
		"x.conf:9: the line is neither a [section], nor key = value, nor a # comment; a value cannot continue on the next line\n");
}

Test(config, comments_must_be_on_separate_lines)
{
	expect_mistakes("[export]\ntop = 5 ; five\ndetail-metrics = no\t# none\n",
			"x.conf:2: a comment cannot follow a value; put it on a line of its own\n"
			"x.conf:3: a comment cannot follow a value; put it on a line of its own\n");
	cr_expect_eq(config->top, CONFIG_TOP_AUTO);
	expect_mistakes("[cgroups]\ninclude = /a#b;c\n", "");
	cr_expect_str_eq(config->include.list[0], "/a#b;c");
}

Test(config, repeated_keys_and_empty_sections_are_mistakes)
{
	expect_mistakes("[export]\ntop = 5\n[control]\n# nothing\n[export]\ntop = 6\n[cgroups]\n",
			"x.conf:3: the section [control] is empty; add a key or remove the section\n"
			"x.conf:6: top is already set in line 2; keep one of the two\n"
			"x.conf:7: the section [cgroups] is empty; add a key or remove the section\n");
	expect_mistakes("", "");
	expect_mistakes("# all is as it was\n", "");
}

Test(config, memory_is_a_size_with_a_unit)
{
	expect_mistakes("[cgroups]\nmax-memory = 96M\n", "");
	cr_expect_eq(config->cgroups_max_memory, 96ULL << 20);
	expect_mistakes("[cgroups]\nmax-memory = 1048576\n", "");
	cr_expect_eq(config->cgroups_max_memory, 1ULL << 20);
	expect_mistakes("[cgroups]\nmax-memory = auto\n", "");
	cr_expect_eq(config->cgroups_max_memory, CONFIG_MAX_MEMORY_AUTO);
	expect_mistakes(
		"[cgroups]\nmax-memory = 96MB\n",
		"x.conf:2: max-memory = 96MB: expected auto or a size from 1M to 1T, a whole number with K, M, G or T (maximum memory of all BPF maps together; limits the slots if max is auto)\n");
	expect_mistakes(
		"[cgroups]\nmax-memory = 1023K\n",
		"x.conf:2: max-memory = 1023K: expected auto or a size from 1M to 1T, a whole number with K, M, G or T (maximum memory of all BPF maps together; limits the slots if max is auto)\n");
}

Test(config, a_continued_line_never_becomes_a_value)
{
	expect_mistakes(
		"[cgroups]\ninclude = /a\n    exclude = /b\n\t/c=d\n",
		"x.conf:4: unknown key /c in [cgroups]; valid keys: max, max-memory, include, exclude, hot, hot-max\n");
	cr_assert_eq(config->include.n, 1);
	cr_expect_str_eq(config->include.list[0], "/a");
	cr_assert_eq(config->exclude.n, 1);
}

/* Parses "[cgroups]", a line "include = /aaa..." of `length` bytes, and the key that follows it. */
static void parse_length(size_t length)
{
	char text[512];
	int used = snprintf(text, sizeof(text), "[cgroups]\ninclude = /");

	memset(text + used, 'a', length - strlen("include = /"));
	(void)snprintf(text + (size_t)used + length - strlen("include = /"), 64, "   \r\nmax = 16\n");
	config_mistakes_clear(&mistakes);
	parse(text);
}

Test(config, the_longest_line_is_read_and_a_longer_one_refused)
{
	parse_length(198);
	cr_expect_eq(mistakes.n, 0);
	cr_expect_eq(strlen(config->include.list[0]), 198 - strlen("include = "));

	parse_length(199);
	cr_assert_eq(mistakes.n, 1);
	cr_expect_eq(mistakes.list[0].line, 2);
	cr_expect_str_eq(
		mistakes.list[0].message,
		"the line has 199 bytes, more than the maximum of 198; shorten it, for example its patterns with * or **");
	cr_expect_eq(strlen(config->include.list[0]), 198 - strlen("include = "), "nothing is cut");
	cr_expect_eq(config->cgroups_max, 16, "the next line is read as one");
}

Test(config, a_comment_may_be_of_any_length)
{
	char text[1024];

	memset(text, '#', sizeof(text));
	(void)snprintf(text + 900, 100, "\n[export]\ntop = 7\n");
	expect_mistakes(text, "");
	cr_expect_eq(config->top, 7);
}

Test(config, bytes_that_are_not_text_are_refused)
{
	static const char nul[] = "[export]\ntop = 7\nlisten = \0none\ntop = -1\n";

	cr_assert_eq(config_file_parse("x.conf", nul, sizeof(nul) - 1, config, &mistakes), 0);
	cr_assert_eq(mistakes.n, 1);
	cr_expect_eq(mistakes.list[0].line, 3);
	cr_expect(strstr(mistakes.list[0].message, "NUL"));

	expect_mistakes("[export]\ntop = \x1b[31m5\n",
			"x.conf:2: byte 7 is a control character (0x1b); remove it\n");
	expect_mistakes("[export]\n\t top = \x1b[31m5\n",
			"x.conf:2: byte 9 is a control character (0x1b); remove it\n");
	expect_mistakes("[export]\ntop = \xc2\x9b"
			"5\n",
			"x.conf:2: byte 7 is a control character (0x9b); remove it\n");
	expect_mistakes("[cgroups]\ninclude = /\xe9\n",
			"x.conf:2: byte 12 is not UTF-8; save the file as UTF-8\n");
	expect_mistakes("[cgroups]\ninclude = /\xed\xa0\x80\n",
			"x.conf:2: byte 12 is not UTF-8; save the file as UTF-8\n");
	expect_mistakes("\xef\xbb\xbf[cgroups]\ninclude = /\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n", "");
}

Test(config, include_and_exclude_decide_which_cgroups_are_exported)
{
	parse("[cgroups]\ninclude = /system.slice/* /user.slice/**\nexclude = **.mount\n");
	cr_expect(config_exports(config, "/system.slice/nginx.service"));
	cr_expect_not(config_exports(config, "/system.slice/nginx.service/worker"));
	cr_expect_not(config_exports(config, "/system.slice/tmp.mount"));
	cr_expect(config_exports(config, "/user.slice/a/b"));
	cr_expect_not(config_exports(config, "/init.scope"));
	cr_expect_not(config_exports(config, "comm:kstaled"));
	parse("[cgroups]\ninclude = \n");
	cr_expect_not(config_exports(config, "/user.slice/a/b"));
}

Test(config, names_of_a_recording_are_exported_by_default)
{
	cr_expect(config_exports(config, "/"));
	cr_expect(config_exports(config, "comm:kstaled"));
	cr_expect(config_exports(config, "comm:kworker/0:1"));
	cr_expect(config_exports(config, "cgroup:17"));
	parse("[cgroups]\nexclude = comm:k*\n");
	cr_expect_not(config_exports(config, "comm:kstaled"));
	cr_expect(config_exports(config, "comm:bash"));
}

Test(config, a_reload_lists_the_keys_that_need_a_restart)
{
	_cleanup_(config_freep) struct config *running = NULL;
	struct config *loaded = config; /* parse() writes into `config` */
	const char *names[CONFIG_KEYS_MAX];

	cr_assert_eq(config_new(&running), 0);
	cr_expect_eq(config_restart_keys(running, loaded, names), 0);
	cr_expect_eq(config_reload_keys(running, loaded, names), 0);

	parse("[sampling]\norigin = perf\nldlat = 64\nperiod = 2003\ninterval = 2s\n"
	      "[model]\ncpu = nehalem\nseed = 2\nworkloads = mix\n"
	      "[cgroups]\nmax = 99\nmax-memory = 96M\ninclude = /a\nexclude = /b\nhot = /c\nhot-max = 3\n"
	      "[export]\nlisten = none\ntop = 7\ndetail-metrics = yes\n[control]\ngroup = adm\n"
	      "detail = ops\n");
	cr_assert_eq(config_restart_keys(running, loaded, names), 10);
	cr_expect_str_eq(names[0], "origin");
	cr_expect_str_eq(names[1], "ldlat");
	cr_expect_str_eq(names[2], "cpu");
	cr_expect_str_eq(names[3], "seed");
	cr_expect_str_eq(names[4], "workloads");
	cr_expect_str_eq(names[5], "max");
	cr_expect_str_eq(names[6], "max-memory");
	cr_expect_str_eq(names[7], "hot-max");
	cr_expect_str_eq(names[8], "listen");
	cr_expect_str_eq(names[9], "group");
	cr_assert_eq(config_reload_keys(running, loaded, names), 8);
	cr_expect_str_eq(names[0], "period");
	cr_expect_str_eq(names[1], "interval");
	cr_expect_str_eq(names[2], "include");
	cr_expect_str_eq(names[3], "exclude");
	cr_expect_str_eq(names[4], "hot");
	cr_expect_str_eq(names[5], "top");
	cr_expect_str_eq(names[6], "detail-metrics");
	cr_expect_str_eq(names[7], "detail");

	config_reload(running, loaded);
	cr_expect_eq(running->interval_ns, 2 * NSEC_PER_SEC);
	cr_expect_str_eq(running->include.list[0], "/a");
	cr_expect(config_hot(running, "/c"));
	cr_expect_eq(running->hot_max, 8);
	cr_expect_eq(running->top, 7);
	cr_expect(running->detail_metrics);
	cr_expect_str_eq(running->detail, "ops");
	cr_expect_eq(running->ldlat, 31);
	cr_expect_str_eq(running->cpu->name, "skylake");
	cr_expect_str_eq(running->group, "pebsd");
	cr_expect_not(running->listen.none);
}

/* These tests read files below a temporary root directory. */
static char root[] = "/tmp/pebsd-test-config-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void make_root(void)
{
	begin();
	cr_assert(mkdtemp(root));
}

static void remove_root(void)
{
	end();
	(void)nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *below_root(const char *name)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s%s", root, name);
	return path;
}

static void make_directories(void)
{
	static const char *const names[] = {"/etc", "/etc/pebsd", "/etc/pebsd/pebsd.conf.d"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		cr_assert_eq(mkdir(below_root(names[i]), 0755), 0);
}

static void write_file(const char *name, const char *text)
{
	_cleanup_fclose_ FILE *file = fopen(below_root(name), "we");

	cr_assert(file);
	(void)fputs(text, file);
}

TestSuite(config_load, .init = make_root, .fini = remove_root);

Test(config_load, without_files_the_defaults_apply)
{
	_cleanup_(config_freep) struct config *loaded = NULL;

	cr_assert_eq(config_load(NULL, root, &loaded, &mistakes), 0);
	cr_expect(all_equal(loaded, config));
	cr_expect_null(loaded->files);
}

Test(config_load, a_time_is_converted_at_the_frequency_below_the_root)
{
	_cleanup_(config_freep) struct config *loaded = NULL;
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *out;

	make_directories();
	cr_assert_eq(mkdir(below_root("/sys"), 0755), 0);
	cr_assert_eq(mkdir(below_root("/sys/devices"), 0755), 0);
	cr_assert_eq(mkdir(below_root("/sys/devices/system"), 0755), 0);
	cr_assert_eq(mkdir(below_root("/sys/devices/system/cpu"), 0755), 0);
	cr_assert_eq(mkdir(below_root("/sys/devices/system/cpu/cpu0"), 0755), 0);
	cr_assert_eq(mkdir(below_root("/sys/devices/system/cpu/cpu0/cpufreq"), 0755), 0);
	write_file("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2600000\n");
	write_file("/etc/pebsd/pebsd.conf",
		   "[rule slow]\ncgroup = /db\nmetric = p99\nabove = 100ns\nclear = 80ns\n"
		   "[rule far]\ncgroup = /db\nmetric = p99\nabove = 900\n");
	cr_assert_eq(config_load(NULL, root, &loaded, &mistakes), 0);
	cr_expect_float_eq(loaded->nominal_hz, 2.6e9, 0);
	cr_expect_float_eq(loaded->rules[0].threshold, 260, 0);
	cr_expect_float_eq(loaded->rules[0].clear, 208, 0);
	out = open_memstream(&text, &length);
	cr_assert(out);
	cr_assert_eq(config_check_print(loaded, &mistakes, false, out), 0);
	(void)fclose(out);
	cr_expect_not_null(strstr(
		text,
		"\n[rule slow]: above 100 ns (260 cycles at 2.6 GHz, the nominal frequency), clear at 80 ns (208 cycles at 2.6 GHz, the nominal frequency)\n"));
	cr_expect_null(strstr(text, "[rule far]"));
}

static void expect_files(const struct config *loaded, const char *const *expected)
{
	size_t n = 0;

	for (; expected[n]; n++) {
		cr_assert(loaded->files && loaded->files[n], "there is no %s", expected[n]);
		cr_expect_str_eq(loaded->files[n], below_root(expected[n]));
	}
	cr_expect_null(loaded->files[n]);
}

Test(config_load, drop_ins_are_read_in_the_order_of_their_names)
{
	_cleanup_(config_freep) struct config *loaded = NULL;

	make_directories();
	write_file("/etc/pebsd/pebsd.conf",
		   "[export]\ntop = 1\n[sampling]\nldlat = 40\n[cgroups]\nexclude = /a\n");
	write_file("/etc/pebsd/pebsd.conf.d/20-b.conf", "[export]\ntop = 3\n");
	write_file("/etc/pebsd/pebsd.conf.d/10-a.conf", "[export]\ntop = 2\n[cgroups]\nexclude =\n");
	write_file("/etc/pebsd/pebsd.conf.d/30-c.conf~", "[export]\ntop = 4\n");
	write_file("/etc/pebsd/pebsd.conf.d/.40-d.conf", "[export]\ntop = 5\n");
	cr_assert_eq(config_load(NULL, root, &loaded, &mistakes), 0);
	cr_expect_eq(loaded->top, 3);
	cr_expect_eq(loaded->ldlat, 40);
	cr_expect_eq(loaded->exclude.n, 0);
	expect_files(loaded,
		     (const char *const[]){"/etc/pebsd/pebsd.conf", "/etc/pebsd/pebsd.conf.d/10-a.conf",
					   "/etc/pebsd/pebsd.conf.d/20-b.conf", NULL});
}

/* After a reload, the configuration lists the files that the reload read. */
Test(config_load, a_reload_reads_changed_files)
{
	_cleanup_(config_freep) struct config *running = NULL, *loaded = NULL;

	make_directories();
	write_file("/etc/pebsd/pebsd.conf", "");
	cr_assert_eq(config_load(NULL, root, &running, &mistakes), 0);
	write_file("/etc/pebsd/pebsd.conf.d/a.conf", "");
	cr_assert_eq(config_load(NULL, root, &loaded, &mistakes), 0);
	config_reload(running, loaded);
	expect_files(running,
		     (const char *const[]){"/etc/pebsd/pebsd.conf", "/etc/pebsd/pebsd.conf.d/a.conf", NULL});
	expect_files(loaded, (const char *const[]){"/etc/pebsd/pebsd.conf", NULL});
}

Test(config_load, mistakes_of_all_files_are_collected)
{
	_cleanup_(config_freep) struct config *loaded = NULL;

	make_directories();
	write_file("/etc/pebsd/pebsd.conf", "[export]\ntop = x\nlisten = y\n");
	write_file("/etc/pebsd/pebsd.conf.d/a.conf", "[sampling]\nldlat = 1\n");
	cr_assert_eq(mkdir(below_root("/etc/pebsd/pebsd.conf.d/b.conf"), 0755), 0);
	cr_assert_eq(symlink("/nonexistent", below_root("/etc/pebsd/pebsd.conf.d/c.conf")), 0);
	cr_assert_eq(config_load(NULL, root, &loaded, &mistakes), -EINVAL);
	cr_expect_null(loaded);
	cr_assert_eq(mistakes.n, 5);
	cr_expect_str_eq(mistakes.list[1].file, below_root("/etc/pebsd/pebsd.conf"));
	cr_expect_eq(mistakes.list[1].line, 3);
	cr_expect_str_eq(mistakes.list[2].file, below_root("/etc/pebsd/pebsd.conf.d/a.conf"));
	cr_expect_eq(mistakes.list[2].line, 2);
	cr_expect_str_eq(mistakes.list[3].message, "cannot be read: Is a directory; use a regular file");
	cr_expect_str_eq(
		mistakes.list[4].message,
		"cannot be read: No such file or directory; create it, or correct the name or link that leads to it");
}

Test(config_load, a_file_named_on_the_command_line_replaces_all_others)
{
	_cleanup_(config_freep) struct config *loaded = NULL;
	char named[256];

	make_directories();
	write_file("/etc/pebsd/pebsd.conf", "[export]\ntop = 1\n");
	write_file("/named", "[sampling]\nldlat = 40\n");
	(void)snprintf(named, sizeof(named), "%s", below_root("/named"));
	cr_assert_eq(config_load(named, root, &loaded, &mistakes), 0);
	cr_expect_eq(loaded->top, CONFIG_TOP_AUTO);
	cr_expect_eq(loaded->ldlat, 40);
	loaded = config_free(loaded);

	cr_assert_eq(unlink(named), 0);
	cr_assert_eq(config_load(named, root, &loaded, &mistakes), -EINVAL);
	cr_assert_eq(mistakes.n, 1);
	cr_expect_str_eq(mistakes.list[0].file, named);
	cr_expect_eq(mistakes.list[0].line, 0);
}

Test(config_load, an_endless_file_is_refused)
{
	_cleanup_(config_freep) struct config *loaded = NULL;

	cr_assert_eq(config_load("/dev/zero", NULL, &loaded, &mistakes), -EINVAL);
	cr_assert_eq(mistakes.n, 1);
	cr_expect(strstr(mistakes.list[0].message, "larger than"));
}

/* A reload would find a pipe empty, because it was read before, or would wait forever for a writer. */
Test(config_load, a_pipe_is_refused_without_waiting)
{
	_cleanup_(config_freep) struct config *loaded = NULL;

	make_directories();
	cr_assert_eq(mkfifo(below_root("/etc/pebsd/pebsd.conf.d/a.conf"), 0600), 0);
	cr_assert_eq(config_load(NULL, root, &loaded, &mistakes), -EINVAL);
	cr_assert_eq(mistakes.n, 1);
	cr_expect_str_eq(mistakes.list[0].file, below_root("/etc/pebsd/pebsd.conf.d/a.conf"));
	cr_expect_str_eq(
		mistakes.list[0].message,
		"cannot be read: it is a pipe or a socket, which cannot be read again; use a regular file");
}

/* The status lists the names of all drop-ins, and has no room for an unlimited number of them. */
Test(config_load, too_many_drop_ins_are_refused)
{
	_cleanup_(config_freep) struct config *loaded = NULL;
	char name[64];

	make_directories();
	for (int i = 0; i < 501; i++) {
		(void)snprintf(name, sizeof(name), "/etc/pebsd/pebsd.conf.d/%03d.conf", i);
		write_file(name, "[export]\ntop = 3\n");
	}
	cr_assert_eq(config_load(NULL, root, &loaded, &mistakes), -EINVAL);
	cr_assert_eq(mistakes.n, 1);
	cr_expect_str_eq(mistakes.list[0].file, below_root("/etc/pebsd/pebsd.conf.d"));
	cr_expect_str_eq(mistakes.list[0].message,
			 "has 501 *.conf files, more than the maximum of 500; merge some of them");
	cr_assert_eq(unlink(below_root("/etc/pebsd/pebsd.conf.d/000.conf")), 0);
	config_mistakes_clear(&mistakes);
	cr_assert_eq(config_load(NULL, root, &loaded, &mistakes), 0);
}

/* A reload logs each listed mistake. An unlimited number of mistakes would keep the daemon from its work. */
Test(config_load, mistakes_beyond_the_first_hundred_are_not_listed)
{
	_cleanup_(config_freep) struct config *loaded = NULL;
	char text[2 * (CONFIG_MISTAKES_MAX + 2) + 1] = "";

	make_directories();
	for (size_t i = 0; i < CONFIG_MISTAKES_MAX; i++)
		(void)strcat(text, "x\n");
	write_file("/etc/pebsd/pebsd.conf", text);
	cr_assert_eq(config_load(NULL, root, &loaded, &mistakes), -EINVAL);
	cr_assert_eq(mistakes.n, CONFIG_MISTAKES_MAX);
	cr_expect(strstr(mistakes.list[CONFIG_MISTAKES_MAX - 1].message, "neither a [section]"));
	config_mistakes_clear(&mistakes);

	(void)strcat(text, "x\nx\n");
	write_file("/etc/pebsd/pebsd.conf", text);
	write_file("/etc/pebsd/pebsd.conf.d/a.conf", text);
	cr_assert_eq(config_load(NULL, root, &loaded, &mistakes), -EINVAL);
	cr_assert_eq(mistakes.n, CONFIG_MISTAKES_MAX + 1);
	cr_expect_str_eq(mistakes.list[CONFIG_MISTAKES_MAX].file, below_root("/etc/pebsd/pebsd.conf"));
	cr_expect_eq(mistakes.list[CONFIG_MISTAKES_MAX].line, CONFIG_MISTAKES_MAX + 1);
	cr_expect_str_eq(mistakes.list[CONFIG_MISTAKES_MAX].message,
			 "more mistakes follow, the first of them here; correct those above first");
}

/* The unit tests run in the top directory of the source tree. */
Test(config_load, the_installed_file_has_every_key_with_its_default)
{
	_cleanup_(config_freep) struct config *loaded = NULL;
	_cleanup_fclose_ FILE *file = fopen("config/pebsd.conf", "re");
	bool named[CONFIG_KEYS_MAX] = {false};
	const struct config_key *keys;
	char line[256];
	size_t n;

	cr_assert_eq(config_load("config/pebsd.conf", NULL, &loaded, &mistakes), 0, "%s",
		     mistakes.n ? mistakes.list[0].message : "");
	cr_expect(all_equal(loaded, config));

	cr_assert(file);
	keys = config_keys(&n);
	while (fgets(line, sizeof(line), file))
		for (size_t i = 0; i < n; i++) {
			size_t length = strlen(keys[i].name);

			if (strncmp(line, keys[i].name, length) == 0 && strncmp(line + length, " =", 2) == 0)
				named[i] = true;
		}
	for (size_t i = 0; i < n; i++)
		cr_expect(named[i], "%s", keys[i].name);
}

Test(config_load, the_manual_has_every_key_with_its_default)
{
	_cleanup_fclose_ FILE *file = fopen("daemon/man/pebsd.conf.5", "re");
	const struct config_key *keys;
	static char text[65536];
	size_t n;

	cr_assert(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	keys = config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		char item[128];

		(void)snprintf(item, sizeof(item), ".It Ic %s%s%s\n", keys[i].name,
			       *keys[i].default_text ? " = " : " =", keys[i].default_text);
		cr_expect(strstr(text, item), "%s", item);
	}
}

Test(config, a_mistake_is_formatted_with_file_and_line)
{
	static const struct {
		struct config_mistake mistake;
		const char *text;
	} cases[] = {
		{{.file = (char *)"a.conf", .line = 3, .message = (char *)"no"}, "a.conf:3: no"},
		{{.file = (char *)"a.conf", .message = (char *)"cannot be read"}, "a.conf: cannot be read"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = config_mistake_text(&cases[i].mistake);

		cr_expect_str_eq(text, cases[i].text);
	}
}

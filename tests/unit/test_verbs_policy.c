// SPDX-License-Identifier: GPL-2.0
/*
 * The requests, output and exit codes of pebsctl's policy verbs, against a child process that plays a daemon.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json_get.h"
#include "child_server.h"
#include "ctl/verbs.h"
#include "formatted.h"

#define OUTPUT_MAX 65536

struct answer {
	const char *method;
	const char *reply;
};

static const char *wanted = ""; /* text that a call must contain to get the test's answer */

#define RULES                                                                                        \
	"{\"parameters\":{\"version\":1,\"origin\":\"perf\",\"rules\":[{\"rule\":\"slow-database\"," \
	"\"metric\":\"p99\",\"cgroup\":[\"/"                                                         \
	"db*\"]},{\"rule\":\"remote\",\"cgroups\":{\"unknown\":{\"lost\":2}}}]}}"
#define NO_RULES  "{\"parameters\":{\"version\":1,\"origin\":\"perf\",\"rules\":[]}}"
#define NO_CGROUP "{\"error\":\"io.pebsd.NoSuchCgroup\",\"parameters\":{\"cgroup\":\"/x\"}}"
#define NO_RULE   "{\"error\":\"io.pebsd.NoSuchRule\",\"parameters\":{\"rule\":\"x\"}}"
#define NO_METHOD "{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":{\"method\":\"m\"}}"
#define FOUND     "{\"parameters\":{\"cgroup\":\"/x\",\"events\":{}}}"

/*
 * Returns "{}" for a call without an answer. A call for a further page gets the second answer of its method, so
 * the list of answers has the two pages in order.
 */
static const char *answer_to(const struct answer *answers, const char *call)
{
	_cleanup_json_ json_object *object = json_tokener_parse(call);
	const char *method = json_get_text(object, "method");

	for (bool further = strstr(call, "\"offset\""); answers->method && method; answers++) {
		if (strcmp(method, answers->method) != 0 || !strstr(call, wanted))
			continue;
		if (!further)
			return answers->reply;
		further = false;
	}
	return "{}";
}

static void play(int fd, const void *part)
{
	char call[4096];
	size_t length = 0;

	for (;;) {
		ssize_t n = recv(fd, call + length, sizeof(call) - length, 0);
		const char *reply;

		if (n <= 0)
			return;
		length += (size_t)n;
		if (call[length - 1] != '\0')
			continue;
		length = 0;
		reply = answer_to(part, call);
		if (send(fd, reply, strlen(reply) + 1, MSG_NOSIGNAL) < 0)
			return;
	}
}

TestSuite(verbs_policy, .fini = child_server_stop);

/* Runs a verb. `ret` gets its standard output and standard error. */
static enum ctl_exit run(verb_function verb, bool json, const char *first, const char *second,
			 char ret[OUTPUT_MAX])
{
	const struct ctl_options options = {.socket = child_server.path, .json = json};
	char *const arguments[] = {(char *)first, (char *)second, NULL};
	int output = dup(STDOUT_FILENO), error = dup(STDERR_FILENO);
	int file = open(child_server.directory, O_TMPFILE | O_RDWR, 0600);
	enum ctl_exit result;
	ssize_t n;

	cr_assert_geq(file, 0);
	(void)dup2(file, STDOUT_FILENO);
	(void)dup2(file, STDERR_FILENO);
	result = verb(&options, arguments);
	(void)dup2(output, STDOUT_FILENO);
	(void)dup2(error, STDERR_FILENO);
	n = pread(file, ret, OUTPUT_MAX - 1, 0);
	cr_assert_geq(n, 0);
	ret[n] = '\0';
	(void)close(file);
	(void)close(output);
	(void)close(error);
	return result;
}

Test(verbs_policy, json_is_the_reply_unchanged)
{
	static const struct {
		verb_function verb;
		const char *first, *second, *method, *parameters;
	} rows[] = {
		{verb_rules, NULL, NULL, "io.pebsd.GetRules",
		 "{\"version\":1,\"rules\":[],\"later\":{\"x\":1.50}}"},
		{verb_alerts, NULL, NULL, "io.pebsd.GetAlerts",
		 "{\"alerts\":[{\"alert\":18446744073709551615}]}"},
		{verb_explain, "r", "/x", "io.pebsd.Explain", "{\"rule\":{\"rule\":\"r\"},\"judged\":[]}"},
		{verb_neighbours, "/x", NULL, "io.pebsd.GetNeighbours", "{\"verdict\":\"thin/\"}"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *reply = NULL, *line = NULL;
		char text[OUTPUT_MAX];

		cr_assert_geq(asprintf(&reply, "{\"parameters\":%s}", rows[i].parameters), 0);
		cr_assert_geq(asprintf(&line, "%s\n", rows[i].parameters), 0);
		child_server_start(play, (const struct answer[]){{rows[i].method, reply}, {0}});
		cr_expect_eq(run(rows[i].verb, true, rows[i].first, rows[i].second, text), CTL_DONE, "%s",
			     rows[i].method);
		cr_expect_str_eq(text, line);
		child_server_stop();
	}
}

/* The text of the alerts also lists the cgroups that the rules cannot judge. */
Test(verbs_policy, text_of_alerts_requests_the_rules_too)
{
	static const struct answer answers[] = {
		{"io.pebsd.GetRules", RULES},
		{"io.pebsd.GetAlerts", "{\"parameters\":{\"origin\":\"perf\",\"alerts\":[{\"rule\":"
				       "\"slow-database\",\"state\":\"firing\",\"metric\":\"p99\",\"unit\":"
				       "\"cycles\",\"above\":896}]}}"},
		{0},
	};
	char text[OUTPUT_MAX];

	child_server_start(play, answers);
	cr_expect_eq(run(verb_alerts, false, NULL, NULL, text), CTL_DONE);
	formatted_expect(text, "p99 above 896 cycles");
	formatted_expect(text, "2 cgroups (counted once for each rule) cannot be judged now");
}

/* More rules than fit into one reply. The name and the patterns are on the second page. */
#define TAKEN  "\"taken\":\"2026-11-21T06:00:00Z\"}}"
#define PAGE_1 "{\"parameters\":{\"rules\":[{\"rule\":\"a\"},{\"rule\":\"b\"}],\"next\":2," TAKEN
#define PAGE_2 "{\"parameters\":{\"rules\":[{\"rule\":\"slow-database\",\"cgroup\":[\"/db*\"]}]," TAKEN

/* With --json, too. Output that ends with the end of a line is compared in full, other output is a part. */
Test(verbs_policy, errors_say_what_to_do)
{
	static const struct {
		const char *output;
		verb_function verb;
		const char *first;
		enum ctl_exit exit;
		struct answer answers[5];
	} cases[] = {
		{"pebsctl: there is no rule 'slow-databse'; did you mean slow-database? `pebsctl rules` lists all rules\n",
		 verb_explain,
		 "slow-databse",
		 CTL_NO_SUCH,
		 {{"io.pebsd.GetRules", RULES}, {"io.pebsd.Explain", NO_RULE}}},
		{"did you mean slow-database?",
		 verb_explain,
		 "slow-databse",
		 CTL_NO_SUCH,
		 {{"io.pebsd.GetRules", PAGE_1},
		  {"io.pebsd.GetRules", PAGE_2},
		  {"io.pebsd.Explain", NO_RULE}}},
		{"pebsctl: there is no rule 'zzz\\x1b[2Jzzz'; `pebsctl rules` lists all rules\n",
		 verb_explain,
		 "zzz\033[2Jzzz",
		 CTL_NO_SUCH,
		 {{"io.pebsd.GetRules", RULES}, {"io.pebsd.Explain", NO_RULE}}},
		{"pebsctl: there is no rule 'slow': no rules are configured; `pebsctl rules` says how to add one\n",
		 verb_explain,
		 "slow",
		 CTL_NO_SUCH,
		 {{"io.pebsd.GetRules", NO_RULES}, {"io.pebsd.Explain", NO_RULE}}},
		{"pebsctl: rule slow-database does not match cgroup '/x': its `cgroup` is /db*; `pebsctl rules` prints the patterns of all rules\n",
		 verb_explain,
		 "slow-database",
		 CTL_NO_SUCH,
		 {{"io.pebsd.GetRules", RULES},
		  {"io.pebsd.GetCgroup", FOUND},
		  {"io.pebsd.Explain", NO_CGROUP}}},
		{"its `cgroup` is /db*;",
		 verb_explain,
		 "slow-database",
		 CTL_NO_SUCH,
		 {{"io.pebsd.GetRules", PAGE_1},
		  {"io.pebsd.GetRules", PAGE_2},
		  {"io.pebsd.GetCgroup", FOUND},
		  {"io.pebsd.Explain", NO_CGROUP}}},
		{"pebsctl: no cgroup '/x' is known, or it has no sample; `pebsctl top --window all` lists all sampled cgroups\n",
		 verb_explain,
		 "slow-database",
		 CTL_NO_SUCH,
		 {{"io.pebsd.GetRules", RULES},
		  {"io.pebsd.GetCgroup", NO_CGROUP},
		  {"io.pebsd.Explain", NO_CGROUP}}},
		{"pebsctl: no cgroup '/x' is known, or it has no sample; ",
		 verb_neighbours,
		 "/x",
		 CTL_NO_SUCH,
		 {{"io.pebsd.GetNeighbours", NO_CGROUP}}},
		{"pebsctl: the reply is too large: the daemon sends at most 1 MiB at once; ask for less, for example with --limit\n",
		 verb_neighbours,
		 "/x",
		 CTL_FAILED,
		 {{"io.pebsd.GetNeighbours", "{\"error\":\"io.pebsd.ReplyTooLarge\",\"parameters\":{}}"}}},
		{"its version differs from pebsctl's",
		 verb_rules,
		 NULL,
		 CTL_FAILED,
		 {{"io.pebsd.GetRules", NO_METHOD}}},
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		const char *expected = cases[i / 2].output;
		char text[OUTPUT_MAX];

		child_server_start(play, cases[i / 2].answers);
		cr_expect_eq(run(cases[i / 2].verb, i % 2, cases[i / 2].first, "/x", text), cases[i / 2].exit,
			     "%s", expected);
		if (expected[strlen(expected) - 1] == '\n')
			cr_expect_str_eq(text, expected);
		else
			formatted_expect(text, expected);
		child_server_stop();
	}
}

/*
 * The path of a cgroup need not be UTF-8. pebsctl sends its bytes in the printable form that JSON can hold.
 */
Test(verbs_policy, names_are_sent_in_their_own_bytes)
{
	static const struct answer answers[] = {
		{"io.pebsd.GetNeighbours", "{\"parameters\":{\"cgroup\":\"/x\",\"verdict\":\"steady\"}}"},
		{0}};
	char text[OUTPUT_MAX];

	wanted = "/caf\xef\xbf\xbd"
		 "e9\"";
	child_server_start(play, answers);
	cr_expect_eq(run(verb_neighbours, false, "/caf\xe9", NULL, text), CTL_DONE);
	formatted_expect(text, "the latency hardly changed");
}

Test(verbs_policy, without_a_daemon_there_is_an_error)
{
	char text[OUTPUT_MAX];

	child_server_prepare();
	cr_expect_eq(run(verb_rules, false, NULL, NULL, text), CTL_NO_DAEMON);
	cr_expect_eq(run(verb_alerts, false, NULL, NULL, text), CTL_NO_DAEMON);
	cr_expect_eq(run(verb_explain, false, "r", "/x", text), CTL_NO_DAEMON);
	cr_expect_eq(run(verb_neighbours, false, "/x", NULL, text), CTL_NO_DAEMON);
}

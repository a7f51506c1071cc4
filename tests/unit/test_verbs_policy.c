// SPDX-License-Identifier: GPL-2.0
/*
 * The requests, output and exit codes of pebsctl's policy verbs, against a child process that plays a daemon.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json_get.h"
#include "ctl/verbs.h"
#include "formatted.h"

#define OUTPUT_MAX 65536
#define TEMPLATE   "/tmp/pebsd-verbs-XXXXXX"

struct answer {
	const char *method;
	const char *reply;
};

static char directory[] = TEMPLATE;
static char path[64];
static pid_t child;
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

static _Noreturn void play(int listening, const struct answer *answers)
{
	int fd = accept(listening, NULL, NULL);
	char call[4096];
	size_t length = 0;

	for (;;) {
		ssize_t n = recv(fd, call + length, sizeof(call) - length, 0);
		const char *reply;

		if (n <= 0)
			_exit(0);
		length += (size_t)n;
		if (call[length - 1] != '\0')
			continue;
		length = 0;
		reply = answer_to(answers, call);
		if (send(fd, reply, strlen(reply) + 1, MSG_NOSIGNAL) < 0)
			_exit(1);
	}
}

static void serve(const struct answer *answers)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listening = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)stpcpy(directory, TEMPLATE);
	cr_assert_not_null(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/socket", directory);
	(void)stpcpy(address.sun_path, path);
	cr_assert_eq(bind(listening, (struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(listening, 1), 0);
	child = fork();
	if (child == 0)
		play(listening, answers);
	(void)close(listening);
}

static void clean(void)
{
	if (child > 0) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
		child = 0;
	}
	(void)unlink(path);
	(void)rmdir(directory);
}

TestSuite(verbs_policy, .fini = clean);

/* Runs a verb. `ret` gets its standard output and standard error. */
static enum ctl_exit run(verb_function verb, bool json, const char *first, const char *second,
			 char ret[OUTPUT_MAX])
{
	const struct ctl_options options = {.socket = path, .json = json};
	char *const arguments[] = {(char *)first, (char *)second, NULL};
	int output = dup(STDOUT_FILENO), error = dup(STDERR_FILENO);
	int file = open(directory, O_TMPFILE | O_RDWR, 0600);
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
		serve((const struct answer[]){{rows[i].method, reply}, {0}});
		cr_expect_eq(run(rows[i].verb, true, rows[i].first, rows[i].second, text), CTL_DONE, "%s",
			     rows[i].method);
		cr_expect_str_eq(text, line);
		clean();
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

	serve(answers);
	cr_expect_eq(run(verb_alerts, false, NULL, NULL, text), CTL_DONE);
	formatted_expect(text, "p99 above 896 cycles");
	formatted_expect(text, "2 cgroups (counted once for each rule) cannot be judged now");
}

Test(verbs_policy, for_an_unknown_rule_the_closest_name_is_suggested)
{
	static const struct answer answers[] = {
		{"io.pebsd.GetRules", RULES}, {"io.pebsd.Explain", NO_RULE}, {0}};
	char text[OUTPUT_MAX];

	serve(answers);
	cr_expect_eq(run(verb_explain, false, "slow-databse", "/x", text), CTL_NO_SUCH);
	cr_expect_str_eq(
		text,
		"pebsctl: there is no rule 'slow-databse'; did you mean slow-database? `pebsctl rules` lists all rules\n");
}

/* More rules than fit into one reply. The name and the patterns are on the second page. */
#define TAKEN  "\"taken\":\"2026-11-21T06:00:00Z\"}}"
#define PAGE_1 "{\"parameters\":{\"rules\":[{\"rule\":\"a\"},{\"rule\":\"b\"}],\"next\":2," TAKEN
#define PAGE_2 "{\"parameters\":{\"rules\":[{\"rule\":\"slow-database\",\"cgroup\":[\"/db*\"]}]," TAKEN

Test(verbs_policy, the_closest_name_is_found_on_any_page)
{
	static const struct answer answers[] = {{"io.pebsd.GetRules", PAGE_1},
						{"io.pebsd.GetRules", PAGE_2},
						{"io.pebsd.Explain", NO_RULE},
						{0}};
	char text[OUTPUT_MAX];

	serve(answers);
	cr_expect_eq(run(verb_explain, false, "slow-databse", "/x", text), CTL_NO_SUCH);
	formatted_expect(text, "did you mean slow-database?");
}

Test(verbs_policy, the_patterns_of_a_rule_are_found_on_any_page)
{
	static const struct answer answers[] = {{"io.pebsd.GetRules", PAGE_1},
						{"io.pebsd.GetRules", PAGE_2},
						{"io.pebsd.GetCgroup", FOUND},
						{"io.pebsd.Explain", NO_CGROUP},
						{0}};
	char text[OUTPUT_MAX];

	serve(answers);
	cr_expect_eq(run(verb_explain, false, "slow-database", "/x", text), CTL_NO_SUCH);
	formatted_expect(text, "its `cgroup` is /db*;");
}

Test(verbs_policy, a_reply_that_is_too_large_is_reported_as_such)
{
	static const struct answer answers[] = {
		{"io.pebsd.GetNeighbours", "{\"error\":\"io.pebsd.ReplyTooLarge\",\"parameters\":{}}"}, {0}};
	char text[OUTPUT_MAX];

	serve(answers);
	cr_expect_eq(run(verb_neighbours, false, "/x", NULL, text), CTL_FAILED);
	formatted_expect(text, "pebsctl: the reply is too large: ");
	formatted_expect_not(text, "version");
}

Test(verbs_policy, without_a_close_name_the_verb_that_lists_rules_is_named)
{
	static const struct answer answers[] = {
		{"io.pebsd.GetRules", RULES}, {"io.pebsd.Explain", NO_RULE}, {0}};
	char text[OUTPUT_MAX];

	serve(answers);
	cr_expect_eq(run(verb_explain, true, "zzz\033[2Jzzz", "/x", text), CTL_NO_SUCH);
	cr_expect_str_eq(text,
			 "pebsctl: there is no rule 'zzz\\x1b[2Jzzz'; `pebsctl rules` lists all rules\n");
}

Test(verbs_policy, without_rules_an_unknown_rule_says_so)
{
	static const struct answer answers[] = {
		{"io.pebsd.GetRules", NO_RULES}, {"io.pebsd.Explain", NO_RULE}, {0}};
	char text[OUTPUT_MAX];

	serve(answers);
	cr_expect_eq(run(verb_explain, false, "slow", "/x", text), CTL_NO_SUCH);
	cr_expect_str_eq(
		text,
		"pebsctl: there is no rule 'slow': no rules are configured; `pebsctl rules` says how to add one\n");
}

Test(verbs_policy, a_rule_that_does_not_match_the_cgroup_is_explained)
{
	static const struct answer answers[] = {{"io.pebsd.GetRules", RULES},
						{"io.pebsd.GetCgroup", FOUND},
						{"io.pebsd.Explain", NO_CGROUP},
						{0}};
	char text[OUTPUT_MAX];

	serve(answers);
	cr_expect_eq(run(verb_explain, false, "slow-database", "/x", text), CTL_NO_SUCH);
	cr_expect_str_eq(
		text,
		"pebsctl: rule slow-database does not match cgroup '/x': its `cgroup` is /db*; `pebsctl rules` prints the patterns of all rules\n");
}

Test(verbs_policy, a_cgroup_that_was_never_sampled_is_an_error)
{
	static const struct answer answers[] = {{"io.pebsd.GetRules", RULES},
						{"io.pebsd.GetCgroup", NO_CGROUP},
						{"io.pebsd.Explain", NO_CGROUP},
						{0}};
	char text[OUTPUT_MAX];

	serve(answers);
	cr_expect_eq(run(verb_explain, false, "slow-database", "/x", text), CTL_NO_SUCH);
	cr_expect_str_eq(
		text,
		"pebsctl: no cgroup '/x' is known, or it has no sample; `pebsctl top --window all` lists all sampled cgroups\n");
}

Test(verbs_policy, neighbours_of_a_never_sampled_cgroup_are_an_error)
{
	static const struct answer answers[] = {{"io.pebsd.GetNeighbours", NO_CGROUP}, {0}};
	char text[OUTPUT_MAX];

	serve(answers);
	cr_expect_eq(run(verb_neighbours, false, "/x", NULL, text), CTL_NO_SUCH);
	formatted_expect(text, "pebsctl: no cgroup '/x' is known, or it has no sample; ");
}

Test(verbs_policy, a_daemon_without_rules_support_is_reported)
{
	static const struct answer answers[] = {{"io.pebsd.GetRules", NO_METHOD}, {0}};
	char text[OUTPUT_MAX];

	serve(answers);
	cr_expect_eq(run(verb_rules, false, NULL, NULL, text), CTL_FAILED);
	formatted_expect(text, "its version differs from pebsctl's");
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
	serve(answers);
	cr_expect_eq(run(verb_neighbours, false, "/caf\xe9", NULL, text), CTL_DONE);
	formatted_expect(text, "the latency hardly changed");
}

Test(verbs_policy, without_a_daemon_there_is_an_error)
{
	char text[OUTPUT_MAX];

	cr_assert_not_null(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/none", directory);
	cr_expect_eq(run(verb_rules, false, NULL, NULL, text), CTL_NO_DAEMON);
	cr_expect_eq(run(verb_alerts, false, NULL, NULL, text), CTL_NO_DAEMON);
	cr_expect_eq(run(verb_explain, false, "r", "/x", text), CTL_NO_DAEMON);
	cr_expect_eq(run(verb_neighbours, false, "/x", NULL, text), CTL_NO_DAEMON);
}

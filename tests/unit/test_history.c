// SPDX-License-Identifier: GPL-2.0
/*
 * The history and its process. The process is this program, which keeps panes in a file and does what files in its
 * directory say: hang, die, fail to store, or send nonsense.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "collect/totals.h"
#include "fake_clock.h"
#include "history/answers.h"
#include "history/history.h"
#include "history/keeper_channel.h"
#include "in_packed.h"
#include "tree.h"

#define SEC_US 1000000ULL
#define NOON   1795240800ULL

#define REST_NS (KEEPER_REST_SECONDS * NSEC_PER_SEC)

/* ---- the process ---- */

static void write_number(const char *name, unsigned number)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", getenv("PEBSD_HISTORY_DIRECTORY"), name);
	file = fopen(path, "w");
	(void)fprintf(file, "%u", number);
	(void)fclose(file);
}

static bool told_to(const char *what)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", getenv("PEBSD_HISTORY_DIRECTORY"), what);
	return access(path, F_OK) == 0;
}

static int open_store(int flags)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/stored", getenv("PEBSD_HISTORY_DIRECTORY"));
	return open(path, flags | O_CREAT | O_CLOEXEC, 0600);
}

/* Adds a byte to the file "alerts". */
static void count_alert(void)
{
	char path[256];
	_cleanup_close_ int fd = -1;

	(void)snprintf(path, sizeof(path), "%s/alerts", getenv("PEBSD_HISTORY_DIRECTORY"));
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (write(fd, "a", 1) != 1)
		_exit(9);
}

/* Writes how many requests came before this pane. */
static void store(const struct history_message *message, int passed, unsigned asked)
{
	struct history_message reply = {.type = HISTORY_STORED, .number = message->number};
	struct history_block block;
	_cleanup_close_ int fd = open_store(O_WRONLY | O_APPEND);

	if (history_block_map(passed, HISTORY_PANE_BYTES_MAX, &block) < 0)
		_exit(4);
	if (told_to("fail"))
		reply.error = ENOSPC;
	else if (message->type == HISTORY_STORE && write(fd, block.bytes, block.size) != (ssize_t)block.size)
		_exit(5);
	else if (message->type == HISTORY_ALERT)
		count_alert();
	write_number("asked", asked);
	if (told_to("die-stored"))
		_exit(6);
	(void)history_send(STDIN_FILENO, &reply, -1);
	reply = (struct history_message){.type = HISTORY_STATUS};
	reply.status.bytes = 4711;
	if (told_to("fail")) {
		reply.status.error = ENOSPC;
		(void)strcpy(reply.status.what, "the disk is full: free some space");
	}
	(void)history_send(STDIN_FILENO, &reply, -1);
	history_block_unmap(&block);
}

static void reply_all(const struct history_message *message)
{
	struct history_message reply = {.type = HISTORY_ANSWER, .number = message->number};
	static char bytes[1 << 20];
	_cleanup_close_ int fd = open_store(O_RDONLY), block = -1;
	ssize_t n = message->query.question == HISTORY_ASK_ALERTS
			    ? snprintf(bytes, sizeof(bytes), "[\"%llu\"]",
				       (unsigned long long)message->query.since_us)
			    : read(fd, bytes, sizeof(bytes));

	if (strcmp(message->query.path, "/refused") == 0)
		reply.error = E2BIG;
	else if (n < 0 || history_block_new((const u8 *)bytes, (size_t)n, &block) < 0)
		_exit(7);
	(void)history_send(STDIN_FILENO, &reply, block);
}

static void keep(void)
{
	struct history_message message = {.type = HISTORY_STATUS};
	unsigned asked = 0;

	if (told_to("babble"))
		(void)send(STDIN_FILENO, "nothing", 7, MSG_NOSIGNAL);
	else
		(void)history_send(STDIN_FILENO, &message, -1);
	for (;;) {
		_cleanup_close_ int passed = -1;
		fd_set set;
		int r;

		FD_ZERO(&set);
		FD_SET(STDIN_FILENO, &set);
		(void)select(1, &set, NULL, NULL, NULL);
		while (told_to("hang"))
			(void)usleep(10000);
		r = history_receive(STDIN_FILENO, &message, &passed);
		if (r == -EAGAIN)
			continue;
		if (r <= 0 || message.type == HISTORY_STOP)
			_exit(0);
		if (message.type == HISTORY_SETTINGS) {
			char path[256];
			FILE *file;

			(void)snprintf(path, sizeof(path), "%s/limits", getenv("PEBSD_HISTORY_DIRECTORY"));
			file = fopen(path, "w");
			(void)fprintf(file, "%llu %llu", (unsigned long long)message.bytes_max,
				      (unsigned long long)message.age_max_s);
			(void)fclose(file);
			if (message.alerts_ended) {
				_cleanup_free_ char *ended = NULL;

				if (asprintf(&ended, "%s/ended-alerts", getenv("PEBSD_HISTORY_DIRECTORY")) <
				    0)
					_exit(8);
				(void)close(open(ended, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
			}
			continue;
		}
		if (told_to("die"))
			_exit(3);
		asked += message.type == HISTORY_ASK;
		if (message.type == HISTORY_ASK)
			reply_all(&message);
		else
			store(&message, passed, asked);
	}
}

__attribute__((constructor)) static void work(int argc, char *argv[])
{
	if (argc == 2 && strcmp(argv[1], "--keeper") == 0)
		keep();
}

/* ---- the daemon's side ---- */

static char *tree;
static sd_event *event;
static struct history *history;
static struct totals *totals;
static struct snapshot head;
static struct reading readings[EVENTS_MAX];
static struct clocks now;
static unsigned n_answered;

static void on_answered(void *userdata)
{
	(void)userdata;
	n_answered++;
}

static void begin(void)
{
	const struct history_settings settings = {
		.event = event,
		.program = "/proc/self/exe",
		.directory = tree,
		.bytes_max = 1 << 20,
		.age_max_s = 3600,
		.began = now,
		.readings = readings,
		.alerts_ended = true,
		.answered = on_answered,
	};

	cr_assert_eq(history_new(&settings, &history), 0);
}

static void setup(void)
{
	fake_clock_stop();
	tree = tree_new();
	cr_assert_geq(sd_event_new(&event), 0);
	cr_assert_eq(totals_new(&totals), 0);
	head = (struct snapshot){
		.origin = "model",
		.n_events = 1,
		.events = {{.event = {.role = EVENT_LOADS, .period = 1009, .pmu = "cpu"}, .key = "loads"}}};
	now = (struct clocks){.realtime_us = NOON * SEC_US, .monotonic_ns = NSEC_PER_SEC};
	begin();
}

static void teardown(void)
{
	history = history_free(history);
	totals_free(totals);
	event = sd_event_unref(event);
	tree_remove(tree);
}

TestSuite(history, .init = setup, .fini = teardown, .timeout = 600);

#define RUN_UNTIL(condition)                                          \
	do {                                                          \
		do                                                    \
			cr_assert_geq(sd_event_run(event, 20000), 0); \
		while (!(condition));                                 \
	} while (0)

static struct history_state state(void)
{
	struct history_state ret;

	history_describe(history, &ret);
	return ret;
}

/* A collection of 10 s with samples of /a, which is a pane. */
static void add_pane(u64 samples)
{
	const struct counters counters = {.samples = {[SOURCE_L2] = samples}};
	struct panes_collection collection = {.head = &head, .readings = readings, .n = 1};
	struct in_packed room;
	struct totals_entry *entry;

	cr_assert_eq(totals_get(totals, "/a", &entry), 0);
	(void)in_packed(&room, 0, &counters);
	room.delta.entry = entry;
	now.realtime_us += 10 * SEC_US;
	now.monotonic_ns += 10 * NSEC_PER_SEC;
	collection.at = now;
	collection.list = &room.delta;
	history_collected(history, &collection);
}

static int ask(const char *path, const struct past **ret)
{
	struct history_query query = {.since_us = NOON * SEC_US, .until_us = now.realtime_us, .bins = 100};

	(void)snprintf(query.path, sizeof(query.path), "%s", path);
	return history_past(history, &query, ret);
}

/* The samples of /a in everything that is stored. */
static u64 stored_samples(void)
{
	const struct past *past;
	int r;

	/* Answers are kept: ask for something new each time. */
	now.realtime_us++;
	RUN_UNTIL((r = ask("", &past)) != -EAGAIN);
	cr_assert_eq(r, 0, "%s", strerror(-r));
	return past_snapshot(past)->events[0].total.samples[SOURCE_L2];
}

static char *read_file(const char *name)
{
	_cleanup_free_ char *path = NULL;
	static char text[128];
	FILE *file;

	cr_assert_geq(asprintf(&path, "%s/%s", tree, name), 0);
	file = fopen(path, "r");
	text[0] = 0;
	if (file && !fgets(text, sizeof(text), file))
		text[0] = 0;
	if (file)
		(void)fclose(file);
	return text;
}

/* Lets the time pass after which an ended keeper is started again. Until then, there is none. */
static void rest(void)
{
	fake_clock_advance(REST_NS - NSEC_PER_MSEC);
	for (int i = 0; i < 10; i++)
		cr_assert_geq(sd_event_run(event, 0), 0);
	cr_expect_eq(history_pid(history), -1);
	fake_clock_advance(2 * NSEC_PER_MSEC);
}

static off_t bytes_of(const char *name)
{
	_cleanup_free_ char *path = NULL;
	struct stat status;

	cr_assert_geq(asprintf(&path, "%s/%s", tree, name), 0);
	return stat(path, &status) == 0 ? status.st_size : 0;
}

static void forget(const char *name)
{
	_cleanup_free_ char *path = NULL;

	cr_assert_geq(asprintf(&path, "%s/%s", tree, name), 0);
	(void)unlink(path);
}

Test(history, stored_panes_are_found)
{
	add_pane(1);
	add_pane(2);
	RUN_UNTIL(state().panes_stored == 2);
	cr_expect(state().running);
	cr_expect_eq(state().panes_waiting, 0);
	cr_expect_eq(state().kept.bytes, 4711);
	cr_expect_eq(stored_samples(), 3);
	cr_expect_eq(n_answered, 1);
	cr_expect_str_eq(read_file("limits"), "1048576 3600");
}

Test(history, the_end_stores_the_incomplete_pane)
{
	add_pane(1);
	now.realtime_us += 3 * SEC_US;
	now.monotonic_ns += 3 * NSEC_PER_SEC;
	{
		struct panes_collection collection = {.at = now, .head = &head, .readings = readings};
		const struct counters counters = {.samples = {[SOURCE_L2] = 40}};
		struct in_packed room;
		struct totals_entry *entry;

		cr_assert_eq(totals_get(totals, "/a", &entry), 0);
		(void)in_packed(&room, 0, &counters);
		room.delta.entry = entry;
		collection.list = &room.delta;
		collection.n = 1;
		history_collected(history, &collection);
	}
	history = history_free(history);
	begin();
	cr_expect_eq(stored_samples(), 41);
}

Test(history, a_process_that_was_killed_loses_nothing)
{
	u64 sum = 0;

	for (u64 i = 1; i <= 3; i++) {
		RUN_UNTIL(history_pid(history) > 0 && state().running);
		/* The pane must not be stored before the end of the keeper, or it would be stored twice. */
		tree_write(tree, "hang", "");
		add_pane(i);
		sum += i;
		cr_assert_eq(kill(history_pid(history), SIGKILL), 0);
		RUN_UNTIL(state().restarts == i);
		forget("hang");
		rest();
		RUN_UNTIL(state().panes_stored == i);
	}
	cr_expect_eq(state().panes_lost, 0);
	cr_expect_eq(stored_samples(), sum);
}

Test(history, a_hanging_keeper_loses_only_panes_beyond_the_queue)
{
	RUN_UNTIL(state().running);
	tree_write(tree, "hang", "");
	for (unsigned i = 0; i < KEEPER_PANES_MAX + 4; i++)
		add_pane(1);
	cr_expect_eq(state().panes_waiting, KEEPER_PANES_MAX);
	cr_expect_eq(state().panes_lost, 4);
	forget("hang");
	RUN_UNTIL(state().panes_stored == KEEPER_PANES_MAX);
	add_pane(100);
	RUN_UNTIL(state().panes_stored == KEEPER_PANES_MAX + 1);
	cr_expect_eq(stored_samples(), KEEPER_PANES_MAX + 100);
}

static bool
	polls_end; /* time limits of poll() end at once, if there is nothing to do, by the stopped clock */

/* This definition precedes that of the C library. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's names are reserved */
int poll(struct pollfd *polled, nfds_t n, int wait_ms)
{
	const struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000L};
	const struct timespec none = {0};
	int r = (int)syscall(SYS_ppoll, polled, n, wait_ms < 0 ? NULL : polls_end ? &none : &wait, NULL, 0);

	if (r == 0 && polls_end)
		fake_clock_advance((unsigned)wait_ms * NSEC_PER_MSEC);
	return r;
}

Test(history, old_answers_go_also_if_others_come_all_the_time)
{
	const struct past *past;
	u64 first_us;

	RUN_UNTIL(state().running);
	first_us = ++now.realtime_us;
	RUN_UNTIL(ask("", &past) == -ENODATA);
	for (unsigned i = 0; i < 5; i++) {
		fake_clock_advance(ANSWERS_FAIL_KEEP_NS / 4);
		now.realtime_us++;
		RUN_UNTIL(ask("", &past) == -ENODATA);
	}
	now.realtime_us = first_us;
	cr_expect_eq(ask("", &past), -EAGAIN, "it is asked for again");
}

Test(history, the_end_does_not_wait_for_a_hanging_keeper)
{
	u64 from_ns;

	RUN_UNTIL(state().running);
	tree_write(tree, "hang", "");
	add_pane(1);
	from_ns = monotonic_ns();
	polls_end = true;
	history = history_free(history);
	polls_end = false;
	cr_expect_geq(monotonic_ns() - from_ns, KEEPER_STOP_SECONDS * NSEC_PER_SEC);
	cr_expect_leq(monotonic_ns() - from_ns, (KEEPER_STOP_SECONDS + 1) * NSEC_PER_SEC);
	/* It still stores what it was sent. */
	forget("hang");
	begin();
	RUN_UNTIL(bytes_of("stored") > 0);
}

Test(history, a_full_disk_is_a_gap)
{
	RUN_UNTIL(state().running);
	tree_write(tree, "fail", "");
	add_pane(1);
	RUN_UNTIL(state().panes_lost == 1);
	RUN_UNTIL(state().kept.error == ENOSPC);
	cr_expect_str_eq(state().kept.what, "the disk is full: free some space");
	forget("fail");
	add_pane(2);
	RUN_UNTIL(state().panes_stored == 1);
	RUN_UNTIL(state().kept.error == 0);
	cr_expect_eq(stored_samples(), 2);
	cr_expect_eq(state().restarts, 0);
}

Test(history, a_pane_that_repeatedly_kills_the_keeper_is_dropped)
{
	RUN_UNTIL(state().running);
	tree_write(tree, "die", "");
	add_pane(1);
	for (unsigned i = 1; i <= KEEPER_TRIES; i++) {
		RUN_UNTIL(state().restarts == i);
		cr_expect_eq(state().panes_lost, i == KEEPER_TRIES);
		rest();
	}
	forget("die");
	add_pane(2);
	RUN_UNTIL(state().panes_stored == 1);
	cr_expect_eq(stored_samples(), 2);
}

Test(history, an_invalid_message_ends_the_keeper)
{
	history = history_free(history);
	tree_write(tree, "babble", "");
	begin();
	RUN_UNTIL(state().restarts == 1);
	forget("babble");
	rest();
	add_pane(1);
	RUN_UNTIL(state().panes_stored == 1);
}

Test(history, a_request_without_an_answer_fails)
{
	const struct past *past;
	int r;

	add_pane(1);
	RUN_UNTIL(state().panes_stored == 1);
	tree_write(tree, "hang", "");
	cr_expect_eq(ask("", &past), -EAGAIN);
	cr_assert_geq(sd_event_run(event, 20000), 0);
	fake_clock_advance(KEEPER_ANSWER_SECONDS * NSEC_PER_SEC - NSEC_PER_MSEC);
	for (int i = 0; i < 10; i++)
		cr_assert_geq(sd_event_run(event, 0), 0);
	cr_expect_eq(ask("", &past), -EAGAIN);
	fake_clock_advance(2 * NSEC_PER_MSEC);
	RUN_UNTIL((r = ask("", &past)) != -EAGAIN);
	cr_expect_eq(r, -ETIMEDOUT);
	forget("hang");
	RUN_UNTIL((r = ask("/refused", &past)) != -EAGAIN);
	cr_expect_eq(r, -E2BIG);
}

Test(history, too_many_requests_are_refused)
{
	const struct past *past;

	tree_write(tree, "hang", "");
	for (unsigned i = 0; i < KEEPER_QUESTIONS_MAX; i++) {
		char path[16];

		(void)snprintf(path, sizeof(path), "/%u", i);
		now.realtime_us += SEC_US;
		cr_expect_eq(ask(path, &past), -EAGAIN);
	}
	cr_expect_eq(ask("/one-more", &past), -EUSERS);
	forget("hang");
}

/* The keeper takes messages in order, so a pane waits for the requests that were sent before it. */
Test(history, panes_do_not_wait_for_many_requests)
{
	const struct past *past;

	add_pane(1);
	RUN_UNTIL(state().panes_stored == 1);
	for (unsigned i = 0; i < KEEPER_QUESTIONS_MAX; i++) {
		char path[16];

		(void)snprintf(path, sizeof(path), "/%u", i);
		cr_expect_eq(ask(path, &past), -EAGAIN);
	}
	cr_assert_geq(sd_event_run(event, 20000), 0);
	add_pane(2);
	RUN_UNTIL(state().panes_stored == 2);
	cr_expect_leq(atoi(read_file("asked")), 1, "%s requests came before the pane", read_file("asked"));
}

Test(history, alerts_are_asked_for_by_time)
{
	const char *json;
	int r;

	history_alert(history, &(struct history_alert){.key = "k", .json = "{}", .from_us = 1});
	RUN_UNTIL((r = history_alerts(history, 17, 20, NULL, NULL, &json)) != -EAGAIN);
	cr_assert_eq(r, 0);
	cr_expect_str_eq(json, "[\"17\"]");
}

static bool alerts_ended(void)
{
	_cleanup_free_ char *path = NULL;

	cr_assert_geq(asprintf(&path, "%s/ended-alerts", tree), 0);
	return access(path, F_OK) == 0;
}

/* The answer to a question shows that the keeper has handled everything before it. */
static void await_answer(void)
{
	const char *json;

	RUN_UNTIL(history_alerts(history, 17, 20, NULL, NULL, &json) == 0);
}

/* A rule can fire on every cgroup of a host at once. */
Test(history, a_thousand_changes_of_alerts_at_once_are_stored)
{
	const struct history_alert alert = {.key = "r\n/a\nloads\n1", .json = "{}", .from_us = NOON * SEC_US};
	const struct rlimit few = {.rlim_cur = 64, .rlim_max = 64};

	RUN_UNTIL(state().running);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (unsigned i = 0; i < 1000; i++)
		history_alert(history, &alert);
	RUN_UNTIL(bytes_of("alerts") == 1000);
}

Test(history, changes_of_alerts_are_sent_again_after_the_keeper_was_killed)
{
	const struct history_alert alert = {.key = "r\n/a\nloads\n1", .json = "{}", .from_us = NOON * SEC_US};

	RUN_UNTIL(state().running);
	tree_write(tree, "hang", "");
	for (unsigned i = 0; i < 200; i++)
		history_alert(history, &alert);
	cr_assert_eq(kill(history_pid(history), SIGKILL), 0);
	RUN_UNTIL(state().restarts == 1);
	forget("hang");
	rest();
	RUN_UNTIL(bytes_of("alerts") == 200);
}

Test(history, only_the_first_keeper_ends_alerts)
{
	RUN_UNTIL(alerts_ended());
	forget("ended-alerts");
	history_limit(history, 99, 7);
	RUN_UNTIL(strcmp(read_file("limits"), "99 7") == 0);
	cr_expect_not(alerts_ended());
	await_answer();
	forget("limits");
	cr_assert_eq(kill(history_pid(history), SIGKILL), 0);
	RUN_UNTIL(state().restarts == 1);
	rest();
	RUN_UNTIL(strcmp(read_file("limits"), "99 7") == 0);
	cr_expect_not(alerts_ended());
}

/* A process that is killed may not have read the message that ends alerts. */
Test(history, alerts_end_also_if_the_first_keeper_is_killed)
{
	RUN_UNTIL(alerts_ended());
	forget("ended-alerts");
	cr_assert_eq(kill(history_pid(history), SIGKILL), 0);
	RUN_UNTIL(state().restarts == 1);
	rest();
	RUN_UNTIL(alerts_ended());
	forget("ended-alerts");
	await_answer();
	history_limit(history, 99, 7);
	RUN_UNTIL(strcmp(read_file("limits"), "99 7") == 0);
	cr_expect_not(alerts_ended());
}

Test(history, limits_are_sent_again)
{
	RUN_UNTIL(state().running);
	history_limit(history, 99, 7);
	RUN_UNTIL(strcmp(read_file("limits"), "99 7") == 0);
	cr_expect_eq(state().bytes_max, 99);
}

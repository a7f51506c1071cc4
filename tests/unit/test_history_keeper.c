// SPDX-License-Identifier: GPL-2.0
/* The keeper of the history as a process, driven through its socket as pebsd does it. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "child/child.h"
#include "child_expect.h"
#include "history/keeper/keeper.h"
#include "history/keeper/keeper_confine.h"
#include "history_folder.h"

TestSuite(history_keeper, .timeout = 300);

/* The keeper. */
__attribute__((constructor)) static void work(int argc, char *argv[])
{
	if (argc == 2 && strcmp(argv[1], "--keeper") == 0)
		_exit(keeper_worker(STDIN_FILENO));
}

static char *folder;
static struct child keeper;

static void start_in(const char *directory)
{
	char variable[512];
	char *environment[] = {variable, NULL};

	(void)snprintf(variable, sizeof(variable), KEEPER_DIRECTORY "=%s", directory);
	cr_assert_eq(child_start(&(struct child_request){.program = "/proc/self/exe",
							 .argument = "--keeper",
							 .environment = environment},
				 &keeper),
		     0);
}

static void begin(void)
{
	folder = history_folder_new();
	start_in(folder);
}

/* Waits for the keeper's end. Returns how it ended. */
static const char *ended(void)
{
	static char how[CHILD_END_MAX];

	cr_assert_eq(poll(&(struct pollfd){.fd = keeper.pidfd, .events = POLLIN}, 1, 20000), 1);
	cr_assert_eq(child_reap(&keeper, how), 1);
	if (keeper.socket >= 0)
		(void)close(keeper.socket);
	keeper.socket = -1;
	return how;
}

/* Receives the next message. Returns what history_receive() does. */
static int receive(struct history_message *ret, int *ret_passed)
{
	int r;

	while ((r = history_receive(keeper.socket, ret, ret_passed)) == -EAGAIN)
		cr_assert_eq(poll(&(struct pollfd){.fd = keeper.socket, .events = POLLIN}, 1, 20000), 1);
	return r;
}

static struct history_message expect_message(enum history_message_type type)
{
	static struct history_message message;
	int passed = -1;

	cr_assert_eq(receive(&message, &passed), 1);
	cr_assert_eq(message.type, type, "message %d instead of %d", message.type, type);
	return message;
}

static void send_block(enum history_message_type type, u32 number, const u8 *bytes, size_t size)
{
	struct history_message message = {.type = type, .number = number};
	int fd, r;

	cr_assert_eq(history_block_new(bytes, size, &fd), 0);
	while ((r = history_send(keeper.socket, &message, fd)) == -EAGAIN)
		(void)poll(&(struct pollfd){.fd = keeper.socket, .events = POLLOUT}, 1, 100);
	cr_expect_eq(r, 0);
	(void)close(fd);
}

static unsigned cgroups = 200;

static struct history_pane *pane_of(unsigned i)
{
	return history_fixture_new(&(struct history_fixture){.seed = i,
							     .end_us = FULL_US + (i + 1) * (10 * SECOND_US),
							     .run = 1,
							     .cgroups = cgroups,
							     .loads = 1,
							     .counts = 4,
							     .counters = 30});
}

static void send_pane(unsigned i)
{
	struct history_pane *pane = pane_of(i);
	u8 *block;
	size_t size;

	cr_assert_eq(history_pane_write(pane, &block, &size), 0);
	send_block(HISTORY_STORE, i, block, size);
	free(block);
	history_fixture_free(pane);
}

static void send_plain(enum history_message_type type)
{
	cr_assert_eq(history_send(keeper.socket,
				  &(struct history_message){
					  .type = type, .bytes_max = 64 << 20, .age_max_s = 86400},
				  -1),
		     0);
}

static void send_change(unsigned i)
{
	struct history_change change;
	u8 *block;
	size_t size;

	history_change_make(i, &change);
	cr_assert_eq(history_alert_write(&change.alert, &block, &size), 0);
	send_block(HISTORY_ALERT, i, block, size);
	free(block);
}

/* Asks for all alerts. Returns true if they are those of the first `n` changes. */
static bool has_changes(unsigned n)
{
	static struct history_message message;
	struct history_block block;
	char *text = history_changes_text(n);
	int passed = -1;
	bool same;

	message = (struct history_message){.type = HISTORY_ASK,
					   .query = {.question = HISTORY_ASK_ALERTS,
						     .since_us = 1,
						     .until_us = FULL_US + SECOND_US,
						     .bins = 1}};
	cr_assert_eq(history_send(keeper.socket, &message, -1), 0);
	cr_assert_eq(receive(&message, &passed), 1);
	cr_assert(message.type == HISTORY_ANSWER && message.error == 0, "%d", message.error);
	cr_assert_eq(history_block_map(passed, HISTORY_PANE_BYTES_MAX, &block), 0);
	(void)close(passed);
	same = block.size == strlen(text) && memcmp(block.bytes, text, block.size) == 0;
	history_block_unmap(&block);
	free(text);
	return same;
}

/* Asks for the first panes. Returns their number. Each must have the figures that it was stored with. */
static size_t expect_panes(unsigned n)
{
	static struct history_message question, answer;
	static struct history_panes panes;
	struct history_block block;
	int passed = -1;
	size_t found;

	question = (struct history_message){
		.type = HISTORY_ASK,
		.number = 77,
		.query = {.since_us = FULL_US, .until_us = FULL_US + n * (10 * SECOND_US), .bins = n}};
	cr_assert_eq(history_send(keeper.socket, &question, -1), 0);
	cr_assert_eq(receive(&answer, &passed), 1);
	cr_assert(answer.type == HISTORY_ANSWER && answer.number == 77 && answer.error == 0, "%d",
		  answer.error);
	cr_assert_eq(history_block_map(passed, HISTORY_PANE_BYTES_MAX, &block), 0);
	(void)close(passed);
	panes.block = malloc(block.size + 1);
	memcpy(panes.block, block.bytes, block.size);
	history_panes_read(&panes, block.size);
	history_block_unmap(&block);
	found = panes.n;
	for (unsigned i = 0; i < found; i++) {
		struct history_pane *pane = pane_of(i);

		cr_expect_eq(history_fixture_total(&panes.list[i], NULL, NULL),
			     history_fixture_total(pane, NULL, NULL), "pane %u", i);
		history_fixture_free(pane);
	}
	history_panes_done(&panes);
	return found;
}

Test(history_keeper, panes_and_alerts_are_acknowledged_and_answered)
{
	struct history_message message;
	struct history_block block;
	u8 *alert;
	size_t size;
	int passed = -1;

	begin();
	message = expect_message(HISTORY_STATUS);
	cr_expect(message.status.error == 0 && message.status.panes == 0 && message.status.oldest_us == 0);
	send_plain(HISTORY_SETTINGS);
	for (unsigned i = 0; i < 7; i++) {
		send_pane(i);
		message = expect_message(HISTORY_STORED);
		cr_expect(message.number == i && message.error == 0);
		message = expect_message(HISTORY_STATUS);
		cr_expect_eq(message.status.panes, i + 1);
	}
	cr_expect(message.status.oldest_us == FULL_US &&
		  message.status.newest_us == FULL_US + 70 * SECOND_US);
	cr_expect_gt(message.status.bytes, 4096);
	cr_expect_eq(expect_panes(7), 7);
	cr_assert_eq(history_alert_write(&(struct history_alert){"key", "{\"a\":1}", 5, 0}, &alert, &size),
		     0);
	send_block(HISTORY_ALERT, 9, alert, size);
	message = expect_message(HISTORY_STORED);
	cr_expect(message.number == 9 && message.error == 0);
	(void)expect_message(HISTORY_STATUS);
	message = (struct history_message){
		.type = HISTORY_ASK,
		.query = {.question = HISTORY_ASK_ALERTS, .since_us = 1, .until_us = 5, .bins = 1}};
	cr_assert_eq(history_send(keeper.socket, &message, -1), 0);
	cr_assert_eq(receive(&message, &passed), 1);
	cr_assert(message.type == HISTORY_ANSWER && message.error == 0);
	cr_assert_eq(history_block_map(passed, 100, &block), 0);
	cr_expect_eq(block.size, 9);
	cr_expect_arr_eq(block.bytes, "[{\"a\":1}]", 9);
	history_block_unmap(&block);
	(void)close(passed);
	send_plain(HISTORY_STOP);
	cr_expect_str_eq(ended(), "ended with exit code 0");
	/* The log is in the database. */
	cr_expect_eq(history_folder_count(folder, ARCHIVE_FILE), 1);
	free(alert);
	history_folder_free(folder);
}

Test(history_keeper, received_panes_are_stored_after_pebsd_ended)
{
	struct history_message message;

	begin();
	for (unsigned i = 0; i < 5; i++)
		send_pane(i);
	(void)close(keeper.socket);
	keeper.socket = -1;
	cr_expect_str_eq(ended(), "ended with exit code 0");
	start_in(folder);
	message = expect_message(HISTORY_STATUS);
	cr_expect(message.status.bytes > 4096 && message.status.newest_us == FULL_US + 50 * SECOND_US);
	cr_expect_eq(expect_panes(5), 5);
	send_plain(HISTORY_STOP);
	cr_expect_str_eq(ended(), "ended with exit code 0");
	history_folder_free(folder);
}

#define KILLED_PANES 6

/*
 * Waits until `n` panes and changes of alerts, which alternate, are acknowledged, then for a part of the time that one
 * takes, and kills the keeper.
 */
static unsigned kill_after(unsigned n, unsigned microseconds)
{
	struct history_message message;
	unsigned acknowledged = 0;
	int passed;

	/* As many as the sockets hold: nobody receives the replies yet. */
	for (unsigned i = 0; i < KILLED_PANES; i++) {
		send_pane(i);
		send_change(i);
	}
	while (acknowledged < n) {
		cr_assert_eq(receive(&message, &passed), 1);
		acknowledged += message.type == HISTORY_STORED;
	}
	(void)usleep(microseconds);
	cr_assert_eq(kill(keeper.pid, SIGKILL), 0);
	while (receive(&message, &passed) == 1)
		acknowledged += message.type == HISTORY_STORED && message.error == 0;
	(void)ended();
	return acknowledged;
}

/* The next one may be there, too: it was stored, and only its acknowledgement is missing. */
Test(history_keeper, acknowledged_panes_and_alerts_survive_a_kill)
{
	for (unsigned i = 0; i < 40; i++) {
		unsigned acknowledged;
		size_t found;

		begin();
		(void)expect_message(HISTORY_STATUS);
		acknowledged = kill_after(i % (2 * KILLED_PANES), i * 377 % 5000);
		start_in(folder);
		cr_expect_eq(expect_message(HISTORY_STATUS).status.error, 0);
		found = expect_panes(KILLED_PANES);
		cr_expect(found == (acknowledged + 1) / 2 || found == (acknowledged + 2) / 2,
			  "%zu panes, and %u acknowledged", found, acknowledged);
		cr_expect(has_changes(acknowledged / 2) || has_changes((acknowledged + 1) / 2),
			  "other alerts than those of %u changes", acknowledged / 2);
		send_plain(HISTORY_STOP);
		cr_expect_str_eq(ended(), "ended with exit code 0");
		history_folder_free(folder);
	}
}

static void expect_end_after(const u8 *bytes, size_t size, enum history_message_type type)
{
	begin();
	(void)expect_message(HISTORY_STATUS);
	send_block(type, 1, bytes, size);
	cr_expect_str_eq(ended(), "ended with exit code 1");
	history_folder_free(folder);
}

Test(history_keeper, malformed_messages_end_the_keeper_with_an_error)
{
	struct history_pane *pane = pane_of(0);
	u8 *block;
	size_t size;

	expect_end_after((const u8 *)"nothing", 7, HISTORY_STORE);
	expect_end_after((const u8 *)"nothing", 7, HISTORY_ALERT);
	expect_end_after(NULL, 0, HISTORY_STORE);
	cr_assert_eq(history_pane_write(pane, &block, &size), 0);
	expect_end_after(block, size - 1, HISTORY_STORE);
	begin();
	(void)expect_message(HISTORY_STATUS);
	send_plain(HISTORY_STATUS);
	cr_expect_str_eq(ended(), "ended with exit code 1");
	history_folder_free(folder);
	begin();
	(void)expect_message(HISTORY_STATUS);
	cr_assert_eq(send(keeper.socket, "nothing", 7, 0), 7);
	cr_expect_str_eq(ended(), "ended with exit code 1");
	history_folder_free(folder);
	free(block);
	history_fixture_free(pane);
}

Test(history_keeper, an_unusable_directory_loses_only_panes)
{
	struct history_message message;

	folder = history_folder_new();
	cr_assert_eq(rmdir(folder), 0);
	start_in(folder);
	message = expect_message(HISTORY_STATUS);
	cr_expect_eq(message.status.error, ENOENT);
	cr_expect(strstr(message.status.what, "create the directory"), "%s", message.status.what);
	send_pane(0);
	cr_expect_eq(expect_message(HISTORY_STORED).error, ENOENT);
	cr_expect_eq(expect_message(HISTORY_STATUS).status.lost, 1);
	send_plain(HISTORY_STOP);
	cr_expect_str_eq(ended(), "ended with exit code 0");
	free(folder);
}

Test(history_keeper, a_damaged_file_is_replaced_while_confined)
{
	static const char text[8192] = "This is not a database, but it is long enough to be one.";
	char path[512];
	int fd;

	folder = history_folder_new();
	(void)snprintf(path, sizeof(path), "%s/" ARCHIVE_FILE, folder);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(write(fd, text, sizeof(text)), sizeof(text));
	(void)close(fd);
	start_in(folder);
	cr_expect_eq(expect_message(HISTORY_STATUS).status.error, 0);
	send_pane(0);
	cr_expect_eq(expect_message(HISTORY_STORED).error, 0);
	(void)expect_message(HISTORY_STATUS);
	cr_expect_eq(history_folder_count(folder, ARCHIVE_FILE ".damaged-"), 1);
	send_plain(HISTORY_STOP);
	cr_expect_str_eq(ended(), "ended with exit code 0");
	history_folder_free(folder);
}

/* Returns a number of a line in /proc/PID/status. */
static long status_number(const char *name, int base)
{
	char path[64], line[256];
	long value = -1;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", keeper.pid);
	file = fopen(path, "re");
	cr_assert(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtol(line + strlen(name), NULL, base);
	(void)fclose(file);
	return value;
}

Test(history_keeper, the_keeper_has_no_privileges)
{
	begin();
	(void)expect_message(HISTORY_STATUS);
	cr_expect_eq(status_number("CapEff:", 16), 0);
	cr_expect_eq(status_number("CapPrm:", 16), 0);
	cr_expect_eq(status_number("NoNewPrivs:", 10), 1);
	cr_expect_eq(status_number("Seccomp:", 10), 2);
	send_plain(HISTORY_STOP);
	cr_expect_str_eq(ended(), "ended with exit code 0");
	history_folder_free(folder);
}

#ifndef __SANITIZE_ADDRESS__
/* More than an hour, so that spans of all lengths but the longest are made, and short ones are dropped. */
Test(history_keeper, storing_a_thousand_cgroups_needs_little_memory)
{
	long most = 0;

	cgroups = 1000;
	begin();
	(void)expect_message(HISTORY_STATUS);
	for (unsigned i = 0; i < 500; i++) {
		send_pane(i);
		cr_assert_eq(expect_message(HISTORY_STORED).error, 0);
		(void)expect_message(HISTORY_STATUS);
		most = status_number("RssAnon:", 10) > most ? status_number("RssAnon:", 10) : most;
	}
	cr_expect_leq(most, 4096, "%ld KiB", most);
	send_plain(HISTORY_STOP);
	cr_expect_str_eq(ended(), "ended with exit code 0");
	history_folder_free(folder);
}
#endif

/*
 * What a process could do that runs in the keeper's place. Returns the number of the first thing that it
 * should not.
 */
static int misbehave(const char *directory)
{
	const bool landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* its version */) > 0;
	char path[512];
	int fd;

	EXPECT(keeper_confine(directory) == 0);
	(void)snprintf(path, sizeof(path), "%s/own", directory);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	EXPECT(fd > STDERR_FILENO && write(fd, "x", 1) == 1 && unlink(path) == 0);
	EXPECT(!landlock || open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0);
	EXPECT(!landlock || open("/proc/self/status", O_RDONLY | O_CLOEXEC) < 0);
	EXPECT(!landlock || open("/tmp/pebsd-keeper-test", O_RDWR | O_CREAT | O_CLOEXEC, 0600) < 0);
	EXPECT(socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM);
	EXPECT(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
	EXPECT(fork() < 0);
	EXPECT(execl("/bin/true", "true", NULL) < 0);
	EXPECT(kill(getppid(), 0) < 0 && errno == EPERM);
	EXPECT(mkdir("/tmp/pebsd-keeper-test", 0700) < 0);
	EXPECT(setuid(0) < 0);
/* The sanitizer needs these itself. */
#ifndef __SANITIZE_ADDRESS__
	EXPECT(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	EXPECT(mmap(NULL, KEEPER_CONFINE_DATA + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0) == MAP_FAILED);
#endif
	return 0;
}

Test(history_keeper, a_compromised_keeper_can_only_use_its_directory)
{
	int status;
	pid_t pid;

	folder = history_folder_new();
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0)
		_exit(misbehave(folder));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status));
	cr_expect_eq(WEXITSTATUS(status), 0, "%d", WEXITSTATUS(status));
	history_folder_free(folder);
}

Test(history_keeper, started_by_hand_the_keeper_explains_itself)
{
	int pair[2], status;
	pid_t pid;

	cr_assert_eq(pipe(pair), 0);
	pid = fork();
	if (pid == 0) {
		(void)dup2(pair[0], STDIN_FILENO);
		(void)execl("/proc/self/exe", "test", "--keeper", NULL);
		_exit(99);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 2);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A journal that is stopped, or has no space on its disk, reads nothing: messages wait in its socket until the
 * socket is full, too. pebsd must not wait for the journal then. It must sample and answer, and count the
 * messages that the journal did not get.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ctl/call/exit.h"
#include "daemon_process.h"
#include "own_mounts.h"
#include "tree.h"

#define JOURNAL "/run/systemd/journal/socket"

static struct daemon_process pebsd;

static void setup(void)
{
	int r;

	if (geteuid() != 0)
		cr_skip_test("needs root: it loads BPF programs");
	r = own_mounts();
	if (r < 0)
		cr_skip_test("no mount namespace: %s", strerror(-r));
	daemon_process_init(&pebsd);
	cr_assert_eq(mount("tmpfs", "/run", "tmpfs", 0, NULL), 0);
	cr_assert_eq(mkdir("/run/systemd", 0755), 0);
	cr_assert_eq(mkdir("/run/systemd/journal", 0755), 0);
}

static void teardown(void)
{
	daemon_process_done(&pebsd);
}

TestSuite(faults_journal, .init = setup, .fini = teardown);

static struct sockaddr_un journal_address(void)
{
	return (struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = JOURNAL};
}

static int open_journal(void)
{
	const struct sockaddr_un address = journal_address();
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	cr_assert_geq(fd, 0);
	cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Fills the journal's socket, as other programs of the machine do while the journal reads nothing. */
static void fill_journal(void)
{
	const struct sockaddr_un address = journal_address();
	size_t sent = 0;
	bool more = true;

	while (more) {
		/*
		 * Each socket has its own send buffer. The journal's socket holds a fixed number of messages
		 * from all of them.
		 */
		int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		size_t before = sent;

		cr_assert_geq(fd, 0);
		while (sendto(fd, "MESSAGE=x\n", 10, MSG_DONTWAIT, (const struct sockaddr *)&address,
			      sizeof(address)) > 0)
			sent++;
		(void)close(fd);
		more = sent > before;
	}
	cr_assert_gt(sent, 0U);
}

static void fill(int fd)
{
	char bytes[4096];

	memset(bytes, 'x', sizeof(bytes));
	cr_assert_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while (write(fd, bytes, sizeof(bytes)) > 0 || write(fd, bytes, 1) > 0)
		;
	cr_assert_eq(errno, EAGAIN);
	cr_assert_eq(fcntl(fd, F_SETFL, 0), 0);
}

/* Reads all waiting entries. Returns true if one of them has the text. */
static bool journal_has(int journal, const char *text)
{
	char entry[16384];
	bool found = false;
	ssize_t n;

	while ((n = recv(journal, entry, sizeof(entry), 0)) >= 0)
		found = found || memmem(entry, (size_t)n, text, strlen(text));
	return found;
}

static bool journal_gets(int journal, const char *text)
{
	for (int i = 0; i < 1200; i++) {
		if (journal_has(journal, text))
			return true;
		(void)poll(NULL, 0, 50);
	}
	return false;
}

static void start(int log, bool journal)
{
	_cleanup_free_ char *config = daemon_process_file(&pebsd, "pebsd.conf");
	char *arguments[] = {"pebsd",           "--config", config, "--socket",
			     pebsd.socket_path, "--listen", "none", NULL};
	char stream[64];
	struct stat st;

	tree_write(pebsd.directory, "pebsd.conf", "[sampling]\norigin = model\ninterval = 100ms\n");
	cr_assert_eq(fstat(log, &st), 0);
	(void)snprintf(stream, sizeof(stream), "%lu:%lu", (unsigned long)st.st_dev, (unsigned long)st.st_ino);
	if (journal)
		cr_assert_eq(setenv("JOURNAL_STREAM", stream, 1), 0);
	daemon_process_start(&pebsd, program_path("PEBSD"), arguments, log);
}

/*
 * Returns pebsctl's exit code; 124: it did not end in a minute. pebsctl waits ten seconds for an answer and then
 * exits with CTL_NO_DAEMON. A busy machine can take longer, so the call is then repeated.
 */
static int ctl(const char *words)
{
	char command[512];
	int code = CTL_NO_DAEMON;

	(void)snprintf(command, sizeof(command), "timeout 60 %s --socket %s %s >/dev/null 2>&1",
		       program_path("PEBSCTL"), pebsd.socket_path, words);
	for (int i = 0; i < 6 && code == CTL_NO_DAEMON; i++) {
		int status = system(command);

		code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
	return code;
}

static void await_service(void)
{
	int code = 1;

	for (int i = 0; i < 1200 && code != 0; i++) {
		code = ctl("status");
		(void)poll(NULL, 0, 50);
	}
	cr_assert_eq(code, 0, "it does not serve");
}

static unsigned long long seen(void)
{
	char command[512], text[64] = "";
	FILE *out;

	(void)snprintf(command, sizeof(command), "timeout 60 %s --socket %s --json status | jq .samples.seen",
		       program_path("PEBSCTL"), pebsd.socket_path);
	out = popen(command, "re");
	cr_assert_not_null(out);
	(void)!fgets(text, sizeof(text), out);
	(void)pclose(out);
	return strtoull(text, NULL, 10);
}

/* Calls methods that pebsd logs, and expects that it still samples. */
static void works_on(const char *when)
{
	unsigned long long before = seen(), after = 0;

	for (int i = 0; i < 5; i++) {
		cr_assert_eq(ctl("pause --for 1h"), 0, "%s: pause", when);
		cr_assert_eq(ctl("resume"), 0, "%s: resume", when);
		cr_assert_eq(ctl("reload"), 0, "%s: reload", when);
	}
	for (int i = 0; i < 1200 && after <= before; i++) {
		(void)poll(NULL, 0, 50);
		after = seen();
	}
	cr_expect_gt(after, before, "%s: it samples no more", when);
}

Test(faults_journal, a_journal_that_does_not_read_blocks_nothing)
{
	_cleanup_close_ int journal = open_journal();
	int stream[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
	start(stream[0], true);
	await_service();
	cr_expect(journal_gets(journal, "MESSAGE=serving"));
	fill_journal();
	fill(stream[0]);
	works_on("a journal that reads nothing");

	/* Logging continues: the number of lost messages comes before the next message. */
	cr_expect_not(journal_has(journal, "messages lost before this one"));
	cr_expect_eq(ctl("pause --for 2h"), 0);
	cr_expect_eq(ctl("resume"), 0);
	cr_expect(journal_gets(journal, "messages lost before this one, because nobody read them in time: "));
	cr_expect_eq(daemon_process_stop(&pebsd), 0);
}

/* The journal's socket is gone, and its stream is full. */
Test(faults_journal, a_journal_that_is_gone_blocks_nothing)
{
	int journal = open_journal();
	int stream[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
	start(stream[0], true);
	await_service();
	(void)close(journal);
	fill(stream[0]);
	works_on("a journal that is gone");
	cr_expect_eq(daemon_process_stop(&pebsd), 0);
}

/* This happens in a container whose manager is stopped. */
Test(faults_journal, a_full_pipe_as_standard_error_blocks_nothing)
{
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	start(ends[1], false);
	await_service();
	fill(ends[1]);
	works_on("a full pipe");
	cr_expect_eq(daemon_process_stop(&pebsd), 0);
}

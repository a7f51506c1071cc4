// SPDX-License-Identifier: GPL-2.0
/* `pebsctl top` on a terminal of 80 columns and 24 rows, and where there is none. */
#include <criterion/criterion.h>

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"

#define WAIT_MS 20000
#define COLUMNS 80
#define ROWS    24
#define ENTER   "\033[?1049h"
#define LEAVE   "\033[?1049l"
#define HOME    "\033[H"
#define BELOW   "\033[J"
#define CGROUP  "postgresql.service"

static char directory[] = "/tmp/pebsd-screen-XXXXXX";
static char socket_path[64];
static pid_t daemon_pid;

static const char *program(const char *variable, const char *otherwise)
{
	const char *path = getenv(variable);

	return path ? path : otherwise;
}

static int shell(const char *format, const char *argument, const char *other)
{
	_cleanup_free_ char *command = NULL;

	cr_assert_geq(asprintf(&command, format, argument, other), 0);
	return system(command);
}

static void setup(void)
{
	char recording[64];

	if (geteuid() != 0)
		cr_skip_test("needs root: it loads BPF programs");
	cr_assert_not_null(mkdtemp(directory));
	(void)snprintf(socket_path, sizeof(socket_path), "%s/control.sock", directory);
	(void)snprintf(recording, sizeof(recording), "%s/recording", directory);
	cr_assert_eq(shell("%s/make_recording %s", program("TOOLS", "build/tests/tools"), recording), 0);
	daemon_pid = fork();
	cr_assert_geq(daemon_pid, 0);
	if (daemon_pid == 0) {
		(void)execl(program("PEBSD", "build/pebsd"), "pebsd", "--replay", recording, "--socket",
			    socket_path, "--listen", "none", NULL);
		_exit(127);
	}
	for (int i = 0; i < WAIT_MS / 100; i++) {
		if (shell("%s --socket %s top 2>/dev/null | grep -q " CGROUP,
			  program("PEBSCTL", "build/pebsctl"), socket_path) == 0)
			return;
		(void)usleep(100000);
	}
	cr_assert_fail("pebsd does not serve the recording");
}

static void teardown(void)
{
	if (daemon_pid > 0) {
		(void)kill(daemon_pid, SIGTERM);
		(void)waitpid(daemon_pid, NULL, 0);
	}
	cr_expect_eq(shell("rm -rf %s%s", directory, ""), 0);
}

TestSuite(top_screen, .init = setup, .fini = teardown);

struct terminal {
	int fd;
	pid_t pid;
	char *seen; /* NUL-terminated */
	size_t length;
};

static void run_top(struct terminal *terminal)
{
	const struct winsize size = {.ws_col = COLUMNS, .ws_row = ROWS};

	*terminal = (struct terminal){.seen = calloc(1, 1)};
	cr_assert_not_null(terminal->seen);
	terminal->pid = forkpty(&terminal->fd, NULL, NULL, &size);
	cr_assert_geq(terminal->pid, 0);
	if (terminal->pid == 0) {
		/* Until the modes from before are taken. */
		(void)raise(SIGSTOP);
		(void)setenv("TERM", "xterm", 1);
		(void)setenv("LC_ALL", "C.UTF-8", 1);
		(void)execl(program("PEBSCTL", "build/pebsctl"), "pebsctl", "--socket", socket_path, "top",
			    NULL);
		_exit(127);
	}
	cr_assert_eq(waitpid(terminal->pid, NULL, WUNTRACED), terminal->pid);
}

/* Reads until `wanted` was seen after `from`; the place behind it. */
static size_t wait_for(struct terminal *terminal, size_t from, const char *wanted)
{
	struct pollfd readable = {.fd = terminal->fd, .events = POLLIN};
	const char *found;

	while (!(found = strstr(terminal->seen + from, wanted))) {
		ssize_t n;

		cr_assert_eq(poll(&readable, 1, WAIT_MS), 1, "no '%s' in '%s'", wanted,
			     terminal->seen + from);
		terminal->seen = realloc(terminal->seen, terminal->length + 4097);
		cr_assert_not_null(terminal->seen);
		n = read(terminal->fd, terminal->seen + terminal->length, 4096);
		cr_assert_gt(n, 0, "the end without '%s' in '%s'", wanted, terminal->seen + from);
		terminal->length += (size_t)n;
		terminal->seen[terminal->length] = '\0';
	}
	return (size_t)(found - terminal->seen) + strlen(wanted);
}

/* Rows, and the columns of the longest; control sequences take none, and a UTF-8 character takes one. */
static void measure(const char *picture, const char *end, size_t *ret_rows, size_t *ret_columns)
{
	size_t column = 0;

	*ret_rows = 1;
	*ret_columns = 0;
	for (; picture < end; picture++) {
		if (*picture == '\033')
			picture += 1 + strcspn(picture + 1, "mKJHhl");
		else if (*picture == '\r')
			column = 0;
		else if (*picture == '\n')
			(*ret_rows)++;
		else if (((unsigned char)*picture & 0xc0) != 0x80)
			column++;
		if (column > *ret_columns)
			*ret_columns = column;
	}
}

static void expect_end(struct terminal *terminal, const struct termios *before)
{
	struct termios after;
	int status;

	(void)wait_for(terminal, 0, LEAVE);
	cr_assert_eq(waitpid(terminal->pid, &status, 0), terminal->pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned int)status);
	cr_assert_eq(tcgetattr(terminal->fd, &after), 0);
	cr_expect_eq(after.c_lflag, before->c_lflag);
	cr_expect_eq(after.c_iflag, before->c_iflag);
	cr_expect_eq(after.c_oflag, before->c_oflag);
	cr_expect_arr_eq(after.c_cc, before->c_cc, sizeof(after.c_cc));
	cr_expect_not_null(strstr(terminal->seen, "\033[?25h"), "the cursor is shown again");
	(void)close(terminal->fd);
	free(terminal->seen);
}

static void begin(struct terminal *terminal, struct termios *ret_before)
{
	struct termios during;
	size_t rows, columns, from, end;

	run_top(terminal);
	cr_assert_eq(tcgetattr(terminal->fd, ret_before), 0);
	cr_assert_eq(kill(terminal->pid, SIGCONT), 0);
	from = wait_for(terminal, wait_for(terminal, 0, ENTER), HOME);
	end = wait_for(terminal, from, BELOW);
	measure(terminal->seen + from, terminal->seen + end, &rows, &columns);
	cr_expect_leq(rows, ROWS);
	cr_expect_leq(columns, COLUMNS);
	cr_expect_gt(columns, COLUMNS / 2);
	cr_expect_not_null(strstr(terminal->seen + from, CGROUP), "%s", terminal->seen + from);
	cr_expect_not_null(strstr(terminal->seen + from, "replay"), "the origin is told");
	cr_assert_eq(tcgetattr(terminal->fd, &during), 0);
	cr_expect_eq(during.c_lflag & (tcflag_t)(ICANON | ECHO), 0, "keys are taken as they are hit");
	/* It is live: another picture comes by itself. */
	(void)wait_for(terminal, wait_for(terminal, end, HOME), CGROUP);
}

Test(top_screen, q_ends_it)
{
	struct terminal terminal;
	struct termios before;

	begin(&terminal, &before);
	cr_assert_eq(write(terminal.fd, "q", 1), 1);
	expect_end(&terminal, &before);
}

Test(top_screen, an_interrupt_ends_it)
{
	struct terminal terminal;
	struct termios before;

	begin(&terminal, &before);
	cr_assert_eq(write(terminal.fd, "\003", 1), 1);
	expect_end(&terminal, &before);
}

Test(top_screen, one_page_where_there_is_no_terminal)
{
	_cleanup_free_ char *command = NULL;
	char page[8192];
	size_t n;
	FILE *out;

	cr_assert_geq(asprintf(&command, "TERM=xterm %s --socket %s top </dev/null",
			       program("PEBSCTL", "build/pebsctl"), socket_path),
		      0);
	out = popen(command, "r");
	cr_assert_not_null(out);
	n = fread(page, 1, sizeof(page) - 1, out);
	page[n] = '\0';
	cr_expect_eq(pclose(out), 0);
	cr_expect_not_null(strstr(page, CGROUP), "%s", page);
	cr_expect_null(strchr(page, '\033'), "%s", page);
	cr_expect_null(strchr(page, '\r'), "%s", page);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * pebsd's notifications to the service manager (READY, STATUS, the watchdog, STOPPING), and its messages to
 * the journal, with fields.
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
#include "own_mounts.h"

#define WAIT_MS 60000

static char directory[] = "/tmp/pebsd-service-XXXXXX";

static const char *program(const char *variable, const char *otherwise)
{
	const char *path = getenv(variable);

	return path ? path : otherwise;
}

static char *in_directory(const char *name)
{
	char *path;

	cr_assert_geq(asprintf(&path, "%s/%s", directory, name), 0);
	return path;
}

static int bind_datagrams(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0, "%s: %s", path,
		     strerror(errno));
	return fd;
}

/* Reads datagrams until one contains `wanted`, and returns that one in `ret`. */
static bool receive(int fd, const char *wanted, char *ret, size_t bytes)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};

	while (poll(&readable, 1, WAIT_MS) == 1) {
		ssize_t n = recv(fd, ret, bytes - 1, 0);

		cr_assert_geq(n, 0);
		ret[n] = '\0';
		if (memmem(ret, (size_t)n, wanted, strlen(wanted)))
			return true;
	}
	return false;
}

static void setup(void)
{
	if (geteuid() != 0)
		cr_skip_test("needs root: it loads BPF programs");
	cr_assert_not_null(mkdtemp(directory));
}

static void teardown(void)
{
	_cleanup_free_ char *command = NULL;

	cr_assert_geq(asprintf(&command, "rm -rf %s", directory), 0);
	cr_assert_eq(system(command), 0);
}

TestSuite(service, .init = setup, .fini = teardown);

static void make_recording(const char *path)
{
	_cleanup_free_ char *command = NULL;

	cr_assert_geq(asprintf(&command, "%s/make_recording %s", program("TOOLS", "build/tests/tools"), path),
		      0);
	cr_assert_eq(system(command), 0);
}

/* Starts pebsd with its standard error on `error_fd`. */
static pid_t start(char *const arguments[], int error_fd)
{
	pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (pid == 0) {
		if (error_fd >= 0)
			(void)dup2(error_fd, STDERR_FILENO);
		(void)execv(program("PEBSD", "build/pebsd"), arguments);
		_exit(127);
	}
	return pid;
}

static void serve(pid_t *ret_pid, int error_fd)
{
	_cleanup_free_ char *recording = in_directory("recording");
	_cleanup_free_ char *socket_path = in_directory("control.sock");
	char *arguments[] = {"pebsd",     "--replay", recording, "--socket",
			     socket_path, "--listen", "none",    NULL};

	make_recording(recording);
	*ret_pid = start(arguments, error_fd);
}

static int stop(pid_t pid)
{
	int status;

	cr_assert_eq(kill(pid, SIGTERM), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

Test(service, readiness_status_watchdog_and_stopping)
{
	_cleanup_free_ char *path = in_directory("notify");
	_cleanup_close_ int fd = bind_datagrams(path);
	char message[4096];
	pid_t pid;

	cr_assert_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
	cr_assert_eq(setenv("WATCHDOG_USEC", "1000000", 1), 0);
	serve(&pid, -1);
	cr_expect(receive(fd, "READY=1", message, sizeof(message)));
	cr_expect(receive(fd, "STATUS=Origin replay", message, sizeof(message)));
	cr_expect(receive(fd, "WATCHDOG=1", message, sizeof(message)));

	cr_assert_eq(kill(pid, SIGHUP), 0);
	cr_expect(receive(fd, "RELOADING=1", message, sizeof(message)));
	cr_expect(receive(fd, "READY=1", message, sizeof(message)));
	cr_expect_eq(stop(pid), 0);
	cr_expect(receive(fd, "STOPPING=1", message, sizeof(message)));
}

/* pebsd notifies the watchdog while the model runs. The status says that nothing is measured. */
Test(service, the_status_of_the_model_says_that_nothing_is_measured)
{
	_cleanup_free_ char *path = in_directory("notify");
	_cleanup_free_ char *socket_path = in_directory("control.sock");
	_cleanup_close_ int fd = bind_datagrams(path);
	char *arguments[] = {"pebsd", "--origin", "model", "--socket", socket_path, "--listen", "none", NULL};
	char message[4096];
	pid_t pid;

	cr_assert_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
	cr_assert_eq(setenv("WATCHDOG_USEC", "1000000", 1), 0);
	pid = start(arguments, -1);
	cr_expect(receive(fd, "READY=1", message, sizeof(message)));
	cr_expect(receive(fd, "STATUS=Origin model: loads", message, sizeof(message)));
	cr_expect_not_null(strstr(message, " of 6 cgroups"), "%s", message);
	cr_expect_not_null(strstr(message, "no measurement"), "%s", message);
	for (int i = 0; i < 3; i++)
		cr_expect(receive(fd, "WATCHDOG=1", message, sizeof(message)));
	cr_expect_eq(stop(pid), 0);
	cr_expect(receive(fd, "STOPPING=1", message, sizeof(message)));
}

/* If pebsd cannot start, the reason is the unit's status text, and the exit code stops the restarts. */
Test(service, a_failed_start_has_its_reason_as_status)
{
	_cleanup_free_ char *path = in_directory("notify");
	_cleanup_free_ char *socket_path = in_directory("control.sock");
	_cleanup_close_ int fd = bind_datagrams(path);
	char *arguments[] = {"pebsd", "--replay", "/does/not/exist", "--socket", socket_path, NULL};
	char message[4096];
	int status;
	pid_t pid;

	cr_assert_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
	pid = start(arguments, -1);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	cr_expect(receive(fd, "STATUS=", message, sizeof(message)));
	cr_expect_not_null(strstr(message, "/does/not/exist"), "%s", message);
	cr_expect_null(strstr(message, "READY=1"));
}

/* sd_journal_sendv(3) uses a fixed path. The test puts its own socket there, in its own mount namespace. */
Test(service, messages_reach_the_journal_with_their_fields)
{
	_cleanup_free_ char *errors = in_directory("errors");
	_cleanup_close_ int fd = -1, error_fd = -1;
	char stream[64], message[16384];
	struct stat st;
	pid_t pid;
	int r;

	r = own_mounts();
	if (r < 0)
		cr_skip_test("no mount namespace: %s", strerror(-r));
	cr_assert_eq(mount("tmpfs", "/run", "tmpfs", 0, NULL), 0);
	cr_assert_eq(mkdir("/run/systemd", 0755), 0);
	cr_assert_eq(mkdir("/run/systemd/journal", 0755), 0);
	fd = bind_datagrams("/run/systemd/journal/socket");

	/* By device and inode, pebsd sees that its standard error leads to the journal. */
	error_fd = open(errors, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(error_fd, 0);
	cr_assert_eq(fstat(error_fd, &st), 0);
	(void)snprintf(stream, sizeof(stream), "%lu:%lu", (unsigned long)st.st_dev, (unsigned long)st.st_ino);
	cr_assert_eq(setenv("JOURNAL_STREAM", stream, 1), 0);
	serve(&pid, error_fd);
	cr_expect(receive(fd, "MESSAGE=serving", message, sizeof(message)));
	cr_expect_not_null(strstr(message, "SYSLOG_IDENTIFIER=pebsd"));
	cr_expect_not_null(strstr(message, "PRIORITY=6"));
	cr_expect_not_null(strstr(message, "CODE_FUNC=serve"));
	cr_expect_eq(stop(pid), 0);
	cr_expect(receive(fd, "MESSAGE=total: ", message, sizeof(message)));
	cr_expect_not_null(strstr(message, "PEBSD_EVENT=loads"));
	cr_expect_not_null(strstr(message, "PEBSD_SEEN="), "%s", message);
	cr_expect_not_null(strstr(message, "PEBSD_LOST=0\n"));
	cr_assert_eq(fstat(error_fd, &st), 0);
	cr_expect_eq(st.st_size, 0, "the journal took all, standard error nothing");
}

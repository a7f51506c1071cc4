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
#include "daemon_process.h"
#include "own_mounts.h"

#define WAIT_MS 60000

static struct daemon_process pebsd;

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
	daemon_process_init(&pebsd);
}

static void teardown(void)
{
	daemon_process_done(&pebsd);
}

TestSuite(service, .init = setup, .fini = teardown);

/* Starts pebsd with a recording. `log` is its standard error. */
static void serve(int log)
{
	_cleanup_free_ char *recording = daemon_process_file(&pebsd, "recording");
	_cleanup_free_ char *command = NULL;
	char *arguments[] = {"pebsd",           "--replay", recording, "--socket",
			     pebsd.socket_path, "--listen", "none",    NULL};

	cr_assert_geq(asprintf(&command, "%s/make_recording %s", program_path("TOOLS"), recording), 0);
	cr_assert_eq(system(command), 0);
	daemon_process_start(&pebsd, program_path("PEBSD"), arguments, log);
}

Test(service, readiness_status_watchdog_and_stopping)
{
	_cleanup_free_ char *path = daemon_process_file(&pebsd, "notify");
	_cleanup_close_ int fd = bind_datagrams(path);
	char message[4096];

	cr_assert_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
	cr_assert_eq(setenv("WATCHDOG_USEC", "1000000", 1), 0);
	serve(-1);
	cr_expect(receive(fd, "READY=1", message, sizeof(message)));
	cr_expect(receive(fd, "STATUS=Origin replay", message, sizeof(message)));
	cr_expect(receive(fd, "WATCHDOG=1", message, sizeof(message)));

	cr_assert_eq(kill(pebsd.pid, SIGHUP), 0);
	cr_expect(receive(fd, "RELOADING=1", message, sizeof(message)));
	cr_expect(receive(fd, "READY=1", message, sizeof(message)));
	cr_expect_eq(daemon_process_stop(&pebsd), 0);
	cr_expect(receive(fd, "STOPPING=1", message, sizeof(message)));
}

/* pebsd notifies the watchdog while the model runs. The status says that nothing is measured. */
Test(service, the_status_of_the_model_says_that_nothing_is_measured)
{
	_cleanup_free_ char *path = daemon_process_file(&pebsd, "notify");
	_cleanup_close_ int fd = bind_datagrams(path);
	char *arguments[] = {"pebsd",           "--origin", "model", "--socket",
			     pebsd.socket_path, "--listen", "none",  NULL};
	char message[4096];

	cr_assert_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
	cr_assert_eq(setenv("WATCHDOG_USEC", "1000000", 1), 0);
	daemon_process_start(&pebsd, program_path("PEBSD"), arguments, -1);
	cr_expect(receive(fd, "READY=1", message, sizeof(message)));
	cr_expect(receive(fd, "STATUS=Origin model: loads", message, sizeof(message)));
	cr_expect_not_null(strstr(message, " of 6 cgroups"), "%s", message);
	cr_expect_not_null(strstr(message, "no measurement"), "%s", message);
	for (int i = 0; i < 3; i++)
		cr_expect(receive(fd, "WATCHDOG=1", message, sizeof(message)));
	cr_expect_eq(daemon_process_stop(&pebsd), 0);
	cr_expect(receive(fd, "STOPPING=1", message, sizeof(message)));
}

/* If pebsd cannot start, the reason is the unit's status text, and the exit code stops the restarts. */
Test(service, a_failed_start_has_its_reason_as_status)
{
	_cleanup_free_ char *path = daemon_process_file(&pebsd, "notify");
	_cleanup_close_ int fd = bind_datagrams(path);
	char *arguments[] = {"pebsd", "--replay", "/does/not/exist", "--socket", pebsd.socket_path, NULL};
	char message[4096];
	int status;

	cr_assert_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
	daemon_process_start(&pebsd, program_path("PEBSD"), arguments, -1);
	status = daemon_process_wait(&pebsd);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	cr_expect(receive(fd, "STATUS=", message, sizeof(message)));
	cr_expect_not_null(strstr(message, "/does/not/exist"), "%s", message);
	cr_expect_null(strstr(message, "READY=1"));
}

/* sd_journal_sendv(3) uses a fixed path. The test puts its own socket there, in its own mount namespace. */
Test(service, messages_reach_the_journal_with_their_fields)
{
	_cleanup_free_ char *errors = daemon_process_file(&pebsd, "errors");
	_cleanup_close_ int fd = -1, error_fd = -1;
	char stream[64], message[16384];
	struct stat st;
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
	serve(error_fd);
	cr_expect(receive(fd, "MESSAGE=serving", message, sizeof(message)));
	cr_expect_not_null(strstr(message, "SYSLOG_IDENTIFIER=pebsd"));
	cr_expect_not_null(strstr(message, "PRIORITY=6"));
	cr_expect_not_null(strstr(message, "CODE_FUNC=serve"));
	cr_expect_eq(daemon_process_stop(&pebsd), 0);
	cr_expect(receive(fd, "MESSAGE=total: ", message, sizeof(message)));
	cr_expect_not_null(strstr(message, "PEBSD_EVENT=loads"));
	cr_expect_not_null(strstr(message, "PEBSD_SEEN="), "%s", message);
	cr_expect_not_null(strstr(message, "PEBSD_LOST=0\n"));
	cr_assert_eq(fstat(error_fd, &st), 0);
	cr_expect_eq(st.st_size, 0, "the journal took all, standard error nothing");
}

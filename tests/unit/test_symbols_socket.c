// SPDX-License-Identifier: GPL-2.0
/*
 * The symbolizer that runs as a unit of its own: the clients that it answers, the sockets that pebsd trusts,
 * and the consequences if it dies, hangs or is absent. The unit is a process of this test, and its
 * symbolizers are this program.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/log.h"
#include "symbols/resolver/symbols_unit.h"
#include "symbols/resolver/symbols_worker.h"
#include "symbols/symbols.h"
#include "symbols/symbols_queue.h"
#include "symbols/symbols_socket.h"

#define STRANGER 65534
#define OWNER    12345

__attribute__((constructor)) static void work(int argc, char *argv[])
{
	if (argc == 2 && strcmp(argv[1], "--symbolizer") == 0)
		_exit(symbols_worker(STDIN_FILENO, false));
}

static char place[64];
static struct sockaddr_un address;
static pid_t unit;
static sd_event *event;
static struct symbols *symbols;

static int listen_there(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0, "%s", strerror(errno));
	cr_assert_eq(listen(fd, 16), 0);
	return fd;
}

static void open_unit(u64 idle_ns)
{
	int fd = listen_there();

	unit = fork();
	if (unit == 0)
		_exit(symbols_unit(&(struct symbols_unit_settings){
			.listening = fd, .program = "/proc/self/exe", .idle_ns = idle_ns}));
	(void)close(fd);
}

static void open_symbols(u64 query_ns)
{
	cr_assert_geq(sd_event_new(&event), 0);
	cr_assert_eq(symbols_new(&(struct symbols_settings){.event = event,
							    .program = "/proc/self/exe",
							    .socket = address.sun_path,
							    .query_ns = query_ns},
				 &symbols),
		     0);
}

static void begin(void)
{
	log_set_level(LOG_EMERG);
	(void)strcpy(place, "/tmp/socket.XXXXXX");
	cr_assert(mkdtemp(place));
	cr_assert_eq(chmod(place, 0755), 0);
	address = (struct sockaddr_un){.sun_family = AF_UNIX};
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", place);
}

static void end(void)
{
	symbols = symbols_free(symbols);
	event = sd_event_unref(event);
	if (unit > 0) {
		(void)kill(unit, SIGKILL);
		(void)waitpid(unit, NULL, 0);
	}
	(void)unlink(address.sun_path);
	(void)rmdir(place);
}

TestSuite(symbols_socket, .init = begin, .fini = end);

static const struct symbol *answer_of(u64 where)
{
	const struct symbol_query query = {.address = where, .pid = (u32)getpid(), .kind = SYMBOL_CODE};
	const struct symbol *symbol;

	while (!(symbol = symbols_find(symbols, &query)))
		cr_assert_geq(sd_event_run(event, 20 * 1000000ULL), 1, "nothing comes");
	return symbol;
}

__attribute__((noinline)) static int a_function_of_this_test(int n)
{
	return n * 3;
}

__attribute__((noinline)) static int third_function_of_this_test(int n)
{
	return n * 7;
}

__attribute__((noinline)) static int another_function_of_this_test(int n)
{
	return n * 5;
}

static void expect_name(int (*function)(int), const char *name)
{
	const struct symbol *symbol = answer_of((u64)(uintptr_t)function);

	cr_assert_gt(symbol->n_frames, 0U, "%s has no name", name);
	cr_expect_str_eq(symbol->frames[0].name, name);
}

/* Returns the number of processes that `parent` has started, and the last of them. */
static size_t children_of(pid_t parent, pid_t *ret_last)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	size_t n = 0;

	while (directory && (entry = readdir(directory))) {
		char path[64], state = 0;
		int its = 0;
		FILE *file;

		(void)snprintf(path, sizeof(path), "/proc/%.20s/stat", entry->d_name);
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !(file = fopen(path, "re")))
			continue;
		if (fscanf(file, "%*d (%*[^)]) %c %d", &state, &its) == 2 && its == parent && state != 'Z') {
			*ret_last = (pid_t)strtol(entry->d_name, NULL, 10);
			n++;
		}
		(void)fclose(file);
	}
	if (directory)
		(void)closedir(directory);
	return n;
}

static void await_end_of(pid_t pid)
{
	for (int i = 0; i < 2000 && kill(pid, 0) == 0; i++)
		(void)usleep(10000);
	cr_expect_lt(kill(pid, 0), 0, "the symbolizer still runs");
}

/* Receives the unit's first message. Returns its size, or 0 if the unit closes the connection at once. */
static ssize_t hears(struct child *ret)
{
	char packet[256];
	ssize_t n;

	do {
		n = symbols_socket_receive(ret, packet, sizeof(packet));
	} while (n < 0 && errno == EAGAIN && usleep(10000) == 0);
	return n;
}

/*
 * Connects as user `uid`. Returns 0 if the unit sends its first message, 1 if it closes the connection, or 2
 * if the kernel refuses to connect.
 */
static int asks_as(uid_t uid)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		struct child child = CHILD_NONE;

		if (setgid(uid) < 0 || setuid(uid) < 0)
			_exit(3);
		if (symbols_socket_connect(address.sun_path, &child) < 0)
			_exit(2);
		_exit(hears(&child) > 0 ? 0 : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

Test(symbols_socket, names_come_from_the_process_of_the_unit)
{
	pid_t worker = 0, own = 0;

	open_unit(0);
	open_symbols(0);
	expect_name(a_function_of_this_test, "a_function_of_this_test");
	cr_expect_eq(children_of(unit, &worker), 1);
	cr_expect_eq(children_of(getpid(), &own), 1);
	cr_expect_eq(own, unit, "pebsd has run one itself");
	cr_expect_eq(symbols_counts(symbols).starts, 1);
	symbols = symbols_free(symbols);
	await_end_of(worker);
}

Test(symbols_socket, the_answer_has_the_pid_of_the_worker)
{
	struct child child = CHILD_NONE;
	pid_t worker = 0;

	open_unit(0);
	cr_assert_eq(symbols_socket_connect(address.sun_path, &child), 0);
	cr_assert_gt(hears(&child), 0);
	cr_expect_eq(children_of(unit, &worker), 1);
	cr_expect_eq(child.pid, worker);
	child_kill(&child);
	await_end_of(worker);
}

Test(symbols_socket, only_root_and_the_owner_of_the_socket_can_ask)
{
	open_unit(0);
	cr_assert_eq(chmod(address.sun_path, 0666), 0);
	cr_expect_eq(asks_as(0), 0);
	cr_expect_eq(asks_as(STRANGER), 1);
	cr_expect_eq(asks_as(OWNER), 1);
	cr_assert_eq(chmod(address.sun_path, 0600), 0);
	cr_expect_eq(asks_as(STRANGER), 2);
}

Test(symbols_socket, the_owner_that_systemd_set_can_ask)
{
	int fd = listen_there();

	cr_assert_eq(chown(address.sun_path, OWNER, 0), 0);
	unit = fork();
	if (unit == 0)
		_exit(symbols_unit(
			&(struct symbols_unit_settings){.listening = fd, .program = "/proc/self/exe"}));
	(void)close(fd);
	cr_assert_eq(chmod(address.sun_path, 0666), 0);
	cr_expect_eq(asks_as(OWNER), 0);
	cr_expect_eq(asks_as(0), 0);
	cr_expect_eq(asks_as(STRANGER), 1);
}

/* Any user who can write to the socket's directory could put a socket there. */
Test(symbols_socket, a_socket_not_created_by_root_is_not_used)
{
	struct child child = CHILD_NONE;
	int report[2], status = 0;
	char byte = 0;
	pid_t impostor;

	cr_assert_eq(pipe(report), 0);
	cr_assert_eq(chmod(place, 0777), 0);
	impostor = fork();
	if (impostor == 0) {
		int fd, asked;

		if (setgid(STRANGER) < 0 || setuid(STRANGER) < 0)
			_exit(3);
		fd = listen_there();
		(void)!write(report[1], "x", 1);
		/* Accept two connections, of this test and of `symbols`. Neither may send anything. */
		for (int i = 0; i < 2; i++)
			if ((asked = accept(fd, NULL, NULL)) < 0 || recv(asked, &byte, 1, 0) != 0)
				_exit(4);
		_exit(0);
	}
	cr_assert_eq(read(report[0], &byte, 1), 1);
	cr_expect_eq(symbols_socket_connect(address.sun_path, &child), -EPERM);
	open_symbols(0);
	expect_name(a_function_of_this_test, "a_function_of_this_test");
	cr_assert_eq(waitpid(impostor, &status, 0), impostor);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the impostor was asked (%d)", status);
	(void)close(report[0]);
	(void)close(report[1]);
}

Test(symbols_socket, without_a_unit_the_symbolizer_is_a_child)
{
	pid_t worker = 0;

	open_symbols(0);
	expect_name(a_function_of_this_test, "a_function_of_this_test");
	cr_expect_eq(children_of(getpid(), &worker), 1);
}

Test(symbols_socket, a_worker_that_dies_loses_a_name_and_is_started_again)
{
	pid_t worker = 0;

	open_unit(0);
	open_symbols(0);
	expect_name(a_function_of_this_test, "a_function_of_this_test");
	cr_assert_eq(children_of(unit, &worker), 1);
	cr_assert_eq(kill(worker, SIGKILL), 0);
	for (int i = 0; i < 20 && symbols_counts(symbols).running; i++)
		(void)sd_event_run(event, 1000000);
	cr_expect_not(symbols_counts(symbols).running);
	expect_name(another_function_of_this_test, "another_function_of_this_test");
	cr_expect_eq(symbols_counts(symbols).starts, 2);
}

Test(symbols_socket, a_hanging_worker_is_abandoned_and_killed_by_the_unit)
{
	pid_t worker = 0;

	open_unit(0);
	open_symbols(NSEC_PER_SEC);
	expect_name(a_function_of_this_test, "a_function_of_this_test");
	cr_assert_eq(children_of(unit, &worker), 1);
	cr_assert_eq(kill(worker, SIGSTOP), 0);
	cr_expect_eq(answer_of((u64)(uintptr_t)another_function_of_this_test)->n_frames, 0U);
	cr_expect_eq(symbols_counts(symbols).lost, 1);
	await_end_of(worker);
	expect_name(third_function_of_this_test, "third_function_of_this_test");
}

Test(symbols_socket, a_hanging_unit_loses_only_names)
{
	open_unit(0);
	open_symbols(NSEC_PER_SEC / 5);
	cr_assert_eq(kill(unit, SIGSTOP), 0);
	cr_expect_eq(answer_of((u64)(uintptr_t)a_function_of_this_test)->n_frames, 0U);
	cr_expect_not(symbols_counts(symbols).running);
	cr_expect_eq(symbols_pending(symbols), 0);
	cr_assert_eq(kill(unit, SIGCONT), 0);
}

Test(symbols_socket, connections_beyond_the_maximum_are_refused)
{
	struct child asked[SYMBOLS_UNIT_CLIENTS_MAX], more = CHILD_NONE;

	open_unit(0);
	for (size_t i = 0; i < SYMBOLS_UNIT_CLIENTS_MAX; i++) {
		cr_assert_eq(symbols_socket_connect(address.sun_path, &asked[i]), 0);
		cr_assert_gt(hears(&asked[i]), 0);
	}
	cr_assert_eq(symbols_socket_connect(address.sun_path, &more), 0);
	cr_expect_eq(hears(&more), 0);
	child_kill(&more);
	for (size_t i = 0; i < SYMBOLS_UNIT_CLIENTS_MAX; i++) {
		child_kill(&asked[i]);
		await_end_of(asked[i].pid);
	}
	cr_assert_eq(symbols_socket_connect(address.sun_path, &more), 0);
	cr_expect_gt(hears(&more), 0);
	child_kill(&more);
}

/* The bytes of a client are read only by a process that can be replaced, and by no other part of the unit. */
Test(symbols_socket, an_invalid_request_closes_only_its_connection)
{
	struct child child = CHILD_NONE;
	struct child other = CHILD_NONE;

	open_unit(0);
	cr_assert_eq(symbols_socket_connect(address.sun_path, &child), 0);
	cr_assert_eq(symbols_socket_connect(address.sun_path, &other), 0);
	cr_assert_gt(hears(&child), 0);
	cr_assert_gt(hears(&other), 0);
	cr_assert_gt(send(child.socket, "nonsense, nonsense, nonsense", 28, MSG_NOSIGNAL), 0);
	cr_expect_leq(hears(&child), 0);
	cr_expect_eq(kill(other.pid, 0), 0);
	open_symbols(0);
	expect_name(a_function_of_this_test, "a_function_of_this_test");
	child_kill(&child);
	child_kill(&other);
}

Test(symbols_socket, executable_mappings_of_a_process_are_reported)
{
	struct child connection = CHILD_NONE;
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *gone = NULL;

	open_unit(0);
	cr_assert_eq(prctl(PR_SET_NAME, "a test"), 0);
	cr_assert_eq(symbols_socket_code(address.sun_path, &connection, (u32)getpid(), &text), 0);
	cr_expect_eq(strncmp(text, "a test\n", 7), 0, "%s", text);
	cr_expect_not_null(strstr(text, "test_symbols_socket\n"));
	cr_expect_not_null(strstr(text, " r-xp "));
	cr_expect_null(strstr(text, " rw-p "), "only executable mappings are listed");
	cr_expect_eq(symbols_socket_code(address.sun_path, &connection, 0x7fffffff, &gone), 0);
	cr_expect_str_eq(gone, "\n");
	child_kill(&connection);
}

Test(symbols_socket, an_unanswerable_request_closes_the_connection)
{
	struct child connection = CHILD_NONE;
	char *text = NULL;

	cr_expect_eq(symbols_socket_code(address.sun_path, &connection, 1, &text), -ENOENT);
	cr_expect_lt(connection.socket, 0);
	cr_expect_null(text);
}

Test(symbols_socket, the_unit_ends_when_idle)
{
	int status = -1;

	open_unit(NSEC_PER_SEC / 5);
	open_symbols(0);
	expect_name(a_function_of_this_test, "a_function_of_this_test");
	(void)usleep(500000);
	cr_expect_eq(waitpid(unit, &status, WNOHANG), 0, "it ended while pebsd was connected");
	symbols = symbols_free(symbols);
	cr_assert_eq(waitpid(unit, &status, 0), unit);
	unit = 0;
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE);
}

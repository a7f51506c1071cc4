// SPDX-License-Identifier: GPL-2.0
/*
 * Names for a stripped program whose debug information only a server has. The symbolizer asks the server
 * through libdebuginfod, confined as pebsd confines it. The symbolizer is this program in another process. The
 * server is a thread of the test.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "subject.h"
#include "symbols/resolver/symbols_worker.h"
#include "symbols/symbols.h"

__attribute__((constructor)) static void work(int argc, char *argv[])
{
	const char *debuginfod = getenv("DEBUGINFOD_URLS");

	if (argc == 2 && strcmp(argv[1], "--symbolizer") == 0)
		_exit(symbols_worker(STDIN_FILENO, debuginfod && *debuginfod));
}

enum manner { ANSWERS, HAS_NOTHING, SAYS_NOTHING };

static struct {
	struct MHD_Daemon *daemon;
	enum manner manner;
	char *file; /* the file that the server sends */
	atomic_uint asked;
	char url[128]; /* last URL that was requested */
} server;

static sd_event *event;
static struct symbols *symbols;
static struct subject subject;
static char *directory;

static enum MHD_Result answer(void *userdata, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	struct MHD_Response *response = NULL;
	enum MHD_Result result;
	struct stat found;
	int fd;

	(void)userdata;
	(void)version;
	(void)upload;
	*upload_size = 0;
	(void)state;
	if (strcmp(method, "GET") != 0)
		return MHD_NO;
	(void)snprintf(server.url, sizeof(server.url), "%s", url);
	atomic_fetch_add(&server.asked, 1);
	if (server.manner == SAYS_NOTHING) {
		MHD_suspend_connection(connection);
		return MHD_YES;
	}
	fd = server.manner == ANSWERS ? open(server.file, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0 && fstat(fd, &found) == 0)
		response = MHD_create_response_from_fd((size_t)found.st_size, fd);
	if (response) {
		result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	} else {
		response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
		result = MHD_queue_response(connection, MHD_HTTP_NOT_FOUND, response);
	}
	MHD_destroy_response(response);
	return result;
}

static char *in_directory(const char *name)
{
	char *path;

	cr_assert_geq(asprintf(&path, "%s/%s", directory, name), 0);
	return path;
}

/* Builds a program and moves its symbols to the file `debug`. The program runs without them. */
static void begin(void)
{
	_cleanup_free_ char *program = NULL, *cache = NULL;

	directory = subject_directory();
	program = in_directory("subject");
	cache = in_directory("cache");
	server.file = in_directory("debug");
	subject_build(program, "-g -pie -fPIE");
	subject_run("objcopy --only-keep-debug '%s' '%s'", program, server.file);
	subject_run("strip '%s'", program);
	subject = subject_start(program, NULL, NULL);
	cr_assert_eq(setenv("DEBUGINFOD_CACHE_PATH", cache, 1), 0);
	server.daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer, NULL,
		MHD_OPTION_SOCK_ADDR,
		&(struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
		MHD_OPTION_END);
	cr_assert_not_null(server.daemon);
	cr_assert_geq(sd_event_new(&event), 0);
}

static void start_symbols(void)
{
	struct symbols_settings settings = {.event = event, .program = "/proc/self/exe"};
	char url[64];

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u",
		       MHD_get_daemon_info(server.daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	settings.debuginfod = url;
	cr_assert_eq(symbols_new(&settings, &symbols), 0);
}

static void end(void)
{
	symbols = symbols_free(symbols);
	event = sd_event_unref(event);
	/*
	 * A daemon with a suspended connection cannot be stopped. Only the exit of this process ends such a
	 * daemon.
	 */
	if (server.manner != SAYS_NOTHING)
		MHD_stop_daemon(server.daemon);
	subject_stop(&subject);
	free(server.file);
	subject_remove(directory);
}

TestSuite(debuginfod, .init = begin, .fini = end);

static const struct symbol *answer_of(u64 address, enum symbol_kind kind)
{
	const struct symbol_query query = {.address = address, .pid = (u32)subject.pid, .kind = kind};
	const struct symbol *symbol;

	while (!(symbol = symbols_find(symbols, &query)))
		cr_assert_geq(sd_event_run(event, 30 * 1000000ULL), 1, "nothing comes");
	return symbol;
}

/* Expects the names and source lines of code, and the name of data. */
static void expect_names(void)
{
	const struct symbol *symbol = answer_of(subject.inlined, SYMBOL_CODE);

	cr_assert_eq(symbol->n_frames, 2);
	cr_expect_str_eq(symbol->frames[0].name, "stands_in");
	cr_expect_eq(symbol->frames[0].line, SUBJECT_INLINED_LINE);
	cr_expect_str_eq(symbol->frames[1].name, "looked_at");
	cr_expect_eq(symbol->frames[1].line, SUBJECT_CALL_LINE);
	symbol = answer_of(subject.data, SYMBOL_DATA);
	cr_assert_eq(symbol->n_frames, 1);
	cr_expect_str_eq(symbol->frames[0].name, "with_value");
}

/* Expects an unknown name, but with the module and the offset in it. */
static void expect_unknown(void)
{
	const struct symbol *symbol = answer_of(subject.function, SYMBOL_CODE);
	_cleanup_free_ char *text = symbol_text(symbol), *expected = NULL;

	cr_expect_eq(symbol->region, SYMBOL_FILE);
	cr_expect_eq(symbol->n_frames, 0);
	cr_assert_geq(asprintf(&expected, "[unknown] %s/subject+0x", directory), 0);
	cr_expect_eq(strncmp(text, expected, strlen(expected)), 0, "%s", text);
}

Test(debuginfod, a_stripped_program_has_the_names_that_a_server_has_of_it)
{
	char expected[128] = "/buildid/";
	const struct symbol *symbol;
	size_t length;

	start_symbols();
	expect_names();
	symbol = answer_of(subject.function, SYMBOL_CODE);
	length = strlen(expected);
	cr_assert_eq(symbol->build_id_size, 20);
	for (size_t i = 0; i < symbol->build_id_size; i++)
		length += (size_t)sprintf(expected + length, "%02x", symbol->build_id[i]);
	memcpy(expected + length, "/debuginfo", sizeof("/debuginfo"));
	cr_expect_str_eq(server.url, expected);
	cr_expect_eq(atomic_load(&server.asked), 1);

	/* The file is cached, so the server is not asked again. */
	symbols = symbols_free(symbols);
	start_symbols();
	expect_names();
	cr_expect_eq(atomic_load(&server.asked), 1);
}

Test(debuginfod, a_name_that_no_server_has_is_asked_for_once)
{
	server.manner = HAS_NOTHING;
	start_symbols();
	expect_unknown();
	(void)answer_of(subject.data, SYMBOL_DATA);
	(void)answer_of(subject.inlined, SYMBOL_CODE);
	cr_expect_eq(atomic_load(&server.asked), 1);
	cr_expect_eq(symbols_counts(symbols).starts, 1);
	cr_expect_eq(symbols_counts(symbols).lost, 0);
}

Test(debuginfod, names_of_another_program_are_not_used)
{
	_cleanup_free_ char *other = in_directory("other");

	subject_build(other, "-g -O2 -pie -fPIE");
	free(server.file);
	server.file = TAKE_PTR(other);
	start_symbols();
	expect_unknown();
	cr_expect_eq(symbols_counts(symbols).lost, 0);
}

Test(debuginfod, a_silent_server_costs_names_but_no_symbolizer)
{
	unsigned int asked;

	server.manner = SAYS_NOTHING;
	start_symbols();
	expect_unknown();
	/* The library itself sends several requests. */
	asked = atomic_load(&server.asked);
	cr_expect_geq(asked, 1);
	(void)answer_of(subject.data, SYMBOL_DATA);
	cr_expect_eq(atomic_load(&server.asked), asked, "asked again for each kind of name");
	cr_expect_eq(symbols_counts(symbols).starts, 1);
	cr_expect_eq(symbols_counts(symbols).lost, 0);
}

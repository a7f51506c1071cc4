// SPDX-License-Identifier: GPL-2.0
/*
 * `pebsctl top` on terminals that libvterm emulates, and without a terminal. The figures of the daemon are
 * made up.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon_process.h"
#include "terminal.h"

#define WAIT_MS 60000
#define CGROUP  "nginx"

static struct daemon_process daemon_process;

static void start_program(const char *path, char *const *arguments)
{
	daemon_process_start(&daemon_process, path, arguments, -1);
	for (int i = 0; i < WAIT_MS / 20 && access(daemon_process.socket_path, F_OK) < 0; i++)
		(void)usleep(20000);
	cr_assert_eq(access(daemon_process.socket_path, F_OK), 0, "the daemon does not listen");
}

static void start_daemon(const char *kind)
{
	char *const arguments[] = {"fake_daemon", daemon_process.socket_path, (char *)kind, NULL};
	_cleanup_free_ char *path = NULL;

	cr_assert_geq(asprintf(&path, "%s/fake_daemon", program_path("TOOLS")), 0);
	start_program(path, arguments);
}

static void start_model(void)
{
	char *const arguments[] = {"pebsd",    "--config", "/dev/null",
				   "--origin", "model",    "--listen",
				   "none",     "--socket", daemon_process.socket_path,
				   NULL};

	start_program(program_path("PEBSD"), arguments);
}

static void setup(void)
{
	daemon_process_init(&daemon_process);
}

static void teardown(void)
{
	daemon_process_done(&daemon_process);
}

TestSuite(top_screen, .init = setup, .fini = teardown);

static struct terminal *run(const struct terminal_settings *settings, const char *option, const char *value)
{
	char *arguments[] = {"pebsctl",     "--socket", daemon_process.socket_path, "top", (char *)option,
			     (char *)value, NULL};
	struct terminal *terminal = terminal_run(settings, program_path("PEBSCTL"), arguments);

	cr_assert_not_null(terminal);
	return terminal;
}

static struct terminal *run_plain(int columns, int rows)
{
	return run(
		&(struct terminal_settings){
			.type = "xterm-256color", .locale = "C.UTF-8", .columns = columns, .rows = rows},
		NULL, NULL);
}

static void expect(struct terminal *terminal, const char *text)
{
	_cleanup_free_ char *screen = NULL;
	bool shown = terminal_wait(terminal, text, true, WAIT_MS);

	screen = terminal_text(terminal);
	cr_assert(shown, "no '%s' on\n%s", text, screen);
}

static void expect_gone(struct terminal *terminal, const char *text)
{
	_cleanup_free_ char *screen = NULL;
	bool gone = terminal_wait(terminal, text, false, WAIT_MS);

	screen = terminal_text(terminal);
	cr_assert(gone, "still '%s' on\n%s", text, screen);
}

static void press(struct terminal *terminal, const char *keys, const char *wanted)
{
	terminal_type(terminal, keys);
	expect(terminal, wanted);
}

/* Returns line `number` of the screen, from 0. The caller frees it. */
static char *line_of(const struct terminal *terminal, int number)
{
	_cleanup_free_ char *screen = terminal_text(terminal);
	const char *at = screen;

	while (number-- > 0)
		at = strchr(at, '\n') + 1;
	return strndup(at, strcspn(at, "\n"));
}

static void quit(struct terminal *terminal)
{
	int status;

	terminal_type(terminal, "q");
	status = terminal_wait_end(terminal, WAIT_MS);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned int)status);
	terminal_free(terminal);
}

/* Waits until the line has the text, because the screen may be drawn in parts. The caller frees the line. */
static char *line_with(struct terminal *terminal, int number, const char *text)
{
	char *line = line_of(terminal, number);

	for (int i = 0; i < WAIT_MS / 20 && !strstr(line, text); i++) {
		(void)usleep(20000);
		terminal_watch(terminal, 20);
		free(line);
		line = line_of(terminal, number);
	}
	cr_assert_not_null(strstr(line, text), "line %d is '%s'", number, line);
	return line;
}

static void expect_keys_in_last_line(struct terminal *terminal, int rows)
{
	free(line_with(terminal, rows - 1, "q quit"));
}

Test(top_screen, the_screen_fits_terminals_of_any_size)
{
	static const struct {
		int columns, rows;
	} sizes[] = {{80, 24}, {200, 50}, {40, 10}, {80, 6}, {20, 6}, {300, 100}};

	start_daemon("live");
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct terminal *terminal = run_plain(sizes[i].columns, sizes[i].rows);
		_cleanup_free_ char *heads = NULL;

		expect(terminal, "q quit");
		expect_keys_in_last_line(terminal, sizes[i].rows);
		heads = line_with(terminal, 3, "CGROUP");
		cr_expect_eq(!strstr(heads, "TREND"), sizes[i].columns < 80, "%s", heads);
		cr_expect_eq(!strstr(heads, "P99"), sizes[i].columns < 40, "%s", heads);
		if (sizes[i].columns >= 80 && sizes[i].rows >= 24)
			expect(terminal, CGROUP);
		quit(terminal);
	}
}

Test(top_screen, the_screen_follows_a_resize)
{
	struct terminal *terminal;

	start_daemon("live");
	terminal = run_plain(80, 24);
	expect(terminal, CGROUP);
	terminal_resize(terminal, 120, 40);
	expect(terminal, "p paths");
	expect_keys_in_last_line(terminal, 40);
	terminal_resize(terminal, 60, 12);
	expect_gone(terminal, "TREND");
	expect_keys_in_last_line(terminal, 12);
	quit(terminal);
}

static void expect_restored(struct terminal *terminal, const struct termios *before)
{
	struct termios after;
	const char *written = terminal_written(terminal);

	cr_assert_eq(tcgetattr(terminal_fd(terminal), &after), 0);
	cr_expect_eq(after.c_lflag, before->c_lflag);
	cr_expect_eq(after.c_iflag, before->c_iflag);
	cr_expect_eq(after.c_oflag, before->c_oflag);
	cr_expect_arr_eq(after.c_cc, before->c_cc, sizeof(after.c_cc));
	cr_expect_not_null(strstr(written, "\033[?1049l"), "the screen from before is back");
	cr_expect_not_null(strstr(written, "\033[?1049h"));
}

Test(top_screen, the_end_restores_the_terminal)
{
	static const char *const ends[] = {"q", "Q", "\003"};

	start_daemon("live");
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct terminal *terminal = run(&(struct terminal_settings){.type = "xterm",
									    .locale = "C.UTF-8",
									    .columns = 80,
									    .rows = 24,
									    .stopped = true},
						NULL, NULL);
		struct termios before, during;
		int status;

		cr_assert_eq(tcgetattr(terminal_fd(terminal), &before), 0);
		cr_assert_eq(kill(terminal_pid(terminal), SIGCONT), 0);
		expect(terminal, CGROUP);
		cr_assert_eq(tcgetattr(terminal_fd(terminal), &during), 0);
		cr_expect_eq(during.c_lflag & (tcflag_t)(ICANON | ECHO), 0, "keys are taken as they are hit");
		terminal_type(terminal, ends[i]);
		status = terminal_wait_end(terminal, WAIT_MS);
		cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned int)status);
		expect_restored(terminal, &before);
		terminal_free(terminal);
	}
}

Test(top_screen, keys_sort_filter_open_and_freeze)
{
	struct terminal *terminal;

	start_daemon("live");
	terminal = run_plain(80, 24);
	expect(terminal, ">LAT%");
	press(terminal, "s", ">SMP/S");
	press(terminal, "ss", ">P99");
	press(terminal, "S", ">MEAN");
	press(terminal, "/", "filter: _");
	press(terminal, "ngxx\177", "filter: ngx_");
	press(terminal, "\033", "q quit");
	press(terminal, "/n*x.s\r", "1 cgroup");
	expect(terminal, CGROUP);
	expect_gone(terminal, "journald");
	press(terminal, "\r", "CYCLES");
	expect(terminal, "Path: /system.slice/nginx.service");
	expect(terminal, "Trend: the last 10min 0s, 10s per cell");
	expect(terminal, "lines 1-");
	press(terminal, "\033OF", "Every line not shown"); /* End: below the histogram is the hottest code */
	free(line_with(terminal, 1, CGROUP));              /* the head stays */
	press(terminal, "\033", "filter n*x.s");
	press(terminal, "\033", "9 cgroups");
	press(terminal, "d", "SUBTREE");
	expect(terminal, "system+");
	press(terminal, "-", "sums to depth 1");
	press(terminal, "d", "9 cgroups");
	press(terminal, "w", "window 1min");
	press(terminal, "t", "TREND 1m");
	press(terminal, "h", "keys and columns");
	press(terminal, "x", "LAT%");
	press(terminal, " ", "FROZEN at");
	press(terminal, "s", "frozen: press space to continue");
	terminal_type(terminal, " ");
	expect_gone(terminal, "FROZEN");
	quit(terminal);
}

Test(top_screen, a_frozen_screen_does_not_change)
{
	_cleanup_free_ char *before = NULL, *after = NULL;
	struct terminal *terminal;

	start_daemon("live");
	terminal = run_plain(80, 24);
	expect(terminal, CGROUP);
	press(terminal, " ", "FROZEN at");
	/* Output that is still on its way may come first. Without the space bar, the screen changes each second. */
	for (int i = 0; i < 3 && (!after || strcmp(after, before) != 0); i++) {
		free(before);
		before = after ? TAKE_PTR(after) : terminal_text(terminal);
		terminal_watch(terminal, 2500);
		after = terminal_text(terminal);
	}
	cr_expect_str_eq(after, before);
	quit(terminal);
}

/* A page that is opened meanwhile has later figures, and a time of its own. */
Test(top_screen, a_frozen_table_keeps_its_time)
{
	_cleanup_free_ char *before = NULL, *page = NULL, *after = NULL;
	struct terminal *terminal;

	start_model();
	terminal = run_plain(100, 24);
	expect(terminal, "\n>");
	press(terminal, " ", "FROZEN at");
	before = line_with(terminal, 0, "FROZEN at");
	terminal_watch(terminal, 2500);
	press(terminal, "\r", "lines 1-");
	page = line_with(terminal, 0, "FROZEN");
	press(terminal, "\033", "SMP/S");
	after = line_with(terminal, 0, "FROZEN at");
	cr_expect_str_eq(after, before, "%s; %s", after, page);
	quit(terminal);
}

/*
 * Waits until another name than `before` is marked. Returns "> " and the marked name, which the caller frees.
 */
static char *marked_after(struct terminal *terminal, const char *before)
{
	for (int i = 0; i < WAIT_MS / 20; i++) {
		_cleanup_free_ char *screen = terminal_text(terminal);
		const char *at = strstr(screen, "\n>");
		size_t length = at ? 2 + strcspn(at + 3, " ") : 0;

		if (length > 2 && (strlen(before) != length || strncmp(at + 1, before, length) != 0))
			return strndup(at + 1, length);
		(void)usleep(20000);
		terminal_watch(terminal, 20);
	}
	cr_assert_fail("the mark does not leave %s", before);
	return NULL;
}

/* The marked cgroup stays marked when it moves to another line. */
Test(top_screen, the_mark_follows_its_cgroup)
{
	static const char first[] = "> postgresql@15-main";
	_cleanup_free_ char *second = NULL, *marked = NULL;
	struct terminal *terminal;

	start_daemon("live");
	terminal = run_plain(160, 24);
	expect(terminal, first);
	expect(terminal, CGROUP);
	terminal_type(terminal, "\033OB");
	second = marked_after(terminal, first);
	terminal_type(terminal, "\033[B");
	marked = marked_after(terminal, second);
	cr_expect_null(strstr(marked, "postgresql"), "the third is marked, not %s", marked);
	press(terminal, "sss", ">P99");
	expect(terminal, marked);
	press(terminal, "\033[H\033OA", "> init");
	quit(terminal);
}

static void expect_no_colour(const struct terminal *terminal, int columns, int rows)
{
	for (int row = 0; row < rows; row++)
		for (int column = 0; column < columns; column++) {
			struct terminal_cell cell = terminal_cell(terminal, row, column);

			cr_assert(cell.colour == -1 && cell.behind == -1, "row %d, column %d", row, column);
		}
}

Test(top_screen, the_screen_works_without_colour)
{
	struct terminal *terminal;
	bool coloured = false;

	start_daemon("live");
	terminal = run(
		&(struct terminal_settings){.type = "vt100", .locale = "C.UTF-8", .columns = 80, .rows = 24},
		NULL, NULL);
	expect(terminal, CGROUP);
	expect(terminal, "1111");
	expect_no_colour(terminal, 80, 24);
	quit(terminal);

	terminal = run_plain(80, 24);
	expect(terminal, "1111");
	for (int i = 0; i < WAIT_MS / 20 && !coloured; i++) {
		for (int column = 0; column < 80; column++)
			coloured = coloured || terminal_cell(terminal, 5, column).behind >= 0;
		(void)usleep(20000);
		terminal_watch(terminal, 20);
	}
	cr_expect(coloured, "where there is some, the bar has it");
	quit(terminal);
}

/* Waits until the whole screen is drawn. Returns whether any cell has a colour. */
static bool screen_has_colour(const char *option, const char *value)
{
	const struct terminal_settings settings = {
		.type = "xterm-256color", .locale = "C.UTF-8", .columns = 80, .rows = 24};
	struct terminal *terminal = run(&settings, option, value);
	bool coloured = false;

	expect(terminal, "1111");
	expect(terminal, "q quit");
	for (int row = 0; row < settings.rows; row++)
		for (int column = 0; column < settings.columns; column++) {
			struct terminal_cell cell = terminal_cell(terminal, row, column);

			coloured |= cell.colour >= 0 || cell.behind >= 0;
		}
	quit(terminal);
	return coloured;
}

Test(top_screen, no_color_and_the_option_decide_on_colours)
{
	start_daemon("live");
	cr_assert_eq(setenv("NO_COLOR", "1", 1), 0);
	cr_expect_not(screen_has_colour(NULL, NULL));
	cr_expect(screen_has_colour("--color", "always"));
	cr_assert_eq(setenv("NO_COLOR", "", 1), 0);
	cr_expect(screen_has_colour(NULL, NULL));
	cr_expect_not(screen_has_colour("--color", "never"));
}

Test(top_screen, names_cannot_reach_the_terminal)
{
	static const char *const locales[] = {"C.UTF-8", "C"};

	start_daemon("live");
	for (size_t i = 0; i < ARRAY_SIZE(locales); i++) {
		struct terminal *terminal = run(
			&(struct terminal_settings){
				.type = "xterm-256color", .locale = locales[i], .columns = 160, .rows = 24},
			NULL, NULL);

		expect(terminal, "with space\\x1b[31m and colour");
		cr_expect_null(strstr(terminal_written(terminal), "\033[31m and"));
		/* NOLINTNEXTLINE(misc-misleading-bidirectional): such a character is tested */
		cr_expect_null(strstr(terminal_written(terminal), "\xe2\x80\xae"), "nothing turns the line");
		expect(terminal, i == 0 ? "日本-e\\xcc\\x81-\\xe2\\x80\\xae" : "\\xe6\\x97\\xa5");
		for (const char *at = terminal_written(terminal); i == 1 && *at; at++)
			cr_assert_gt(*at, 0, "a byte that is not ASCII: %02x", (unsigned char)*at);
		quit(terminal);
	}
}

Test(top_screen, times_are_local)
{
	struct terminal *terminal;

	cr_assert_eq(setenv("TZ", "XYZ-5:30", 1), 0);
	start_daemon("live");
	terminal = run_plain(80, 24);
	expect(terminal, " XYZ");
	expect_gone(terminal, "UTC");
	(void)daemon_process_stop(&daemon_process);
	expect(terminal, "lost connection to pebsd at");
	expect(terminal, " XYZ (");
	terminal_free(terminal);
}

Test(top_screen, top_reconnects_to_a_restarted_daemon)
{
	struct terminal *terminal;
	int status;

	start_daemon("live");
	terminal = run_plain(80, 24);
	expect(terminal, CGROUP);
	(void)daemon_process_stop(&daemon_process);
	expect(terminal, "lost connection to pebsd at");
	expect(terminal, CGROUP);
	start_daemon("live");
	expect_gone(terminal, "lost connection to pebsd at");
	/* A daemon that is stopped does not prevent users from leaving. */
	(void)kill(daemon_process.pid, SIGSTOP);
	terminal_watch(terminal, 1500);
	terminal_type(terminal, "q");
	status = terminal_wait_end(terminal, WAIT_MS);
	(void)kill(daemon_process.pid, SIGCONT);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned int)status);
	terminal_free(terminal);
}

Test(top_screen, ten_thousand_cgroups_are_shown)
{
	struct terminal *terminal;

	start_daemon("many");
	terminal = run_plain(100, 24);
	expect(terminal, "10000 cgroups");
	press(terminal, "\033[F", "> c09999");
	press(terminal, "\033[5~", "> c09980");
	press(terminal, "\r", "Path: /many.slice/many-99.slice/c09980.service");
	press(terminal, "\033", "> c09980");
	press(terminal, "/42.*/c042?9\r", "10 cgroups");
	quit(terminal);
}

Test(top_screen, the_limit_is_applied)
{
	const struct terminal_settings settings = {
		.type = "xterm", .locale = "C.UTF-8", .columns = 100, .rows = 24};
	struct terminal *terminal;

	start_daemon("many");
	terminal = run(&settings, "-n", "3");
	expect(terminal, "3 cgroups");
	press(terminal, "\033[F", "> c00002");
	quit(terminal);
	terminal = run(&settings, "--depth", "1");
	expect(terminal, ">!/+");
	expect(terminal, "many+");
	quit(terminal);
}

static char *output_of(const char *environment, const char *arguments, int *ret_status)
{
	_cleanup_free_ char *command = NULL;
	char *page = calloc(1, 65536);
	FILE *out;

	cr_assert_not_null(page);
	cr_assert_geq(asprintf(&command, "%s %s --socket %s %s </dev/null 2>&1", environment,
			       program_path("PEBSCTL"), daemon_process.socket_path, arguments),
		      0);
	out = popen(command, "r");
	cr_assert_not_null(out);
	page[fread(page, 1, 65535, out)] = '\0';
	*ret_status = pclose(out);
	return page;
}

Test(top_screen, without_a_terminal_one_page_is_printed)
{
	_cleanup_free_ char *page = NULL, *sums = NULL, *wrong = NULL;
	struct terminal *terminal;
	int status;

	start_daemon("live");
	page = output_of("TERM=xterm", "top", &status);
	cr_expect_eq(status, 0);
	cr_expect_not_null(strstr(page, CGROUP), "%s", page);
	cr_expect_null(strchr(page, '\033'), "%s", page);
	cr_expect_null(strchr(page, '\r'), "%s", page);

	sums = output_of("TERM=xterm", "top --depth 1 --filter system", &status);
	cr_expect_eq(status, 0);
	cr_expect_not_null(strstr(sums, "system+ "), "%s", sums);
	cr_expect_not_null(strstr(sums, "+ the sum of a subtree"), "%s", sums);
	cr_expect_null(strstr(sums, "init "), "%s", sums);

	terminal = run(
		&(struct terminal_settings){.type = "dumb", .locale = "C.UTF-8", .columns = 80, .rows = 60},
		NULL, NULL);
	cr_expect_eq(terminal_wait_end(terminal, WAIT_MS), 0, "one page, and no screen");
	cr_expect_null(strchr(terminal_written(terminal), '\033'));
	cr_expect_not_null(strstr(terminal_written(terminal), CGROUP));
	terminal_free(terminal);
	terminal = run(
		&(struct terminal_settings){
			.type = "nothing-is-known-of-this", .locale = "C.UTF-8", .columns = 80, .rows = 60},
		NULL, NULL);
	cr_expect_eq(terminal_wait_end(terminal, WAIT_MS), 0);
	cr_expect_not_null(strstr(terminal_written(terminal), CGROUP));
	terminal_free(terminal);

	wrong = output_of("TERM=xterm", "top --depth 100", &status);
	cr_expect_eq(WEXITSTATUS(status), 2, "%s", wrong);
}

/* Refusals come before the screen is taken over, and exit with the same codes as other verbs. */
Test(top_screen, failures_leave_the_terminal_alone)
{
	const struct terminal_settings settings = {
		.type = "xterm", .locale = "C.UTF-8", .columns = 80, .rows = 24};
	struct terminal *terminal = run(&settings, NULL, NULL);
	int status = terminal_wait_end(terminal, WAIT_MS);

	cr_expect_eq(WEXITSTATUS(status), 3);
	cr_expect_not_null(strstr(terminal_written(terminal), "no daemon answers"));
	cr_expect_null(strchr(terminal_written(terminal), '\033'));
	terminal_free(terminal);

	start_daemon("live");
	terminal = run(&settings, "--sort", "nonsense");
	status = terminal_wait_end(terminal, WAIT_MS);
	cr_expect_eq(WEXITSTATUS(status), 2);
	cr_expect_null(strchr(terminal_written(terminal), '\033'));
	terminal_free(terminal);
}

Test(top_screen, keys_list_alerts_explain_and_zoom)
{
	struct terminal *terminal;

	start_daemon("live");
	terminal = run_plain(100, 24);
	expect(terminal, "3 alerts firing (a)");
	expect(terminal, CGROUP);
	press(terminal, "a", ">!firing");
	expect(terminal, "3 firing, 0 pending, 0 unknown, 0 resolved in the last hour");
	press(terminal, "\033[F\r", "Rule: slow-db");
	press(terminal, "\033", "3 firing,");
	press(terminal, "\033", "SOURCES:");
	press(terminal, "x", "No alert of this cgroup is firing, pending or unknown, and none");
	expect(terminal, "Suspected: batch");
	press(terminal, "z", "for 10s?  Enter: start  Esc: cancel");
	press(terminal, "\033", "q quit");
	press(terminal, "z", "for 10s?");
	press(terminal, "\r", "No zoom is possible: the origin is fake");
	press(terminal, "\033", "Suspected:");
	press(terminal, "\033", "SOURCES:");
	quit(terminal);
}

/* Neighbours are asked for again after ten seconds. */
Test(top_screen, a_suspect_is_shown_with_the_neighbours)
{
	struct terminal *terminal;

	start_daemon("busy");
	terminal = run_plain(100, 24);
	expect(terminal, CGROUP);
	press(terminal, "x", "Suspected: batch");
	expect_gone(terminal, "Suspected:");
	expect(terminal, "not available: ");
	quit(terminal);
}

/* Also while the screen is frozen, when nothing is fetched. */
Test(top_screen, a_marked_alert_stays_on_a_screen_that_becomes_smaller)
{
	struct terminal *terminal;

	start_daemon("live");
	terminal = run_plain(100, 24);
	expect(terminal, CGROUP);
	press(terminal, "a", ">!firing");
	press(terminal, " ", "FROZEN");
	press(terminal, "\033[F", "FROZEN");
	terminal_resize(terminal, 100, 7);
	expect(terminal, "2-3 of 3");
	expect(terminal, ">!firing");
	terminal_resize(terminal, 100, 24);
	expect(terminal, "3 firing, 0 pending");
	quit(terminal);
}

Test(top_screen, the_end_of_a_page_stays_at_the_end_of_a_larger_screen)
{
	struct terminal *terminal;

	start_daemon("live");
	terminal = run_plain(100, 12);
	expect(terminal, CGROUP);
	press(terminal, "\r", "lines 1-");
	press(terminal, "\033[F", "Every line not shown");
	terminal_resize(terminal, 100, 100);
	expect(terminal, "Path: /");
	quit(terminal);
}

Test(top_screen, the_age_of_a_zoom_grows)
{
	_cleanup_free_ char *before = NULL;
	struct terminal *terminal;
	bool grown = false;

	if (geteuid() != 0)
		cr_skip_test("needs root: it loads BPF programs");
	start_model();
	terminal = run_plain(100, 24);
	expect(terminal, ">LAT%");
	expect(terminal, "\n>");
	press(terminal, "z", "for 10s?");
	press(terminal, "\r", "still running");
	press(terminal, "\033", " ago");
	/* The names are looked up before the report no longer changes. */
	terminal_watch(terminal, 2500);
	before = line_with(terminal, 7, " ago");
	for (int i = 0; i < WAIT_MS / 100 && !grown; i++) {
		_cleanup_free_ char *after = line_of(terminal, 7);

		grown = strstr(after, " ago") && strcmp(before, after) != 0;
		terminal_watch(terminal, 100);
	}
	cr_expect(grown, "%s", before);
	quit(terminal);
}

/* This daemon has no history. */
Test(top_screen, a_time_that_is_not_stored_is_refused)
{
	struct terminal *terminal;

	start_daemon("live");
	terminal = run_plain(100, 24);
	expect(terminal, CGROUP);
	press(terminal, "j-2h\r", ": no history is stored");
	expect(terminal, "time: -2h_");
	expect_gone(terminal, "PAST");
	press(terminal, "\033", "q quit");
	press(terminal, ",", ": no history is stored");
	expect_gone(terminal, "PAST");
	quit(terminal);
}

/* The time that is asked for and the time in the daemon's reason are written alike, and both fit into 80 columns. */
Test(top_screen, a_time_before_the_history_is_refused_in_local_time)
{
	static const char wanted[] =
		"\nTue 2019-12-31 22:00:00 CET: the history begins at Wed 2020-01-01 07:00:00 CET\n";
	struct terminal *terminal;

	cr_assert_eq(setenv("TZ", "CET-1", 1), 0);
	start_daemon("past");
	terminal = run_plain(80, 24);
	expect(terminal, CGROUP);
	press(terminal, "j2019-12-31 22:00\r", wanted);
	press(terminal, "\033", "q quit");
	quit(terminal);
}

static int n_found(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

/* What is refused is not asked for again each second: nothing in the past changes. */
Test(top_screen, the_page_of_a_cgroup_without_samples_says_so)
{
	_cleanup_free_ char *screen = NULL;
	struct terminal *terminal;

	start_daemon("past");
	terminal = run_plain(100, 24);
	expect(terminal, CGROUP);
	press(terminal, "/gone\r", "no matching cgroup");
	press(terminal, ",", "PAST");
	/* It had samples in every second step. */
	if (!terminal_wait(terminal, "1 cgroup", true, 3000))
		press(terminal, ",", "1 cgroup");
	press(terminal, "\r", "Path: /system.slice/gone.service");
	press(terminal, ",", "not available: the cgroup no longer exists, or has no sample");
	expect_gone(terminal, "Path: /system.slice/gone.service");
	screen = terminal_text(terminal);
	cr_expect_eq(n_found(screen, "or has no sample"), 1, "it is trouble, too: %s", screen);
	press(terminal, ".", "Path: /system.slice/gone.service");
	quit(terminal);
}

/* The status of that time is known, and its table is refused. */
Test(top_screen, the_time_on_the_screen_is_that_of_the_table)
{
	_cleanup_free_ char *title = NULL;
	struct terminal *terminal;
	time_t now = time(NULL);
	char year[8];

	start_daemon("busy");
	terminal = run_plain(160, 24);
	expect(terminal, CGROUP);
	press(terminal, ",", "too many requests for the history are waiting");
	title = line_of(terminal, 0);
	/* A time of the past has its date. */
	cr_assert_neq(strftime(year, sizeof(year), "%Y-", gmtime(&now)), 0);
	cr_expect_null(strstr(title, year), "%s", title);
	quit(terminal);
}

Test(top_screen, the_mouse_marks_opens_and_sorts)
{
	_cleanup_free_ char *heads = NULL;
	struct terminal *terminal;
	char click[32];

	start_daemon("live");
	terminal = run_plain(100, 24);
	expect(terminal, CGROUP);
	/* Row 7 of the screen is the third of the table. */
	terminal_type(terminal, "\033[<0;5;7M\033[<0;5;7m");
	free(line_with(terminal, 6, ">"));
	heads = line_with(terminal, 3, "P99");
	(void)snprintf(click, sizeof(click), "\033[<0;%td;4M", strstr(heads, "P99") - heads + 1);
	press(terminal, click, ">P99");
	press(terminal, "m", "the mouse selects text in the terminal");
	cr_expect_not_null(strstr(terminal_written(terminal), "\033[?1006;1000l"));
	press(terminal, "m", "click marks a row");
	press(terminal, "\033[H", "> init");
	press(terminal, "\033[<0;5;5M\033[<0;5;5m\033[<0;5;5M\033[<0;5;5m", "Cgroup: init");
	press(terminal, "\033[<65;5;9M", "lines 4-");
	press(terminal, "\033[<64;5;9M", "lines 1-");
	quit(terminal);
}

/* Whatever the mouse reports, the screen changes each second. */
Test(top_screen, mouse_events_without_an_effect_do_not_stop_the_screen)
{
	static const struct {
		const char *type, *press, *release;
	} clicks[] = {
		{"xterm-256color", "\033[<0;5;7M", "\033[<0;5;7m"},   /* left */
		{"xterm-256color", "\033[<2;5;7M", "\033[<2;5;7m"},   /* right */
		{"xterm-256color", "\033[<35;5;7M", "\033[<66;5;7M"}, /* moved, and a wheel turned sideways */
		{"screen", "\033[M %'", "\033[M#%'"},                 /* left */
	};

	start_daemon("live");
	for (size_t i = 0; i < ARRAY_SIZE(clicks); i++) {
		struct terminal *terminal = run(
			&(struct terminal_settings){
				.type = clicks[i].type, .locale = "C.UTF-8", .columns = 100, .rows = 24},
			NULL, NULL);
		bool changed = false;

		expect(terminal, CGROUP);
		terminal_type(terminal, clicks[i].press);
		terminal_watch(terminal, 100);
		terminal_type(terminal, clicks[i].release);
		terminal_watch(terminal, 100);
		for (int j = 0; j < 100 && !changed; j++) {
			_cleanup_free_ char *before = terminal_text(terminal), *after = NULL;

			terminal_watch(terminal, 100);
			after = terminal_text(terminal);
			changed = strcmp(before, after) != 0;
		}
		cr_expect(changed, "click %zu stops the screen", i);
		quit(terminal);
	}
}

Test(top_screen, the_end_restores_the_mouse)
{
	struct terminal *terminal;
	int status;

	start_daemon("live");
	terminal = run_plain(80, 24);
	expect(terminal, CGROUP);
	cr_expect_eq(n_found(terminal_written(terminal), "\033[?1006;1000h"), 1);
	/* While the program is stopped. */
	cr_assert_eq(kill(terminal_pid(terminal), SIGTSTP), 0);
	cr_assert_eq(waitpid(terminal_pid(terminal), &status, WUNTRACED), terminal_pid(terminal));
	terminal_watch(terminal, 200);
	cr_expect_eq(n_found(terminal_written(terminal), "\033[?1006;1000l"), 1);
	cr_assert_eq(kill(terminal_pid(terminal), SIGCONT), 0);
	expect(terminal, CGROUP);
	for (int i = 0; i < WAIT_MS / 20 && n_found(terminal_written(terminal), "\033[?1006;1000h") < 2; i++)
		terminal_watch(terminal, 20);
	cr_expect_eq(n_found(terminal_written(terminal), "\033[?1006;1000h"), 2);
	/* And at the end, by a signal, too. */
	cr_assert_eq(kill(terminal_pid(terminal), SIGTERM), 0);
	status = terminal_wait_end(terminal, WAIT_MS);
	cr_expect(WIFEXITED(status), "status %x", (unsigned int)status);
	cr_expect_eq(n_found(terminal_written(terminal), "\033[?1006;1000l"), 2);
	terminal_free(terminal);
}

Test(top_screen, a_large_screen_shows_the_marked_row)
{
	static const struct {
		int columns, rows;
	} sizes[] = {{120, 30}, {200, 50}};

	start_daemon("live");
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct terminal *terminal = run_plain(sizes[i].columns, sizes[i].rows);

		expect(terminal, "CYCLES  SHARE BY SOURCE");
		expect(terminal, "MEAN LATENCY IN CYCLES");
		expect(terminal, "samples ");
		expect_keys_in_last_line(terminal, sizes[i].rows);
		/* It follows the mark. */
		press(terminal, "/nginx\r", "1 cgroup");
		press(terminal, "p", "CYCLES  SHARE");
		press(terminal, "/nothing-has-this-name\r", "no matching cgroup");
		expect_gone(terminal, "CYCLES  SHARE");
		press(terminal, "x", "no cgroup is marked");
		quit(terminal);
	}
}

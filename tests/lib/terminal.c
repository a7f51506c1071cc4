// SPDX-License-Identifier: GPL-2.0
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vterm.h>

#include "base/cleanup.h"

struct terminal {
	int fd;
	pid_t pid;
	int status; /* from waitpid(); valid if pid is 0 */
	int columns, rows;
	VTerm *vterm;
	VTermScreen *screen;
	char *written;
	size_t length;
};

struct terminal *terminal_run(const struct terminal_settings *settings, const char *program,
			      char *const *arguments)
{
	const struct winsize size = {.ws_col = (unsigned short)settings->columns,
				     .ws_row = (unsigned short)settings->rows};
	struct terminal *terminal = calloc(1, sizeof(*terminal));

	if (!terminal)
		return NULL;
	terminal->columns = settings->columns;
	terminal->rows = settings->rows;
	terminal->vterm = vterm_new(settings->rows, settings->columns);
	vterm_set_utf8(terminal->vterm, strstr(settings->locale, "UTF-8") != NULL);
	terminal->screen = vterm_obtain_screen(terminal->vterm);
	vterm_screen_enable_altscreen(terminal->screen, 1);
	vterm_screen_reset(terminal->screen, 1);
	terminal->pid = forkpty(&terminal->fd, NULL, NULL, &size);
	if (terminal->pid < 0) {
		terminal_free(terminal);
		return NULL;
	}
	if (terminal->pid == 0) {
		if (settings->stopped)
			(void)raise(SIGSTOP);
		(void)setenv("TERM", settings->type, 1);
		(void)setenv("LC_ALL", settings->locale, 1);
		(void)unsetenv("LINES");
		(void)unsetenv("COLUMNS");
		(void)execv(program, arguments);
		_exit(127);
	}
	if (settings->stopped)
		(void)waitpid(terminal->pid, NULL, WUNTRACED);
	return terminal;
}

struct terminal *terminal_free(struct terminal *terminal)
{
	if (!terminal)
		return NULL;
	if (terminal->pid > 0) {
		(void)kill(terminal->pid, SIGKILL);
		(void)waitpid(terminal->pid, NULL, 0);
	}
	if (terminal->fd > 0)
		(void)close(terminal->fd);
	vterm_free(terminal->vterm);
	free(terminal->written);
	free(terminal);
	return NULL;
}

pid_t terminal_pid(const struct terminal *terminal)
{
	return terminal->pid;
}

int terminal_fd(const struct terminal *terminal)
{
	return terminal->fd;
}

void terminal_type(struct terminal *terminal, const char *keys)
{
	if (write(terminal->fd, keys, strlen(keys)) != (ssize_t)strlen(keys))
		(void)fprintf(stderr, "the terminal takes no keys: %s\n", strerror(errno));
}

void terminal_resize(struct terminal *terminal, int columns, int rows)
{
	const struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};

	terminal->columns = columns;
	terminal->rows = rows;
	vterm_set_size(terminal->vterm, rows, columns);
	(void)ioctl(terminal->fd, TIOCSWINSZ, &size);
}

static long long now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads the bytes that are available or arrive in time. Returns false if there were none, or at the end. */
static bool read_some(struct terminal *terminal, long long milliseconds)
{
	struct pollfd readable = {.fd = terminal->fd, .events = POLLIN};
	char bytes[65536], *longer;
	ssize_t n;

	if (poll(&readable, 1, milliseconds > 0 ? (int)milliseconds : 0) != 1)
		return false;
	n = read(terminal->fd, bytes, sizeof(bytes));
	if (n <= 0)
		return false;
	longer = realloc(terminal->written, terminal->length + (size_t)n + 1);
	if (!longer)
		return false;
	memcpy(longer + terminal->length, bytes, (size_t)n);
	terminal->written = longer;
	terminal->length += (size_t)n;
	longer[terminal->length] = '\0';
	(void)vterm_input_write(terminal->vterm, bytes, (size_t)n);
	return true;
}

static bool shows(const struct terminal *terminal, const char *text)
{
	_cleanup_free_ char *screen = terminal_text(terminal);

	return screen && strstr(screen, text);
}

bool terminal_wait(struct terminal *terminal, const char *text, bool shown, int milliseconds)
{
	long long end = now_ms() + milliseconds;

	/* Read on until the output pauses, so that a half-drawn screen is not judged. */
	while (shows(terminal, text) != shown) {
		if (now_ms() >= end || !read_some(terminal, end - now_ms()))
			return shows(terminal, text) == shown;
		while (read_some(terminal, 30))
			;
	}
	return true;
}

void terminal_watch(struct terminal *terminal, int milliseconds)
{
	long long end = now_ms() + milliseconds;

	while (now_ms() < end && read_some(terminal, end - now_ms()))
		;
}

int terminal_wait_end(struct terminal *terminal, int milliseconds)
{
	long long end = now_ms() + milliseconds;

	while (terminal->pid > 0) {
		if (waitpid(terminal->pid, &terminal->status, WNOHANG) == terminal->pid) {
			while (read_some(terminal, 0))
				;
			terminal->pid = 0;
			break;
		}
		if (now_ms() >= end)
			return -1;
		if (!read_some(terminal, 20))
			(void)usleep(10000);
	}
	return terminal->status;
}

static int colour_of(const VTermColor *colour, bool behind)
{
	if (behind ? VTERM_COLOR_IS_DEFAULT_BG(colour) : VTERM_COLOR_IS_DEFAULT_FG(colour))
		return -1;
	return VTERM_COLOR_IS_INDEXED(colour) ? colour->indexed.idx : 255;
}

static size_t put_utf8(uint32_t character, char *to)
{
	if (character < 0x80) {
		to[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		to[0] = (char)(0xc0 | character >> 6);
		to[1] = (char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		to[0] = (char)(0xe0 | character >> 12);
		to[1] = (char)(0x80 | (character >> 6 & 0x3f));
		to[2] = (char)(0x80 | (character & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | character >> 18);
	to[1] = (char)(0x80 | (character >> 12 & 0x3f));
	to[2] = (char)(0x80 | (character >> 6 & 0x3f));
	to[3] = (char)(0x80 | (character & 0x3f));
	return 4;
}

struct terminal_cell terminal_cell(const struct terminal *terminal, int row, int column)
{
	struct terminal_cell ret = {.colour = -1, .behind = -1};
	VTermScreenCell cell;
	size_t length = 0;

	if (!vterm_screen_get_cell(terminal->screen, (VTermPos){.row = row, .col = column}, &cell))
		return ret;
	if (cell.chars[0] == (uint32_t)-1)
		return ret;
	for (size_t i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i]; i++)
		length += put_utf8(cell.chars[i], ret.text + length);
	if (length == 0)
		ret.text[0] = ' ';
	ret.bold = cell.attrs.bold;
	ret.reverse = cell.attrs.reverse;
	ret.colour = colour_of(&cell.fg, false);
	ret.behind = colour_of(&cell.bg, true);
	return ret;
}

char *terminal_text(const struct terminal *terminal)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	for (int row = 0; row < terminal->rows; row++) {
		int blanks = 0;

		for (int column = 0; column < terminal->columns; column++) {
			struct terminal_cell cell = terminal_cell(terminal, row, column);

			if (strcmp(cell.text, " ") == 0) {
				blanks++;
				continue;
			}
			if (*cell.text)
				(void)fprintf(out, "%*s%s", blanks, "", cell.text);
			if (*cell.text)
				blanks = 0;
		}
		(void)fputc('\n', out);
	}
	return fclose(out) == 0 ? text : NULL;
}

void terminal_size(const struct terminal *terminal, int *ret_columns, int *ret_rows)
{
	*ret_columns = terminal->columns;
	*ret_rows = terminal->rows;
}

const char *terminal_written(const struct terminal *terminal)
{
	return terminal->written ? terminal->written : "";
}

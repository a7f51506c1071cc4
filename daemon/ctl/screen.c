// SPDX-License-Identifier: GPL-2.0
#include "ctl/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/output.h"

/* The control sequences of xterm that every terminal of today knows: alternate screen, cursor, erase. */
#define ENTER       "\033[?1049h\033[?25l"
#define LEAVE       "\033[?25h\033[?1049l"
#define HOME        "\033[H"
#define ERASE_LINE  "\033[K"
#define ERASE_BELOW "\033[J"

struct screen {
	int signals;
	sigset_t old_mask;
	bool has_keys; /* standard input is a terminal, too */
	struct termios old_terminal;
};

bool screen_possible(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

void screen_size(size_t *ret_columns, size_t *ret_rows)
{
	struct winsize size = {0};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		size = (struct winsize){0};
	*ret_columns = size.ws_col;
	*ret_rows = size.ws_row;
}

static int enter(const struct screen *screen)
{
	struct termios terminal = screen->old_terminal;

	if (screen->has_keys) {
		terminal.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		terminal.c_cc[VMIN] = 0;
		terminal.c_cc[VTIME] = 0;
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
	}
	return output_write(ENTER, strlen(ENTER));
}

static void leave(const struct screen *screen)
{
	(void)output_write(LEAVE, strlen(LEAVE));
	if (screen->has_keys)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &screen->old_terminal);
}

int screen_open(struct screen **ret)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP};
	struct screen *screen = calloc(1, sizeof(*screen));
	sigset_t mask;
	int r;

	if (!screen)
		return -ENOMEM;
	(void)sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		(void)sigaddset(&mask, signals[i]);
	if (sigprocmask(SIG_BLOCK, &mask, &screen->old_mask) < 0) {
		r = -errno;
		free(screen);
		return r;
	}
	screen->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (screen->signals < 0) {
		r = -errno;
		(void)sigprocmask(SIG_SETMASK, &screen->old_mask, NULL);
		free(screen);
		return r;
	}
	/* What is said meanwhile would vanish with the alternate screen. */
	(void)setvbuf(stderr, NULL, _IOFBF, BUFSIZ);
	screen->has_keys = tcgetattr(STDIN_FILENO, &screen->old_terminal) == 0;
	r = enter(screen);
	if (r < 0) {
		screen_close(screen);
		return r;
	}
	*ret = screen;
	return 0;
}

struct screen *screen_close(struct screen *screen)
{
	if (!screen)
		return NULL;
	leave(screen);
	(void)fflush(stderr);
	(void)setvbuf(stderr, NULL, _IONBF, 0);
	(void)close(screen->signals);
	(void)sigprocmask(SIG_SETMASK, &screen->old_mask, NULL);
	free(screen);
	return NULL;
}

int screen_draw(struct screen *screen, const char *text)
{
	_cleanup_fclose_ FILE *out = NULL;
	_cleanup_free_ char *picture = NULL;
	size_t columns, rows, length;

	(void)screen;
	screen_size(&columns, &rows);
	out = open_memstream(&picture, &length);
	if (!out)
		return -errno;
	(void)fputs(HOME, out);
	for (size_t row = 0; *text && (rows == 0 || row < rows); row++) {
		size_t line_length = strcspn(text, "\n");
		_cleanup_free_ char *line = strndup(text, line_length);

		if (!line)
			return -ENOMEM;
		/* No line break after the last row: it would scroll. */
		(void)fprintf(out, "%s%.*s\033[0m" ERASE_LINE, row ? "\r\n" : "",
			      (int)(columns ? text_cut(line, columns) : line_length), line);
		text += line_length + (text[line_length] == '\n');
	}
	(void)fputs(ERASE_BELOW, out);
	if (fclose(TAKE_PTR(out)) != 0)
		return -ENOMEM;
	return output_write(picture, length);
}

/* Stops as Ctrl-Z asks, on the screen that was before, and comes back when continued. */
static void stop(struct screen *screen)
{
	leave(screen);
	(void)raise(SIGSTOP);
	(void)enter(screen);
}

static enum screen_event take_signal(struct screen *screen)
{
	struct signalfd_siginfo info;

	if (read(screen->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return SCREEN_TIME;
	switch (info.ssi_signo) {
	case SIGWINCH:
		return SCREEN_RESIZED;
	case SIGTSTP:
		stop(screen);
		return SCREEN_RESIZED;
	default:
		return SCREEN_END;
	}
}

/* Whether `q` is among the keys that were hit, or there is no keyboard any more. */
static bool wants_end(struct screen *screen, short events)
{
	char keys[64];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	if (n > 0)
		return memchr(keys, 'q', (size_t)n) || memchr(keys, 'Q', (size_t)n);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return false;
	screen->has_keys = screen->has_keys && !(events & (POLLHUP | POLLERR));
	return events & (POLLHUP | POLLERR);
}

static long long now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

enum screen_event screen_wait(struct screen *screen, int milliseconds)
{
	long long end = now_ms() + milliseconds;

	for (;;) {
		struct pollfd fds[] = {{.fd = screen->signals, .events = POLLIN},
				       {.fd = screen->has_keys ? STDIN_FILENO : -1, .events = POLLIN}};
		long long left = end - now_ms();

		if (left <= 0 || poll(fds, ARRAY_SIZE(fds), (int)left) == 0)
			return SCREEN_TIME;
		if (fds[1].revents && wants_end(screen, fds[1].revents))
			return SCREEN_END;
		if (fds[0].revents) {
			enum screen_event event = take_signal(screen);

			if (event != SCREEN_TIME)
				return event;
		}
	}
}

// SPDX-License-Identifier: GPL-2.0
#include "ctl/top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

/* Selects the wide-character functions of ncurses. */
#define NCURSES_WIDECHAR 1
#include <curses.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "ctl/top/terminal_known.h"
#include "format/output.h"

#define ESCAPE_MS   25  /* maximum time for the bytes of a key's escape sequence, also over ssh */
#define PATIENCE_MS 500 /* how long to wait for a silent descriptor while a key is pending */
#define KEYS_MAX    64
#define COLOURS     8

#define PRESSED      (BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED)
#define OF_BUTTON(n) NCURSES_MOUSE_MASK(n, NCURSES_BUTTON_PRESSED | NCURSES_BUTTON_RELEASED)
/*
 * get_wch() blocks if all that it can read is an event outside the mask, so the mask includes the releases of buttons
 * (_nc_wgetch(), ncurses 6.4).
 */
#define MOUSE_EVENTS \
	(OF_BUTTON(1) | OF_BUTTON(2) | OF_BUTTON(3) | OF_BUTTON(4) | OF_BUTTON(5) | REPORT_MOUSE_POSITION)

struct screen {
	SCREEN *curses;
	int signals;
	sigset_t old_mask;
	bool has_keys; /* standard input is a terminal, too */
	bool colour;
	bool ended;
	bool resized;
	struct screen_input keys[KEYS_MAX]; /* pressed, but not yet returned by screen_wait() */
	size_t n_keys;
};

/* Uses the size that the terminal reports, otherwise that of its terminfo entry. */
static void take_size(void)
{
	size_t columns, rows;

	output_size(&columns, &rows);
	if (columns > 0 && rows > 0)
		(void)resizeterm((int)rows, (int)columns);
}

static void begin_colours(struct screen *screen)
{
	screen->colour =
		has_colors() && start_color() == OK && COLORS >= COLOURS && COLOR_PAIRS > 2 * COLOURS;
	if (!screen->colour)
		return;
	/* Keeps the terminal's own background. */
	(void)use_default_colors();
	for (short colour = 0; colour < COLOURS; colour++) {
		(void)init_pair((short)(1 + colour), colour, -1);
		(void)init_pair((short)(1 + COLOURS + colour), COLOR_BLACK, colour);
	}
}

/* Adds the key sequences of terminals that ignore the keypad mode or were not put into it. */
static void define_keys(void)
{
	static const struct {
		const char *sequence;
		int key;
	} keys[] = {
		{"\033[A", KEY_UP},   {"\033[B", KEY_DOWN}, {"\033[C", KEY_RIGHT}, {"\033[D", KEY_LEFT},
		{"\033[H", KEY_HOME}, {"\033[F", KEY_END},  {"\033[1~", KEY_HOME}, {"\033[4~", KEY_END},
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		(void)define_key(keys[i].sequence, keys[i].key);
}

static int begin_curses(struct screen *screen)
{
	if (!terminal_known())
		return -ENODEV;
	screen->curses = newterm(NULL, stdout, stdin);
	if (!screen->curses)
		return -ENODEV;
	(void)set_term(screen->curses);
	(void)cbreak();
	(void)noecho();
	(void)keypad(stdscr, TRUE);
	define_keys();
	(void)nodelay(stdscr, TRUE);
	(void)set_escdelay(ESCAPE_MS);
	(void)curs_set(0);
	begin_colours(screen);
	take_size();
	return 0;
}

static int block_signals(struct screen *screen)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP};
	sigset_t mask;
	int r;

	(void)sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		(void)sigaddset(&mask, signals[i]);
	if (sigprocmask(SIG_BLOCK, &mask, &screen->old_mask) < 0)
		return -errno;
	screen->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (screen->signals >= 0)
		return 0;
	r = -errno;
	(void)sigprocmask(SIG_SETMASK, &screen->old_mask, NULL);
	return r;
}

int screen_open(struct screen **ret)
{
	struct screen *screen = calloc(1, sizeof(*screen));
	int r;

	if (!screen)
		return -ENOMEM;
	/*
	 * Block signals before ncurses changes the terminal: then none of them can end the program without
	 * restoring the terminal.
	 */
	r = block_signals(screen);
	if (r < 0) {
		free(screen);
		return r;
	}
	screen->has_keys = isatty(STDIN_FILENO);
	r = begin_curses(screen);
	if (r < 0) {
		screen_close(screen);
		return r;
	}
	/* Messages printed now would vanish with the alternate screen, so buffer them. */
	(void)setvbuf(stderr, NULL, _IOFBF, BUFSIZ);
	*ret = screen;
	return 0;
}

struct screen *screen_close(struct screen *screen)
{
	if (!screen)
		return NULL;
	if (screen->curses) {
		(void)endwin();
		delscreen(screen->curses);
	}
	(void)fflush(stderr);
	(void)setvbuf(stderr, NULL, _IONBF, 0);
	(void)close(screen->signals);
	(void)sigprocmask(SIG_SETMASK, &screen->old_mask, NULL);
	free(screen);
	return NULL;
}

void screen_size(const struct screen *screen, size_t *ret_columns, size_t *ret_rows)
{
	int rows, columns;

	(void)screen;
	getmaxyx(stdscr, rows, columns);
	*ret_columns = columns > 0 ? (size_t)columns : 1;
	*ret_rows = rows > 0 ? (size_t)rows : 1;
}

bool screen_set_mouse(struct screen *screen, bool on)
{
	(void)screen;
	/* Clicks are reported at once: a double click is two of them. */
	(void)mouseinterval(0);
	return mousemask(on && terminal_has_mouse() ? MOUSE_EVENTS : 0, NULL) != 0;
}

bool screen_has_colour(const struct screen *screen)
{
	return screen->colour;
}

/* Applies one "\033[Nm". */
static void obey_mark(const struct screen *screen, unsigned long mark)
{
	if (mark == 0)
		(void)attrset(A_NORMAL);
	else if (mark == 1)
		(void)attron(A_BOLD);
	else if (mark == 2)
		(void)attron(A_DIM);
	else if (mark == 7)
		(void)attron(A_REVERSE);
	else if (screen->colour && mark >= 30 && mark < 30 + COLOURS)
		(void)attron(COLOR_PAIR((int)(mark - 30) + 1));
	else if (screen->colour && mark >= 40 && mark < 40 + COLOURS)
		(void)attron(COLOR_PAIR((int)(mark - 40) + 1 + COLOURS));
}

static void draw_line(const struct screen *screen, int row, const char *line, size_t length)
{
	const char *end = line + length;

	(void)move(row, 0);
	(void)attrset(A_NORMAL);
	while (line < end) {
		const char *mark = memchr(line, '\033', (size_t)(end - line));
		const char *stop = mark ? mark : end;

		if (stop > line)
			(void)addnstr(line, (int)(stop - line));
		line = stop;
		if (mark) {
			char *after;
			unsigned long number = mark[1] == '[' ? strtoul(mark + 2, &after, 10) : 0;

			if (mark[1] != '[' || *after != 'm' || after >= end)
				break;
			obey_mark(screen, number);
			line = after + 1;
		}
	}
	(void)attrset(A_NORMAL);
}

void screen_draw(struct screen *screen, const char *text)
{
	size_t columns, rows;

	screen_size(screen, &columns, &rows);
	(void)erase();
	for (size_t row = 0; *text && row < rows; row++) {
		size_t length = strcspn(text, "\n");
		_cleanup_free_ char *line = strndup(text, length);

		if (line)
			draw_line(screen, (int)row, line, text_cut(line, columns));
		text += length + (text[length] == '\n');
	}
	(void)refresh();
}

/* Stops the program for Ctrl-Z with the terminal restored, and redraws everything when continued. */
static void stop(void)
{
	(void)endwin();
	(void)raise(SIGSTOP);
	take_size();
	(void)clearok(stdscr, TRUE);
}

static void take_signal(struct screen *screen)
{
	struct signalfd_siginfo info;

	if (read(screen->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGWINCH:
		take_size();
		screen->resized = true;
		return;
	case SIGTSTP:
		stop();
		screen->resized = true;
		return;
	default:
		screen->ended = true;
	}
}

static u32 key_of(int kind, wint_t key)
{
	static const struct {
		wint_t curses;
		u32 key;
	} keys[] = {
		{KEY_UP, SCREEN_UP},         {KEY_DOWN, SCREEN_DOWN},
		{KEY_LEFT, SCREEN_LEFT},     {KEY_RIGHT, SCREEN_RIGHT},
		{KEY_PPAGE, SCREEN_PAGE_UP}, {KEY_NPAGE, SCREEN_PAGE_DOWN},
		{KEY_HOME, SCREEN_FIRST},    {KEY_END, SCREEN_LAST},
		{KEY_ENTER, SCREEN_ENTER},   {KEY_BACKSPACE, SCREEN_BACKSPACE},
	};

	if (kind != KEY_CODE_YES)
		return key == '\r' ? SCREEN_ENTER : key == 127 || key == 8 ? SCREEN_BACKSPACE : (u32)key;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].curses == key)
			return keys[i].key;
	return SCREEN_OTHER_KEY;
}

/* ncurses reports several events with one key, and returns the last one first. */
static void take_mouse(struct screen *screen)
{
	struct screen_input *first = screen->keys + screen->n_keys, *end = first;
	MEVENT event;

	while (screen->n_keys < KEYS_MAX && getmouse(&event) == OK) {
		if (event.x < 0 || event.y < 0)
			continue;
		*end = (struct screen_input){.row = (size_t)event.y, .column = (size_t)event.x};
		end->key = event.bstate & BUTTON1_PRESSED   ? SCREEN_CLICK
			   : event.bstate & BUTTON4_PRESSED ? SCREEN_WHEEL_UP
							    : SCREEN_WHEEL_DOWN;
		if (event.bstate & PRESSED) {
			screen->n_keys++;
			end++;
		}
	}
	for (; first + 1 < end; first++, end--) {
		struct screen_input other = *first;

		*first = end[-1];
		end[-1] = other;
	}
}

static void take_keys(struct screen *screen, short events)
{
	bool any = false;
	wint_t key;
	int kind;

	while (screen->n_keys < KEYS_MAX && (kind = get_wch(&key)) != ERR) {
		any = true;
		if (kind == KEY_CODE_YES && key == KEY_MOUSE)
			take_mouse(screen);
		else if (kind != KEY_CODE_YES || key != KEY_RESIZE)
			screen->keys[screen->n_keys++] = (struct screen_input){.key = key_of(kind, key)};
	}
	/*
	 * poll(2) reported standard input, but there was no key. If the terminal hung up, end the program.
	 * Otherwise standard input is probably at its end: continue to read keys only if it is still a terminal.
	 */
	if (!any && (events & (POLLHUP | POLLERR)))
		screen->ended = true;
	else if (!any && screen->n_keys < KEYS_MAX)
		screen->has_keys = isatty(STDIN_FILENO);
}

static long long now_ms(void)
{
	return (long long)(monotonic_ns() / NSEC_PER_MSEC);
}

/* Waits for at most `milliseconds` and handles signals and keys. Returns true if `fd` is readable. */
static bool poll_once(struct screen *screen, int fd, long long milliseconds)
{
	struct pollfd fds[] = {
		{.fd = screen->signals, .events = POLLIN},
		{.fd = screen->has_keys && screen->n_keys < KEYS_MAX ? STDIN_FILENO : -1, .events = POLLIN},
		{.fd = fd, .events = POLLIN}};

	if (poll(fds, ARRAY_SIZE(fds), milliseconds < 0 ? 0 : (int)milliseconds) <= 0)
		return false;
	if (fds[0].revents)
		take_signal(screen);
	if (fds[1].revents)
		take_keys(screen, fds[1].revents);
	return fds[2].revents;
}

enum screen_event screen_wait(struct screen *screen, int fd, int milliseconds, struct screen_input *ret)
{
	long long end = now_ms() + milliseconds;

	for (;;) {
		long long left = end - now_ms();
		bool ready = false;

		if (screen->n_keys == 0 && !screen->resized && !screen->ended)
			ready = poll_once(screen, fd, left);
		if (screen->ended)
			return SCREEN_END;
		if (screen->resized) {
			screen->resized = false;
			return SCREEN_RESIZED;
		}
		if (screen->n_keys > 0) {
			*ret = screen->keys[0];
			screen->n_keys--;
			memmove(screen->keys, screen->keys + 1, screen->n_keys * sizeof(*screen->keys));
			return SCREEN_KEY;
		}
		if (ready)
			return SCREEN_READY;
		if (left <= 0)
			return SCREEN_TIME;
	}
}

u32 screen_next_key(const struct screen *screen)
{
	return screen->n_keys > 0 ? screen->keys[0].key : 0;
}

int screen_wait_for(struct screen *screen, int fd, int milliseconds)
{
	long long begin = now_ms();

	for (;;) {
		long long passed = now_ms() - begin;
		long long left = milliseconds - passed;

		if (screen->n_keys > 0 && left > PATIENCE_MS - passed)
			left = PATIENCE_MS - passed;
		if (poll_once(screen, fd, left))
			return 0;
		passed = now_ms() - begin;
		if (screen->ended || (screen->n_keys > 0 && passed >= PATIENCE_MS))
			return -ECANCELED;
		if (passed >= milliseconds)
			return -ETIMEDOUT;
	}
}

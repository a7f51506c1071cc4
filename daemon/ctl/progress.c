// SPDX-License-Identifier: GPL-2.0
#include "ctl/progress.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

#include "base/text.h"

#define ERASE "\r\033[K"

struct progress {
	int signals;
	sigset_t old_mask;
	bool terminal, drawn;
};

int progress_open(struct progress **ret)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct progress *progress = calloc(1, sizeof(*progress));
	const char *terminal = getenv("TERM");
	sigset_t mask;
	int r;

	if (!progress)
		return -ENOMEM;
	(void)sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		(void)sigaddset(&mask, signals[i]);
	if (sigprocmask(SIG_BLOCK, &mask, &progress->old_mask) < 0) {
		r = -errno;
		free(progress);
		return r;
	}
	progress->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (progress->signals < 0) {
		r = -errno;
		(void)sigprocmask(SIG_SETMASK, &progress->old_mask, NULL);
		free(progress);
		return r;
	}
	progress->terminal = isatty(STDERR_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
	*ret = progress;
	return 0;
}

void progress_clear(struct progress *progress)
{
	if (progress->drawn)
		(void)fprintf(stderr, ERASE);
	progress->drawn = false;
}

struct progress *progress_close(struct progress *progress)
{
	if (!progress)
		return NULL;
	progress_clear(progress);
	(void)close(progress->signals);
	(void)sigprocmask(SIG_SETMASK, &progress->old_mask, NULL);
	free(progress);
	return NULL;
}

void progress_show(struct progress *progress, const char *text)
{
	struct winsize size = {0};

	if (!progress->terminal)
		return;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0)
		size = (struct winsize){0};
	/* Leave one column free: some terminals start a new line when the last column is written. */
	(void)fprintf(stderr, ERASE "%.*s",
		      (int)(size.ws_col > 1 ? text_cut(text, size.ws_col - 1U) : strlen(text)), text);
	progress->drawn = true;
}

bool progress_wait(struct progress *progress, int milliseconds)
{
	struct pollfd fd = {.fd = progress->signals, .events = POLLIN};
	struct signalfd_siginfo info;

	if (poll(&fd, 1, milliseconds) <= 0)
		return false;
	/* Consume the signal: otherwise it ends the program as soon as signals are unblocked. */
	return read(progress->signals, &info, sizeof(info)) == (ssize_t)sizeof(info);
}

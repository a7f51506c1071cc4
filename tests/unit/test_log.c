// SPDX-License-Identifier: GPL-2.0
/* Messages with names that others chose. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_repeat.h"
#include "base/utf8.h"

static char said[1 << 16];
static int log_end = -1;

/* Redirects stderr into a pipe that the test reads. */
static void begin(void)
{
	int ends[2];

	cr_assert_eq(unsetenv("JOURNAL_STREAM"), 0);
	cr_assert_eq(pipe2(ends, O_NONBLOCK), 0);
	cr_assert_geq(dup2(ends[1], STDERR_FILENO), 0);
	log_end = ends[0];
	log_open("test");
}

TestSuite(log, .init = begin);

static const char *hear(void)
{
	ssize_t n = read(log_end, said, sizeof(said) - 1);

	said[n > 0 ? n : 0] = '\0';
	return said;
}

Test(log, a_name_cannot_start_a_log_line)
{
	cr_expect_eq(log_error(-ENOENT, "cannot look at %s", "/a\n<0>pebsd: stopped\r\033[2K"), -ENOENT);
	cr_expect_str_eq(hear(),
			 "test: cannot look at /a?<0>pebsd: stopped??[2K: No such file or directory\n");
}

Test(log, a_name_that_is_not_utf8_is_logged_escaped)
{
	log_notice("%s and %s", "/\xc3\xa9", "/\xc3\xff");
	cr_expect_str_eq(hear(), "test: /\xc3\xa9 and /??\n");
}

/* The name is as long as a path can be. That exceeds the buffer that is used if memory is short. */
Test(log, a_long_message_is_logged_whole)
{
	static char name[4096];
	size_t length;

	memset(name, 'n', sizeof(name) - 1);
	name[2000] = '\n';
	log_notice("%s", name);
	length = strlen(hear());
	cr_expect_eq(length, strlen("test: ") + sizeof(name));
	cr_expect_eq(strchr(said, '\n'), said + length - 1);
}

/* Only the beginning of the text is kept. Here it ends inside a character. */
Test(log, a_repeated_message_that_is_cut_is_still_utf8)
{
	char name[LOG_REPEAT_TEXT_MAX + 2];

	memset(name, 'n', sizeof(name));
	memcpy(name + LOG_REPEAT_TEXT_MAX - 2, "\xc3\xa9", sizeof("\xc3\xa9"));
	for (unsigned i = 0; i <= LOG_REPEAT_BURST; i++)
		log_notice("%s", name);
	(void)hear();
	log_close();
	(void)hear();
	cr_expect_eq(strncmp(said, "test: repeated 1 more time: nnn", 31), 0, "%s", said);
	cr_expect(utf8_is_valid(said), "%s", said);
}

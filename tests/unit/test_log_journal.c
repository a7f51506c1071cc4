// SPDX-License-Identifier: GPL-2.0
/* An entry of the journal, in the format of its native protocol. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/log.h"
#include "base/log_journal.h"

static size_t join(const struct log_field *fields, size_t n, char *ret)
{
	struct iovec pieces[LOG_JOURNAL_FIELDS * LOG_JOURNAL_PIECES];
	u64 lengths[LOG_JOURNAL_FIELDS];
	size_t n_pieces = log_journal_pieces(fields, n, lengths, pieces), length = 0;

	for (size_t i = 0; i < n_pieces; i++) {
		memcpy(ret + length, pieces[i].iov_base, pieces[i].iov_len);
		length += pieces[i].iov_len;
	}
	return length;
}

Test(log_journal, a_field_is_one_line)
{
	const struct log_field fields[] = {{"MESSAGE", "a = b"}, {"PRIORITY", "6"}, {"EMPTY", ""}};
	const char expected[] = "MESSAGE=a = b\nPRIORITY=6\nEMPTY=\n";
	char entry[256];

	cr_assert_eq(join(fields, 3, entry), sizeof(expected) - 1);
	cr_expect_eq(memcmp(entry, expected, sizeof(expected) - 1), 0);
}

/* A line break in a value must not begin another field. */
Test(log_journal, multi_line_fields_start_with_their_length)
{
	const struct log_field fields[] = {{"PEBSD_CGROUP", "/a\nPRIORITY=0"}, {"MESSAGE", "b"}};
	const char expected[] = "PEBSD_CGROUP\n\x0d\0\0\0\0\0\0\0/a\nPRIORITY=0\nMESSAGE=b\n";
	char entry[256];

	cr_assert_eq(join(fields, 2, entry), sizeof(expected) - 1);
	cr_expect_eq(memcmp(entry, expected, sizeof(expected) - 1), 0);
}

Test(log_journal, fields_beyond_the_maximum_are_dropped)
{
	struct log_field fields[LOG_JOURNAL_FIELDS + 1];
	char entry[1024];

	for (size_t i = 0; i < LOG_JOURNAL_FIELDS + 1; i++)
		fields[i] = (struct log_field){"A", "b"};
	cr_expect_eq(join(fields, LOG_JOURNAL_FIELDS + 1, entry), LOG_JOURNAL_FIELDS * strlen("A=b\n"));
}

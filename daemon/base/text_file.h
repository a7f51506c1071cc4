// SPDX-License-Identifier: GPL-2.0
/* Reads small text files, such as those of sysfs and procfs. */
#ifndef PEBSD_TEXT_FILE_H
#define PEBSD_TEXT_FILE_H

#define TEXT_FILE_MAX (1024UL * 1024)

/*
 * Reads the whole file as a string, without NULs and line ends at its end. The caller frees it. Returns 0,
 * -errno of opening or reading, -EFBIG above TEXT_FILE_MAX bytes, or -EINVAL if text follows a NUL byte.
 */
int text_file_read(const char *path, char **ret);

#endif

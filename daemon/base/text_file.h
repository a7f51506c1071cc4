// SPDX-License-Identifier: GPL-2.0
/* Small text files, as sysfs and procfs have them. */
#ifndef PEBSD_TEXT_FILE_H
#define PEBSD_TEXT_FILE_H

#define TEXT_FILE_MAX (1024UL * 1024)

/*
 * The whole file as a string without the NULs and line ends that close it; the caller's to free. Returns 0,
 * -errno of opening or reading, -EFBIG above TEXT_FILE_MAX bytes, -EINVAL if text follows a NUL byte.
 */
int text_file_read(const char *path, char **ret);

#endif

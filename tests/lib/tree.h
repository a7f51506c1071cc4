// SPDX-License-Identifier: GPL-2.0
/* Small file trees in a temporary folder, in the place of /sys. Failures end the test. */
#ifndef PEBSD_TESTS_TREE_H
#define PEBSD_TESTS_TREE_H

#include <stddef.h>

/* An empty folder; its path is to be given to tree_remove(). */
char *tree_new(void);
void tree_remove(char *root);

/* Writes a file below the root, and the folders above it. */
void tree_write(const char *root, const char *path, const char *text);
void tree_write_bytes(const char *root, const char *path, const void *bytes, size_t n);

/* The same for a file of a PMU: tree_pmu(root, "cpu", "format/event", "config:0-7"). */
void tree_pmu(const char *root, const char *pmu, const char *file, const char *text);

/* A core PMU as Skylake's, on CPUs 0 to 3; others differ from it in a file or two. */
void tree_skylake(const char *root);

#endif

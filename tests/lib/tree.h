// SPDX-License-Identifier: GPL-2.0
/* Small file trees in a temporary folder, used instead of /sys. Errors fail the test. */
#ifndef PEBSD_TESTS_TREE_H
#define PEBSD_TESTS_TREE_H

#include <stddef.h>

#include "base/cleanup.h"

/* Creates an empty folder. Pass its path to tree_remove(). */
char *tree_new(void);
void tree_remove(char *root);
DEFINE_CLEANUP(char *, tree_remove)

/* Writes a file below `root`, and creates the folders above it. */
void tree_write(const char *root, const char *path, const char *text);
void tree_write_bytes(const char *root, const char *path, const void *bytes, size_t n);

/* Same as tree_write(), for a file of a PMU: tree_pmu(root, "cpu", "format/event", "config:0-7"). */
void tree_pmu(const char *root, const char *pmu, const char *file, const char *text);

/* Writes the core PMU of Skylake, on CPUs 0 to 3. Trees of other CPUs differ from it in one or two files. */
void tree_skylake(const char *root);

#endif

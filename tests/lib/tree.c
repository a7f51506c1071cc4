// SPDX-License-Identifier: GPL-2.0
#include "tree.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

char *tree_new(void)
{
	char *root = strdup("/tmp/pebsd-tree-XXXXXX");

	cr_assert_not_null(root);
	cr_assert_not_null(mkdtemp(root), "cannot make a temporary folder: %s", strerror(errno));
	return root;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *place)
{
	(void)st;
	(void)kind;
	(void)place;
	return remove(path);
}

void tree_remove(char *root)
{
	cr_assert_eq(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	free(root);
}

void tree_write_bytes(const char *root, const char *path, const void *bytes, size_t n)
{
	char full[PATH_MAX];
	FILE *file;

	cr_assert_lt(snprintf(full, sizeof(full), "%s/%s", root, path), PATH_MAX);
	for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		cr_assert(mkdir(full, 0755) == 0 || errno == EEXIST, "cannot make %s: %s", full,
			  strerror(errno));
		*slash = '/';
	}
	file = fopen(full, "w");
	cr_assert_not_null(file, "cannot write %s: %s", full, strerror(errno));
	cr_assert_eq(fwrite(bytes, 1, n, file), n);
	cr_assert_eq(fclose(file), 0);
}

void tree_write(const char *root, const char *path, const char *text)
{
	tree_write_bytes(root, path, text, strlen(text));
}

void tree_pmu(const char *root, const char *pmu, const char *file, const char *text)
{
	char path[PATH_MAX];

	cr_assert_lt(snprintf(path, sizeof(path), "bus/event_source/devices/%s/%s", pmu, file), PATH_MAX);
	tree_write(root, path, text);
}

void tree_skylake(const char *root)
{
	tree_write(root, "devices/system/cpu/online", "0-3\n");
	tree_pmu(root, "cpu", "type", "4\n");
	tree_pmu(root, "cpu", "format/event", "config:0-7\n");
	tree_pmu(root, "cpu", "format/umask", "config:8-15\n");
	tree_pmu(root, "cpu", "format/ldlat", "config1:0-15\n");
	tree_pmu(root, "cpu", "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	tree_pmu(root, "cpu", "events/mem-stores", "event=0xd0,umask=0x82\n");
	tree_pmu(root, "cpu", "caps/pmu_name", "skylake\n");
	tree_pmu(root, "cpu", "caps/max_precise", "3\n");
}

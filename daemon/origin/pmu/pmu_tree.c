// SPDX-License-Identifier: GPL-2.0
#include "origin/pmu/pmu_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text_file.h"
#include "origin/event.h"

/*
 * Writes the path of a PMU's file; with "" for `file`, that of the PMU's folder. Returns 0, or -ENAMETOOLONG
 * if it does not fit.
 */
static int pmu_path(const struct pmu_tree *tree, const char *pmu, const char *file, char ret[PATH_MAX])
{
	int n = snprintf(ret, PATH_MAX, "%s/bus/event_source/devices/%s/%s", tree->root, pmu, file);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

void pmu_tree_path(const struct pmu_tree *tree, const char *pmu, const char *file, size_t size, char *ret)
{
	char path[PATH_MAX];

	ret[0] = '\0';
	if (pmu_path(tree, pmu, file, path) == 0 && strlen(path) < size)
		memcpy(ret, path, strlen(path) + 1);
}

bool pmu_tree_has(const struct pmu_tree *tree, const char *pmu, const char *file)
{
	char path[PATH_MAX];

	return pmu_path(tree, pmu, file, path) == 0 && access(path, F_OK) == 0;
}

/* Like pmu_path(), for a file below the root of the tree. */
static int root_path(const struct pmu_tree *tree, const char *file, char ret[PATH_MAX])
{
	int n = snprintf(ret, PATH_MAX, "%s/%s", tree->root, file);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

bool pmu_tree_has_root(const struct pmu_tree *tree, const char *file)
{
	char path[PATH_MAX];

	return root_path(tree, file, path) == 0 && access(path, F_OK) == 0;
}

int pmu_tree_root_text(const struct pmu_tree *tree, const char *file, char **ret)
{
	char path[PATH_MAX];
	int r;

	r = root_path(tree, file, path);
	return r < 0 ? r : text_file_read(path, ret);
}

int pmu_tree_text(const struct pmu_tree *tree, const char *pmu, const char *file, char **ret)
{
	char path[PATH_MAX];
	int r;

	r = pmu_path(tree, pmu, file, path);
	if (r < 0)
		return r;
	return text_file_read(path, ret);
}

int pmu_tree_number(const struct pmu_tree *tree, const char *pmu, const char *file, u32 *ret)
{
	_cleanup_free_ char *text = NULL;
	unsigned long value;
	char *end;
	int r;

	r = pmu_tree_text(tree, pmu, file, &text);
	if (r < 0)
		return r;
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoul(text, &end, 0);
	if (errno != 0 || *end || value > UINT32_MAX)
		return -EINVAL;
	*ret = (u32)value;
	return 0;
}

bool pmu_tree_has_pmu(const struct pmu_tree *tree, const char *prefix)
{
	for (size_t i = 0; i < tree->n_names; i++)
		if (strncmp(tree->names[i], prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

int pmu_tree_place(const struct pmu_tree *tree, const char *pmu, const struct pmu_term *term,
		   u64 configs[PMU_CONFIGS])
{
	char file[sizeof("format/") + PMU_TERM_MAX];
	_cleanup_free_ char *text = NULL;
	struct pmu_format format;
	int r;

	(void)snprintf(file, sizeof(file), "format/%s", term->name);
	r = pmu_tree_text(tree, pmu, file, &text);
	if (r < 0)
		return r;
	r = pmu_format_parse(text, &format);
	if (r < 0)
		return r;
	return pmu_format_place(&format, term->value, configs);
}

int pmu_tree_event(const struct pmu_tree *tree, const char *pmu, const char *file, u64 configs[PMU_CONFIGS],
		   char ret_culprit[PMU_TERM_MAX])
{
	_cleanup_free_ char *text = NULL;
	struct pmu_term term;
	const char *at;
	int r;

	(void)snprintf(ret_culprit, PMU_TERM_MAX, "%s", file);
	r = pmu_tree_text(tree, pmu, file, &text);
	if (r < 0)
		return r;
	for (at = text; (r = pmu_term_next(&at, &term)) > 0;) {
		r = pmu_tree_place(tree, pmu, &term, configs);
		if (r < 0) {
			(void)snprintf(ret_culprit, PMU_TERM_MAX, "%s", term.name);
			return r;
		}
	}
	return r;
}

bool pmu_tree_plain_name(const char *name)
{
	if (!isalnum((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_-.+", *name))
			return false;
	return true;
}

static int is_pmu(const struct dirent *entry)
{
	return pmu_tree_plain_name(entry->d_name) && strlen(entry->d_name) < EVENT_PMU_MAX;
}

/* Returns 0, -ENOMEM, or -errno of opening the folder of PMUs. */
static int find_pmus(struct pmu_tree *tree)
{
	struct dirent **entries = NULL;
	char path[PATH_MAX];
	int n, r;

	r = pmu_path(tree, "", "", path);
	if (r < 0)
		return r;
	n = scandir(path, &entries, is_pmu, alphasort);
	if (n < 0)
		return -errno;
	tree->names = calloc((size_t)n + 1, sizeof(char *));
	for (int i = 0; i < n; i++) {
		if (tree->names) {
			tree->names[tree->n_names] = strdup(entries[i]->d_name);
			if (tree->names[tree->n_names])
				tree->n_names++;
			else
				r = -ENOMEM;
		}
		free(entries[i]);
	}
	free((void *)entries);
	return tree->names ? r : -ENOMEM;
}

/* Finds the online CPUs. A copied tree may only have the lists of its nodes' CPUs. */
static void find_online(struct pmu_tree *tree)
{
	struct cpu_list of_node;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/devices/system/cpu/online", tree->root) < PATH_MAX &&
	    cpu_list_read(path, &tree->online) >= 0) {
		tree->online_known = true;
		return;
	}
	for (int node = 0; node < 1024; node++) { /* MAX_NUMNODES of x86 */
		if (snprintf(path, sizeof(path), "%s/devices/system/node/node%d/cpulist", tree->root, node) >=
		    PATH_MAX)
			return;
		if (cpu_list_read(path, &of_node) < 0)
			continue;
		cpu_list_add_all(&tree->online, &of_node);
		tree->online_known = true;
	}
}

static int is_node(const struct dirent *entry)
{
	return strncmp(entry->d_name, "node", 4) == 0 && isdigit((unsigned char)entry->d_name[4]);
}

static void count_nodes(struct pmu_tree *tree)
{
	struct dirent **entries = NULL;
	char path[PATH_MAX];
	int n;

	if (snprintf(path, sizeof(path), "%s/devices/system/node", tree->root) >= PATH_MAX)
		return;
	n = scandir(path, &entries, is_node, NULL);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free((void *)entries);
	tree->n_nodes = n > 0 ? (unsigned)n : 0;
}

int pmu_tree_open(const char *root, struct pmu_tree *ret)
{
	*ret = (struct pmu_tree){.root = root};
	find_online(ret);
	count_nodes(ret);
	return find_pmus(ret);
}

void pmu_tree_close(struct pmu_tree *tree)
{
	for (size_t i = 0; i < tree->n_names; i++)
		free(tree->names[i]);
	free((void *)tree->names);
	tree->names = NULL;
	tree->n_names = 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Reads a sysfs tree, /sys or a copy: its PMUs, their files, and the online CPUs. */
#ifndef PEBSD_PMU_TREE_H
#define PEBSD_PMU_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "machine/cpu_list.h"
#include "origin/pmu/pmu_format.h"

struct pmu_tree {
	const char *root; /* owned by the caller */
	char **names;     /* names of all PMUs, sorted */
	size_t n_names;
	bool online_known;
	struct cpu_list online;
	unsigned n_nodes; /* NUMA nodes; 0: the tree does not say */
};

/*
 * Lists the PMUs below `root` that have plain names, and the online CPUs. If a copy lacks the list of online
 * CPUs, the CPUs of all nodes are used. Returns 0, -ENOMEM, or -errno of reading the folder of PMUs. Close
 * the tree in every case.
 */
int pmu_tree_open(const char *root, struct pmu_tree *ret);
void pmu_tree_close(struct pmu_tree *tree);

/*
 * Returns true if `name` looks like a name from the kernel ("generic_arch_v5+") and is safe to print. A
 * copied tree may contain anything.
 */
bool pmu_tree_plain_name(const char *name);

/* Returns true if the name of any PMU starts with `prefix`. */
bool pmu_tree_has_pmu(const struct pmu_tree *tree, const char *prefix);

/* Writes the path of a PMU's file to `ret`, or "" if it does not fit into `size` bytes. */
void pmu_tree_path(const struct pmu_tree *tree, const char *pmu, const char *file, size_t size, char *ret);

/* Returns true if a PMU has this file or folder, such as "events/mem-loads". */
bool pmu_tree_has(const struct pmu_tree *tree, const char *pmu, const char *file);

/* Returns true if the tree has this file or folder, whose path is below the root of the tree. */
bool pmu_tree_has_root(const struct pmu_tree *tree, const char *file);

/* Reads the text of a file, whose path is below the root of the tree. Returns as pmu_tree_text(). */
int pmu_tree_root_text(const struct pmu_tree *tree, const char *file, char **ret);

/*
 * Reads the text of a PMU's file. The caller frees it. Errors are those of text_file_read(), and
 * -ENAMETOOLONG.
 */
int pmu_tree_text(const struct pmu_tree *tree, const char *pmu, const char *file, char **ret);

/*
 * Reads a number from a PMU's file. Errors are those of pmu_tree_text(), and -EINVAL if it is not a 32-bit
 * number.
 */
int pmu_tree_number(const struct pmu_tree *tree, const char *pmu, const char *file, u32 *ret);

/*
 * Places a term into `configs` as the PMU's format/ folder says, replacing the bits there. Errors are those
 * of pmu_tree_text() (-ENOENT: the PMU has no such term), pmu_format_parse() and pmu_format_place().
 */
int pmu_tree_place(const struct pmu_tree *tree, const char *pmu, const struct pmu_term *term,
		   u64 configs[PMU_CONFIGS]);

/*
 * Builds the event of a file in events/, term by term. Errors are those of pmu_tree_place(). After an error
 * `ret_culprit` names the term, or the file if it cannot be read or is not a list of terms.
 */
int pmu_tree_event(const struct pmu_tree *tree, const char *pmu, const char *file, u64 configs[PMU_CONFIGS],
		   char ret_culprit[PMU_TERM_MAX]);

#endif

// SPDX-License-Identifier: GPL-2.0
/* Reading a sysfs tree, /sys or a copy: its PMUs, their files, the CPUs that are online. */
#ifndef PEBSD_PMU_TREE_H
#define PEBSD_PMU_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cpu_list.h"
#include "origin/pmu/pmu_format.h"

struct pmu_tree {
	const char *root; /* the caller's */
	char **names;     /* of all PMUs, sorted */
	size_t n_names;
	bool online_known;
	struct cpu_list online;
	unsigned n_nodes; /* NUMA nodes; 0: the tree does not tell */
};

/*
 * Lists the PMUs below `root` that have plain names, and the online CPUs (those of all nodes where a copy has
 * no more). Returns 0, -ENOMEM, or -errno of reading the folder of PMUs; the tree is to be closed in every
 * case.
 */
int pmu_tree_open(const char *root, struct pmu_tree *ret);
void pmu_tree_close(struct pmu_tree *tree);

/* Whether it is a word as the kernel names things ("generic_arch_v5+"), safe to print: a copied tree may hold
 * anything. */
bool pmu_tree_plain_name(const char *name);

/* Whether a PMU's name starts so. */
bool pmu_tree_has_pmu(const struct pmu_tree *tree, const char *prefix);

/* A file or folder of a PMU: "events/mem-loads". */
bool pmu_tree_has(const struct pmu_tree *tree, const char *pmu, const char *file);

/* Its text, the caller's to free; errors as text_file_read(), -ENAMETOOLONG. */
int pmu_tree_text(const struct pmu_tree *tree, const char *pmu, const char *file, char **ret);

/* Its number; the errors of pmu_tree_text(), and -EINVAL where it is none of 32 bits. */
int pmu_tree_number(const struct pmu_tree *tree, const char *pmu, const char *file, u32 *ret);

/*
 * Puts a term where the PMU's format/ folder says, replacing what stood there. The errors of pmu_tree_text()
 * (-ENOENT: the PMU has no such term), pmu_format_parse() and pmu_format_place().
 */
int pmu_tree_place(const struct pmu_tree *tree, const char *pmu, const struct pmu_term *term,
		   u64 configs[PMU_CONFIGS]);

/*
 * Puts together the event of a file below events/, term by term. Errors as pmu_tree_place(); `ret_culprit`
 * then names the term, or the file where its text as a whole is at fault.
 */
int pmu_tree_event(const struct pmu_tree *tree, const char *pmu, const char *file, u64 configs[PMU_CONFIGS],
		   char ret_culprit[PMU_TERM_MAX]);

#endif

// SPDX-License-Identifier: GPL-2.0
/* Sets of CPU numbers, and the kernel's text form of them: "0-3,8" (lib/vsprintf.c, "%*pbl"). */
#ifndef PEBSD_CPU_LIST_H
#define PEBSD_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* CPU numbers are below this limit: the highest NR_CPUS of a distribution's kernel (x86, MAXSMP). */
#define CPU_LIST_MAX 8192

/* A plain value: {0} is the empty set, and assignment copies the set. */
struct cpu_list {
	u64 bits[CPU_LIST_MAX / 64];
};

/*
 * Parses text such as "0-3,8". The texts "" and "\n" are the empty set. White space may stand at either end.
 * Returns 0, -EINVAL if `text` is not a CPU list, or -ERANGE if a CPU is not below CPU_LIST_MAX. On an error,
 * `ret` is unchanged.
 */
int cpu_list_parse(const char *text, struct cpu_list *ret);

/* Same as cpu_list_parse(), for the content of a file. It also returns the errors of text_file_read(). */
int cpu_list_read(const char *path, struct cpu_list *ret);

/*
 * Returns text such as "0-3,8", or "" for the empty set. The caller frees it. Returns NULL if there is no
 * memory.
 */
char *cpu_list_format(const struct cpu_list *list);

/* Numbers out of range are in no set, and adding one has no effect. */
bool cpu_list_has(const struct cpu_list *list, int cpu);
void cpu_list_add(struct cpu_list *list, int cpu);
void cpu_list_add_all(struct cpu_list *list, const struct cpu_list *others);
void cpu_list_keep(struct cpu_list *list, const struct cpu_list *allowed);
void cpu_list_drop(struct cpu_list *list, const struct cpu_list *others);

bool cpu_list_equal(const struct cpu_list *a, const struct cpu_list *b);
size_t cpu_list_count(const struct cpu_list *list);

/* Returns the lowest CPU above `cpu`, or -1 if there is none. Start with -1. */
int cpu_list_next(const struct cpu_list *list, int cpu);

/* Returns the highest CPU + 1, or 0 for the empty set. The kernel may leave out numbers below. */
u32 cpu_list_end(const struct cpu_list *list);

#endif

// SPDX-License-Identifier: GPL-2.0
/* Sets of CPU numbers, and the kernel's way to write them: "0-3,8" (lib/vsprintf.c, "%*pbl"). */
#ifndef PEBSD_CPU_LIST_H
#define PEBSD_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* CPU numbers lie below this: the most that a distribution's kernel is built for (NR_CPUS, x86 MAXSMP). */
#define CPU_LIST_MAX 8192

/* A plain value: {0} is the empty set, assignment copies. */
struct cpu_list {
	u64 bits[CPU_LIST_MAX / 64];
};

/*
 * Reads "0-3,8", "" and "\n" (nobody) included; white space may stand at either end. Returns 0, -EINVAL where
 * the text is no list, -ERANGE where a CPU is not below CPU_LIST_MAX; `ret` is then unchanged.
 */
int cpu_list_parse(const char *text, struct cpu_list *ret);

/* The same from a file. Also returns what opening and reading it may. */
int cpu_list_read(const char *path, struct cpu_list *ret);

/* "0-3,8", "" for the empty set. The caller's to free; NULL when out of memory. */
char *cpu_list_format(const struct cpu_list *list);

/* Out of range numbers are in no set; adding one changes nothing. */
bool cpu_list_has(const struct cpu_list *list, int cpu);
void cpu_list_add(struct cpu_list *list, int cpu);
void cpu_list_add_all(struct cpu_list *list, const struct cpu_list *others);
void cpu_list_keep(struct cpu_list *list, const struct cpu_list *allowed);
void cpu_list_drop(struct cpu_list *list, const struct cpu_list *others);

size_t cpu_list_count(const struct cpu_list *list);

/* The lowest CPU above `cpu`, -1 where there is none. Start with -1. */
int cpu_list_next(const struct cpu_list *list, int cpu);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Any text as a file of the kernel in /proc and /sys. Byte 0 selects the file: lists of CPUs, a process's
 * stat, status, statm and maps, the kernel's version and symbols. Some of these contain names that a process
 * chose.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/own_memory.h"
#include "export/prometheus/process.h"
#include "machine/cpu_list.h"
#include "origin/perf/perf_facts.h"
#include "symbols/resolver/resolver_kernel.h"
#include "zoom/zoom_process.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* A list that was read must be the same after it is written and read again. */
static void cpus(char *text)
{
	static struct cpu_list list, again;
	int r = cpu_list_parse(text, &list);
	_cleanup_free_ char *written = NULL;
	size_t n = 0;

	if (r < 0) {
		check(r == -EINVAL || r == -ERANGE);
		return;
	}
	written = cpu_list_format(&list);
	check(written && cpu_list_parse(written, &again) == 0 && memcmp(&list, &again, sizeof(list)) == 0);
	for (int cpu = cpu_list_next(&list, -1); cpu >= 0; cpu = cpu_list_next(&list, cpu)) {
		check(cpu < CPU_LIST_MAX && cpu_list_has(&list, cpu));
		n++;
	}
	check(n == cpu_list_count(&list));
}

static void memory(char *text)
{
	u64 bytes;
	int r = own_memory_of_statm(text, 4096, &bytes);

	check(r == -ENODATA || (r == 0 && bytes % 4096 == 0));
}

static void stat(char *text)
{
	u64 ticks;
	int r = process_start_ticks(text, &ticks);

	check(r == 0 || r == -EBADMSG);
}

static void facts(char *text)
{
	u64 value;

	(void)perf_facts_status(text, "CapEff", 16, &value);
	(void)perf_facts_status(text, "Seccomp", 10, &value);
	(void)perf_facts_initial_namespace(text);
	check(!perf_facts_debian_kernel(text) || strstr(text, "debian"));
	check(!perf_facts_ubuntu_kernel(text) || strstr(text, "Ubuntu"));
}

static void kernel_names(char *text)
{
	FILE *file = *text ? fmemopen(text, strlen(text), "r") : NULL;
	struct kernel_symbols symbols = {0};

	if (!file)
		return;
	if (kernel_symbols_read(file, &symbols) == 0) {
		for (size_t i = 0; i < symbols.n; i++) {
			const struct kernel_symbol *symbol = &symbols.symbols[i];
			const struct kernel_symbol *found;

			check(symbol->name < symbols.names_size && symbol->module < symbols.names_size);
			check(i == 0 || symbol->start >= symbols.symbols[i - 1].start);
			found = kernel_symbols_find(&symbols, symbol->start,
						    symbol->code ? SYMBOL_CODE : SYMBOL_DATA);
			check(!found || (found->start <= symbol->start && found->code == symbol->code));
			(void)kernel_symbols_base(&symbols, symbol);
			(void)kernel_symbols_find(&symbols, symbol->start - 1, SYMBOL_CODE);
		}
		check(kernel_symbols_bytes(&symbols) >= symbols.names_size);
	}
	kernel_symbols_done(&symbols);
	(void)fclose(file);
}

static int told(void *userdata, const struct zoom_record *record)
{
	u32 *n = userdata;

	check(record->pid == 7 && ++*n <= ZOOM_PROCESS_MAPPINGS_MAX + 1);
	if (record->kind == ZOOM_RECORD_NAMED)
		check(*n == 1 && *record->named.name && !strchr(record->named.name, '\n'));
	else
		check(record->kind == ZOOM_RECORD_MAPPED && record->mapped.size > 0 && *record->mapped.path);
	return 0;
}

static void process(char *text)
{
	struct zoom_process process = {.pid = 7, .text = strdup(text)};
	u32 n = 0;

	check(zoom_process_report(&process, told, &n) == 0);
	zoom_process_done(&process);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(char *text) = {cpus, memory, stat, facts, kernel_names, process};
	_cleanup_free_ char *text = NULL;

	if (size == 0)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	if (text)
		readers[data[0] % ARRAY_SIZE(readers)](text);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "machine/cpu_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text_file.h"

static const char *skip_space(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* A number here has neither sign nor leading space, both of which strtol() would accept. */
static int parse_cpu(const char **text, int *ret)
{
	int cpu = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++) {
		cpu = cpu * 10 + (**text - '0');
		if (cpu >= CPU_LIST_MAX)
			return -ERANGE;
	}
	*ret = cpu;
	return 0;
}

static int parse_range(const char **text, struct cpu_list *list)
{
	int first, last;
	int r;

	r = parse_cpu(text, &first);
	if (r < 0)
		return r;
	last = first;
	if (**text == '-') {
		(*text)++;
		r = parse_cpu(text, &last);
		if (r < 0)
			return r;
	}
	if (last < first)
		return -EINVAL;
	for (int cpu = first; cpu <= last; cpu++)
		cpu_list_add(list, cpu);
	return 0;
}

int cpu_list_parse(const char *text, struct cpu_list *ret)
{
	struct cpu_list list = {0};
	int r;

	text = skip_space(text);
	while (*text) {
		r = parse_range(&text, &list);
		if (r < 0)
			return r;
		if (*text == ',') {
			text++;
			continue;
		}
		if (*skip_space(text))
			return -EINVAL;
		break;
	}
	*ret = list;
	return 0;
}

int cpu_list_read(const char *path, struct cpu_list *ret)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = text_file_read(path, &text);
	if (r < 0)
		return r;
	return cpu_list_parse(text, ret);
}

char *cpu_list_format(const struct cpu_list *list)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (int first = cpu_list_next(list, -1); first >= 0; first = cpu_list_next(list, first)) {
		const char *separator = ftell(stream) > 0 ? "," : "";
		int last = first;

		while (cpu_list_has(list, last + 1))
			last++;
		if (last == first)
			(void)fprintf(stream, "%s%d", separator, first);
		else
			(void)fprintf(stream, "%s%d-%d", separator, first, last);
		first = last;
	}
	if (fclose(stream) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

bool cpu_list_has(const struct cpu_list *list, int cpu)
{
	if (cpu < 0 || cpu >= CPU_LIST_MAX)
		return false;
	return list->bits[cpu / 64] >> (cpu % 64) & 1;
}

void cpu_list_add(struct cpu_list *list, int cpu)
{
	if (cpu < 0 || cpu >= CPU_LIST_MAX)
		return;
	list->bits[cpu / 64] |= 1ULL << (cpu % 64);
}

void cpu_list_add_all(struct cpu_list *list, const struct cpu_list *others)
{
	for (size_t i = 0; i < ARRAY_SIZE(list->bits); i++)
		list->bits[i] |= others->bits[i];
}

void cpu_list_keep(struct cpu_list *list, const struct cpu_list *allowed)
{
	for (size_t i = 0; i < ARRAY_SIZE(list->bits); i++)
		list->bits[i] &= allowed->bits[i];
}

void cpu_list_drop(struct cpu_list *list, const struct cpu_list *others)
{
	for (size_t i = 0; i < ARRAY_SIZE(list->bits); i++)
		list->bits[i] &= ~others->bits[i];
}

bool cpu_list_equal(const struct cpu_list *a, const struct cpu_list *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

size_t cpu_list_count(const struct cpu_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(list->bits); i++)
		n += (size_t)__builtin_popcountll(list->bits[i]);
	return n;
}

int cpu_list_next(const struct cpu_list *list, int cpu)
{
	for (cpu++; cpu < CPU_LIST_MAX; cpu++)
		if (cpu_list_has(list, cpu))
			return cpu;
	return -1;
}

u32 cpu_list_end(const struct cpu_list *list)
{
	u32 end = CPU_LIST_MAX;

	while (end > 0 && !cpu_list_has(list, (int)end - 1))
		end--;
	return end;
}

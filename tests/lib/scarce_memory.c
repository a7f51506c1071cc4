// SPDX-License-Identifier: GPL-2.0
#include "scarce_memory.h"

static bool scarce, failed;
static size_t left;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_reallocarray(void *memory, size_t n, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *memory, size_t n, size_t size);
char *__wrap_strdup(const char *text);

void scarce_memory_after(size_t n)
{
	scarce = true;
	failed = false;
	left = n;
}

bool scarce_memory_end(void)
{
	scarce = false;
	return failed;
}

static bool fails(void)
{
	if (!scarce || failed)
		return false;
	if (left-- > 0)
		return false;
	failed = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *memory, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(memory, n, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

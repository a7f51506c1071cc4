// SPDX-License-Identifier: GPL-2.0
/*
 * Loaded into a program before its libraries (LD_PRELOAD). Counts allocations of the program and of all its
 * libraries, and makes some fail as described in scarce_memory.h. Programs that the program executes are not
 * affected.
 */
#include "scarce_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* glibc's own functions, under the names that remain when a program replaces the usual ones. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static struct scarce_shared *shared;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("SCARCE_MEMORY");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct scarce_shared *mapped;
	int32_t nobody = 0;

	if (fd < 0)
		return;
	mapped = mmap(NULL, sizeof(*mapped), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (mapped == MAP_FAILED)
		return;
	if (atomic_compare_exchange_strong(&mapped->process, &nobody, (int32_t)getpid()))
		shared = mapped;
	else
		(void)munmap(mapped, sizeof(*mapped));
}

static bool fails(void)
{
	uint64_t number;

	if (!shared || !atomic_load(&shared->armed))
		return false;
	number = atomic_fetch_add(&shared->asked, 1);
	if (number < atomic_load(&shared->first) || number >= atomic_load(&shared->after))
		return false;
	atomic_fetch_add(&shared->failed, 1);
	errno = ENOMEM;
	return true;
}

static void *counted(void *memory)
{
	if (memory && shared)
		atomic_fetch_add(&shared->live, 1);
	return memory;
}

void *malloc(size_t size)
{
	return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *memory, size_t size)
{
	if (!memory)
		return malloc(size);
	return fails() ? NULL : __libc_realloc(memory, size);
}

/*
 * json-c's parser does not check whether it could copy a member's name, and continues with NULL
 * (json_tokener_parse_ex(), 0.16). The daemon can do nothing about that, so strdup() never fails there.
 */
static bool is_parser(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libjson-c");
}

char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = is_parser(__builtin_return_address(0)) ? counted(__libc_malloc(size)) : malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
	return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *memory = memalign(alignment, size);

	if (!memory)
		return ENOMEM;
	*ret = memory;
	return 0;
}

void free(void *memory)
{
	if (memory && shared)
		atomic_fetch_sub(&shared->live, 1);
	__libc_free(memory);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Cleanup attributes and ownership transfer: a resource is freed at the end of its scope, unless it is taken
 * out with TAKE_PTR or TAKE_FD.
 */
#ifndef PEBSD_CLEANUP_H
#define PEBSD_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static inline void cleanup_fclose(FILE *const *file)
{
	if (*file)
		(void)fclose(*file);
}

#define _cleanup_(function) __attribute__((cleanup(function)))
#define _cleanup_free_      _cleanup_(cleanup_free)
#define _cleanup_close_     _cleanup_(cleanup_close)
#define _cleanup_fclose_    _cleanup_(cleanup_fclose)

#define TAKE_PTR(pointer)                             \
	({                                            \
		typeof(pointer) *_place = &(pointer); \
		typeof(pointer) _taken = *_place;     \
		*_place = NULL;                       \
		_taken;                               \
	})

#define TAKE_FD(fd)                   \
	({                            \
		int *_place = &(fd);  \
		int _taken = *_place; \
		*_place = -1;         \
		_taken;               \
	})

/* Defines FUNCTIONp() for use with _cleanup_(). It calls `function`, unless the pointer is NULL. */
#define DEFINE_CLEANUP(type, function)                \
	static inline void function##p(type *pointer) \
	{                                             \
		if (*pointer)                         \
			function(*pointer);           \
	}

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL

#endif

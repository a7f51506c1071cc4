// SPDX-License-Identifier: GPL-2.0
#include "counted_strcmp.h"

#include <string.h>

u64 counted_strcmp;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's names are reserved */
int strcmp(const char *first, const char *second)
{
	counted_strcmp++;
	while (*first && *first == *second) {
		first++;
		second++;
	}
	return (unsigned char)*first - (unsigned char)*second;
}

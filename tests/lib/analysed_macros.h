/* SPDX-License-Identifier: GPL-2.0 */
#pragma once
/*
 * Macros of other people's headers as cppcheck is to see them: it is given none of these headers, which take
 * it minutes, and cannot read a line whose macro it does not know.
 */
#define LIBBPF_OPTS(type, name, ...) struct type name = {.sz = sizeof(struct type), __VA_ARGS__}
#define json_object_object_foreach(object, key, value)                          \
	for (struct json_object *value = analysed_first(object); value != NULL; \
	     value = analysed_next(object))                                     \
		for (const char *key = analysed_key(value); key != NULL; key = NULL)

/* Its own tables have them wrong: some arguments of these may be NULL (accept(2), getsockopt(2), scandir(3)).
 */
#define accept4(...)    analysed_call(__VA_ARGS__)
#define getsockopt(...) analysed_call(__VA_ARGS__)
#define scandir(...)    analysed_call(__VA_ARGS__)

/* SPDX-License-Identifier: GPL-2.0 */
#pragma once
/*
 * Macros of other projects' headers, as cppcheck sees them. It does not get these headers, because they take
 * it minutes, and it cannot parse a line with a macro that it does not know.
 */
#define LIBBPF_OPTS(type, name, ...) struct type name = {.sz = sizeof(struct type), __VA_ARGS__}
#define json_object_object_foreach(object, key, value)                          \
	for (struct json_object *value = analysed_first(object); value != NULL; \
	     value = analysed_next(object))                                     \
		for (const char *key = analysed_key(value); key != NULL; key = NULL)

/*
 * cppcheck's own tables are wrong here: some arguments of these functions may be NULL (accept(2),
 * getsockopt(2), scandir(3)).
 */
#define accept4(...)    analysed_call(__VA_ARGS__)
#define getsockopt(...) analysed_call(__VA_ARGS__)
#define scandir(...)    analysed_call(__VA_ARGS__)

// SPDX-License-Identifier: GPL-2.0
#include "base/build_info.h"

#include <dlfcn.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/json_get.h"
#include "base/loaded.h"
#include "base/version.h"

/* Set by the build: names and versions, by pkg-config, of every library that may be linked. */
#ifndef PEBSD_LIBRARIES
#define PEBSD_LIBRARIES ""
#endif

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#define LICENCE "GPL-2.0"

/*
 * The known libraries, each with the function that returns its version at run time, if it has one. The
 * function is looked up among the loaded libraries, so that no library is linked only to be asked.
 */
static const struct library {
	const char *name; /* name in pkg-config; "" if it has none */
	const char *file; /* the file name starts with this */
	const char *call;
	bool takes_session; /* takes a session, as dwfl_version() does: NULL stands for no session */
} libraries[] = {
	{"inih", "libinih.so.", NULL, false},
	{"json-c", "libjson-c.so.", "json_c_version", false},
	{"libRmath", "libRmath.so.", NULL, false},
	{"libbpf", "libbpf.so.", "libbpf_version_string", false},
	{"libdw", "libdw.so.", "dwfl_version", true},
	{"libelf", "libelf.so.", NULL, false},
	{"libmicrohttpd", "libmicrohttpd.so.", "MHD_get_version", false},
	{"libprotobuf-c", "libprotobuf-c.so.", "protobuf_c_version", false},
	{"libsystemd", "libsystemd.so.", NULL, false},
	{"libzstd", "libzstd.so.", "ZSTD_versionString", false},
	{"ncursesw", "libncursesw.so.", "curses_version", false},
	{"ncursesw", "libtinfo.so.", NULL, false}, /* part of ncurses, in a separate file */
	{"sqlite3", "libsqlite3.so.", "sqlite3_libversion", false},
	{"zlib", "libz.so.", "zlibVersion", false},
	{"", "libc.so.", "gnu_get_libc_version", false},
};

static const struct library *find_library(const char *file)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (strncmp(file, libraries[i].file, strlen(libraries[i].file)) == 0)
			return &libraries[i];
	return NULL;
}

char *build_info_compiled_with(const char *list, const char *library)
{
	const size_t length = strlen(library);

	while (length > 0 && *list) {
		const char *version = list + strcspn(list, " ");

		version += strspn(version, " ");
		if (strncmp(list, library, length) == 0 && list[length] == ' ')
			return strndup(version, strcspn(version, " "));
		list = version + strcspn(version, " ");
		list += strspn(list, " ");
	}
	return NULL;
}

/* Asks the loaded library for its version. Returns NULL if it has no such function. */
static const char *loaded_version(const struct library *library)
{
	union {
		void *address;
		const char *(*ask)(void);
		const char *(*ask_of)(void *session);
	} call = {.address = library->call ? dlsym(RTLD_DEFAULT, library->call) : NULL};

	if (!call.address)
		return NULL;
	return library->takes_session ? call.ask_of(NULL) : call.ask();
}

static bool put(json_object *object, const char *key, const char *text)
{
	json_object *value;

	if (!text || !*text)
		return true;
	value = json_object_new_string(text);
	if (!value || json_object_object_add(object, key, value) < 0) {
		json_object_put(value);
		return false;
	}
	return true;
}

/* Adds an empty object, which the array owns. Returns NULL if there is no memory. */
static json_object *put_object(json_object *array)
{
	json_object *added = json_object_new_object();

	if (!added || json_object_array_add(array, added) < 0) {
		json_object_put(added);
		return NULL;
	}
	return added;
}

static bool put_library(json_object *array, const struct loaded *loaded)
{
	const struct library *library = find_library(loaded->name);
	_cleanup_free_ char *compiled =
		library ? build_info_compiled_with(PEBSD_LIBRARIES, library->name) : NULL;
	json_object *object = put_object(array);

	return object && put(object, "name", loaded->name) && put(object, "file", loaded->file) &&
	       put(object, "build_id", loaded->build_id) && put(object, "compiled_with", compiled) &&
	       put(object, "loaded", library ? loaded_version(library) : NULL);
}

static bool put_bpf(json_object *array, const struct build_info_bpf *bpf)
{
	json_object *object = put_object(array);

	return object && put(object, "name", bpf->name) && put(object, "sha256", bpf->sha256);
}

/* Adds an empty array, which the object owns. Returns NULL if there is no memory. */
static json_object *put_array(json_object *object, const char *key)
{
	json_object *array = json_object_new_array();

	if (!array || json_object_object_add(object, key, array) < 0) {
		json_object_put(array);
		return NULL;
	}
	return array;
}

static bool put_libraries(json_object *info, const struct loaded_list *loaded)
{
	json_object *array = put_array(info, "libraries");

	if (!array)
		return false;
	for (size_t i = 1; i < loaded->n; i++)
		if (!put_library(array, &loaded->list[i]))
			return false;
	return true;
}

static bool put_objects(json_object *info, const struct build_info_bpf *bpf, size_t n)
{
	json_object *array = n > 0 ? put_array(info, "bpf_objects") : NULL;

	if (n > 0 && !array)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!put_bpf(array, &bpf[i]))
			return false;
	return true;
}

/*
 * The linker takes this function from the archive only if other code of the program calls it. A weak
 * reference alone does not pull a member out of an archive.
 */
extern int cplus_demangle_v3_callback(const char *, int, void (*)(const char *, size_t, void *), void *)
	__attribute__((weak));

/* libiberty has no version of its own: it is part of the sources of GCC and binutils. */
static bool put_static(json_object *info)
{
	json_object *array, *object;

	if (!cplus_demangle_v3_callback)
		return true;
	array = put_array(info, "static_libraries");
	object = array ? put_object(array) : NULL;
	return object && put(object, "name", "libiberty");
}

int build_info_print(FILE *out, const char *program, const struct build_info_bpf *bpf, size_t n_bpf)
{
	_cleanup_(loaded_done) struct loaded_list loaded = {};
	_cleanup_json_ json_object *info = json_object_new_object();
	struct utsname machine;
	int r = loaded_find(&loaded);

	if (r < 0)
		return r;
	if (!info || uname(&machine) < 0)
		return -ENOMEM;
	if (!put(info, "name", program) || !put(info, "version", PEBSD_VERSION) ||
	    !put(info, "build_id", loaded.list[0].build_id) || !put(info, "licence", LICENCE) ||
	    !put(info, "architecture", machine.machine) || !put(info, "compiler", COMPILER) ||
	    !put_objects(info, bpf, n_bpf) || !put_libraries(info, &loaded) || !put_static(info))
		return -ENOMEM;
	if (fprintf(out, "%s\n",
		    json_object_to_json_string_ext(info, JSON_C_TO_STRING_PRETTY |
								 JSON_C_TO_STRING_NOSLASHESCAPE)) < 0)
		return -errno;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "symbols/shared/symbols_child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

/*
 * libdebuginfod's cache if pebsd was given no other place: the directory that systemd creates for the unit.
 */
#define CACHE_DEFAULT "/var/cache/pebsd/debuginfod"

#define ENVIRONMENT_MAX 8

struct environment {
	char *list[ENVIRONMENT_MAX + 1];
	size_t n;
};

static void environment_clear(struct environment *environment)
{
	for (size_t i = 0; i < environment->n; i++)
		free(environment->list[i]);
}

static int environment_add(struct environment *environment, const char *name, const char *value)
{
	char *text;

	if (environment->n == ENVIRONMENT_MAX)
		return -E2BIG;
	if (asprintf(&text, "%s=%s", name, value) < 0)
		return -ENOMEM;
	environment->list[environment->n++] = text;
	return 0;
}

static int add_cache(struct environment *environment)
{
	const char *own = getenv("DEBUGINFOD_CACHE_PATH");
	const char *unit = getenv("CACHE_DIRECTORY");
	_cleanup_free_ char *path = NULL;

	if (own && *own)
		return environment_add(environment, "DEBUGINFOD_CACHE_PATH", own);
	if (unit && *unit == '/' && asprintf(&path, "%s/debuginfod", unit) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return environment_add(environment, "DEBUGINFOD_CACHE_PATH", path ? path : CACHE_DEFAULT);
}

static int make_environment(const char *debuginfod, struct environment *environment)
{
	int r = 0;

	if ((r = environment_add(environment, "PATH", "/usr/sbin:/usr/bin:/sbin:/bin")) < 0 ||
	    (r = environment_add(environment, "LANG", "C.UTF-8")) < 0)
		return r;
#ifdef __SANITIZE_ADDRESS__
	/* LeakSanitizer attaches to the process with ptrace, which the symbolizer forbids. */
	if ((r = environment_add(environment, "ASAN_OPTIONS", "detect_leaks=0:abort_on_error=1")) < 0)
		return r;
#endif
	if (!debuginfod || !*debuginfod)
		return 0;
	/*
	 * These time limits are shorter than that of a query (SYMBOLS_QUERY_S), so a server that hangs
	 * costs a name, not the symbolizer.
	 */
	if ((r = environment_add(environment, "DEBUGINFOD_URLS", debuginfod)) < 0 ||
	    (r = environment_add(environment, "DEBUGINFOD_TIMEOUT", "2")) < 0 ||
	    (r = environment_add(environment, "DEBUGINFOD_MAXTIME", "6")) < 0)
		return r;
	return add_cache(environment);
}

static int run(const char *program, const char *debuginfod, int socket, struct child *ret)
{
	_cleanup_(environment_clear) struct environment environment = {0};
	struct child_request request = {
		.program = program, .argument = "--symbolizer", .environment = environment.list};
	int r = make_environment(debuginfod, &environment);

	if (r < 0)
		return r;
	return socket < 0 ? child_start(&request, ret) : child_run(&request, socket, ret);
}

int symbols_child_start(const char *program, const char *debuginfod, struct child *ret)
{
	return run(program, debuginfod, -1, ret);
}

int symbols_child_run(const char *program, const char *debuginfod, int socket, struct child *ret)
{
	return run(program, debuginfod, socket, ret);
}

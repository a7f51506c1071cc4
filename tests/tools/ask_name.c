// SPDX-License-Identifier: GPL-2.0
/*
 * Queries the symbolizer as pebsd does.
 *   ask_name SOCKET PID ADDRESS   prints what is at this address (hexadecimal) of the process
 *   ask_name SOCKET PID           prints the name and the executable mappings of the process
 *   ask_name                      prints its own process id and the address of a function of its own, and waits
 *
 * The exit code is 1 if there is no answer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "symbols/symbols.h"
#include "symbols/symbols_socket.h"

static int fail(const char *what, int error)
{
	(void)fprintf(stderr, "ask_name: %s: %s\n", what, strerror(-error));
	return 1;
}

__attribute__((noinline)) static int function_to_be_found(void)
{
	return pause();
}

static int say_oneself(void)
{
	(void)printf("%d %" PRIxPTR "\n", getpid(), (uintptr_t)function_to_be_found);
	(void)fflush(stdout);
	return function_to_be_found();
}

static int ask_code(const char *socket, u32 pid)
{
	struct child connection = CHILD_NONE;
	_cleanup_free_ char *text = NULL;
	int r = symbols_socket_code(socket, &connection, pid, &text);

	if (r < 0)
		return fail(socket, r);
	(void)fputs(text, stdout);
	child_kill(&connection);
	return 0;
}

static int ask_name(const char *socket, const struct symbol_query *query)
{
	/* Do not start a child: only the unit may answer. */
	struct symbols_settings settings = {.socket = socket, .program = "/bin/false"};
	_cleanup_(symbols_freep) struct symbols *symbols = NULL;
	const struct symbol *symbol;
	sd_event *event = NULL;
	int r = sd_event_new(&event);

	settings.event = event;
	if (r >= 0)
		r = symbols_new(&settings, &symbols);
	while (r >= 0 && !(symbol = symbols_find(symbols, query)))
		r = sd_event_run(event, UINT64_MAX);
	if (r < 0)
		return fail("cannot ask", r);
	(void)sd_event_unref(event);
	(void)printf("%s %s %s\n", symbol_region_name(symbol->region), symbol->module ? symbol->module : "-",
		     symbol->n_frames ? symbol->frames[0].name : "-");
	return symbols_counts(symbols).lost > 0;
}

int main(int argc, char *argv[])
{
	struct symbol_query query = {.kind = SYMBOL_CODE};

	if (argc == 1)
		return say_oneself();
	if (argc < 3 || argc > 4) {
		(void)fprintf(stderr, "usage: ask_name [SOCKET PID [ADDRESS]]\n");
		return 2;
	}
	query.pid = (u32)strtoul(argv[2], NULL, 10);
	if (argc == 3)
		return ask_code(argv[1], query.pid);
	query.address = strtoull(argv[3], NULL, 16);
	return ask_name(argv[1], &query);
}

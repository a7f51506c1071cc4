// SPDX-License-Identifier: GPL-2.0
/*
 * pebsd-symbols.service: `pebsd --symbolizer` with the socket of pebsd-symbols.socket. It accepts connections
 * and runs a symbolizer for each (symbols_worker.h), with the connection as its standard input. The unit
 * itself does not read requests. Only root and the user whose systemd created the socket may connect.
 *
 * An answer contains the mapping of an address and the names at this address. Names come from the symbol
 * tables and debug information of mapped ELF files, from perf-PID.map and from named mappings. A kernel
 * address gets the name of its function or variable and an offset. The unit also returns a process' name and
 * its executable mappings (process_code.h). It returns no memory contents, and nothing of a file except such
 * names.
 *
 * An attacker who controls pebsd can therefore learn the symbols of any program. By inventing mappings, the
 * attacker can also learn those of any ELF file. Contents of files and memory are out of reach.
 */
#ifndef PEBSD_SYMBOLS_UNIT_H
#define PEBSD_SYMBOLS_UNIT_H

#include "pebsd/types.h"

/*
 * Maximum symbolizers at a time: one for pebsd, one for a pebsd started by hand, and two that have been
 * killed and do not end. Further connections are refused.
 */
#define SYMBOLS_UNIT_CLIENTS_MAX 4

/* Seconds without a connection after which the unit ends. systemd starts it again when a client connects. */
#define SYMBOLS_UNIT_IDLE_S 30

struct symbols_unit_settings {
	int listening;          /* the caller's; accepts packets (SOCK_SEQPACKET) */
	const char *debuginfod; /* URLs, separated by spaces; NULL or "": debuginfod is not used */
	const char *program;    /* run with --symbolizer; NULL: /proc/self/exe */
	u64 idle_ns;            /* 0: SYMBOLS_UNIT_IDLE_S */
};

/*
 * Serves until the unit is idle. If a client closes its connection, its symbolizer is killed. Returns an exit
 * code.
 */
int symbols_unit(const struct symbols_unit_settings *settings);

#endif

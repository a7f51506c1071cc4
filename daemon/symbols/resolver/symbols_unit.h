// SPDX-License-Identifier: GPL-2.0
/*
 * pebsd-symbols.service: `pebsd --symbolizer` with the socket of pebsd-symbols.socket. It accepts who asks,
 * and runs a symbolizer for each (symbols_worker.h) that has the connection as its standard input; it reads
 * nothing of what is asked itself. Root may ask, and the user whose systemd has made the socket.
 *
 * What is answered is where the code and data at an address of a process lie, and how they are named: by the
 * symbol tables and debugging information of ELF files that the process has mapped, its perf-PID.map and its
 * named mappings; of the kernel's addresses the name and the offset in it. No byte of memory is read, and of
 * files nothing but such names. Who has taken over pebsd may so learn the symbols of every program, by
 * mappings that it makes up of every ELF file too; contents of files and memory are out of its reach. Beside
 * that a process's name, and which files it has mapped where to execute them, are told (process_code.h).
 */
#ifndef PEBSD_SYMBOLS_UNIT_H
#define PEBSD_SYMBOLS_UNIT_H

#include "pebsd/types.h"

/* At once: pebsd, one that is started by hand, and two that do not end. More are turned away. */
#define SYMBOLS_UNIT_CLIENTS_MAX 4

/* Nobody asks: it ends, and systemd starts it when somebody does. */
#define SYMBOLS_UNIT_IDLE_S 30

struct symbols_unit_settings {
	int listening;          /* the caller's; accepts packets (SOCK_SEQPACKET) */
	const char *debuginfod; /* URLs, separated by spaces; NULL or "": none is asked */
	const char *program;    /* that is run with --symbolizer; NULL: /proc/self/exe */
	u64 idle_ns;            /* 0: SYMBOLS_UNIT_IDLE_S */
};

/* Until nobody asks. Whoever closes its connection has its symbolizer killed. Returns an exit code. */
int symbols_unit(const struct symbols_unit_settings *settings);

#endif

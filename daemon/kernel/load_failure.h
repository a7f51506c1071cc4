// SPDX-License-Identifier: GPL-2.0
/* Explains why the BPF side could not be loaded, so that the reader knows what to do. */
#ifndef PEBSD_LOAD_FAILURE_H
#define PEBSD_LOAD_FAILURE_H

#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"

/*
 * While such a log exists, it collects libbpf's messages and keeps the cause of a failure. A process may have
 * only one log at a time.
 */
struct load_log;

/*
 * Redirects libbpf's messages to log_debug() and to this log. load_log_free() restores libbpf's previous
 * print function. Returns 0 or -ENOMEM.
 */
int load_log_start(struct load_log **ret);
struct load_log *load_log_free(struct load_log *log);
DEFINE_CLEANUP(struct load_log *, load_log_free)

/* Facts about the system. load_failure() gathers them; tests use literals. */
struct load_facts {
	bool has_btf;         /* /sys/kernel/btf/vmlinux is readable */
	bool rejected;        /* the verifier objected */
	bool root;            /* the effective user is root */
	const char *lockdown; /* "none", "integrity", "confidentiality"; NULL: unknown */
	const char *kernel;   /* release, as uname(2) has it */
};

/*
 * Finds the verifier's objection to a program in the text that libbpf prints: the last line of the log before
 * its statistics. Returns NULL if `text` is not a verifier log or the log is empty. The caller frees. Pure:
 * no system call.
 */
char *load_failure_objection(const char *text);

/*
 * Composes the message for a failed step. `cause` is the message of libbpf that names the cause, or
 * NULL. Returns NULL if memory ran out. The caller frees. Pure: no system call.
 */
char *load_failure_message(const char *step, int error, const struct load_facts *facts, const char *cause);

/* Composes the message with the facts of this system. The caller frees; NULL if memory ran out. */
char *load_failure(const char *step, int error, const struct load_log *log);

/*
 * True if the error means that the kernel refuses BPF to this process or lacks a feature, and not that the verifier
 * rejects a program, or that memory or descriptors are short. `log` may be NULL.
 */
bool load_failure_refused(int error, const struct load_log *log);

#endif

// SPDX-License-Identifier: GPL-2.0
/* Why the BPF side could not be loaded, in words that let the reader act. */
#ifndef PEBSD_LOAD_FAILURE_H
#define PEBSD_LOAD_FAILURE_H

#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* What libbpf says while it is alive; its end is kept for the message. One at a time in a process. */
struct load_log;

/* Takes over libbpf's messages; load_log_free() gives them back to log_debug(). Returns 0 or -ENOMEM. */
int load_log_start(struct load_log **ret);
struct load_log *load_log_free(struct load_log *log);
DEFINE_CLEANUP(struct load_log *, load_log_free)

/* What the system says of itself; gathered by load_failure(), literals in tests. */
struct load_facts {
	bool has_btf;         /* /sys/kernel/btf/vmlinux can be read */
	bool rejected;        /* the verifier gave a reason */
	bool root;            /* the effective user is root */
	const char *lockdown; /* "none", "integrity", "confidentiality"; NULL: not known */
	const char *kernel;   /* release */
};

/*
 * Pure: what the verifier had against a program: the last line of its log before its figures, in what libbpf
 * prints of it. NULL where `text` is no such log, or an empty one. The caller frees.
 */
char *load_failure_verdict(const char *text);

/* Pure: the message for a failed step. `last_words` is libbpf's, may be NULL. The caller frees; NULL: no
 * memory. */
char *load_failure_message(const char *step, int error, const struct load_facts *facts,
			   const char *last_words);

/* The same with this system's facts. */
char *load_failure(const char *step, int error, const struct load_log *log);

#endif

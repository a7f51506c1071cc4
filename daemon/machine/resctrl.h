// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the memory bandwidth counters of the resctrl groups that already exist (Intel RDT, AMD QoS). Mounts
 * nothing, creates no group and writes no file. Layout: Documentation/arch/x86/resctrl.rst, Linux 6.12.
 */
#ifndef PEBSD_RESCTRL_H
#define PEBSD_RESCTRL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

#define RESCTRL_ROOT "/sys/fs/resctrl"

/*
 * Maximum number of counters that are read. It bounds the time of a scrape; further groups are left out. Each group
 * needs an RMID, and a CPU has some hundred of them.
 */
#define RESCTRL_MAX 512

/* Bytes that the caches of a domain moved for the group: to and from all memory, and the memory of its node. */
enum resctrl_kind { RESCTRL_TOTAL, RESCTRL_LOCAL, RESCTRL_KINDS };

/* One group in one L3 domain. */
struct resctrl_domain {
	char *group; /* path below the root: "", "mon_groups/m", "c", "c/mon_groups/m" */
	u32 domain;  /* number of the L3 cache */
	bool known[RESCTRL_KINDS];
	u64 bytes
		[RESCTRL_KINDS]; /* since the group has its RMID; the kernel handles wraps of the hardware's counter */
};

struct resctrl {
	struct resctrl_domain *list; /* by group, then domain */
	size_t n;
	bool truncated; /* more than RESCTRL_MAX exist */
};

/* "total" or "local". */
const char *resctrl_kind_name(enum resctrl_kind kind);

/*
 * Parses the text of mbm_total_bytes or mbm_local_bytes, without its line end. Returns 0; -ENODATA for the words
 * that stand for a missing value ("Unavailable": the hardware has none yet, "Error": none of this RMID,
 * "Unassigned": no counter is assigned to the group); or -EBADMSG.
 */
int resctrl_parse_bytes(const char *text, u64 *ret);

/*
 * Reads all groups below `root`. A counter that cannot be read is not known. A group that vanishes meanwhile is
 * left out, or its counters are not known. Each counter may interrupt a CPU of its domain, so read them at a request,
 * not at each collection.
 * Returns 0, also with an empty list if resctrl is not mounted, or -errno. The caller frees with resctrl_done().
 */
int resctrl_read(const char *root, struct resctrl *ret);

void resctrl_done(struct resctrl *resctrl);

/* Bytes a second of a group, in all domains together. */
struct resctrl_rate {
	const char *group; /* of the later reading */
	bool known[RESCTRL_KINDS];
	double rates[RESCTRL_KINDS];
};

struct resctrl_rates {
	double seconds; /* between the two readings; 0: there were no two readings yet */
	size_t n;
	struct resctrl_rate *list; /* by group */
};

/*
 * Replaces `rates` by those between two readings, `seconds` (above 0) apart. A rate is known if both readings have the
 * counters of all domains of the group, and none went back. Returns 0, or -ENOMEM, which leaves no rates. The names
 * belong to `now`. Free with resctrl_rates_done(), and begin with a zeroed one.
 */
int resctrl_rates_update(struct resctrl_rates *rates, const struct resctrl *before, const struct resctrl *now,
			 double seconds);

void resctrl_rates_done(struct resctrl_rates *rates);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "constraint.h"

#define FIXED(n)        (1ULL << (32 + (n)))
#define EVENT_AND_UMASK 0xffffULL
/* Flags that take an event off its fixed counter (FIXED_EVENT_FLAGS: edge, inv, cmask). */
#define NOT_FIXED (1ULL << 18 | 1ULL << 23 | 0xffULL << 24)

#define COUNTERS_END 36
#define DEMANDS_MAX  12

#define INSTRUCTIONS     0x00c0
#define PRECISE_DISTANCE 0x01c0 /* INST_RETIRED.PREC_DIST, on counter 1 until Broadwell and Skylake */
#define CYCLES           0x003c
#define REFERENCE_CYCLES 0x0300
#define PRECISE_FIXED    0x0100 /* INST_RETIRED.PREC_DIST of Ice Lake: fixed counter 0 */
#define SLOTS            0x0400

/* intel_nehalem_pebs_event_constraints: the only events with PEBS; later all are taken. */
static bool nehalem_has_pebs(const struct machine *machine, u64 event)
{
	switch (event & 0xff) {
	case 0x0f:
	case 0xc0:
	case 0xc2:
	case 0xc4:
	case 0xc7:
	case 0xcb:
	case 0xf7:
		return true;
	default:
		return event == machine->load_latency_event || event == 0x010c || event == 0x20c8;
	}
}

/* intel_*_event_constraints: what has a fixed counter may go there; general-purpose ones else. */
static u64 plain_counters(const struct machine *machine, u64 config)
{
	u64 general = (1ULL << machine->counters) - 1;
	bool extended = machine->format == RECORD_ADAPTIVE && !machine_is_efficient(machine);
	u64 event = config & EVENT_AND_UMASK;

	if (config & NOT_FIXED)
		return general;
	switch (event) {
	case INSTRUCTIONS:
		return machine->fixed_counters > 0 ? general | FIXED(0) : general;
	case CYCLES:
		return machine->fixed_counters > 1 ? general | FIXED(1) : general;
	case REFERENCE_CYCLES:
		return machine->fixed_counters > 2 ? FIXED(2) : 0;
	case PRECISE_DISTANCE: /* intel_snb_ to intel_skl_event_constraints */
		return machine->mechanisms & MECHANISM_PDIR ? general & 0x2 : general;
	case PRECISE_FIXED: /* a pseudo event: no general-purpose counter knows it */
		return extended ? FIXED(0) : general;
	case SLOTS:
		return extended ? FIXED(3) : general;
	default:
		/* intel_icl_, intel_glc_event_constraints: event selects below 90H, but for 2EH and 3CH. */
		if (extended && (event & 0xff) && (event & 0xff) < 0x90 && (event & 0xff) != 0x2e &&
		    (event & 0xff) != 0x3c)
			return general & 0xf;
		return general;
	}
}

/* intel_icl_, intel_glc_ (6.1: spr_), intel_grt_ and intel_cmt_pebs_event_constraints. */
static u64 adaptive_counters(const struct machine *machine, u64 config, u64 counters)
{
	bool golden_cove = machine->mechanisms & MECHANISM_STORE_LATENCY && !machine_is_efficient(machine);
	u64 event = config & EVENT_AND_UMASK;

	if (golden_cove && (event & 0xff) == (INSTRUCTIONS & 0xff))
		counters = 0xfe;
	else if (event == PRECISE_DISTANCE && !machine_is_efficient(machine))
		counters = FIXED(0);
	return counters & machine->pebs_counters;
}

/* precise_ip 3, of adaptive machines: glc_ (6.1: spr_), tnt_ and cmt_get_event_constraints() in core.c. Ice
 * Lake has no such counter but for instructions, which go to fixed counter 0 on all of them. */
static u64 distributed_counters(const struct machine *machine, u64 config, u64 counters)
{
	u64 general = machine->distributed_counters & (FIXED(0) - 1);

	if ((config & (EVENT_AND_UMASK | NOT_FIXED)) == INSTRUCTIONS)
		return machine_is_efficient(machine) ? machine->distributed_counters : FIXED(0);
	return general ? counters & general : counters;
}

u64 constraint_counters(const struct machine *machine, const struct demand *demand)
{
	u64 event = demand->config & EVENT_AND_UMASK;
	u64 counters = plain_counters(machine, demand->config);

	if (event && event == machine->load_latency_event)
		counters = machine->load_latency_counters;
	else if (event && event == machine->store_event)
		counters = machine->store_counters;
	if (!demand->precise)
		return counters;
	if (machine->encoding == ENCODING_NEHALEM)
		return nehalem_has_pebs(machine, event) ? counters & machine->pebs_counters : 0;
	if (machine->format == RECORD_ADAPTIVE) {
		counters = adaptive_counters(machine, demand->config, counters);
		return demand->precise == 3 ? distributed_counters(machine, demand->config, counters)
					    : counters;
	}
	return counters & machine->pebs_counters;
}

struct matching {
	u64 counters[DEMANDS_MAX];
	int owner[COUNTERS_END]; /* a demand's number, or -1 */
	int of[DEMANDS_MAX];     /* a counter's number, or -1 */
	u64 seen;
};

/* Finds a counter for the demand, moving others where that makes room. Fixed counters first, as the kernel.
 */
static bool matching_place(struct matching *matching, int demand)
{
	for (int i = 0; i < COUNTERS_END; i++) {
		int counter = (i + 32) % COUNTERS_END;

		if (!(matching->counters[demand] >> counter & 1) || (matching->seen >> counter & 1))
			continue;
		matching->seen |= 1ULL << counter;
		if (matching->owner[counter] >= 0 && !matching_place(matching, matching->owner[counter]))
			continue;
		matching->owner[counter] = demand;
		matching->of[demand] = counter;
		return true;
	}
	return false;
}

static bool extra_registers_agree(const struct demand *demands, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int j = 0; j < i; j++)
			if (demands[i].extra_register &&
			    demands[i].extra_register == demands[j].extra_register &&
			    demands[i].extra_value != demands[j].extra_value)
				return false;
	return true;
}

bool constraint_schedule(const struct machine *machine, const struct demand *demands, unsigned int n,
			 int *counters)
{
	struct matching matching;

	if (n > DEMANDS_MAX || !extra_registers_agree(demands, n))
		return false;
	for (int i = 0; i < COUNTERS_END; i++)
		matching.owner[i] = -1;
	for (unsigned int i = 0; i < n; i++) {
		matching.counters[i] = constraint_counters(machine, &demands[i]);
		matching.of[i] = counters[i];
		if (counters[i] >= 0)
			matching.owner[counters[i]] = (int)i;
	}
	for (unsigned int i = 0; i < n; i++) {
		matching.seen = 0;
		if (matching.of[i] < 0 && !matching_place(&matching, (int)i))
			return false;
	}
	for (unsigned int i = 0; i < n; i++)
		counters[i] = matching.of[i];
	return true;
}

// SPDX-License-Identifier: GPL-2.0
#include "govern/peak.h"

#define PARTS (PEAK_PARTS + 1)

void peak_add(struct peak *peak, double seconds, double value)
{
	peak->spent += seconds;
	if (peak->spent >= peak->part_seconds * PARTS) {
		*peak = (struct peak){.part_seconds = peak->part_seconds};
	} else {
		while (peak->spent >= peak->part_seconds) {
			peak->spent -= peak->part_seconds;
			peak->newest = (peak->newest + 1) % PARTS;
			peak->most[peak->newest] = 0;
		}
	}
	if (value > peak->most[peak->newest])
		peak->most[peak->newest] = value;
}

double peak_get(const struct peak *peak)
{
	double most = 0;

	for (unsigned i = 0; i < PARTS; i++)
		if (peak->most[i] > most)
			most = peak->most[i];
	return most;
}

// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/prometheus_detail.h"

void prometheus_detail(struct exposition *out, const struct detail_figures *detail)
{
	static const struct family running = {"pebsd_zooms_running", FAMILY_GAUGE, "Zooms that run now."};
	static const struct family samples = {
		"pebsd_zoom_samples", FAMILY_COUNTER,
		"Samples of zooms by result. taken: recorded. limited: over the limit of samples a second. lost: a ring had no room. dropped: taken, but there was no memory."};
	static const struct family hot = {"pebsd_hot_cgroups", FAMILY_GAUGE,
					  "Cgroups that have tables of hot code and data now."};
	u64 n_hot = 0;

	if (!detail)
		return;
	while (detail->hot && detail->hot[n_hot])
		n_hot++;
	exposition_u64(out, &running, "", NULL, NULL, detail->zooms_running);
	exposition_u64(out, &samples, "_total", "result=\"taken\"", NULL, detail->taken);
	exposition_u64(out, &samples, "_total", "result=\"limited\"", NULL, detail->limited);
	exposition_u64(out, &samples, "_total", "result=\"lost\"", NULL, detail->lost);
	exposition_u64(out, &samples, "_total", "result=\"dropped\"", NULL, detail->dropped);
	exposition_u64(out, &hot, "", NULL, NULL, n_hot);
}

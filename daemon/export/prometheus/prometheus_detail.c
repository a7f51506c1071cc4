// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/prometheus_detail.h"

void prometheus_detail(struct exposition *out, const struct detail_figures *detail)
{
	static const struct family running = {"pebsd_zooms_running", FAMILY_GAUGE,
					      "Cgroups that are looked at closely now."};
	static const struct family samples = {
		"pebsd_zoom_samples", FAMILY_COUNTER,
		"Samples of zooms: taken; over the limit of samples a second; lost as they found no room in "
		"a ring; of those taken, dropped as there was no memory for them."};
	static const struct family hot = {"pebsd_hot_cgroups", FAMILY_GAUGE,
					  "Cgroups whose hot code and data are tabled now."};
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

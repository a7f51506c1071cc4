// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/prometheus_resctrl.h"

#include <errno.h>

#include "export/prometheus/label.h"

int prometheus_resctrl(struct exposition *out, const struct resctrl *resctrl)
{
	static const struct family bytes = {
		"pebsd_resctrl_bytes", FAMILY_COUNTER,
		"Bytes between the L3 cache and memory that the hardware counted for a resctrl group. A control group includes its monitoring groups. local: only memory of the node of the cache."};

	for (size_t i = 0; i < resctrl->n; i++) {
		const struct resctrl_domain *domain = &resctrl->list[i];
		_cleanup_free_ char *group = NULL;

		if (label_escape(domain->group, &group) < 0)
			return -ENOMEM;
		for (enum resctrl_kind kind = 0; kind < RESCTRL_KINDS; kind++) {
			_cleanup_free_ char *labels = NULL;

			if (!domain->known[kind])
				continue;
			if (asprintf(&labels, "group=\"/%s\",domain=\"%u\",kind=\"%s\"", group,
				     domain->domain, resctrl_kind_name(kind)) < 0) {
				labels = NULL;
				return -ENOMEM;
			}
			exposition_u64(out, &bytes, "_total", labels, NULL, domain->bytes[kind]);
		}
	}
	return 0;
}

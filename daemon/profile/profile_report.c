// SPDX-License-Identifier: GPL-2.0
#include "profile/profile_report.h"

#include <errno.h>
#include <string.h>

#include "profile/report_internal.h"

int profile_report(const struct profile *profile, const struct profile_names *names,
		   const struct report_settings *settings, struct profile_report *ret)
{
	int r;

	*ret = (struct profile_report){0};
	ret->unnamed = profile_resolve_const(profile, names);
	profile_totals(profile, &ret->totals);
	r = report_functions(profile, settings->functions, ret);
	if (r == 0)
		r = report_objects(profile, settings->objects, ret);
	if (r == 0)
		r = report_lines(profile, settings, ret);
	if (r == 0)
		r = report_nodes(profile, settings, ret);
	if (r < 0)
		profile_report_done(ret);
	return r;
}

void profile_report_done(struct profile_report *report)
{
	for (size_t i = 0; i < report->n_functions; i++) {
		free(report->functions[i].name);
		free(report->functions[i].module);
		free(report->functions[i].file);
	}
	free(report->functions);
	for (size_t i = 0; i < report->n_objects; i++)
		free(report->objects[i].name);
	free(report->objects);
	for (size_t i = 0; i < report->n_lines; i++) {
		for (size_t j = 0; j < report->lines[i].n_accesses; j++) {
			free(report->lines[i].accesses[j].function);
			free(report->lines[i].accesses[j].file);
		}
		free(report->lines[i].accesses);
		free(report->lines[i].object);
	}
	free(report->lines);
	free(report->nodes);
	*report = (struct profile_report){0};
}

// SPDX-License-Identifier: GPL-2.0
#include "opener/opener_plans.h"

#include <errno.h>

void opener_plans_done(struct opener_plans *plans)
{
	for (size_t i = 0; i < plans->n; i++)
		pmu_plan_done(&plans->plans[i]);
	*plans = (struct opener_plans){0};
}

static int add(struct opener_plans *plans, const char *sysfs_root, unsigned roles, bool automatic, u32 ldlat)
{
	const struct pmu_request request = {.roles = roles, .automatic = automatic, .ldlat = ldlat};
	int r = pmu_plan(sysfs_root, &request, &plans->plans[plans->n]);

	if (r >= 0)
		plans->n++;
	return r;
}

/* Returns the roles that may have other events if they are planned alone. */
static unsigned other_roles(const struct pmu_plan *plan)
{
	unsigned roles = 0;

	for (size_t i = 0; i < plan->n_specs; i++)
		if (plan->specs[i].event.role == EVENT_INSTRUCTIONS && event_is_count(&plan->specs[i].event))
			roles |= 1U << EVENT_INSTRUCTIONS;

	for (size_t i = 0; i < plan->n_refusals; i++)
		roles |= 1U << plan->refusals[i].role;
	return roles & OPENER_ROLES;
}

int opener_plans_make(struct opener_plans *plans, const char *sysfs_root, u32 ldlat)
{
	unsigned others;
	int r;

	opener_plans_done(plans);
	r = add(plans, sysfs_root, OPENER_ROLES, false, ldlat);
	others = r < 0 ? 0 : other_roles(&plans->plans[0]);
	for (unsigned role = 0; r >= 0 && role < EVENT_ROLES; role++)
		if (others & 1U << role)
			r = add(plans, sysfs_root, 1U << role, false, ldlat);
	if (r >= 0)
		r = add(plans, sysfs_root, EVENT_ROLES_AUTO, true, ldlat);
	if (r < 0) {
		opener_plans_done(plans);
		return r;
	}
	plans->ldlat = ldlat;
	return 0;
}

int opener_plans_allow(const struct opener_plans *plans, const struct opener_request *request,
		       char ret_reason[OPENER_REASON_MAX])
{
	char reason[OPENER_REASON_MAX] = "";
	int r = -EACCES;

	ret_reason[0] = '\0';
	for (size_t i = 0; r < 0 && i < plans->n; i++)
		r = opener_allowed(&plans->plans[i], request, i == 0 ? ret_reason : reason);
	if (r == 0)
		ret_reason[0] = '\0';
	return r;
}

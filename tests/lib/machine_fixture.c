// SPDX-License-Identifier: GPL-2.0
#include "machine_fixture.h"

#include "tree.h"

char *root;
struct pmu_plan plan;

void machine_fixture_start(void)
{
	root = tree_new();
}

void machine_fixture_stop(void)
{
	pmu_plan_done(&plan);
	tree_remove(root);
}

void machine_fixture_tree(const struct machine_core *core)
{
	tree_remove(root);
	root = tree_new();
	machine_tree(root, core);
}

// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/printk.h>

static int __init guest_pmu_init(void)
{
	pr_info("guest_pmu: loaded\n");
	return 0;
}

static void __exit guest_pmu_exit(void)
{
}

module_init(guest_pmu_init);
module_exit(guest_pmu_exit);
MODULE_DESCRIPTION("A PEBS machine played by the model, for pebsd's tests");
MODULE_LICENSE("GPL");

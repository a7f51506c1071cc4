// SPDX-License-Identifier: GPL-2.0
/* The branch records that a kernel reads from the emulated PMU after calls and returns. */
#include <criterion/criterion.h>

/* Include the source: it belongs to a plugin for QEMU, and no program here links it. */
#include "../guest/pmu/branches.c" /* NOLINT(bugprone-suspicious-include) */

#define KERNEL (1ULL << 63)

static struct branches enabled(u64 select)
{
	struct branches branches = {.depth = 16};

	branches_write(&branches, MSR_LBR_SELECT, select);
	branches_write(&branches, MSR_DEBUGCTL, DEBUGCTL_LBR);
	return branches;
}

static u64 top_from(const struct branches *branches)
{
	return branches_read(branches, MSR_LBR_FROM + (u32)branches_read(branches, MSR_LASTBRANCH_TOS));
}

Test(guest_branches, in_call_stack_mode_a_return_removes_its_call)
{
	struct branches branches = enabled(SELECT_CALL_STACK);

	branches_call(&branches, 0x100, 0x200);
	branches_call(&branches, 0x210, 0x300);
	cr_expect_eq(top_from(&branches), 0x210);
	branches_return(&branches, 0x310);
	cr_expect_eq(top_from(&branches), 0x100);
	cr_expect_eq(branches_read(&branches, MSR_LBR_TO + 1), 0x200);
	cr_expect_eq(branches_read(&branches, MSR_LBR_FROM + 2), 0, "what was returned from is cleared");
}

Test(guest_branches, other_modes_record_nothing)
{
	struct branches branches = enabled(0);

	branches_call(&branches, 0x100, 0x200);
	cr_expect_eq(top_from(&branches), 0);
	cr_expect_not(branches_wanted(&branches));
}

Test(guest_branches, the_oldest_record_is_overwritten)
{
	struct branches branches = enabled(SELECT_CALL_STACK);

	for (u64 i = 1; i <= 17; i++)
		branches_call(&branches, i, 0);
	cr_expect_eq(branches_read(&branches, MSR_LASTBRANCH_TOS), 1);
	cr_expect_eq(branches_read(&branches, MSR_LBR_FROM + 1), 17);
	cr_expect_eq(branches_read(&branches, MSR_LBR_FROM + 2), 2);
}

Test(guest_branches, an_indirect_call_learns_its_end_at_the_next_block)
{
	struct branches branches = enabled(SELECT_CALL_STACK);

	branches_call(&branches, 0x100, 0);
	cr_expect(branches_arrived(&branches, 0x500));
	cr_expect_eq(branches_read(&branches, MSR_LBR_TO + 1), 0x500);
}

Test(guest_branches, an_interrupt_between_a_call_and_its_end_is_not_its_end)
{
	struct branches branches = enabled(SELECT_CALL_STACK | SELECT_NO_KERNEL);

	cr_expect(branches_call(&branches, 0x100, 0));
	cr_expect_not(branches_arrived(&branches, KERNEL | 0x900));
	cr_expect_not(branches_call(&branches, KERNEL | 0x910, 0),
		      "it has no record, so nothing is to arrive");
	cr_expect(branches_arrived(&branches, 0x500));
	cr_expect_eq(branches_read(&branches, MSR_LBR_TO + 1), 0x500);
}

Test(guest_branches, branches_of_a_privilege_can_be_left_out)
{
	struct branches branches = enabled(SELECT_CALL_STACK | SELECT_NO_KERNEL);

	branches_call(&branches, 0x100, 0x200);
	branches_call(&branches, KERNEL | 0x100, KERNEL | 0x200);
	branches_return(&branches, KERNEL | 0x210);
	cr_expect_eq(top_from(&branches), 0x100);
}

Test(guest_branches, an_interrupt_ends_recording_only_if_software_asked_for_that)
{
	struct branches branches = enabled(SELECT_CALL_STACK);

	branches_freeze(&branches);
	cr_expect(branches_wanted(&branches));
	branches_write(&branches, MSR_DEBUGCTL, DEBUGCTL_LBR | DEBUGCTL_FREEZE);
	branches_freeze(&branches);
	cr_expect_not(branches_wanted(&branches));
	branches_call(&branches, 0x100, 0x200);
	cr_expect_eq(top_from(&branches), 0);
}

Test(guest_branches, registers_beyond_the_depth_fault)
{
	struct branches branches = {.depth = 16};

	cr_expect(branches_has_msr(&branches, MSR_LBR_FROM + 15));
	cr_expect_not(branches_has_msr(&branches, MSR_LBR_FROM + 16));
	cr_expect_not(branches_has_msr(&branches, MSR_LBR_INFO));
	branches.has_info = true;
	cr_expect(branches_has_msr(&branches, MSR_LBR_INFO));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The source files, lines and call stacks of the workloads' instructions. The programs exist only in the model,
 * and so does their source text. Pure.
 */
#ifndef PEBSD_MODEL_WORKLOAD_CODE_H
#define PEBSD_MODEL_WORKLOAD_CODE_H

#include "workload.h"

/* Offsets below this are the workload's instructions. From here on are the call sites in its callers. */
#define WORKLOAD_CALLS 0x800ULL

/* Maximum callers of an instruction. */
#define WORKLOAD_STACK_MAX 4

/* Sets `ret->file` and `ret->line` of the instruction at `index` in the body, which is in the function `ret->name`. */
void workload_code_line(u32 index, struct workload_name *ret);

/*
 * Like workload_name_of(), for an address at `offset` (from WORKLOAD_CALLS on) in the text of `kind`: a call.
 */
bool workload_code_call(enum workload_kind kind, u64 offset, struct workload_name *ret);

/*
 * Returns the number of return addresses of an instruction in the function `of->name`, and the addresses, innermost
 * first, as a zoom's sample has them. The outermost is in main(). Returns 0 for an instruction of main() and for data.
 */
size_t workload_code_stack(const struct workload_name *of, u64 ret[static WORKLOAD_STACK_MAX]);

#endif

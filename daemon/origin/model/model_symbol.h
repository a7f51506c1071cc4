// SPDX-License-Identifier: GPL-2.0
/* Names of the model's code and data, as the symbolizer has them of this machine's programs. Pure. */
#ifndef PEBSD_ORIGIN_MODEL_SYMBOL_H
#define PEBSD_ORIGIN_MODEL_SYMBOL_H

#include "symbols/shared/symbol.h"

/* What a symbol points to. */
struct model_symbol {
	struct symbol symbol;
	struct symbol_frame frame;
	char name[32];
	char module[48];
};

/* What the address is of a workload's, its program being the module; NULL: no workload has it. Returns
 * what lies in `room`, as long as that stays where it is. */
const struct symbol *model_symbol(u64 address, struct model_symbol *room);

#endif

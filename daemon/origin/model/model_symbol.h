// SPDX-License-Identifier: GPL-2.0
/* Names the code and data of the model's workloads, as the symbolizer names those of real programs. Pure. */
#ifndef PEBSD_ORIGIN_MODEL_SYMBOL_H
#define PEBSD_ORIGIN_MODEL_SYMBOL_H

#include "symbols/shared/symbol.h"

/* Memory for a symbol and what it points to. */
struct model_symbol {
	struct symbol symbol;
	struct symbol_frame frame;
	char name[32];
	char file[32];
	char module[48];
};

/*
 * Returns the symbol at an address of a workload, whose program is the module, or NULL if no workload has the
 * address. A function has a source file and line, which exist only in the model. The symbol is in `room`, and stays
 * valid until `room` is moved or reused.
 */
const struct symbol *model_symbol(u64 address, struct model_symbol *room);

#endif

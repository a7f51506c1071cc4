// SPDX-License-Identifier: GPL-2.0
/* What a snapshot says of looking closer (struct detail_figures), from the parts that do it. */
#ifndef PEBSD_DETAIL_FIGURES_H
#define PEBSD_DETAIL_FIGURES_H

#include "engine.h"
#include "symbols/symbols.h"
#include "zooms.h"

#define DETAIL_HOT_MAX 64 /* as `hot-max` */

struct detail_books {
	struct detail_figures figures;
	const char *hot[DETAIL_HOT_MAX + 1]; /* the engine's, until the next collection */
};

/* Fills in `ret`, and has the engine's snapshots tell of it from now on: `ret` outlives the engine's. */
void detail_figures_read(struct engine *engine, const struct zooms *zooms, const struct symbols *symbols,
			 struct detail_books *ret);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "detail_figures.h"

static void read_hot(const struct engine *engine, struct detail_books *books)
{
	const char *path;
	size_t n = 0;

	while (n < DETAIL_HOT_MAX && (path = engine_hot_nth(engine, n)))
		books->hot[n++] = path;
	books->hot[n] = NULL;
	books->figures.hot = books->hot;
	books->figures.hot_max = engine_hot_max(engine);
}

void detail_figures_read(struct engine *engine, const struct zooms *zooms, const struct symbols *symbols,
			 struct detail_books *ret)
{
	const struct symbols_figures names = symbols_figures(symbols);
	struct zoom_figures taken;

	zooms_figures(zooms, &taken);
	ret->figures = (struct detail_figures){
		.zooms_running = taken.running,
		.zooms_held = taken.held,
		.zoom_bytes = taken.bytes,
		.taken = taken.taken,
		.limited = taken.limited,
		.lost = taken.lost,
		.dropped = taken.dropped,
		.symbols = {names.asked, names.answered, names.unknown, names.lost, names.starts,
			    names.bytes},
	};
	read_hot(engine, ret);
	engine_head(engine)->detail = &ret->figures;
}

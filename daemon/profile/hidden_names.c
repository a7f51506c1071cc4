// SPDX-License-Identifier: GPL-2.0
#include "profile/hidden_names.h"

static const struct symbol *find(void *userdata, const struct symbol_query *query)
{
	struct hidden_names *hidden = userdata;
	const struct symbol *symbol = hidden->of.find(hidden->of.userdata, query);

	if (!symbol || !SYMBOL_IS_KERNEL(query->address))
		return symbol;
	/* Without a name, the reports call it HIDDEN_KERNEL by themselves. */
	hidden->symbol = (struct symbol){.region = SYMBOL_KERNEL};
	if (symbol->n_frames > 0) {
		hidden->frame = (struct symbol_frame){.name = symbol->frames[0].name};
		hidden->symbol.module = symbol->module;
		hidden->symbol.n_frames = 1;
		hidden->symbol.frames = &hidden->frame;
	}
	return &hidden->symbol;
}

struct profile_names hidden_names(struct hidden_names *hidden, const struct profile_names *of)
{
	hidden->of = *of;
	return (struct profile_names){.find = find, .userdata = hidden};
}

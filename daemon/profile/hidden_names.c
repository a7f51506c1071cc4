// SPDX-License-Identifier: GPL-2.0
#include "profile/hidden_names.h"

/*
 * This array is not const, because struct symbol_frame has char *. A symbol handed out as const is never
 * written to.
 */
static char kernel_name[] = HIDDEN_KERNEL;

static const struct symbol *find(void *userdata, const struct symbol_query *query)
{
	struct hidden_names *hidden = userdata;
	const struct symbol *symbol = hidden->of.find(hidden->of.userdata, query);

	if (!symbol || !SYMBOL_IS_KERNEL(query->address))
		return symbol;
	hidden->frame = (struct symbol_frame){
		.name = symbol->n_frames > 0 ? symbol->frames[0].name : kernel_name,
	};
	hidden->symbol = (struct symbol){
		.region = SYMBOL_KERNEL,
		.module = symbol->n_frames > 0 ? symbol->module : NULL,
		.n_frames = 1,
		.frames = &hidden->frame,
	};
	return &hidden->symbol;
}

struct profile_names hidden_names(struct hidden_names *hidden, const struct profile_names *of)
{
	hidden->of = *of;
	return (struct profile_names){.find = find, .userdata = hidden};
}

// SPDX-License-Identifier: GPL-2.0
#include "origin/model/model_symbol.h"

#include <stdio.h>

#include "model/workload.h"

const struct symbol *model_symbol(u64 address, struct model_symbol *room)
{
	struct workload_name name;

	if (!workload_name_of(address, &name))
		return NULL;
	*room = (struct model_symbol){.symbol = {.region = SYMBOL_FILE, .module = room->module}};
	(void)snprintf(room->module, sizeof(room->module), "model:%s", workload_names[name.kind]);
	if (!name.name) {
		room->symbol = (struct symbol){.region = SYMBOL_STACK};
		return &room->symbol;
	}
	(void)snprintf(room->name, sizeof(room->name), "%s", name.name);
	room->frame = (struct symbol_frame){.name = room->name, .offset = name.offset};
	if (name.file) {
		(void)snprintf(room->file, sizeof(room->file), "%s", name.file);
		room->frame.file = room->file;
		room->frame.line = name.line;
	}
	if (name.code) {
		room->symbol.address = address;
		room->symbol.start = address - address % WORKLOAD_TEXT_SIZE;
		room->symbol.end = room->symbol.start + WORKLOAD_TEXT_SIZE;
	}
	room->symbol.n_frames = 1;
	room->symbol.frames = &room->frame;
	return &room->symbol;
}

// SPDX-License-Identifier: GPL-2.0
#include "symbols/shared/symbol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

const char *symbol_region_name(enum symbol_region region)
{
	static const char *const names[SYMBOL_REGIONS] = {
		[SYMBOL_UNKNOWN] = "unknown",     [SYMBOL_FILE] = "file",
		[SYMBOL_HEAP] = "heap",           [SYMBOL_STACK] = "stack",
		[SYMBOL_ANONYMOUS] = "anonymous", [SYMBOL_SHARED] = "shared",
		[SYMBOL_VDSO] = "vdso",           [SYMBOL_JIT] = "jit",
		[SYMBOL_KERNEL] = "kernel",
	};

	return (unsigned int)region < SYMBOL_REGIONS ? names[region] : "unknown";
}

void symbol_done(struct symbol *symbol)
{
	for (size_t i = 0; i < symbol->n_frames; i++) {
		free(symbol->frames[i].name);
		free(symbol->frames[i].file);
	}
	free(symbol->frames);
	free(symbol->module);
	memset(symbol, 0, sizeof(*symbol));
}

/* Same as asprintf(), but returns the text, or NULL if memory is short. */
static __attribute__((format(printf, 1, 2))) char *text_of(const char *format, ...)
{
	va_list arguments;
	char *text;
	int r;

	va_start(arguments, format);
	r = vasprintf(&text, format, arguments);
	va_end(arguments);
	return r < 0 ? NULL : text;
}

char *symbol_text(const struct symbol *symbol)
{
	if (symbol->n_frames)
		return strdup(symbol->frames[0].name);
	switch (symbol->region) {
	case SYMBOL_FILE:
	case SYMBOL_JIT:
		if (symbol->module)
			return text_of("[unknown] %s+0x%" PRIx64, symbol->module, (uint64_t)symbol->address);
		return strdup("[unknown]");
	case SYMBOL_HEAP:
		return strdup("[heap]");
	case SYMBOL_STACK:
		return strdup("[stack]");
	case SYMBOL_ANONYMOUS:
		return symbol->module ? text_of("[anon:%s]", symbol->module) : strdup("[anon]");
	case SYMBOL_SHARED:
		return symbol->module ? text_of("[shared] %s", symbol->module) : strdup("[shared]");
	case SYMBOL_VDSO:
		return strdup("[vdso]");
	case SYMBOL_KERNEL:
		return symbol->module ? text_of("[kernel] %s", symbol->module) : strdup("[kernel]");
	case SYMBOL_UNKNOWN:
	case SYMBOL_REGIONS:
		break;
	}
	return strdup("[unknown]");
}

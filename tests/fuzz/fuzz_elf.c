// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the ELF file that a process runs. A search must yield names, lines or nothing, in bounded
 * time.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/utf8.h"
#include "symbols/resolver/resolver_module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct symbol *symbol)
{
	if (symbol->n_frames > SYMBOL_FRAMES_MAX)
		abort();
	for (size_t i = 0; i < symbol->n_frames; i++) {
		const struct symbol_frame *frame = &symbol->frames[i];

		if (!frame->name || !utf8_is_valid(frame->name) ||
		    (frame->file && !utf8_is_valid(frame->file)))
			abort();
	}
}

static void find(struct module *module, u64 address)
{
	for (u32 kind = SYMBOL_CODE; kind <= SYMBOL_DATA; kind++) {
		struct symbol symbol = {};

		if (module_find(module, address, kind, false, &symbol) < 0)
			abort();
		check(&symbol);
		symbol_done(&symbol);
	}
}

static void find_places(struct module *module)
{
	for (size_t i = 0; module->elf && i < module->elf->n_segments && i < 8; i++) {
		const struct elf_segment *segment = &module->elf->segments[i];
		u64 address;

		for (u64 step = 0; step < 16; step++)
			find(module, segment->address + segment->memory_size / 16 * step);
		(void)elf_file_address(module->elf, segment->offset, segment->protection, 0x10000, UINT64_MAX,
				       0x10008, &address);
	}
	for (size_t i = 0; i < module->code.n && i < 64; i++)
		find(module, module->code.symbols[i].start);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct stat found = {.st_size = (off_t)size};
	struct module module;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    module_open(fd, &found, "/fuzz", -1, -1, &module) < 0)
		abort();
	find_places(&module);
	module_forget(&module);
	find_places(&module);
	module_done(&module);
	return 0;
}

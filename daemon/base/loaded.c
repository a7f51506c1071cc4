// SPDX-License-Identifier: GPL-2.0
#include "base/loaded.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define NOTE_ALIGN(size) (((size_t)(size) + 3) & ~(size_t)3)

void loaded_build_id(const u8 *notes, size_t size, char ret[static 2 * LOADED_BUILD_ID_MAX + 1])
{
	ElfW(Nhdr) head;

	ret[0] = '\0';
	while (size >= sizeof(head)) {
		size_t name, content;

		memcpy(&head, notes, sizeof(head));
		notes += sizeof(head);
		size -= sizeof(head);
		name = NOTE_ALIGN(head.n_namesz);
		content = NOTE_ALIGN(head.n_descsz);
		if (name > size || content > size - name)
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof("GNU") &&
		    memcmp(notes, "GNU", sizeof("GNU")) == 0 && head.n_descsz <= LOADED_BUILD_ID_MAX) {
			for (size_t i = 0; i < head.n_descsz; i++)
				(void)sprintf(ret + 2 * i, "%02x", notes[name + i]);
			return;
		}
		notes += name + content;
		size -= name + content;
	}
}

static void find_build_id(const struct dl_phdr_info *info, struct loaded *loaded)
{
	for (size_t i = 0; i < info->dlpi_phnum && !*loaded->build_id; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_NOTE)
			/* The linker gives an address as a number. NOLINTNEXTLINE(performance-no-int-to-ptr) */
			loaded_build_id((const u8 *)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz,
					loaded->build_id);
	}
}

/* Callback of dl_iterate_phdr(3), which stops at the first result other than 0. */
static int add(struct dl_phdr_info *info, size_t size, void *userdata)
{
	struct loaded_list *list = userdata;
	const char *path = info->dlpi_name;
	struct loaded *grown;

	(void)size;
	/* The program comes first and has no name. The vdso has a name that is not a file. */
	if (list->n > 0 && !strchr(path, '/'))
		return 0;
	grown = reallocarray(list->list, list->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	list->list = grown;
	grown += list->n;
	*grown = (struct loaded){.file = realpath(list->n == 0 ? "/proc/self/exe" : path, NULL)};
	if (list->n > 0) {
		grown->name = strdup(strrchr(path, '/') + 1);
		if (!grown->name) {
			free(grown->file);
			return -ENOMEM;
		}
	}
	find_build_id(info, grown);
	list->n++;
	return 0;
}

int loaded_find(struct loaded_list *ret)
{
	int r;

	*ret = (struct loaded_list){};
	r = dl_iterate_phdr(add, ret);
	if (r < 0)
		loaded_done(ret);
	return r;
}

void loaded_done(struct loaded_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->list[i].name);
		free(list->list[i].file);
	}
	free(list->list);
	*list = (struct loaded_list){};
}

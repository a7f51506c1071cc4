// SPDX-License-Identifier: GPL-2.0
#include "zoom/zoom_process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "symbols/resolver_maps.h"

/* Reads a file of the process up to `size` - 1 bytes: what procfs has of it, a line at a time. */
static size_t read_some(u32 pid, const char *name, char *buffer, size_t size)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[64];
	size_t n;

	(void)snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	file = fopen(path, "re");
	n = file ? fread(buffer, 1, size - 1, file) : 0;
	buffer[n] = '\0';
	return n;
}

struct reading {
	u32 pid;
	int (*callback)(void *userdata, const struct zoom_record *record);
	void *userdata;
};

static int tell_mapping(const struct reading *reading, const struct maps_line *line)
{
	struct zoom_record record = {
		.kind = ZOOM_RECORD_MAPPED,
		.pid = reading->pid,
		.tid = reading->pid,
		.mapped =
			{
				.start = line->start,
				.size = line->end - line->start,
				.offset = line->offset,
				.major = line->major,
				.minor = line->minor,
				.inode = line->inode,
				.protection = line->protection,
				.path = line->path,
			},
	};

	return reading->callback(reading->userdata, &record);
}

/* The last line may be cut: it is left out. */
static int tell_mappings(const struct reading *reading, char *text)
{
	size_t n = 0;
	char *next;
	int r = 0;

	for (char *at = text; (next = strchr(at, '\n')) && n < ZOOM_PROCESS_MAPPINGS_MAX && r == 0;
	     at = next + 1) {
		struct maps_line line;

		*next = '\0';
		if (maps_parse_line(at, &line) < 0 || !(line.protection & PROT_EXEC) || !*line.path)
			continue;
		r = tell_mapping(reading, &line);
		n++;
	}
	return r;
}

void zoom_process_read(u32 pid, struct zoom_process *ret)
{
	*ret = (struct zoom_process){.pid = pid, .maps = malloc(ZOOM_PROCESS_BYTES_MAX)};
	(void)read_some(pid, "comm", ret->name, sizeof(ret->name));
	ret->name[strcspn(ret->name, "\n")] = '\0';
	if (ret->maps)
		(void)read_some(pid, "maps", ret->maps, ZOOM_PROCESS_BYTES_MAX);
}

void zoom_process_done(struct zoom_process *process)
{
	free(process->maps);
	*process = (struct zoom_process){0};
}

int zoom_process_tell(struct zoom_process *process,
		      int (*callback)(void *userdata, const struct zoom_record *record), void *userdata)
{
	const struct reading reading = {.pid = process->pid, .callback = callback, .userdata = userdata};
	const struct zoom_record named = {.kind = ZOOM_RECORD_NAMED,
					  .pid = process->pid,
					  .tid = process->pid,
					  .named = {.name = process->name}};
	int r = *process->name ? callback(userdata, &named) : 0;

	return r == 0 && process->maps ? tell_mappings(&reading, process->maps) : r;
}

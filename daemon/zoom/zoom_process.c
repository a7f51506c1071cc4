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

static int tell_name(const struct reading *reading)
{
	struct zoom_record record = {.kind = ZOOM_RECORD_NAMED, .pid = reading->pid, .tid = reading->pid};
	char name[64];

	if (read_some(reading->pid, "comm", name, sizeof(name)) == 0)
		return 0;
	name[strcspn(name, "\n")] = '\0';
	record.named.name = name;
	return reading->callback(reading->userdata, &record);
}

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

int zoom_process_read(u32 pid, int (*callback)(void *userdata, const struct zoom_record *record),
		      void *userdata)
{
	const struct reading reading = {.pid = pid, .callback = callback, .userdata = userdata};
	_cleanup_free_ char *text = malloc(ZOOM_PROCESS_BYTES_MAX);
	int r;

	if (!text)
		return -ENOMEM;
	r = tell_name(&reading);
	if (r != 0 || read_some(pid, "maps", text, ZOOM_PROCESS_BYTES_MAX) == 0)
		return r;
	return tell_mappings(&reading, text);
}

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

static int add_name(u32 pid, struct zoom_recording *recording, struct profile *profile)
{
	struct zoom_record record = {.kind = ZOOM_RECORD_NAMED, .pid = pid, .tid = pid};
	char name[64];
	int r;

	if (read_some(pid, "comm", name, sizeof(name)) == 0)
		return 0;
	name[strcspn(name, "\n")] = '\0';
	record.named.name = name;
	r = zoom_recording_add(recording, &record);
	return r < 0 ? r : profile_name(profile, pid, pid, name);
}

static int add_mapping(u32 pid, const struct maps_line *line, struct zoom_recording *recording)
{
	struct zoom_record record = {
		.kind = ZOOM_RECORD_MAPPED,
		.pid = pid,
		.tid = pid,
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

	return zoom_recording_add(recording, &record);
}

/* The last line may be cut: it is left out. */
static int add_mappings(u32 pid, char *text, struct zoom_recording *recording)
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
		r = add_mapping(pid, &line, recording);
		n++;
	}
	return r;
}

int zoom_process_read(u32 pid, struct zoom_recording *recording, struct profile *profile)
{
	_cleanup_free_ char *text = malloc(ZOOM_PROCESS_BYTES_MAX);
	int r;

	if (!text)
		return -ENOMEM;
	r = add_name(pid, recording, profile);
	if (r < 0 || read_some(pid, "maps", text, ZOOM_PROCESS_BYTES_MAX) == 0)
		return r;
	return add_mappings(pid, text, recording);
}

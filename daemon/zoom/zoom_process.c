// SPDX-License-Identifier: GPL-2.0
#include "zoom/zoom_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "symbols/shared/maps_line.h"
#include "symbols/shared/process_code.h"
#include "symbols/symbols_socket.h"

struct output {
	u32 pid;
	int (*callback)(void *userdata, const struct zoom_record *record);
	void *userdata;
};

static int report_mapping(const struct output *output, const struct maps_line *line)
{
	struct zoom_record record = {
		.kind = ZOOM_RECORD_MAPPED,
		.pid = output->pid,
		.tid = output->pid,
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

	return output->callback(output->userdata, &record);
}

/* Leaves out text after the last newline, which may be an incomplete line. */
static int report_mappings(const struct output *output, char *text)
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
		r = report_mapping(output, &line);
		n++;
	}
	return r;
}

void zoom_process_read(u32 pid, struct zoom_process_socket *socket, struct zoom_process *ret)
{
	int r;

	*ret = (struct zoom_process){.pid = pid, .text = malloc(PROCESS_CODE_MAX)};
	if (!ret->text)
		return;
	r = process_code_read("/proc", pid, ret->text);
	if (r < 0 && socket->path && !socket->failed) {
		char *text;

		if (symbols_socket_code(socket->path, &socket->connection, pid, &text) < 0) {
			socket->failed = true;
			return;
		}
		free(ret->text);
		ret->text = text;
	}
}

void zoom_process_done(struct zoom_process *process)
{
	free(process->text);
	*process = (struct zoom_process){0};
}

int zoom_process_report(struct zoom_process *process,
			int (*callback)(void *userdata, const struct zoom_record *record), void *userdata)
{
	const struct output output = {.pid = process->pid, .callback = callback, .userdata = userdata};
	struct zoom_record named = {.kind = ZOOM_RECORD_NAMED, .pid = process->pid, .tid = process->pid};
	char *end = process->text ? strchr(process->text, '\n') : NULL;
	int r = 0;

	if (!end)
		return 0;
	*end = '\0';
	named.named.name = process->text;
	if (*process->text)
		r = callback(userdata, &named);
	return r == 0 ? report_mappings(&output, end + 1) : r;
}

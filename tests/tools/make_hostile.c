// SPDX-License-Identifier: GPL-2.0
/*
 * make_hostile FILE N: writes a recording as an attacker might write it. It has N tasks whose names would set
 * a terminal's colour, with one sample each, and a second event that must not be counted together with the
 * first.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "perf_data_writer.h"

#define EVIL "\033[31m"

static void write_load(struct writer *writer, size_t event, u32 tid)
{
	const struct writer_sample sample = {
		.pid = tid, .tid = tid, .time = tid, .weight = 77, .data_source = 0x10268100142};

	writer_sample(writer, event, &sample);
}

int main(int argc, char **argv)
{
	static const u64 ids[] = {1, 2};
	struct writer_event loads = {.type = PERF_TYPE_RAW,
				     .config = 0x1cd,
				     .config1 = 30,
				     .period = 1009,
				     .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
						    PERF_SAMPLE_TIME | PERF_SAMPLE_WEIGHT |
						    PERF_SAMPLE_DATA_SRC,
				     .name = "loads",
				     .ids = &ids[0],
				     .n_ids = 1};
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_free_ u8 *bytes = NULL;
	struct writer *writer;
	size_t first, second;
	char name[32];
	size_t size;
	long n;

	if (argc != 3) {
		(void)fprintf(stderr, "usage: make_hostile FILE N\n");
		return 2;
	}
	n = strtol(argv[2], NULL, 10);
	writer = writer_new(WRITER_FILE, 0);
	writer_cpuid(writer, "GenuineIntel,6,85,4");
	first = writer_event(writer, &loads);
	loads.config1 = 64;
	loads.name = EVIL "loads";
	loads.ids = &ids[1];
	second = writer_event(writer, &loads);
	for (u32 tid = 1; tid <= n; tid++) {
		(void)snprintf(name, sizeof(name), EVIL "%u", tid);
		writer_comm(writer, first, 0, tid, tid, name);
		write_load(writer, first, tid);
	}
	write_load(writer, second, 1);
	bytes = writer_finish(writer, &size);
	writer_free(writer);

	file = fopen(argv[1], "we");
	if (!file || fwrite(bytes, 1, size, file) != size || fflush(file) != 0) {
		(void)fprintf(stderr, "make_hostile: cannot write %s: %m; choose another place\n", argv[1]);
		return 1;
	}
	return 0;
}

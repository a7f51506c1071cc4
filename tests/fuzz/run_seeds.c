// SPDX-License-Identifier: GPL-2.0
/*
 * run_seeds FILE...: gives each file to the fuzzer that it is linked with, without libFuzzer. Inputs that
 * fuzzing once found are thus tried in every test run (tests/e2e/test_fuzz_seeds.sh). A fuzzer aborts if it
 * finds something.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/regular_file.h"

#define SEED_MAX ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Copies the data to memory of exactly its size, as libFuzzer does: sanitizers then find reads beyond it. */
static int try_bytes(const char *data, size_t size)
{
	_cleanup_free_ uint8_t *exact = calloc(size ? size : 1, 1);

	if (!exact)
		return -ENOMEM;
	if (size > 0)
		memcpy(exact, data, size);
	(void)LLVMFuzzerTestOneInput(exact, size);
	return 0;
}

static int run_seed(const char *name)
{
	_cleanup_close_ int fd = open(name, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *data = NULL;
	size_t size = 0;
	int r = fd < 0 ? -errno : regular_file_read(fd, SEED_MAX, &data, &size);

	if (r < 0) {
		(void)fprintf(stderr, "cannot read %s: %s\n", name, strerror(-r));
		return r;
	}
	/* This name is the last output if the fuzzer aborts. */
	printf("%s\n", name);
	(void)fflush(stdout);
	return try_bytes(data, size);
}

int main(int argc, char **argv)
{
	/* libFuzzer also begins with an empty input. */
	(void)try_bytes(NULL, 0);
	for (int i = 1; i < argc; i++)
		if (run_seed(argv[i]) < 0)
			return 1;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <stdlib.h>

#include "memory_fixture.h"

struct memory_fixture bench;

void memory_fixture_open(const char *machine)
{
	const struct memory_shape *shape = &machine_find(machine)->memory;

	memory_fixture_close();
	bench = (struct memory_fixture){.shape = shape, .now = 1000};
	bench.memory = memory_open(aligned_alloc(64, memory_size(shape)), shape, 11);
	cr_assert_not_null(bench.memory);
}

void memory_fixture_close(void)
{
	free(bench.memory);
	bench.memory = NULL;
}

struct retired memory_fixture_access(struct access access)
{
	struct retired ret = {0};

	access.tsc = bench.now;
	memory_access(bench.memory, &access, &ret);
	cr_expect_eq(ret.address, access.address);
	cr_expect_eq(ret.locked, access.locked);
	cr_expect_geq(ret.instruction_latency, ret.latency);
	return ret;
}

struct retired memory_fixture_load(u64 address)
{
	return memory_fixture_access((struct access){.address = address, .large_page = true});
}

struct retired memory_fixture_store(u64 address)
{
	return memory_fixture_access(
		(struct access){.address = address, .large_page = true, .kind = ACCESS_STORE});
}

struct retired memory_fixture_later(u64 address)
{
	bench.now += LONG;
	return memory_fixture_load(address);
}

void memory_fixture_lines(u64 address, u64 lines, u64 stride)
{
	for (u64 i = 0; i < lines; i++)
		memory_fixture_later(address + i * stride);
}

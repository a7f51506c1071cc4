// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <stdlib.h>

#include "memory_fixture.h"

void memory_fixture_open(struct memory_fixture *fixture, const char *machine)
{
	const struct memory_shape *shape = &machine_find(machine)->memory;

	*fixture = (struct memory_fixture){.shape = shape, .now = 1000};
	fixture->memory = memory_open(aligned_alloc(64, memory_size(shape)), shape, 11);
	cr_assert_not_null(fixture->memory);
}

void memory_fixture_close(struct memory_fixture *fixture)
{
	free(fixture->memory);
}

struct retired memory_fixture_access(struct memory_fixture *fixture, struct access access)
{
	struct retired ret = {0};

	access.tsc = fixture->now;
	memory_access(fixture->memory, &access, &ret);
	cr_expect_eq(ret.address, access.address);
	cr_expect_eq(ret.locked, access.locked);
	cr_expect_geq(ret.instruction_latency, ret.latency);
	return ret;
}

struct retired memory_fixture_load(struct memory_fixture *fixture, u64 address)
{
	return memory_fixture_access(fixture, (struct access){.address = address, .large_page = true});
}

struct retired memory_fixture_store(struct memory_fixture *fixture, u64 address)
{
	return memory_fixture_access(
		fixture, (struct access){.address = address, .large_page = true, .kind = ACCESS_STORE});
}

struct retired memory_fixture_later(struct memory_fixture *fixture, u64 address)
{
	fixture->now += LONG;
	return memory_fixture_load(fixture, address);
}

void memory_fixture_lines(struct memory_fixture *fixture, u64 address, u64 lines, u64 stride)
{
	for (u64 i = 0; i < lines; i++)
		memory_fixture_later(fixture, address + i * stride);
}

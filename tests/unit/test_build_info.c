// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "base/build_info.h"
#include "base/loaded.h"

static void expect_version(const char *list, const char *library, const char *version)
{
	_cleanup_free_ char *found = build_info_compiled_with(list, library);

	cr_expect(found && version ? strcmp(found, version) == 0 : found == version, "%s in \"%s\": %s",
		  library, list, found ? found : "none");
}

Test(build_info, the_build_has_its_versions)
{
	expect_version("libbpf 1.1.2 libelf 0.188", "libbpf", "1.1.2");
	expect_version("libbpf 1.1.2 libelf 0.188", "libelf", "0.188");
	expect_version("libbpf 1.1.2 libelf 0.188", "lib", NULL);
	expect_version("libbpf 1.1.2 libelf 0.188", "1.1.2", NULL);
	expect_version("libbpf 1.1.2 libelf 0.188", "", NULL);
	expect_version("libbpf", "libbpf", NULL);
	expect_version("", "libbpf", NULL);
}

/* Two notes as ld writes them: the ABI tag, and a build ID of three bytes. */
static const u8 notes[] = {4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0, 1,    2,    3,    4, /* */
			   4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0x0e, 0};

Test(build_info, the_build_id_is_found_among_other_notes)
{
	char id[2 * LOADED_BUILD_ID_MAX + 1] = "?";
	u8 damaged[sizeof(notes)];

	loaded_build_id(notes, sizeof(notes), id);
	cr_expect_str_eq(id, "abcd0e");
	for (size_t size = 0; size < sizeof(notes); size++) {
		loaded_build_id(notes, size, id);
		cr_expect_str_eq(id, "", "%zu", size);
	}
	/* A length of 4 GiB ends the search. */
	for (size_t at = 0; at < 8; at += 4) {
		memcpy(damaged, notes, sizeof(notes));
		memset(damaged + at, 0xff, 4);
		loaded_build_id(damaged, sizeof(damaged), id);
		cr_expect_str_eq(id, "");
	}
	/* A note of the same type, but with another owner's name. */
	memcpy(damaged, notes, sizeof(notes));
	damaged[32] = 'X';
	loaded_build_id(damaged, sizeof(damaged), id);
	cr_expect_str_eq(id, "");
}

Test(build_info, this_program_and_its_libraries_are_listed)
{
	_cleanup_(loaded_done) struct loaded_list loaded = {};
	bool has_libc = false;

	cr_assert_eq(loaded_find(&loaded), 0);
	cr_assert_gt(loaded.n, 2);
	cr_expect_null(loaded.list[0].name);
	cr_expect(loaded.list[0].file && strstr(loaded.list[0].file, "test_build_info"));
	for (size_t i = 1; i < loaded.n; i++) {
		cr_expect_not_null(loaded.list[i].name);
		has_libc |= strcmp(loaded.list[i].name, "libc.so.6") == 0;
		cr_expect_eq(strncmp(loaded.list[i].name, "linux-vdso", 10) == 0, false);
	}
	cr_expect(has_libc);
}

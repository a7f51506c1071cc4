// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"

static void expect(const char *bytes, size_t size, const char *text)
{
	_cleanup_free_ char *got = base64_encode((const u8 *)bytes, size);

	cr_expect_str_eq(got, text);
}

/* RFC 4648, section 10. */
Test(base64, the_vectors_of_its_rfc)
{
	expect("", 0, "");
	expect("f", 1, "Zg==");
	expect("fo", 2, "Zm8=");
	expect("foo", 3, "Zm9v");
	expect("foob", 4, "Zm9vYg==");
	expect("fooba", 5, "Zm9vYmE=");
	expect("foobar", 6, "Zm9vYmFy");
}

Test(base64, every_byte)
{
	expect("\x00\xff\xfe\x00\xfb\xf0", 6, "AP/+APvw");
	expect("\xff\xff\xff\xff", 4, "/////w==");
}

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"

static void expect(const char *bytes, size_t size, const char *text)
{
	_cleanup_free_ char *got = base64_encode((const u8 *)bytes, size);
	_cleanup_free_ u8 *back = NULL;
	size_t n = 99;

	cr_expect_str_eq(got, text);
	cr_assert_eq(base64_decode(text, &back, &n), 0, "%s", text);
	cr_assert_eq(n, size);
	cr_expect_eq(memcmp(back, bytes, size), 0);
}

/* Test vectors of RFC 4648, section 10. */
Test(base64, the_vectors_of_rfc_4648_match)
{
	expect("", 0, "");
	expect("f", 1, "Zg==");
	expect("fo", 2, "Zm8=");
	expect("foo", 3, "Zm9v");
	expect("foob", 4, "Zm9vYg==");
	expect("fooba", 5, "Zm9vYmE=");
	expect("foobar", 6, "Zm9vYmFy");
}

Test(base64, every_byte_is_decoded)
{
	expect("\x00\xff\xfe\x00\xfb\xf0", 6, "AP/+APvw");
	expect("\xff\xff\xff\xff", 4, "/////w==");
	expect("\xfb\xef\xff", 3, "++//");
}

Test(base64, invalid_texts_are_refused)
{
	static const char *const texts[] = {
		"Z",    "Zg",   "Zg=",  "=",        "====", "Z===", "Zg==Zg==",
		"Zm9 ", "Zm-v", "Z=9v", "Zm9vZg=a", "Zh==", "Zm9=", "\xff\xff\xff\xff"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		u8 *bytes = NULL;
		size_t size;

		cr_expect_eq(base64_decode(texts[i], &bytes, &size), -EBADMSG, "%s", texts[i]);
		cr_expect_null(bytes);
	}
}

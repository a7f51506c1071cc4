// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <string.h>

#include "base/cleanup.h"
#include "http/server/http_target.h"

Test(http_target, origin_and_absolute_form_have_a_path)
{
	static const struct {
		const char *target, *path, *authority;
	} cases[] = {
		{"/", "/", ""},
		{"/metrics", "/metrics", ""},
		{"//evil.example/metrics", "//evil.example/metrics", ""},
		{"http://host/metrics", "/metrics", "host"},
		{"HTTP://[::1]:9754/metrics", "/metrics", "[::1]:9754"},
		{"http://host:1", "/", "host:1"},
		{"http://user@host/", "/", "user@host"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char authority[HTTP_AUTHORITY_MAX];
		const char *path;

		cr_assert(http_target_split(cases[i].target, &path, authority), "%s", cases[i].target);
		cr_expect_str_eq(path, cases[i].path);
		cr_expect_str_eq(authority, cases[i].authority);
	}
}

Test(http_target, other_forms_have_no_path)
{
	static const char *const targets[] = {
		"", "*", "metrics", "host:443", "https://host/", "http:///metrics", "http://", "http:/host/",
	};
	char authority[HTTP_AUTHORITY_MAX], longest[HTTP_AUTHORITY_MAX + 16] = "http://";
	const char *path;

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		cr_expect_not(http_target_split(targets[i], &path, authority), "%s", targets[i]);
	memset(longest + strlen("http://"), 'a', HTTP_AUTHORITY_MAX - 1);
	cr_expect(http_target_split(longest, &path, authority));
	longest[strlen(longest)] = 'a';
	cr_expect_not(http_target_split(longest, &path, authority));
}

Test(http_target, percent_encoding_is_decoded_except_nul)
{
	static const struct {
		const char *encoded, *decoded;
	} cases[] = {
		{"", ""},
		{"/%6Detrics", "/metrics"},
		{"/metrics%00", "/metrics%00"},
		{"/metrics%00x%20", "/metrics%00x%20"},
		{"/a%2fb%FF", "/a/b\xff"},
		{"%", "%"},
		{"%4", "%4"},
		{"%4g%g4%%41", "%4g%g4%A"},
		{"%2500", "%00"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[64];

		(void)stpcpy(text, cases[i].encoded);
		cr_expect_eq(http_target_decode(text), strlen(cases[i].decoded), "%s", cases[i].encoded);
		cr_expect_str_eq(text, cases[i].decoded);
	}
}

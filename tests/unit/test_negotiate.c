// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "http/server/negotiate.h"

Test(negotiate, the_accept_header_of_prometheus_gets_openmetrics)
{
	cr_expect(negotiate_openmetrics("application/openmetrics-text;version=1.0.0,"
					"application/openmetrics-text;version=0.0.1;q=0.75,"
					"text/plain;version=0.0.4;q=0.5,*/*;q=0.1")); /* Prometheus 2.x */
	cr_expect(negotiate_openmetrics(
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;"
		"q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
		"application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;"
		"escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1")); /* Prometheus 3.x */
}

Test(negotiate, in_doubt_the_answer_is_text)
{
	static const char *const text[] = {
		"",
		"*/*",
		"text/plain",
		"text/plain;version=0.0.4",
		"text/plain, application/openmetrics-text",
		"text/plain;version=0.0.4;q=0.5,*/*;q=0.1", /* Prometheus 2.4 and earlier */
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8",
		"application/json",
		"application/openmetrics-text;q=0",
		"application/openmetrics-text;q=0, */*",
		"application/openmetrics-text; q = 0 ; version=1.0.0, text/plain;q=0",
		"application/openmetrics-text;version=0.0.1",
		"application/openmetrics-text;version=2.0.0",
		"application/openmetrics-text;q=0.3, text/plain;q=0.7",
		"application/openmetrics-text;q=1.5", /* not a valid quality */
		"application/openmetrics-text;q=",
		"application/openmetrics-textual",
		"x=\"application/openmetrics-text, application/openmetrics-text",
		";;;,,,;q=1,",
	};

	cr_expect_not(negotiate_openmetrics(NULL));
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		cr_expect_not(negotiate_openmetrics(text[i]), "%s", text[i]);
}

Test(negotiate, openmetrics_is_chosen_if_preferred)
{
	static const char *const openmetrics[] = {
		"application/openmetrics-text",
		"Application/OpenMetrics-Text; Version=1.0.0",
		"application/openmetrics-text; version=\"1.0.0\"; charset=utf-8",
		"application/openmetrics-text, */*",
		"text/plain;q=0.9,application/openmetrics-text",
		"text/plain;q=0.499 ,\tapplication/openmetrics-text;q=0.5",
		"application/*, text/plain;q=0.1",
		"*/*, text/plain;q=0.1",
		"foo/bar;x=\"a,b;q=0\", application/openmetrics-text",
		"text/plain;q=0, */*",
	};

	for (size_t i = 0; i < sizeof(openmetrics) / sizeof(openmetrics[0]); i++)
		cr_expect(negotiate_openmetrics(openmetrics[i]), "%s", openmetrics[i]);
}

Test(negotiate, gzip_is_used_if_accepted)
{
	cr_expect(negotiate_gzip("gzip"));
	cr_expect(negotiate_gzip("x-gzip"));
	cr_expect(negotiate_gzip("GZIP;q=0.001"));
	cr_expect(negotiate_gzip("deflate, gzip;q=1.0, *;q=0.5"));
	cr_expect(negotiate_gzip("*"));
	cr_expect(negotiate_gzip("br;q=1.0, gzip;q=0.8, *;q=0.1"));
	cr_expect(negotiate_gzip("identity;q=0.5, gzip;q=0.5"));

	cr_expect_not(negotiate_gzip(NULL));
	cr_expect_not(negotiate_gzip(""));
	cr_expect_not(negotiate_gzip("deflate, br"));
	cr_expect_not(negotiate_gzip("gzip;q=0"));
	cr_expect_not(negotiate_gzip("gzip;q=0.000"));
	cr_expect_not(negotiate_gzip("gzip;q=0, *"));
	cr_expect_not(negotiate_gzip("*;q=0"));
	cr_expect_not(negotiate_gzip("identity, gzip;q=0.5"));
	cr_expect_not(negotiate_gzip("gzip;q=abc"));
	cr_expect_not(negotiate_gzip("gzipped"));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Replies of any shape, as text for people. Each reply is given to each formatter, for terminals of several widths.
 * The fuzzer fuzz_answers tries any JSON, and checks less.
 */
#include <criterion/criterion.h>

#include <locale.h>
#include <stdlib.h>

#include "base/json_get.h"
#include "format/format.h"
#include "formatted.h"

#define PERF "'version':1,'origin':'perf',"
#define RULE                                                                                           \
	"{'rule':'slow','cgroup':['/db*'],'event':'loads','metric':'p99','unit':'cycles','above':900," \
	"'judged_at':896,'clear':700,'clear_judged_at':704,'window_s':30,'for_s':60,"                  \
	"'min_samples':500,'needs_samples':299,'confidence':0.95,'severity':'page','subtree':false,"   \
	"'dry_run':false,'trust_owner':false,'action':['log']}"
#define JUDGED(judged) "{" PERF "'rule':" RULE ",'judged':[" judged "]}"

static const char *const replies[] = {
	"{}",
	"[]",
	/* figures */
	"{'samples':7,'events':[],'total':{'events':{'loads':3}},'cgroups':{'a':1}}",
	"{'total':{'events':{'loads':{}}},'cgroups':[1,null,{'cgroup':'/'},{'cgroup':'/x',"
	"'events':{'loads':{'samples':-1,'latency':{'p50':1,'mean':'x'},'sources':{'l1':{}},"
	"'snoop':[]}}}]}",
	"{'events':{'loads':{'samples':1,'histogram':[{},{'le':-1},{'le':99999999999,'samples':1},"
	"{'le':5,'samples':0}],'sources':{'\\u001b':{'samples':9}}}}}",
	"{'cgroup':'/a','labels':{'pod':null,'unit':{},'\\u001b':'\\u001b'}}",
	"{'notes':[1,null,{}],'events':{'':null},'config':{'reloaded':true,'time':'x'}}",
	/* zooms */
	"{'zoom':7}",
	"{'zoom':{'samples':{'taken':5},'latency':true},'functions':[1,{},{'name':7}],"
	"'objects':[null],'lines':[{'sharing':'false','accesses':[{},7]},{}],'nodes':[{}]}",
	"{'zoom':{'samples':{'taken':5},'latency':true,'latency_sum':1e999},"
	"'functions':[{'name':'f','latency':-1,'sources':{'l1':-5,'x':{}}}]}",
	/* rules */
	"{'rules':{}}",
	"{'rules':[null,1,[],{},'x']}",
	"{" PERF "'rules':[{'rule':7,'cgroup':[1,null,{}],'action':'log','above':'x','clear':[],"
	"'cgroups':[]}]}",
	"{" PERF
	"\"rules\":[{\"rule\":\"\\u001b[2J\",\"cgroup\":[\"\\u001b[2J\\n\"],\"metric\":\"\\u0007\",\"event\":"
	"\"\\r\",\"unit\":\"\\u001b\",\"above\":1e999,\"judged_at\":1e308,\"clear\":-1e308,\"window_s\":-1,"
	"\"for_s\":1e300,\"baseline_s\":-5,\"min_samples\":18446744073709551615,\"needs_samples\":"
	"18446744073709551615,\"confidence\":1e300,\"severity\":\"\\u001b\",\"action\":[\"\\u001b\"],"
	"\"cgroups\":{\"firing\":18446744073709551615,\"pending\":-1,\"unknown\":{\"\\u001b\":"
	"18446744073709551615,\"samples\":\"x\"}},\"not_sampled\":[\"\\u001b[2J\",1,null]}]}",
	/* alerts */
	"{'alerts':{}}",
	"{'alerts':[null,1,[],{},'x']}",
	"{" PERF "'alerts':[{'alert':-1,'rule':[],'cgroup':{},'state':'unknown','held':7,'unknown':[]}]}",
	"{" PERF
	"\"alerts\":[{\"alert\":\"x\",\"rule\":\"\\u001b[2J\",\"cgroup\":\"\\u001b]0;\\u0007\\n\",\"event\":"
	"\"\\u001b\",\"severity\":\"\\r\\u001b\",\"state\":\"\\u001b[1m\",\"unit\":\"\\u001b\",\"value\":1e308,"
	"\"low\":-1e308,\"high\":1e999,\"above\":-1e308,\"since\":\"\\u001b\",\"end\":\"\\u001b\",\"held_s\":"
	"1e300,\"for_s\":-1,\"preference\":{\"threshold\":1e308,\"ignored\":true,\"malformed\":true}},{\"state\":"
	"\"unknown\",\"unknown\":\"\\u001b\",\"held\":\"\\u001b\"}]}",
	/* explanations */
	"{'rule':[],'judged':{}}",
	"{'judged':[null,1,[],{},'x']}",
	JUDGED("{'alert':-1,'rule':[],'cgroup':{},'state':'unknown','held':7,'sentences':{}}"),
	JUDGED("{\"rule\":\"\\u001b[2J\",\"cgroup\":\"\\u001b]0;\\u0007\\n\",\"event\":\"\\u001b\",\"state\":"
	       "\"\\u001b[1m\",\"unit\":\"\\u001b\",\"value\":1e300,\"low\":-1e300,\"high\":1e300,\"above\":1e299,"
	       "\"clear\":-1e299,\"since\":\"\\u001b\",\"end\":\"\\u001b\",\"breached\":\"\\u001b\",\"sentences\":"
	       "[\"\\u001b[2J\",null,[]],\"samples\":18446744073709551615,\"base_samples\":18446744073709551615,"
	       "\"window_s\":1e300}"),
	JUDGED("{'value':5e-324,'low':0,'high':5e-324,'above':5e-324,'clear':0}"),
	JUDGED("{'value':5,'low':9,'high':1,'above':2,'clear':8}"),
	/* neighbours */
	"{'neighbours':{}}",
	"{'neighbours':[null,1,[],{},'x'],'latency':7,'verdict':7,'bins':-1}",
	"{" PERF
	"\"cgroup\":\"/db\",\"event\":\"loads\",\"bin_s\":5,\"window_s\":300,\"bins\":58,\"verdict\":\"named\","
	"\"self_strength\":0.12,\"latency\":{\"slow\":412.4,\"fast\":181.2},\"apart\":18446744073709551615,"
	"\"neighbours\":[{\"cgroup\":\"\\u001b[2J\\n\",\"named\":true,\"strength\":1e300,\"needed\":1e999,"
	"\"lag_s\":1e300,\"bins\":18446744073709551615,\"traffic\":{\"slow\":1e300,\"fast\":-1e300}}]}",
	/* comparisons */
	"{'events':{'a\\u001b[31m':1},'waits':3,'notes':[1,null],'a':1}",
	"{'events':{'loads':{'latency':{'p50':{'a':1e999,'b':'x','difference':1e300,'low':-1e300,"
	"'high':1e300,'verdict':'proven'}},'sources':{'\\u001b':{'a':-1,'b':7,"
	"'verdict':'\\u001b'}},'histogram':[1,{'le':-1,'a':-5,'b':1e300}]}},'comparisons':3}",
	"{'a':{'cgroup':'\\u001b[31m','gaps':[]},'b':{'file':'\\u001b'},'confidence':1e300}",
};

static const time_t now = 1795240800;

static void status(FILE *out, json_object *reply, const struct format_style *style)
{
	format_status(out, reply, reply, style);
}

static void top(FILE *out, json_object *reply, const struct format_style *style)
{
	format_top(out, reply, reply, style);
}

static void cgroup(FILE *out, json_object *reply, const struct format_style *style)
{
	format_cgroup(out, reply, reply, reply, style);
}

static void hot(FILE *out, json_object *reply, const struct format_style *style)
{
	format_hot(out, NULL, reply, style);
}

static void zoom(FILE *out, json_object *reply, const struct format_style *style)
{
	format_zoom(out, reply, now, style);
}

static void alerts(FILE *out, json_object *reply, const struct format_style *style)
{
	format_alerts(out, reply, reply, now, style);
}

static void explain(FILE *out, json_object *reply, const struct format_style *style)
{
	format_explain_asked(out, reply, "slow", "/db", style);
	format_explain(out, reply, NULL, NULL, now, style);
	format_explain(out, reply, reply, reply, now, style);
}

static void compare(FILE *out, json_object *reply, const struct format_style *style)
{
	format_compare(out, reply, style);
}

static const struct {
	const char *name;
	void (*format)(FILE *out, json_object *reply, const struct format_style *style);
	size_t fits; /* lines fit terminals of at least this width, and have no blanks at their end; 0: not always */
	bool finite; /* a number that overflows is never shown as "nan" or "inf" */
} formatters[] = {
	{"status", status, 0, true},
	{"top", top, 80, true},
	{"cgroup", cgroup, 1, true},
	{"hot", hot, 1, true},
	{"zoom", zoom, 80, true},
	{"rules", format_rules, 1, true},
	{"alerts", alerts, 1, true},
	{"explain", explain, 1, true},
	{"neighbours", format_neighbours, 1, true},
	{"compare", compare, 0, false},
	{"item", format_item, 1, true},
};

static void expect_safe(const char *text, size_t formatter, json_object *reply, size_t width)
{
	formatted_expect_printable(text);
	if (formatters[formatter].fits && width >= formatters[formatter].fits)
		formatted_expect_fit(text, width < 80 ? 200 : width);
	if (formatters[formatter].finite) {
		formatted_expect_not(text, "nan");
		formatted_expect_not(text, "inf");
	}
	if (formatters[formatter].format == hot && !json_get_text(reply, "cgroup"))
		formatted_expect(text, "Cgroup: -");
}

Test(format_hostile, replies_of_any_shape_are_formatted_safely)
{
	static const size_t widths[] = {1, 14, 40, 80, 200};

	cr_assert_not_null(setlocale(LC_CTYPE, "C.UTF-8"));
	for (size_t i = 0; i < ARRAY_SIZE(replies); i++) {
		_cleanup_json_ json_object *reply = formatted_from(replies[i]);

		for (size_t j = 0; j < ARRAY_SIZE(formatters); j++)
			for (size_t k = 0; k < 2 * ARRAY_SIZE(widths); k++) {
				const size_t width = widths[k / 2];
				const struct format_style style = {.width = width, .utf8 = k % 2};
				_cleanup_free_ char *text =
					FORMATTED(formatters[j].format(out, reply, &style));

				cr_log_info("%s on %zu: %s", formatters[j].name, width, replies[i]);
				expect_safe(text, j, reply, width);
			}
	}
}

Test(format_hostile, a_number_that_is_too_large_is_no_number)
{
	_cleanup_json_ json_object *reply = formatted_from("{'a':1e999,'b':-1e999,'c':1e308,'d':-2}");
	double value = 7;

	cr_expect_not(json_get_double(reply, "a", &value));
	cr_expect_not(json_get_double(reply, "b", &value));
	cr_expect_eq(value, 7);
	cr_expect(json_get_double(reply, "c", &value));
	cr_expect_eq(value, 1e308);
	cr_expect(json_get_double(reply, "d", &value));
	cr_expect_eq(value, -2);
}

// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/json_get.h"
#include "format/format.h"
#include "formatted.h"

static const struct format_style wide = {0};
static const struct format_style narrow = {.width = 80};

#define POD                                                                                        \
	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2f1c9d4e_11aa_4c1e.slice/" \
	"cri-containerd-77ab01f2c3d4e5f6.scope"
#define CULPRIT                                                                                 \
	"{'cgroup':'" POD "','named':true,'strength':0.842,'needed':0.461,'lag_s':5,'bins':56," \
	"'traffic':{'slow':14000000,'fast':210000}}"
#define BYSTANDER                                                                              \
	"{'cgroup':'/batch','named':false,'strength':-0.1,'needed':0.461,'lag_s':0,'bins':56," \
	"'traffic':{'slow':1200,'fast':1100}}"
#define REPLY(verdict, members, list)                                                           \
	"{'version':1,'origin':'perf','cgroup':'/db','event':'loads','bin_s':5,'window_s':300," \
	"'bins':58,'verdict':'" verdict                                                         \
	"','self_strength':0.12,'latency':{'slow':412.4,'fast':181.2}," members "'neighbours':[" list "]}"

static char *text_of(const char *reply, const struct format_style *style)
{
	_cleanup_json_ json_object *neighbours = formatted_from(reply);

	return FORMATTED(format_neighbours(out, neighbours, style));
}

Test(format_neighbours, on_80_columns_a_named_neighbour_has_its_whole_name)
{
	_cleanup_free_ char *text =
		text_of(REPLY("named", "'nodes_known':true,'apart':12,", CULPRIT "," BYSTANDER), &narrow);

	cr_expect_str_eq(
		text, "     Cgroup: /db\n"
		      "     Origin: perf\n"
		      "      Event: loads: 58 bins of 5s with a latency, of the last 5min 0s\n"
		      "   Left out: 12 cgroups, whose CPUs share no NUMA node with those of this cgroup\n"
		      "    Latency: mean 412.4 cycles in the slowest quarter of the bins, 181.2 cycles\n"
		      "             in the fastest half\n"
		      "Own traffic: its correlation with the latency is 0.12\n"
		      "    Verdict: 1 named: its traffic rose when this cgroup's latency rose, by more\n"
		      "             than chance and this cgroup's own traffic explain\n"
		      "    Traffic: SLOW/s and FAST/s: weighted samples a second from L3 and beyond, in\n"
		      "             the slow bins and in the fast bins of this cgroup\n"
		      "       Hint: a correlation does not prove a cause; move or pause the suspected\n"
		      "             cgroup, and see whether the latency falls\n"
		      "\n"
		      "CGROUP                        NAMED STRENGTH NEEDED    LAG  BINS  SLOW/s  FAST/s\n"
		      "...s-burstable-pod2f1c9d4e_11aa_4c1e.slice/cri-containerd-77ab01f2c3d4e5f6.scope\n"
		      "                                yes     0.84   0.46     5s    56   14.0M 210,000\n"
		      "/batch                           no    -0.10   0.46     0s    56   1,200   1,100\n");
	formatted_expect_fit(text, 80);
}

Test(format_neighbours, on_a_wide_terminal_names_are_whole)
{
	_cleanup_free_ char *text = text_of(REPLY("named", "", BYSTANDER "," CULPRIT), &wide);

	formatted_expect(text, "\n" POD "   yes     0.84   0.46     5s    56   14.0M 210,000\n");
	formatted_expect(text, "    no    -0.10   0.46     0s    56   1,200   1,100\n");
}

static void expect_verdict(const char *reply, const char *expected)
{
	_cleanup_free_ char *text = text_of(reply, &wide);

	formatted_expect(text, expected);
}

Test(format_neighbours, each_verdict_says_why_no_neighbour_is_named)
{
	expect_verdict(REPLY("self", "", ""),
		       "Verdict: none named: the cgroup's own traffic explains its latency (strength 0.12)");
	expect_verdict(REPLY("nobody", "", ""), "Verdict: none named: there is enough evidence, but no");
	expect_verdict(REPLY("thin", "", ""),
		       "Verdict: none named: the evidence is thin, because only 58 bins");
	expect_verdict(REPLY("steady", "", ""), "Verdict: none named: the latency hardly changed");
	expect_verdict(
		REPLY("episode", "", ""),
		"Verdict: none named: the latency and the traffic of the strongest cgroup changed in too few episodes");
	expect_verdict(REPLY("\\u001bnew", "", ""), "Verdict: \\x1bnew\n");
	expect_verdict("{}", "Verdict: not known\n");
}

Test(format_neighbours, a_list_comes_with_the_warning_that_it_is_a_hint)
{
	_cleanup_free_ char *text =
		text_of(REPLY("nobody", "'nodes_known':false,'apart':0,'beyond':7,", BYSTANDER), &wide);
	_cleanup_free_ char *none = text_of(REPLY("thin", "", ""), &wide);

	formatted_expect(text, "       Hint: a correlation does not prove a cause");
	formatted_expect(text,
			 "      Nodes: not known here, so every other cgroup with traffic is a candidate\n");
	formatted_expect(text,
			 "   Left out: 7 cgroups, with less traffic than the cgroups that were compared\n");
	formatted_expect_not(text, "share no NUMA node");
	formatted_expect_not(none, "Hint");
	formatted_expect_not(none, "CGROUP ");
}

Test(format_neighbours, candidates_that_are_not_listed_are_counted)
{
	_cleanup_free_ char *all = text_of(REPLY("nobody", "'candidates':1,", BYSTANDER), &wide);
	_cleanup_free_ char *one = text_of(REPLY("nobody", "'candidates':2,", BYSTANDER), &wide);
	_cleanup_free_ char *many =
		text_of(REPLY("named", "'candidates':1002,", BYSTANDER "," CULPRIT), &wide);
	_cleanup_free_ char *thin = text_of(REPLY("thin", "'candidates':5,", ""), &wide);

	formatted_expect(all, " Candidates: 1 cgroup with traffic\n");
	formatted_expect(
		one, " Candidates: 2 cgroups with traffic; 1 of them is not listed, because steady traffic");
	formatted_expect(many,
			 " Candidates: 1,002 cgroups with traffic; 1,000 of them are not listed, because");
	formatted_expect(thin, " Candidates: 5 cgroups with traffic\n");
}

Test(format_neighbours, a_count_of_one_is_singular)
{
	_cleanup_free_ char *text =
		text_of("{'event':'loads','bin_s':5,'window_s':300,'bins':1,'verdict':'thin',"
			"'apart':1,'beyond':1}",
			&wide);
	_cleanup_json_ json_object *reply = formatted_from(REPLY("nobody", "", BYSTANDER));
	json_object *list = json_get_array(reply, "neighbours");
	_cleanup_free_ char *rest = NULL;

	formatted_expect(text, "      Event: loads: 1 bin of 5s with a latency, of the last 5min 0s\n");
	formatted_expect(text, "because only 1 bin has enough samples for a latency;");
	formatted_expect(text,
			 "   Left out: 1 cgroup, whose CPUs share no NUMA node with those of this cgroup\n");
	formatted_expect(text,
			 "   Left out: 1 cgroup, with less traffic than the cgroups that were compared\n");
	for (int i = 0; i < 20; i++)
		(void)json_object_array_add(list, json_object_get(json_object_array_get_idx(list, 0)));
	rest = FORMATTED(format_neighbours(out, reply, &narrow));
	formatted_expect(rest, "\n1 weaker cgroup, not named, is not shown; --json lists all\n");
}

Test(format_neighbours, all_named_neighbours_are_shown)
{
	_cleanup_json_ json_object *reply = formatted_from(REPLY("named", "", BYSTANDER));
	_cleanup_json_ json_object *culprit = formatted_from(CULPRIT);
	json_object *list = json_get_array(reply, "neighbours");
	_cleanup_free_ char *text = NULL;

	for (int i = 0; i < 29; i++)
		(void)json_object_array_add(list, json_object_get(json_object_array_get_idx(list, 0)));
	(void)json_object_array_add(list, json_object_get(culprit));
	text = FORMATTED(format_neighbours(out, reply, &narrow));
	formatted_expect_fit(text, 80);
	formatted_expect(text, "cri-containerd-77ab01f2c3d4e5f6.scope\n");
	formatted_expect(text, "\n10 weaker cgroups, none of them named, are not shown; --json lists all\n");
}

Test(format_neighbours, traffic_of_misses_is_in_bytes)
{
	_cleanup_free_ char *text = text_of(REPLY("named", "'traffic_from':'misses',", CULPRIT), &wide);

	formatted_expect(
		text, "Traffic: SLOW/s and FAST/s: misses of the last level cache times 64 bytes, in bytes");
}

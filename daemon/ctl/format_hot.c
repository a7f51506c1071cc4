// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "ctl/figure.h"
#include "ctl/format_event.h"

#define ADDRESS_DIGITS 16
#define ADDRESS_WIDTH  (2 + ADDRESS_DIGITS)
#define BAR_LEFT       (ADDRESS_WIDTH + 26) /* columns of the table left of its bar */
#define BAR_DEFAULT    32

/* All digits, so that addresses stand under each other; what is no address as it is. */
static void put_address(FILE *out, const char *address)
{
	_cleanup_free_ char *kept = NULL;
	char *end = NULL;
	u64 value = address ? strtoull(address, &end, 16) : 0;

	if (end && end != address && !*end)
		(void)fprintf(out, "0x%0*" PRIx64, ADDRESS_DIGITS, (uint64_t)value);
	else
		(void)fprintf(out, "%-*s", ADDRESS_WIDTH, line_visible(address, &kept));
}

static void put_item(FILE *out, const struct format_style *style, const json_object *item, u64 all)
{
	char count[TEXT_NUMBER_MAX], share[TEXT_NUMBER_MAX], most[TEXT_NUMBER_MAX], bar[TEXT_BAR_MAX];
	size_t width = style->width ? style->width : BAR_LEFT + BAR_DEFAULT;
	u64 samples, error;

	if (!json_get_u64(item, "samples", &samples) || !json_get_u64(item, "error", &error) || all == 0)
		return;
	text_count(samples, count);
	line_percent((double)samples, (double)all, share);
	line_percent((double)(samples + error), (double)all, most);
	text_bar((double)samples / (double)all, width > BAR_LEFT + 5 ? width - BAR_LEFT : 5, style->utf8,
		 bar);
	put_address(out, json_get_text(item, "address"));
	(void)fprintf(out, " %9s %6s %8s%s%s\n", count, share, most, *bar ? "  " : "", bar);
}

static void put_event(FILE *out, const struct format_style *style, const char *key, json_object *described,
		      json_object *event)
{
	json_object *code = json_get_array(event, "code");
	char count[TEXT_NUMBER_MAX];
	u64 all = 0;

	(void)json_get_u64(event, "samples", &all);
	text_count(all, count);
	(void)fputc('\n', out);
	format_event(out, style, "Event", key, described);
	line_put(out, style, "Samples", "%s since the cgroup was found", count);
	if (!code || json_object_array_length(code) == 0)
		return;
	(void)fputc('\n', out);
	line_head(out, style, "ADDRESS              SAMPLES  SHARE  AT MOST");
	for (size_t i = 0; i < json_object_array_length(code); i++)
		put_item(out, style, json_object_array_get_idx(code, i), all);
}

void format_hot(FILE *out, json_object *status, json_object *hot, const struct format_style *style)
{
	json_object *described = json_get_object(status, "events");
	json_object *events = json_get_object(hot, "events");
	_cleanup_free_ char *name = NULL;
	_cleanup_free_ char *origin = NULL;

	line_put(out, style, "Cgroup", "%s", line_visible(json_get_text(hot, "cgroup"), &name));
	line_put(out, style, "Origin", "%s", format_origin_name(hot, &origin));
	line_put(out, style, "Code",
		 "addresses as the instructions ran, each process's own; this version has no symbols");
	if (!events)
		return;
	json_object_object_foreach (events, key, event)
		put_event(out, style, key, json_get_object(described, key), event);
}

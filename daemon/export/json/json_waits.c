// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_waits.h"

#include <math.h>

#include "base/json_get.h"
#include "estimate/window_waits.h"
#include "export/json/json_event.h"
#include "snapshot/snapshot_waits.h"

/* Decimals of every figure but traffic, which is in whole bytes. */
#define DECIMALS 6

static int decimals_of(enum wait_figure figure)
{
	return figure == WAIT_TRAFFIC ? 0 : DECIMALS;
}

static void put_number(struct json_writer *writer, json_object *object, const char *key,
		       enum wait_figure figure, double value)
{
	json_put_number(writer, object, key, value, decimals_of(figure));
}

void json_put_waits(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
		    const struct counters *const *counters)
{
	struct snapshot_wait_parts parts;
	json_object *waits = NULL;

	snapshot_wait_parts(snapshot, counters, &parts);
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		json_object *item;
		double value;

		if (!snapshot_wait_value(&parts, figure, &value))
			continue;
		if (!waits)
			waits = json_checked(writer, json_object_new_object());
		item = json_checked(writer, json_object_new_object());
		put_number(writer, item, "value", figure, value);
		json_put(writer, waits, wait_figure_name(figure), item);
	}
	if (waits)
		json_put(writer, object, "waits", waits);
}

/* Returns true if the bounds say something: a share always lies between 0 and 1. */
static bool are_bounds(enum wait_figure figure, const struct bounds *bounds)
{
	return bounds->low > 0 || bounds->high < (figure == WAIT_SHARE ? 1 : INFINITY);
}

/* Rounds outwards, so that the true value lies between the printed bounds. */
static void put_bounds(struct json_writer *writer, json_object *item, enum wait_figure figure,
		       const struct bounds *bounds)
{
	double unit = pow(10, decimals_of(figure));

	put_number(writer, item, "low", figure, floor(bounds->low * unit) / unit);
	if (isfinite(bounds->high))
		put_number(writer, item, "high", figure, ceil(bounds->high * unit) / unit);
}

void json_put_wait_values(struct json_writer *writer, json_object *object,
			  const struct wait_value values[WAIT_FIGURES], bool bounded)
{
	json_object *waits = NULL;

	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		json_object *item;

		if (!values[figure].known)
			continue;
		if (!waits)
			waits = json_checked(writer, json_object_new_object());
		item = json_checked(writer, json_object_new_object());
		put_number(writer, item, "value", figure, values[figure].value);
		if (bounded && are_bounds(figure, &values[figure].bounds))
			put_bounds(writer, item, figure, &values[figure].bounds);
		json_put(writer, waits, wait_figure_name(figure), item);
	}
	if (waits && bounded)
		json_put_number(writer, waits, "confidence", JSON_CONFIDENCE, 2);
	if (waits)
		json_put(writer, object, "waits", waits);
}

void json_put_wait_bounds(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
			  const struct counters *const *counters, const struct window_samples *samples)
{
	json_object *waits = json_get_object(object, "waits");
	struct snapshot_wait_parts parts;
	struct wait_value values[WAIT_FIGURES];

	if (!waits)
		return;
	snapshot_wait_parts(snapshot, counters, &parts);
	window_waits_of(samples, parts.events, parts.parts, parts.n, JSON_CONFIDENCE, values);
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		json_object *item = json_get_object(waits, wait_figure_name(figure));

		if (item && values[figure].known && are_bounds(figure, &values[figure].bounds))
			put_bounds(writer, item, figure, &values[figure].bounds);
	}
	json_put_number(writer, waits, "confidence", JSON_CONFIDENCE, 2);
}

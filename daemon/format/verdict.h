// SPDX-License-Identifier: GPL-2.0
/*
 * Rules and alerts of a reply (types R and A of the interface) in words and numbers for people. Pure
 * functions. A value that is absent or of another type is shown as "-".
 */
#ifndef PEBSD_FORMAT_VERDICT_H
#define PEBSD_FORMAT_VERDICT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <time.h>

#include "format/line.h"

#define VERDICT_TEXT_MAX 128

enum verdict_width {
	VERDICT_FULL,
	VERDICT_SHORT, /* for columns: "1.23M" from a million up */
};

/* Returns true if the member is a finite number; 1e999 in a reply is not. */
bool verdict_member(const json_object *object, const char *key, double *ret);

/*
 * `unit` is a word of metric_unit_word(). For NULL and other words, only the number is printed. The first function
 * prints "%" and units of bytes: "912", "1,200", "12.34%", "5.2 GB/s". The second one prints every unit: "912 cycles",
 * "1,200/s", "1.5 times", "3.2 cores".
 */
void verdict_number(double value, const char *unit, enum verdict_width width, char ret[VERDICT_TEXT_MAX]);
void verdict_quantity(double value, const char *unit, enum verdict_width width, char ret[VERDICT_TEXT_MAX]);

/*
 * Writes ", about 351 ns at 2.6 GHz, the nominal frequency" if `object`, an alert or a rule, has a nominal
 * frequency, and the value is in cycles; else "".
 */
void verdict_time_at(const json_object *object, double cycles, char ret[VERDICT_TEXT_MAX]);

/* Writes the bounds of an alert: "898 - 930", "from 898", "to 930". */
void verdict_bounds(const json_object *alert, enum verdict_width width, char ret[VERDICT_TEXT_MAX]);

/* Writes the limit of a rule or an alert, as it is judged: "above 896 cycles". */
void verdict_limit(const json_object *object, enum verdict_width width, char ret[VERDICT_TEXT_MAX]);

/*
 * Returns the text for a word of the interface: "too few samples" for "samples", and so on. An unknown word
 * is returned as line_visible() returns it, in `kept`, which the caller frees.
 */
const char *verdict_reason(const char *word, char **kept);
const char *verdict_end(const char *word, char **kept);

/*
 * Returns the attributes of the cgroup's directory and their effect, as sentences in one text. NULL: none, or no
 * memory. The caller frees it.
 */
char *verdict_preference(const json_object *alert);

/* Writes the age of the time in a member: "12min 5s"; "-" if the member is not a time or lies in the future. */
void verdict_age(const json_object *object, const char *key, time_t now, char ret[TEXT_NUMBER_MAX]);

/*
 * Returns "firing", or "unknown (firing)" if the alert is unknown and holds that state. The caller frees it;
 * NULL: no memory.
 */
char *verdict_state(const json_object *alert);

/*
 * Returns the state; if it is unknown, the state that the alert holds. "" if neither is in the reply.
 * Borrowed.
 */
const char *verdict_state_held(const json_object *alert);
bool verdict_is_unknown(const json_object *alert);

/* Returns true if the state is unknown because figures of the past are not stored. */
bool verdict_is_lost(const json_object *alert);

/* Returns the colour of the state. An alert that is unknown now is marked less strongly than one that fires. */
enum line_mood verdict_mood(const json_object *alert);

/*
 * Returns an item of Watch in words if it is the transition of an alert. NULL: it is not, or no memory. The
 * caller frees it.
 */
char *verdict_transition(const struct format_style *style, json_object *item);

#endif

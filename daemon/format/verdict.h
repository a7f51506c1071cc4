// SPDX-License-Identifier: GPL-2.0
/*
 * What rules and alerts of a reply (R and A of the interface) say, in words and numbers for people. Pure.
 * What is absent or of another type is "-".
 */
#ifndef PEBSD_FORMAT_VERDICT_H
#define PEBSD_FORMAT_VERDICT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <time.h>

#include "base/text.h"

#define VERDICT_TEXT_MAX 128

enum verdict_width {
	VERDICT_FULL,
	VERDICT_SHORT, /* for columns: "1.23M" from a million on */
};

/* A finite number: 1e999 in a reply is none. */
bool verdict_member(const json_object *object, const char *key, double *ret);

/* The unit's word of the interface: "cycles", "per_second", "share", "ratio"; others and NULL have none.
 * Without the unit "912", "1,200", "12.34%", with it "912 cycles", "1,200/s", "12.34%", "1.5 times". */
void verdict_number(double value, const char *unit, enum verdict_width width, char ret[VERDICT_TEXT_MAX]);
void verdict_quantity(double value, const char *unit, enum verdict_width width, char ret[VERDICT_TEXT_MAX]);

/* "898 - 930", "from 898", "to 930", of an alert. */
void verdict_bounds(const json_object *alert, enum verdict_width width, char ret[VERDICT_TEXT_MAX]);

/* "above 896 cycles", as judged; of a rule or an alert. */
void verdict_limit(const json_object *object, enum verdict_width width, char ret[VERDICT_TEXT_MAX]);

/* "too few samples" of "samples", ...; a word that is not known as it is, in `kept`, which the caller frees.
 */
const char *verdict_reason(const char *word, char **kept);
const char *verdict_end(const char *word, char **kept);

/* What the cgroup's directory says and what became of it, in sentences after each other; NULL: nothing is
 * said. The caller frees. */
char *verdict_preference(const json_object *alert);

/* How long ago a member's time was: "12min 5s"; "-" where it is none or lies ahead. */
void verdict_age(const json_object *object, const char *key, time_t now, char ret[TEXT_NUMBER_MAX]);

/* "firing", "unknown (firing)" where that one is held. The caller frees; NULL: no memory. */
char *verdict_state(const json_object *alert);

/* The state that counts: where it is unknown the one held. "" where that is not said. Borrowed. */
const char *verdict_state_held(const json_object *alert);
bool verdict_is_unknown(const json_object *alert);

/* An alert's transition of Watch in words; NULL: it is none, or no memory. The caller frees. */
char *verdict_transition(json_object *item);

#endif

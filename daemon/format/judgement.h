// SPDX-License-Identifier: GPL-2.0
/*
 * What rules and alerts of a reply (R and A of the interface) say, in words and numbers for people. Pure.
 * What is absent or of another type is "-".
 */
#ifndef PEBSD_FORMAT_JUDGEMENT_H
#define PEBSD_FORMAT_JUDGEMENT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <time.h>

#include "base/text.h"

#define JUDGEMENT_TEXT_MAX 128

enum judgement_width {
	JUDGEMENT_FULL,
	JUDGEMENT_SHORT, /* for columns: "1.23M" from a million on */
};

/* A finite number: 1e999 in a reply is none. */
bool judgement_member(const json_object *object, const char *key, double *ret);

/* The unit's word of the interface: "cycles", "per_second", "share", "ratio"; others and NULL have none.
 * Without the unit "912", "1,200", "12.34%", with it "912 cycles", "1,200/s", "12.34%", "1.5 times". */
void judgement_number(double value, const char *unit, enum judgement_width width,
		      char ret[JUDGEMENT_TEXT_MAX]);
void judgement_quantity(double value, const char *unit, enum judgement_width width,
			char ret[JUDGEMENT_TEXT_MAX]);

/* "898 - 930", "from 898", "to 930", of an alert. */
void judgement_bounds(const json_object *alert, enum judgement_width width, char ret[JUDGEMENT_TEXT_MAX]);

/* "above 896 cycles", as judged; of a rule or an alert. */
void judgement_limit(const json_object *object, enum judgement_width width, char ret[JUDGEMENT_TEXT_MAX]);

/* "too few samples" of "samples", ...; a word that is not known as it is, in `kept`, which the caller frees.
 */
const char *judgement_reason(const char *word, char **kept);
const char *judgement_end(const char *word, char **kept);

/* What the cgroup's directory says and what became of it, in sentences after each other; NULL: nothing is
 * said. The caller frees. */
char *judgement_preference(const json_object *alert);

/* How long ago a member's time was: "12min 5s"; "-" where it is none or lies ahead. */
void judgement_age(const json_object *object, const char *key, time_t now, char ret[TEXT_NUMBER_MAX]);

/* "firing", "unknown (firing)" where that one is held. The caller frees; NULL: no memory. */
char *judgement_state(const json_object *alert);

/* The state that counts: where it is unknown the one held. "" where that is not said. Borrowed. */
const char *judgement_state_held(const json_object *alert);
bool judgement_is_unknown(const json_object *alert);

/* An alert's transition of Watch in words; NULL: it is none, or no memory. The caller frees. */
char *judgement_transition(json_object *item);

#endif

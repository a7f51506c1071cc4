// SPDX-License-Identifier: GPL-2.0
/* Alerts and started actions as the JSON of the file, and back. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "act/alert_store.h"
#include "base/json_get.h"
#include "base/utf8.h"

#define VERSION 1
#define DEPTH   5
/* The characters that a JSON string must escape. They are written as \uNNNN. */
#define ESCAPED                                                                                \
	"\"\\\x01\x02\x03\x04\x05\x06\x07\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17" \
	"\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The last second of the year 9999, because years are shown with four digits. */
#define SECONDS_MAX 253402300799ULL

static const char *const state_words[] = {
	[ALERT_PENDING] = "pending", [ALERT_FIRING] = "firing", [ALERT_RESOLVED] = "resolved"};

/*
 * The functions below write text directly instead of building objects of json-c, which takes three times as
 * long. That matters because a store of thousands of alerts is written again whenever one alert changes. If
 * memory runs out, the stream has an error, or `*failed` is set.
 */
static void put_name(FILE *out, const char *key, const char *name, bool *failed)
{
	_cleanup_free_ char *shown = NULL;

	if (utf8_show(name, &shown) < 0) {
		*failed = true;
		return;
	}
	(void)fprintf(out, "\"%s\":\"", key);
	for (const char *c = shown; *c;) {
		size_t plain = strcspn(c, ESCAPED);

		(void)fwrite(c, 1, plain, out);
		c += plain;
		if (*c)
			(void)fprintf(out, "\\u%04x", (unsigned)*c++);
	}
	(void)fputc('"', out);
}

/* Writes a number so that it is read back to the last bit, except -0. Writes nothing if it is not finite. */
static void put_double(FILE *out, const char *key, double value)
{
	/*
	 * "-0" would be read back as an integer, without the sign. Adding 0.0 turns -0 into 0, which stays the
	 * same.
	 */
	if (isfinite(value))
		(void)fprintf(out, ",\"%s\":%.17g", key, value + 0.0);
}

static void put_time(FILE *out, const char *key, const struct timespec *time)
{
	if (time->tv_sec || time->tv_nsec)
		(void)fprintf(out, ",\"%s\":[%lld,%ld]", key, (long long)time->tv_sec, time->tv_nsec);
}

static void put_alert(FILE *out, const struct policy_saved_alert *saved, bool *failed)
{
	(void)fputc('{', out);
	put_name(out, "rule", saved->rule, failed);
	(void)fprintf(out, ",\"fingerprint\":%llu,", (unsigned long long)saved->fingerprint);
	put_name(out, "cgroup", saved->cgroup, failed);
	(void)fputc(',', out);
	put_name(out, "event", saved->event_key, failed);
	(void)fprintf(out, ",\"alert\":%llu,\"state\":\"%s\",\"held_ns\":%llu",
		      (unsigned long long)saved->number, state_words[saved->state],
		      (unsigned long long)saved->held_ns);
	put_time(out, "since", &saved->since);
	put_time(out, "breached", &saved->breached);
	put_time(out, "fired", &saved->fired);
	put_time(out, "resolved", &saved->resolved);
	if (saved->state == ALERT_RESOLVED)
		(void)fprintf(out, ",\"end\":\"%s\"", alert_end_word(saved->end));
	put_double(out, "value", saved->value);
	put_double(out, "low", saved->low);
	put_double(out, "high", saved->high);
	(void)fputc('}', out);
}

static const char *truth(bool value)
{
	return value ? "true" : "false";
}

static void put_store(FILE *out, const struct alert_store *store, bool *failed)
{
	const char *comma = "";

	(void)fprintf(out, "{\"version\":%d,", VERSION);
	put_name(out, "boot", store->boot, failed);
	(void)fprintf(out, ",\"next_alert\":%llu,\"judged_ns\":%llu,\"alerts\":[",
		      (unsigned long long)store->next_number, (unsigned long long)store->judged_ns);
	for (size_t i = 0; i < store->n_saved_alerts; i++) {
		if (store->saved_alerts[i].state == ALERT_INACTIVE)
			continue;
		(void)fputs(comma, out);
		put_alert(out, &store->saved_alerts[i], failed);
		comma = ",";
	}
	(void)fputs("],\"begun\":[", out);
	for (size_t i = 0; i < store->n_intents; i++)
		(void)fprintf(out, "%s{\"alert\":%llu,\"firing\":%s,\"log\":%s,\"unit\":%s}", i ? "," : "",
			      (unsigned long long)store->intents[i].alert, truth(store->intents[i].firing),
			      truth(store->intents[i].actions & RULE_LOG),
			      truth(store->intents[i].actions & RULE_UNIT));
	(void)fputs("],\"files\":[", out);
	for (size_t i = 0; i < store->n_files; i++) {
		(void)fprintf(out, "%s{\"alert\":%llu", i ? "," : "",
			      (unsigned long long)store->files[i].alert);
		put_time(out, "resolved", &store->files[i].resolved);
		(void)fputc('}', out);
	}
	(void)fputs("]}", out);
}

int alert_store_format(const struct alert_store *store, char **ret, size_t *ret_length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_length);
	bool failed = false;

	if (!out)
		return -ENOMEM;
	put_store(out, store, &failed);
	failed |= ferror(out) != 0;
	failed |= fclose(out) != 0;
	if (failed) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Converts a shown form back to the name, which the caller frees. Returns 0, -ENOMEM, or -EBADMSG if it is missing, empty
 * or not a shown form.
 */
static int read_name(const json_object *object, const char *key, const char **ret)
{
	const char *shown = json_get_text(object, key);
	_cleanup_free_ char *name = NULL;
	char *to;

	if (!shown || !*shown)
		return -EBADMSG;
	name = strdup(shown);
	if (!name)
		return -ENOMEM;
	to = name;
	for (const char *from = shown; *from;) {
		int high, low;

		if (strncmp(from, REPLACEMENT, strlen(REPLACEMENT)) != 0) {
			*to++ = *from++;
			continue;
		}
		from += strlen(REPLACEMENT);
		high = hex_digit(from[0]);
		low = high < 0 ? -1 : hex_digit(from[1]);
		if (low < 0 || (high == 0 && low == 0))
			return -EBADMSG;
		*to++ = (char)(high * 16 + low);
		from += 2;
	}
	*to = '\0';
	if (!utf8_is_shown_as(name, shown))
		return -EBADMSG;
	*ret = TAKE_PTR(name);
	return 0;
}

static bool read_u64_of(const json_object *array, size_t i, u64 max, u64 *ret)
{
	json_object *value = json_object_array_get_idx(array, i);

	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0)
		return false;
	*ret = json_object_get_uint64(value);
	return *ret <= max;
}

/* Reads a time; a missing one is 0. */
static bool read_time(const json_object *object, const char *key, struct timespec *ret)
{
	json_object *pair = json_get(object, key);
	u64 seconds, nanoseconds;

	*ret = (struct timespec){0};
	if (!pair)
		return true;
	if (!json_object_is_type(pair, json_type_array) || json_object_array_length(pair) != 2 ||
	    !read_u64_of(pair, 0, SECONDS_MAX, &seconds) ||
	    !read_u64_of(pair, 1, NSEC_PER_SEC - 1, &nanoseconds))
		return false;
	*ret = (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)nanoseconds};
	return true;
}

static bool read_double(const json_object *object, const char *key, double absent, double *ret)
{
	*ret = absent;
	if (!json_get(object, key))
		return true;
	return json_get_double(object, key, ret) && isfinite(*ret);
}

static bool read_state(const json_object *object, enum alert_state *ret)
{
	const char *word = json_get_text(object, "state");

	for (unsigned state = ALERT_PENDING; word && state < ARRAY_SIZE(state_words); state++)
		if (strcmp(word, state_words[state]) == 0) {
			*ret = state;
			return true;
		}
	return false;
}

/* Reads why an alert ended, if it is resolved. */
static bool read_end(const json_object *object, enum alert_state state, enum alert_end *ret)
{
	const char *word = json_get_text(object, "end");

	*ret = ALERT_END_CLEAR;
	if (state != ALERT_RESOLVED)
		return true;
	for (unsigned end = ALERT_END_CLEAR; word && end <= ALERT_END_IGNORED; end++)
		if (strcmp(word, alert_end_word(end)) == 0) {
			*ret = end;
			return true;
		}
	return false;
}

static bool read_rule(const json_object *object, char ret[RULE_NAME_MAX])
{
	const char *name = json_get_text(object, "rule");

	if (!name || !*name || strlen(name) >= RULE_NAME_MAX ||
	    strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") != strlen(name))
		return false;
	(void)stpcpy(ret, name);
	return true;
}

/* Reads everything but the cgroup and the event. */
static bool read_values(const json_object *object, u64 next, struct policy_saved_alert *ret)
{
	return read_rule(object, ret->rule) && json_get_u64(object, "fingerprint", &ret->fingerprint) &&
	       json_get_u64(object, "alert", &ret->number) && ret->number < next &&
	       read_state(object, &ret->state) && read_end(object, ret->state, &ret->end) &&
	       (ret->state == ALERT_PENDING || ret->number > 0) &&
	       json_get_u64(object, "held_ns", &ret->held_ns) && read_time(object, "since", &ret->since) &&
	       read_time(object, "breached", &ret->breached) && read_time(object, "fired", &ret->fired) &&
	       read_time(object, "resolved", &ret->resolved) &&
	       read_double(object, "value", NAN, &ret->value) &&
	       read_double(object, "low", -INFINITY, &ret->low) &&
	       read_double(object, "high", INFINITY, &ret->high);
}

/* Returns 0, -ENOMEM or -EBADMSG. The caller frees the strings of `*ret`, also after a failure. */
static int read_alert(const json_object *object, u64 next, struct policy_saved_alert *ret)
{
	int r = read_name(object, "cgroup", &ret->cgroup);

	if (r == 0)
		r = read_name(object, "event", &ret->event_key);
	if (r == 0 && !read_values(object, next, ret))
		r = -EBADMSG;
	return r;
}

static bool read_number(const json_object *object, u64 next, u64 *ret)
{
	return json_get_u64(object, "alert", ret) && *ret > 0 && *ret < next;
}

static bool read_intent(const json_object *object, u64 next, struct alert_store_intent *ret)
{
	bool log, unit;

	if (!read_number(object, next, &ret->alert) || !json_get_bool(object, "firing", &ret->firing) ||
	    !json_get_bool(object, "log", &log) || !json_get_bool(object, "unit", &unit))
		return false;
	ret->actions = (log ? RULE_LOG : 0U) | (unit ? RULE_UNIT : 0U);
	return ret->actions != 0;
}

static bool read_file(const json_object *object, u64 next, struct alert_store_file *ret)
{
	return read_number(object, next, &ret->alert) && read_time(object, "resolved", &ret->resolved);
}

/* Allocates one item for each element of the array, and at least one item. */
static void *room_for(const json_object *array, size_t size)
{
	size_t n = json_object_array_length(array);

	return calloc(n ? n : 1, size);
}

static int read_lists(const json_object *object, struct alert_store *store, const char **ret_wrong)
{
	const json_object *saved_alerts = json_get_array(object, "alerts");
	const json_object *intents = json_get_array(object, "begun");
	const json_object *files = json_get_array(object, "files");

	*ret_wrong = "the list of alerts, of actions or of files is missing";
	if (!saved_alerts || !intents || !files)
		return -EBADMSG;
	store->saved_alerts = room_for(saved_alerts, sizeof(*store->saved_alerts));
	store->intents = room_for(intents, sizeof(*store->intents));
	store->files = room_for(files, sizeof(*store->files));
	if (!store->saved_alerts || !store->intents || !store->files)
		return -ENOMEM;
	*ret_wrong = "an alert cannot be read";
	for (size_t i = 0; i < json_object_array_length(saved_alerts); i++) {
		int r = read_alert(json_object_array_get_idx(saved_alerts, i), store->next_number,
				   &store->saved_alerts[store->n_saved_alerts++]);

		if (r < 0)
			return r;
	}
	*ret_wrong = "an action cannot be read";
	for (size_t i = 0; i < json_object_array_length(intents); i++)
		if (!read_intent(json_object_array_get_idx(intents, i), store->next_number,
				 &store->intents[store->n_intents++]))
			return -EBADMSG;
	*ret_wrong = "an entry of the list of files cannot be read, or is out of order";
	for (size_t i = 0; i < json_object_array_length(files); i++)
		if (!read_file(json_object_array_get_idx(files, i), store->next_number,
			       &store->files[store->n_files++]) ||
		    (i > 0 && store->files[i].alert <= store->files[i - 1].alert))
			return -EBADMSG;
	return 0;
}

static int read_store(const json_object *object, struct alert_store *store, const char **ret_wrong)
{
	const char *boot = json_get_text(object, "boot");
	u64 version;

	*ret_wrong = "it has no format version";
	if (!json_get_u64(object, "version", &version))
		return -EBADMSG;
	*ret_wrong = "its format is that of another version of pebsd";
	if (version != VERSION)
		return -EBADMSG;
	*ret_wrong = "the boot ID cannot be read";
	if (!boot || strlen(boot) >= ALERT_STORE_BOOT_MAX ||
	    strspn(boot, "0123456789abcdef-") != strlen(boot))
		return -EBADMSG;
	(void)stpcpy(store->boot, boot);
	*ret_wrong = "the next alert's number cannot be read";
	if (!json_get_u64(object, "next_alert", &store->next_number) || store->next_number == 0 ||
	    store->next_number > ALERT_STORE_NUMBERS_MAX)
		return -EBADMSG;
	*ret_wrong = "the time of the last evaluation cannot be read";
	/* Earlier versions did not write `judged_ns`. */
	if (json_get(object, "judged_ns") && !json_get_u64(object, "judged_ns", &store->judged_ns))
		return -EBADMSG;
	return read_lists(object, store, ret_wrong);
}

int alert_store_parse(const char *text, size_t length, struct alert_store *ret, const char **ret_wrong)
{
	_cleanup_json_ json_object *object = NULL;
	_cleanup_(alert_store_clear) struct alert_store store;
	int r;

	alert_store_init(&store);
	*ret_wrong = "it is not JSON";
	r = json_parse(text, length, DEPTH, &object);
	if (r == -E2BIG) { /* JSON_VALUES_MAX */
		*ret_wrong = "it has more than 2,000,000 values";
		return -EBADMSG;
	}
	if (r == 0)
		r = read_store(object, &store, ret_wrong);
	if (r < 0)
		return r;
	*ret = store;
	store = (struct alert_store){0};
	return 0;
}

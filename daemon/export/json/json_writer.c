// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_writer.h"

#include <stdio.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/utf8.h"

json_object *json_name(const char *name)
{
	_cleanup_free_ char *shown = NULL;

	return utf8_show(name, &shown) < 0 ? NULL : json_object_new_string(shown);
}

json_object *json_checked(struct json_writer *writer, json_object *object)
{
	if (!object)
		writer->failed = true;
	return object;
}

void json_put(struct json_writer *writer, json_object *object, const char *key, json_object *value)
{
	if (object && value && json_object_object_add(object, key, value) == 0)
		return;
	json_object_put(value);
	writer->failed = true;
}

void json_append(struct json_writer *writer, json_object *array, json_object *value)
{
	if (array && value && json_object_array_add(array, value) == 0)
		return;
	json_object_put(value);
	writer->failed = true;
}

u64 json_page_first(const struct json_page *page, size_t n)
{
	return !page ? 0 : page->first < n ? page->first : n;
}

bool json_page_fits(struct json_page *page, u64 index, size_t bytes)
{
	if (!page)
		return true;
	if (page->bytes > 0 && page->bytes + bytes > (page->most ? page->most : JSON_PAGE_BYTES)) {
		page->cut = true;
		page->next = index;
		return false;
	}
	page->bytes += bytes;
	return true;
}

bool json_page_reads(struct json_page *page, u64 index, size_t sums)
{
	if (!page)
		return true;
	if (page->sums_most && page->sums > 0 && page->sums + sums > page->sums_most) {
		page->cut = true;
		page->next = index;
		return false;
	}
	page->sums += sums;
	return true;
}

bool json_append_to_page(struct json_writer *writer, json_object *array, json_object *value,
			 struct json_page *page, u64 index)
{
	size_t length = 0;

	if (page && value &&
	    !json_object_to_json_string_length(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
					       &length))
		writer->failed = true;
	if (!json_page_fits(page, index, length)) {
		json_object_put(value);
		return false;
	}
	json_append(writer, array, value);
	return true;
}

void json_page_share(struct json_page *page, size_t lists)
{
	page->most = page->bytes + (JSON_PAGE_BYTES - MIN(page->bytes, JSON_PAGE_BYTES)) / lists;
	page->cut = false;
}

void json_put_page(struct json_writer *writer, json_object *object, const struct json_page *page)
{
	if (!page || (!page->cut && page->first == 0))
		return;
	if (page->cut)
		json_put_u64(writer, object, "next", page->next);
	json_put_time(writer, object, "taken", &page->taken);
}

json_object *json_finish(const struct json_writer *writer, json_object *object)
{
	if (!writer->failed)
		return object;
	json_object_put(object);
	return NULL;
}

void json_put_u64(struct json_writer *writer, json_object *object, const char *key, u64 value)
{
	json_put(writer, object, key, json_object_new_uint64(value));
}

void json_put_text(struct json_writer *writer, json_object *object, const char *key, const char *text)
{
	json_put(writer, object, key, json_name(text));
}

void json_put_number(struct json_writer *writer, json_object *object, const char *key, double value,
		     int decimals)
{
	char text[400];

	(void)snprintf(text, sizeof(text), "%.*f", decimals, value);
	json_put(writer, object, key, json_object_new_double_s(value, text));
}

void json_put_cycles(struct json_writer *writer, json_object *object, const char *key, double cycles)
{
	json_put_number(writer, object, key, cycles, 1);
}

void json_put_seconds(struct json_writer *writer, json_object *object, const char *key, double seconds)
{
	json_put_number(writer, object, key, seconds, 6);
}

void json_put_time(struct json_writer *writer, json_object *object, const char *key,
		   const struct timespec *time)
{
	char text[TEXT_TIME_MAX];

	if (time->tv_sec == 0)
		return;
	text_time(time, text);
	json_put_text(writer, object, key, text);
}

void json_put_counts(struct json_writer *writer, json_object *object, const char *key, const u64 *counts,
		     const char *const *names, size_t n)
{
	json_object *by_name = json_checked(writer, json_object_new_object());

	for (size_t i = 0; i < n; i++)
		if (counts[i] && names[i])
			json_put_u64(writer, by_name, names[i], counts[i]);
	json_put(writer, object, key, by_name);
}

json_object *json_start_of(struct json_writer *writer, const char *origin)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_u64(writer, object, "version", JSON_VERSION);
	json_put_text(writer, object, "origin", origin);
	return object;
}

json_object *json_start(struct json_writer *writer, const struct snapshot *snapshot)
{
	json_object *object = json_start_of(writer, snapshot->origin);

	json_put_time(writer, object, "since", &snapshot->since);
	return object;
}

void json_put_window(struct json_writer *writer, json_object *object, const struct snapshot *snapshot)
{
	if (snapshot->window_seconds.known)
		json_put_number(writer, object, "window_s", snapshot->window_seconds.value, 3);
	else if (object && json_object_object_add(object, "window_s", NULL) < 0)
		writer->failed = true;
}

void json_put_shown(struct json_writer *writer, json_object *object, const char *key, json_object *value)
{
	_cleanup_free_ char *shown = NULL;

	if (utf8_show(key, &shown) < 0) {
		json_object_put(value);
		writer->failed = true;
		return;
	}
	json_put(writer, object, shown, value);
}

json_object *json_get_shown(struct json_writer *writer, const json_object *object, const char *key)
{
	_cleanup_free_ char *shown = NULL;

	if (utf8_show(key, &shown) < 0) {
		writer->failed = true;
		return NULL;
	}
	return json_object_object_get(object, shown);
}

void json_put_recordings(struct json_writer *writer, json_object *object, const struct snapshot *snapshot)
{
	json_object *list;

	if (!snapshot->recordings)
		return;
	list = json_checked(writer, json_object_new_array());
	for (size_t i = 0; i < snapshot->n_recordings; i++) {
		const struct recording *recording = &snapshot->recordings[i];
		json_object *entry = json_checked(writer, json_object_new_object());

		json_put_text(writer, entry, "file", recording->file);
		if (recording->host)
			json_put_text(writer, entry, "host", recording->host);
		if (recording->cpu)
			json_put_text(writer, entry, "cpu", recording->cpu);
		if (recording->kernel)
			json_put_text(writer, entry, "kernel", recording->kernel);
		json_put_time(writer, entry, recording->time_of_file ? "file_time" : "time",
			      &recording->time);
		json_append(writer, list, entry);
	}
	json_put(writer, object, "recordings", list);
}

json_object *json_notes(struct json_writer *writer, const struct snapshot *snapshot)
{
	json_object *notes = json_checked(writer, json_object_new_array());

	for (const char *const *note = snapshot->notes; note && *note; note++)
		json_append(writer, notes, json_name(*note));
	return notes;
}

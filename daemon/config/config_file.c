// SPDX-License-Identifier: GPL-2.0
#include "config/config_file.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <string.h>

#include "base/suggest.h"
#include "config/config_keys.h"
#include "config/config_rules.h"

#define RULE "rule"

/* Maximum number of sections that a message lists: those of the table, and "rule NAME". */
#define SECTIONS_MAX (CONFIG_KEYS_MAX + 1)

/*
 * inih calls back for each key, without the line number (in Debian's build). inih truncates long lines and
 * silently skips some invalid ones. Therefore each line goes through read_line() first, which counts lines,
 * reports mistakes that inih ignores, and gives inih only lines that inih reads as intended. inih asks for
 * the next line only after it handled the last one, so `line` is also valid in the callback.
 */
struct reader {
	const char *file;
	const char *at;
	const char *end;
	unsigned int line;

	const char
		*section; /* from the table, or RULE; NULL before the first section and in an unknown one */
	struct config_rule_draft *rule; /* the present rule; NULL in other sections */
	bool in_section;
	bool section_filled;
	unsigned int section_line;
	unsigned int seen[CONFIG_KEYS_MAX]; /* line of each key's first value; 0: none yet */

	struct config *config;
	struct config_mistakes *mistakes;
	int error; /* -ENOMEM: stop reading */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

#define mistake(reader, ...) mistake_at(reader, (reader)->line, __VA_ARGS__)
#define mistake_at(reader, where, ...)                                                                  \
	do {                                                                                            \
		int _r = config_mistakes_add((reader)->mistakes, (reader)->file, (where), __VA_ARGS__); \
		if (_r < 0)                                                                             \
			(reader)->error = _r;                                                           \
	} while (0)

/* Joins the words as "a, b, c", truncated to `size`. */
static void join(const char *const *words, size_t n, char *ret, size_t size)
{
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < n && used < size; i++) {
		int length = snprintf(ret + used, size - used, "%s%s", i ? ", " : "", words[i]);

		if (length < 0)
			return;
		used += (size_t)length;
	}
}

/* Returns the length of the UTF-8 sequence at `at`, at most `left` bytes, or 0 if it is invalid (RFC 3629). */
static size_t utf8_sequence(const unsigned char *at, size_t left)
{
	static const unsigned int smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = at[0] < 0x80 ? 1 : at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	unsigned int code = at[0];

	if (length == 1)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4 || length > left)
		return 0;
	code &= 0x7fU >> length;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return length;
}

/*
 * Messages quote the line on terminals and in JSON, so the line must not contain bytes that break either of
 * them. Checks the bytes from `text`, after the blanks that begin `line`.
 */
static bool check_bytes(struct reader *reader, const char *line, const char *text, const char *end)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *stop = (const unsigned char *)end;

	while (at < stop) {
		size_t length = utf8_sequence(at, (size_t)(stop - at));

		if (length == 0) {
			mistake(reader, "byte %td is not UTF-8; save the file as UTF-8",
				(const char *)at - line + 1);
			return false;
		}
		if ((*at < 0x20 && *at != '\t') || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0)) {
			mistake(reader, "byte %td is a control character (0x%02x); remove it",
				(const char *)at - line + 1, length == 1 ? *at : at[1]);
			return false;
		}
		at += length;
	}
	return true;
}

static void finish_section(struct reader *reader)
{
	if (reader->section && !reader->section_filled)
		mistake_at(reader, reader->section_line,
			   "the section [%s%s%s] is empty; add a key or remove the section", reader->section,
			   reader->rule && *reader->rule->rule.name ? " " : "",
			   reader->rule ? reader->rule->rule.name : "");
}

static size_t sections_and_rules(const char *ret[static SECTIONS_MAX])
{
	size_t n = config_sections(ret);

	ret[n++] = RULE " NAME";
	return n;
}

static void refuse_section(struct reader *reader, const char *name)
{
	static const char *const rule[] = {RULE};
	const char *sections[SECTIONS_MAX];
	size_t n = sections_and_rules(sections);
	/* Leave out the last section, "rule NAME": the user chooses the name. */
	const char *near = suggest_nearest(name, sections, n - 1);
	_cleanup_free_ char *word = strndup(name, strcspn(name, " \t"));
	char list[128];

	if (!word) {
		reader->error = -ENOMEM;
		return;
	}
	if (!near && suggest_nearest(word, rule, ARRAY_SIZE(rule)))
		near = sections[n - 1];

	if (near) {
		mistake(reader, "unknown section [%s]; did you mean [%s]?", name, near);
	} else {
		join(sections, n, list, sizeof(list));
		mistake(reader, "unknown section [%s]; valid sections: %s", name, list);
	}
}

/* Returns the text after `rule` in a header, or NULL if the section is not a rule. */
static const char *rule_name(const char *header)
{
	const char *rest = header + strlen(RULE);

	if (strncmp(header, RULE, strlen(RULE)) != 0 || (*rest && !is_blank(*rest)))
		return NULL;
	return rest + strspn(rest, " \t");
}

static void enter_rule(struct reader *reader, const char *name)
{
	int r = config_rules_header(reader->config, name, reader->line, reader->mistakes, &reader->rule);

	if (r < 0)
		reader->error = r;
	else
		reader->section = RULE;
}

/* `name`: the text between the brackets. */
static void enter_section(struct reader *reader, const char *name)
{
	const char *sections[CONFIG_KEYS_MAX];
	size_t n = config_sections(sections);

	finish_section(reader);
	reader->section = NULL;
	reader->rule = NULL;
	reader->in_section = true;
	reader->section_filled = false;
	reader->section_line = reader->line;
	for (size_t i = 0; i < n; i++)
		if (strcmp(sections[i], name) == 0)
			reader->section = sections[i];
	if (rule_name(name))
		enter_rule(reader, rule_name(name));
	else if (!reader->section)
		refuse_section(reader, name);
}

/* `line` begins with `[`. Lines after an invalid header are still read as part of its section. */
static void read_header(struct reader *reader, char *line)
{
	char *close = strchr(line, ']');

	if (!close) {
		mistake(reader, "the section header is not closed; write [NAME]");
	} else {
		if (close[1])
			mistake(reader,
				"there is text after the section header; put it on a line of its own");
		while (close > line + 1 && is_blank(close[-1]))
			close--;
		*close = '\0';
	}
	enter_section(reader, line + 1);
}

/* Returns whether inih gets the line, which then has a key and `=`. */
static bool check_key_line(struct reader *reader, const char *line, bool indented)
{
	const char *separator = strpbrk(line, "=:");

	reader->section_filled = true;
	if (!separator || separator == line) {
		mistake(reader, "the line is neither a [section], nor key = value, nor a # comment%s",
			indented ? "; a value cannot continue on the next line" : "; correct or remove it");
		return false;
	}
	if (*separator == ':') {
		mistake(reader, "there is a colon after the key; write key = value");
		return false;
	}
	if (!reader->in_section) {
		const char *sections[SECTIONS_MAX];
		char list[128];

		join(sections, sections_and_rules(sections), list, sizeof(list));
		mistake(reader,
			"the key is not in a section; add a header [NAME] above it, where NAME is one of %s",
			list);
		return false;
	}
	for (const char *at = line + 1; *at; at++)
		if ((*at == '#' || *at == ';') && is_blank(at[-1])) {
			mistake(reader, "a comment cannot follow a value; put it on a line of its own");
			return false;
		}
	return reader->section != NULL;
}

/*
 * Handles the line from `begin` to `end` and writes the line for inih to `ret`. The written line has no
 * leading blanks, so that inih never takes it for a continuation, and no trailing blanks. It is empty if inih
 * must not see the line.
 */
static void read_text(struct reader *reader, const char *begin, const char *end, char *ret, size_t size)
{
	bool indented;
	const char *text = begin;
	size_t length;

	(void)snprintf(ret, size, "\n");
	while (end > text && is_blank(end[-1]))
		end--;
	while (text < end && is_blank(*text))
		text++;
	indented = text > begin;
	length = (size_t)(end - text);
	if (length == 0)
		return;
	if (!check_bytes(reader, begin, text, end)) {
		reader->section_filled = true;
		return;
	}
	if (*text == '#' || *text == ';')
		return;
	if (length + sizeof("\n") > size) {
		reader->section_filled = true;
		mistake(reader,
			"the line has %zu bytes, more than the maximum of %zu; shorten it, for example its patterns with * or **",
			length, size - sizeof("\n"));
		return;
	}
	memcpy(ret, text, length);
	ret[length] = '\0';
	if (*text == '[') {
		read_header(reader, ret);
		(void)snprintf(ret, size, "[%s]\n", reader->section ? reader->section : "");
	} else if (check_key_line(reader, ret, indented)) {
		ret[length] = '\n';
		ret[length + 1] = '\0';
	} else {
		(void)snprintf(ret, size, "\n");
	}
}

/* An ini_reader of inih. Returns the next line, or NULL after the last one. */
static char *read_line(char *ret, int size, void *stream)
{
	struct reader *reader = stream;
	const char *begin = reader->at;
	const char *end;

	if (reader->error < 0 || begin == reader->end)
		return NULL;
	reader->line++;
	end = memchr(begin, '\n', (size_t)(reader->end - begin));
	reader->at = end ? end + 1 : reader->end;
	if (!end)
		end = reader->end;
	if (memchr(begin, '\0', (size_t)(end - begin))) {
		mistake(reader,
			"the line has a NUL byte, so this is not a text file; check the file name, or save the file as UTF-8");
		reader->section_filled = true;
		reader->at = reader->end;
		end = begin;
	}
	read_text(reader, begin, end, ret, (size_t)size);
	return ret;
}

static size_t key_names(const char *section, const char *ret[static CONFIG_KEYS_MAX])
{
	if (strcmp(section, RULE) != 0)
		return config_key_names(section, ret);
	for (size_t i = 0; i < RULE_KEYS; i++)
		ret[i] = config_rule_keys[i].name;
	return RULE_KEYS;
}

/* Returns the section that a key belongs to, or NULL. */
static const char *section_of(const char *name)
{
	const struct config_key *keys;
	size_t n;

	keys = config_keys(&n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(keys[i].name, name) == 0)
			return keys[i].section;
	for (size_t i = 0; i < RULE_KEYS; i++)
		if (strcmp(config_rule_keys[i].name, name) == 0)
			return RULE " NAME";
	return NULL;
}

static void refuse_key(struct reader *reader, const char *section, const char *name)
{
	const char *names[CONFIG_KEYS_MAX];
	size_t n = key_names(section, names);
	const char *near = suggest_nearest(name, names, n);
	const char *home = section_of(name);
	/* `events` in a rule, and `event` elsewhere, are misspelled rather than misplaced. */
	const bool misspelled = near && (strcmp(section, RULE) == 0 || (home && strncmp(home, RULE, 4) == 0));
	char list[256];

	if (home && !misspelled) {
		mistake(reader, "%s belongs in [%s]; move it there", name, home);
		return;
	}
	if (near) {
		mistake(reader, "unknown key %s in [%s]; did you mean %s?", name, section, near);
		return;
	}
	join(names, n, list, sizeof(list));
	mistake(reader, "unknown key %s in [%s]; valid keys: %s", name, section, list);
}

static void take_rule_key(struct reader *reader, const char *name, const char *value)
{
	for (unsigned int key = 0; key < RULE_KEYS; key++)
		if (strcmp(config_rule_keys[key].name, name) == 0) {
			int r = config_rules_key(reader->config, reader->rule, key, value, reader->line,
						 reader->mistakes);

			if (r < 0)
				reader->error = r;
			return;
		}
	refuse_key(reader, RULE, name);
}

/* The file that is being read is the last one in `config->files`. */
static void note_place(struct reader *reader, const struct config_key *key)
{
	struct config *config = reader->config;
	unsigned int files = 0;
	size_t n;

	while (config->files && config->files[files])
		files++;
	if (files > 0)
		config->places[key - config_keys(&n)] =
			(struct config_key_place){.file = files - 1, .line = reader->line};
}

/* An ini_handler of inih. */
static int take_key(void *user, const char *section, const char *name, const char *value)
{
	_cleanup_free_ char *problem = NULL;
	struct reader *reader = user;
	const struct config_key *key = config_key_find(section, name);
	unsigned int *seen;
	size_t n;
	int r;

	if (reader->rule) {
		take_rule_key(reader, name, value);
		return 1;
	}
	if (!key) {
		refuse_key(reader, section, name);
		return 1;
	}
	seen = &reader->seen[key - config_keys(&n)];
	if (*seen) {
		mistake(reader, "%s is already set in line %u; keep one of the two", name, *seen);
		return 1;
	}
	*seen = reader->line;
	r = config_key_set(key, reader->config, value, &problem);
	if (r == -EINVAL)
		mistake(reader, "%s", problem);
	else if (r < 0)
		reader->error = r;
	else
		note_place(reader, key);
	return 1;
}

int config_file_parse(const char *file, const char *text, size_t length, struct config *config,
		      struct config_mistakes *mistakes)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	struct reader reader = {
		.file = file,
		.at = text,
		.end = text + length,
		.config = config,
		.mistakes = mistakes,
	};
	int r;

	if (length >= strlen(byte_order_mark) && memcmp(text, byte_order_mark, strlen(byte_order_mark)) == 0)
		reader.at += strlen(byte_order_mark);

	r = config_rules_file(config, file);
	if (r < 0)
		return r;
	r = ini_parse_stream(read_line, &reader, take_key, &reader);
	if (reader.error < 0)
		return reader.error;
	if (r < 0)
		return -ENOMEM;
	if (r > 0)
		mistake_at(&reader, (unsigned int)r, "cannot parse the line; write key = value");
	finish_section(&reader);
	return reader.error;
}

// SPDX-License-Identifier: GPL-2.0
#include "http/server/negotiate.h"

#include <string.h>
#include <strings.h>

#define QUALITY_ONE    1000 /* q=1, in thousandths */
#define QUALITY_UNSAID (-1)

/* A piece of a header: not NUL-terminated. */
struct token {
	const char *start;
	size_t length;
};

/* One element of a list in a header: its name and its quality. */
struct element {
	struct token name;
	struct token version; /* .start is NULL if there is none */
	int quality;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static bool token_is(struct token token, const char *word)
{
	return token.length == strlen(word) && strncasecmp(token.start, word, token.length) == 0;
}

static struct token trim(const char *start, const char *end)
{
	while (start < end && is_space(*start))
		start++;
	while (end > start && is_space(end[-1]))
		end--;
	return (struct token){start, (size_t)(end - start)};
}

static struct token unquote(struct token token)
{
	if (token.length >= 2 && token.start[0] == '"' && token.start[token.length - 1] == '"')
		return (struct token){token.start + 1, token.length - 2};
	return token;
}

/* Returns the first `separator` or comma outside of quotes, or the end of the text. */
static const char *find_end(const char *at, char separator)
{
	bool quoted = false;

	for (; *at; at++) {
		if (quoted && *at == '\\' && at[1])
			at++;
		else if (*at == '"')
			quoted = !quoted;
		else if (!quoted && (*at == separator || *at == ','))
			break;
	}
	return at;
}

/* Converts "0", "0.5" or "1.000" to thousandths, 0 to 1000. Returns -1 for anything else. */
static int parse_quality(struct token token)
{
	int quality;
	int digit = QUALITY_ONE / 10;

	if (token.length == 0 || token.length > strlen("0.000") ||
	    (token.start[0] != '0' && token.start[0] != '1'))
		return -1;
	quality = (token.start[0] - '0') * QUALITY_ONE;
	if (token.length > 1 && token.start[1] != '.')
		return -1;
	for (size_t i = 2; i < token.length; i++, digit /= 10) {
		if (token.start[i] < '0' || token.start[i] > '9')
			return -1;
		quality += (token.start[i] - '0') * digit;
	}
	return quality > QUALITY_ONE ? -1 : quality;
}

/*
 * Takes the next element off the list. Returns false at its end. An element that is not valid has an empty
 * name.
 */
static bool next_element(const char **list, struct element *ret)
{
	const char *at = *list;
	const char *end;

	while (*at == ',' || is_space(*at))
		at++;
	if (!*at)
		return false;
	end = find_end(at, ';');
	*ret = (struct element){.name = trim(at, end), .quality = QUALITY_ONE};
	for (at = end; *at == ';'; at = end) {
		const char *equals;
		struct token key, value;

		end = find_end(at + 1, ';');
		equals = memchr(at + 1, '=', (size_t)(end - at - 1));
		if (!equals)
			continue;
		key = trim(at + 1, equals);
		value = unquote(trim(equals + 1, end));
		if (token_is(key, "version"))
			ret->version = value;
		else if (token_is(key, "q"))
			ret->quality = parse_quality(value);
	}
	if (ret->quality < 0)
		ret->name.length = 0;
	*list = end;
	return true;
}

/*
 * The quality of a media type. The most exact matching element decides. If several are equally exact, the
 * highest quality counts.
 */
struct welcome {
	int exactness; /* exactness of the element that decided; 0: no element matched */
	int quality;
};

static void consider(struct welcome *welcome, const struct element *element, const char *type,
		     const char *subtypes, const char *version)
{
	int exactness;

	if (token_is(element->name, type)) {
		if (element->version.start && !token_is(element->version, version))
			return;
		exactness = element->version.start ? 4 : 3;
	} else if (token_is(element->name, subtypes))
		exactness = 2;
	else if (token_is(element->name, "*/*"))
		exactness = 1;
	else
		return;
	if (exactness < welcome->exactness)
		return;
	if (exactness > welcome->exactness || element->quality > welcome->quality)
		*welcome = (struct welcome){exactness, element->quality};
}

bool negotiate_openmetrics(const char *accept)
{
	struct welcome openmetrics = {0};
	struct welcome text = {0};
	struct element element;

	while (accept && next_element(&accept, &element)) {
		consider(&openmetrics, &element, "application/openmetrics-text", "application/*", "1.0.0");
		consider(&text, &element, "text/plain", "text/*", "0.0.4");
	}
	if (openmetrics.quality != text.quality)
		return openmetrics.quality > text.quality;
	/* "openmetrics-text, *" asks for OpenMetrics, although the star has the same quality. */
	return openmetrics.quality > 0 && openmetrics.exactness > 2 && text.exactness < 3;
}

bool negotiate_gzip(const char *accept_encoding)
{
	int gzip = QUALITY_UNSAID, identity = QUALITY_UNSAID, any = QUALITY_UNSAID;
	struct element element;

	while (accept_encoding && next_element(&accept_encoding, &element)) {
		if (token_is(element.name, "gzip") || token_is(element.name, "x-gzip"))
			gzip = element.quality;
		else if (token_is(element.name, "identity"))
			identity = element.quality;
		else if (token_is(element.name, "*"))
			any = element.quality;
	}
	if (gzip == QUALITY_UNSAID)
		gzip = any;
	return gzip > 0 && gzip >= identity;
}

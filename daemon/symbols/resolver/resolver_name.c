// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/resolver_name.h"

#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* demangle.h defines ARRAY_SIZE, too, with the same meaning. */
#include <libiberty/demangle.h>
#undef ARRAY_SIZE

#include "base/cleanup.h"
#include "base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"
#define ELLIPSIS    "\xe2\x80\xa6"

/*
 * Receives a demangled name in pieces. A few hundred bytes of a mangled name can stand for terabytes. If the
 * buffer is full, longjmp() aborts the demangler. The demangler of C++ then holds only memory on the stack,
 * and that of Rust leaks a few bytes (identifiers in Punycode).
 */
struct demangled {
	char text[RESOLVER_NAME_MAX + 1];
	size_t size;
	unsigned int calls;
	jmp_buf full;
};

#define CALLS_MAX 100000

static void take(const char *text, size_t size, void *context)
{
	struct demangled *demangled = context;

	if (size > RESOLVER_NAME_MAX - demangled->size || ++demangled->calls > CALLS_MAX)
		longjmp(demangled->full, 1); // NOLINT(cert-err52-cpp): there is no other way out
	memcpy(demangled->text + demangled->size, text, size);
	demangled->size += size;
}

static bool demangle(const char *symbol, struct demangled *ret)
{
	int options = DMGL_PARAMS | DMGL_ANSI;

	ret->size = 0;
	ret->calls = 0;
	if (setjmp(ret->full)) // NOLINT(cert-err52-cpp)
		return false;
	/* Try Rust first: its older form is also valid C++, but C++ would leave the hash in the name. */
	if (!rust_demangle_callback(symbol, DMGL_NO_OPTS, take, ret)) {
		ret->size = 0;
		if (!cplus_demangle_v3_callback(symbol, options, take, ret))
			return false;
	}
	ret->text[ret->size] = 0;
	return ret->size && !memchr(ret->text, 0, ret->size);
}

/*
 * Returns whether the name starts like a mangled one. The demanglers also accept other names as types ("i" is
 * an int).
 */
static bool is_mangled(const char *symbol)
{
	while (*symbol == '_' || *symbol == '.')
		symbol++;
	return *symbol == 'Z' || *symbol == 'R';
}

static bool is_control(char byte)
{
	return (unsigned char)byte < 0x20 || byte == 0x7f;
}

/* Returns the position at which to cut the text: at the start of a character. */
static size_t cut(const char *text, size_t size)
{
	while (size && ((unsigned char)text[size] & 0xc0) == 0x80)
		size--;
	return size;
}

int resolver_printable(const char *name, char **ret)
{
	char part[RESOLVER_NAME_MAX + 1];
	size_t size = strnlen(name, RESOLVER_NAME_MAX + 1);
	bool is_cut = size > RESOLVER_NAME_MAX;
	_cleanup_free_ char *utf8 = NULL;
	char *shown, *to;
	int r;

	if (is_cut)
		size = cut(name, RESOLVER_NAME_MAX);
	memcpy(part, name, size);
	part[size] = 0;
	r = utf8_show(part, &utf8);
	if (r < 0)
		return r;
	shown = malloc(strlen(utf8) * (strlen(REPLACEMENT) + 2) + sizeof(ELLIPSIS));
	if (!shown)
		return -ENOMEM;
	to = shown;
	for (const char *from = utf8; *from; from++) {
		if (is_control(*from))
			to += sprintf(to, REPLACEMENT "%02x", (unsigned int)*from);
		else
			*to++ = *from;
	}
	memcpy(to, is_cut ? ELLIPSIS : "", is_cut ? sizeof(ELLIPSIS) : 1);
	*ret = shown;
	return 0;
}

int resolver_name(const char *symbol, char **ret)
{
	struct demangled demangled;

	if (is_mangled(symbol) && demangle(symbol, &demangled))
		return resolver_printable(demangled.text, ret);
	return resolver_printable(symbol, ret);
}

int resolver_name_symbol(const char *name, u64 offset, struct symbol *ret)
{
	int r;

	ret->frames = calloc(1, sizeof(*ret->frames));
	if (!ret->frames)
		return -ENOMEM;
	r = resolver_name(name, &ret->frames[0].name);
	if (r < 0) {
		free(TAKE_PTR(ret->frames));
		return r;
	}
	ret->frames[0].offset = offset;
	ret->n_frames = 1;
	return 0;
}

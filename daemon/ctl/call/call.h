// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that the verbs share: they call the daemon, and print its replies on standard output. Those that
 * return an exit code report failures on standard error.
 */
#ifndef PEBSD_CTL_CALL_H
#define PEBSD_CTL_CALL_H

#include <json-c/json.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "ctl/call/ctl_options.h"
#include "ctl/call/exit.h"
#include "varlink/client.h"

DEFINE_CLEANUP(struct client *, client_close)

enum ctl_exit call_open(const struct ctl_options *options, struct client **ret);

/*
 * Calls `method` with `parameters` (takes them; NULL means none). `ret` gets the parameters of the reply; the
 * caller puts them.
 */
enum ctl_exit call(const struct ctl_options *options, struct client *client, const char *method,
		   json_object *parameters, json_object **ret);

/*
 * Same as call(), for a reply whose member `list` comes in pages: returns one reply with the items of all
 * pages. If there are several pages, the reply lacks `next` and `taken`.
 */
enum ctl_exit call_pages(const struct ctl_options *options, struct client *client, const char *method,
			 json_object *parameters, const char *list, json_object **ret);

/*
 * Returns true if both pages of a list are of the same moment. Pages of different moments can lack an item that moved
 * between them, or have it twice.
 */
bool call_is_same_moment(const json_object *page, const json_object *other);

/* Appends the items of `more` (NULL: none) to the list. Returns how many, or -ENOMEM. */
int call_append(json_object *list, json_object *more);

/*
 * Same as call(), but if the daemon answers with an error (access denied, unknown method), the call succeeds
 * and `ret` is NULL.
 */
enum ctl_exit call_if_possible(const struct ctl_options *options, struct client *client, const char *method,
			       json_object *parameters, json_object **ret);

/*
 * Adds a name that a person typed: as pebsctl shows it, or as raw bytes. Returns false if memory runs out.
 */
bool call_add_name(json_object *parameters, const char *key, const char *name);

/* Prints the object: over several lines on a terminal, otherwise in one line. The caller still owns it. */
enum ctl_exit call_print_json(json_object *object);

/* Closes `stream`, which open_memstream() made of `text` and `length`, and prints the text. */
enum ctl_exit call_print_text(FILE *stream, char *const *text, const size_t *length);

#endif

// SPDX-License-Identifier: GPL-2.0
/* What verbs have in common: a call, and its reply on standard output. All report what fails. */
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

/* Calls `method` with `parameters` (taken; NULL for none) and takes the reply's, which the caller puts. */
enum ctl_exit call(const struct ctl_options *options, struct client *client, const char *method,
		   json_object *parameters, json_object **ret);

/* The same of a reply whose member `list` comes in pages: all of them as one reply. */
enum ctl_exit call_pages(const struct ctl_options *options, struct client *client, const char *method,
			 json_object *parameters, const char *list, json_object **ret);

/* The same, but an error that the daemon answers with (not permitted, unknown to it) is no reply: NULL. */
enum ctl_exit call_if_possible(const struct ctl_options *options, struct client *client, const char *method,
			       json_object *parameters, json_object **ret);

/* Adds a name as people give it: as pebsctl shows it, or in its own bytes. false where memory is short. */
bool call_add_name(json_object *parameters, const char *key, const char *name);

/* On a terminal spread over lines, else on one. */
enum ctl_exit call_print_json(json_object *object);

/* Closes `stream`, open_memstream()'s of `text` and `length`, and prints what it holds. */
enum ctl_exit call_print_text(FILE *stream, char *const *text, const size_t *length);

#endif

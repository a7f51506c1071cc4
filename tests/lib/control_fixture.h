// SPDX-License-Identifier: GPL-2.0
/*
 * The control socket of a test, in the test's own event loop and in a directory of its own. Its tests use these names
 * in nearly every line, so the names have no prefix. All functions fail the test on error.
 */
#ifndef PEBSD_TESTS_CONTROL_FIXTURE_H
#define PEBSD_TESTS_CONTROL_FIXTURE_H

#include <json-c/json.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "export/control/control.h"

extern sd_event *event;
extern struct control *control;
extern char directory[];
extern char socket_path[128]; /* in a subdirectory, which the daemon makes */

/*
 * Opens the socket with these callbacks, for root and for `group` (NULL: only for root). control_fixture_stop() also
 * expects that the daemon has removed the socket, because the directory must be empty.
 */
void control_fixture_start(const struct control_backend *backend, const char *group);
void control_fixture_stop(void);

/*
 * Make a call, and return the parameters of the reply, or the whole reply if it is an error. The caller puts it.
 * call_with() gets the name of the method without "io.pebsd.", and the members of the parameters.
 */
json_object *call(int fd, const char *text);
json_object *call_with(int fd, const char *method, const char *parameters);

/* Expects that `reply` to `text` is the error of an invalid parameter with this name. Puts the reply. */
void expect_invalid_reply(json_object *reply, const char *text, const char *parameter);

/*
 * Makes the call in a process with this user, whose only groups are the group of the same number and `more` (0: none).
 * Skips the test without root. Returns the reply, which the caller frees.
 */
char *call_as(uid_t user, gid_t more, const char *text);

#endif

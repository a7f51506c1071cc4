// SPDX-License-Identifier: GPL-2.0
/* Reports failures on standard error, and chooses the exit code for scripts. */
#ifndef PEBSD_CALL_FAILURE_H
#define PEBSD_CALL_FAILURE_H

#include "ctl/call/ctl_options.h"
#include "ctl/call/exit.h"
#include "varlink/client.h"

/* A connection failed or was lost; `error` is described in client.h. */
enum ctl_exit failure_of_connection(const struct ctl_options *options, int error);

/* The daemon answered with an error. */
enum ctl_exit failure_of_call(const struct ctl_options *options, const struct client_reply *reply);

/* The parts of `what`, such as "list", do not fit together. */
enum ctl_exit failure_of_reply(const struct ctl_options *options, const char *what);

/* Standard output could not be written. 0 and -EPIPE (the reader closed it) are not failures: CTL_DONE. */
enum ctl_exit failure_of_output(int error);

enum ctl_exit failure_of_memory(void);

#endif

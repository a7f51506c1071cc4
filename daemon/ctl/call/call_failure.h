// SPDX-License-Identifier: GPL-2.0
/* What went wrong, in words on standard error, and the exit code that says so to scripts. */
#ifndef PEBSD_CTL_FAILURE_H
#define PEBSD_CTL_FAILURE_H

#include "ctl/call/ctl_options.h"
#include "ctl/call/exit.h"
#include "varlink/client.h"

/* A connection could not be made, or did not last: `error` is what client.h says. */
enum ctl_exit failure_of_connection(const struct ctl_options *options, int error);

/* The daemon answered with an error. */
enum ctl_exit failure_of_call(const struct ctl_options *options, const struct client_reply *reply);

/* Standard output did not take it. -EPIPE is no failure: who read it had enough. 0 is CTL_DONE. */
enum ctl_exit failure_of_output(int error);

enum ctl_exit failure_of_memory(void);

#endif

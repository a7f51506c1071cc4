// SPDX-License-Identifier: GPL-2.0
/* The live top: requests data, draws it and handles keys until the user quits. */
#ifndef PEBSD_CTL_TOP_LIVE_H
#define PEBSD_CTL_TOP_LIVE_H

#include "ctl/call/ctl_options.h"
#include "ctl/call/exit.h"
#include "varlink/client.h"

/*
 * Takes over the terminal, and `*client`, which has answered GetTop with these options. If the daemon goes
 * away, the screen says so, and the connection is retried each second. Returns -ENODEV without doing anything
 * if the terminal is not known, otherwise 0, with the exit code in `ret`.
 */
int top_live(const struct ctl_options *options, struct client **client, enum ctl_exit *ret);

#endif

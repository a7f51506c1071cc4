// SPDX-License-Identifier: GPL-2.0
/* The live top: asks, draws and obeys keys until it is left. */
#ifndef PEBSD_CTL_TOP_LIVE_H
#define PEBSD_CTL_TOP_LIVE_H

#include "ctl/call/ctl_options.h"
#include "ctl/call/exit.h"
#include "varlink/client.h"

/*
 * Takes over the terminal, and `*client`, which has answered GetTop with these options. A daemon that goes
 * away is told on the screen, and asked again each second. Returns -ENODEV, with nothing done, where nothing
 * is known of the terminal; else 0, and how it ended in `ret`.
 */
int top_live(const struct ctl_options *options, struct client **client, enum ctl_exit *ret);

#endif

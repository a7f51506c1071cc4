// SPDX-License-Identifier: GPL-2.0
/* The running daemon: the event loop with collections, endpoint, control socket, signals and the service
 * manager. */
#ifndef PEBSD_SERVE_H
#define PEBSD_SERVE_H

#include "base/failure.h"
#include "config/options.h"

/*
 * Serves until SIGTERM or SIGINT. `config` is changed by reloads. Returns 0, or -errno with `ret_failure`
 * filled in.
 */
int serve(const struct options *options, struct config *config, struct failure *ret_failure);

#endif

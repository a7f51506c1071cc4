// SPDX-License-Identifier: GPL-2.0
/*
 * The running daemon: an event loop with collections, HTTP endpoint, control socket, signals, and
 * notifications to the service manager.
 */
#ifndef PEBSD_SERVE_H
#define PEBSD_SERVE_H

#include "base/failure.h"
#include "config/options.h"

/*
 * Serves until SIGTERM or SIGINT. A reload changes `config`. Returns 0, or -errno with `ret_failure` filled
 * in.
 */
int serve(const struct options *options, struct config *config, struct failure *ret_failure);

#endif

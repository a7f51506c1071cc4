// SPDX-License-Identifier: GPL-2.0
/* Opens the control socket and the HTTP endpoint, and answers their requests. */
#ifndef PEBSD_SERVE_ENDPOINTS_H
#define PEBSD_SERVE_ENDPOINTS_H

#include "base/failure.h"
#include "serve_internal.h"

/*
 * Opens the control socket, and the HTTP endpoint if one is configured. The server frees them. `backend` contains
 * only `reload`, `pause` and `resume`, which get the server as `userdata`. All other members are filled in here.
 * Returns 0, or -errno with `failure` filled in.
 */
int serve_endpoints_open(struct server *server, struct control_backend backend, struct failure *failure);

#endif

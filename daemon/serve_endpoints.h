// SPDX-License-Identifier: GPL-2.0
/* What people and programs are served: the control socket and the HTTP endpoint, and where their answers come
 * from. */
#ifndef PEBSD_SERVE_ENDPOINTS_H
#define PEBSD_SERVE_ENDPOINTS_H

#include "base/failure.h"
#include "serve_parts.h"

/*
 * Opens both, the HTTP endpoint as far as it is configured; the server's to free. `backend` has what gives
 * orders, `reload`, `pause` and `resume`, which are called with the server; what asks is filled in here. 0,
 * or -errno with `failure` filled in.
 */
int serve_endpoints_open(struct server *server, struct control_backend backend, struct failure *failure);

#endif

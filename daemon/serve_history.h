// SPDX-License-Identifier: GPL-2.0
/* The history of the running daemon, and the answers of the control socket about the past. */
#ifndef PEBSD_SERVE_HISTORY_H
#define PEBSD_SERVE_HISTORY_H

#include "serve_internal.h"

/* Fills in the members of the backend that answer questions about the past. */
void serve_history_fill(struct control_backend *backend);

#endif

// SPDX-License-Identifier: GPL-2.0
/* The history of the running daemon, and the answers of the control socket about the past. */
#ifndef PEBSD_SERVE_HISTORY_H
#define PEBSD_SERVE_HISTORY_H

#include "export/json/json_neighbours.h"
#include "policy/alert.h"
#include "serve_internal.h"

/*
 * Begins the history, if the configuration wants one and there is a directory for it. Call it before the first
 * collection, and after the lookup of container names was opened. A failure is logged, and costs only the history.
 */
void serve_history_open(struct server *server);

/* Stores the panes and alerts that are not stored yet, and ends the history. */
void serve_history_close(struct server *server);

/* Applies the limits of a reloaded configuration. */
void serve_history_reload(struct server *server);

/* Stores a change of an alert. */
void serve_history_alert(struct server *server, const struct transition *transition);

/* Fills in the members of the backend that answer questions about the past. */
void serve_history_fill(struct control_backend *backend);

/* Fills in the source of the neighbours that alerts name. */
void serve_history_suspects(struct json_suspects *suspects);

/* The state of the history, also if there is none. */
void serve_history_state(void *userdata, struct history_state *ret);

#endif

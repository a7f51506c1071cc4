// SPDX-License-Identifier: GPL-2.0
/* Shared by the event loop (serve.c) and the answers to requests (serve_endpoints.c). */
#ifndef PEBSD_SERVE_INTERNAL_H
#define PEBSD_SERVE_INTERNAL_H

#include <systemd/sd-event.h>

#include "alerts/alerts.h"
#include "config/config.h"
#include "config/options.h"
#include "containers/containers.h"
#include "detail/detail.h"
#include "export/control/control.h"
#include "export/prometheus/process.h"
#include "history/history.h"
#include "http/http.h"
#include "http/http_zooms.h"
#include "machine/resctrl.h"
#include "sampling/pause.h"
#include "sampling/sampling.h"
#include "schedule/collection_timer.h"
#include "schedule/health.h"
#include "schedule/slot_reclaim.h"
#include "store/store.h"
#include "watch.h"

struct server {
	const struct options *options;
	struct config *config;
	struct store *store; /* descriptors that the service manager passes from one process to the next */
	sd_event *event;
	struct collection_timer timer;
	sd_event_source *step;
	sd_event_source *input; /* input that the steps wait for; NULL: none */
	struct sampling *sampling;
	struct detail *detail;
	struct http_zooms http_zooms;
	struct alerts *alerts;
	struct containers *containers;
	struct pause pause;
	struct history *history; /* NULL: none is kept */
	const char *history_off; /* why; a constant */
	struct control *control;
	struct http *http;
	char served_at[HTTP_SOCKETS_TEXT_MAX];
	struct watch watch;
	struct slot_reclaim reclaim;
	struct process_usage process; /* kept between scrapes, as process_read() needs */
	struct resctrl
		resctrl; /* the counters were last asked for at the collection at `resctrl_ns`; 0: never */
	u64 resctrl_ns;
	u64 resctrl_read_ns;            /* when `resctrl` was read (CLOCK_MONOTONIC); 0: never */
	struct resctrl_rates bandwidth; /* between that reading and the one before; no `seconds`: none */
	bool stopping;                  /* a signal requested the end */
	u64 reloads;                    /* number of reloads of the configuration, successful or not */
	int collection_error;           /* result of the last collection */
	char overdue[HEALTH_TEXT_MAX];  /* the last reason that HTTP gave for an overdue collection */
	char *status;                   /* the status last sent to the service manager; NULL: none yet */
};

#endif

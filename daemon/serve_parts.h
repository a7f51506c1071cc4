// SPDX-License-Identifier: GPL-2.0
/* What running (serve.c) and answering (serve_endpoints.c) share. */
#ifndef PEBSD_SERVE_PARTS_H
#define PEBSD_SERVE_PARTS_H

#include <systemd/sd-event.h>

#include "alerts/alerts.h"
#include "config/config.h"
#include "config/options.h"
#include "containers/containers.h"
#include "detail/detail.h"
#include "engine/slot_reclaim.h"
#include "engine/tick.h"
#include "export/control/control.h"
#include "export/prometheus/process.h"
#include "http/http.h"
#include "http/zoom_scrape.h"
#include "sampling/pause.h"
#include "sampling/sampling.h"
#include "store/store.h"
#include "watch.h"

struct server {
	const struct options *options;
	struct config *config;
	struct store *store; /* what the service manager keeps from one process to the next */
	sd_event *event;
	struct tick tick;
	sd_event_source *step;
	sd_event_source *input; /* what the steps wait for, where they do */
	struct sampling *sampling;
	struct detail *detail;
	struct zoom_scrape scrape;
	struct alerts *alerts;
	struct containers *containers;
	struct pause pause;
	struct control *control;
	struct http *http;
	char served_at[HTTP_SOCKETS_TEXT_MAX];
	struct watch watch;
	struct slot_reclaim reclaim;
	struct process_figures process; /* kept from scrape to scrape, as process_read() wants */
	bool stopping;                  /* a signal said so */
	u64 reloads;                    /* of the configuration, with success or not */
	int collection_error;           /* of the last tick */
	char overdue[80];               /* the reason of the last answer about health */
	char *status;                   /* as the service manager was told last; NULL: not yet */
};

#endif

// SPDX-License-Identifier: GPL-2.0
/* Zooms for those who ask over HTTP: what an endpoint is given as its source of profiles. */
#ifndef PEBSD_ZOOM_SCRAPE_H
#define PEBSD_ZOOM_SCRAPE_H

#include "detail/zooms.h"
#include "http/http_source.h"
#include "http/shared/http_wire.h"

struct zoom_scrape {
	struct zooms *zooms; /* not owned */
	const bool *enabled; /* `profiles` of [export] now; the caller's */
	struct {
		u64 id;         /* 0: free */
		double seconds; /* of the zoom, as this one left it */
	} begun[HTTP_PROFILES_MAX];
};

/* `scrape` is the caller's and outlives the endpoint. */
struct http_profiles zoom_scrape_profiles(struct zoom_scrape *scrape);

#endif

// SPDX-License-Identifier: GPL-2.0
/* Zooms that are requested over HTTP: the source of profiles of the endpoint. */
#ifndef PEBSD_ZOOM_SCRAPE_H
#define PEBSD_ZOOM_SCRAPE_H

#include "detail/zooms.h"
#include "http/http_source.h"
#include "http/shared/http_wire.h"

struct zoom_scrape {
	struct zooms *zooms; /* not owned */
	const bool *enabled; /* `profiles` of [export], which can change; the caller owns it */
	struct {
		u64 id;         /* 0: unused entry */
		double seconds; /* of the zoom, when it was last begun or joined here */
	} begun[HTTP_PROFILES_MAX];
};

/* Returns the callbacks. The caller owns `scrape`, which must outlive the endpoint. */
struct http_profiles zoom_scrape_profiles(struct zoom_scrape *scrape);

#endif

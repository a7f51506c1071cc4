// SPDX-License-Identifier: GPL-2.0
/* Zooms that are requested over HTTP. The HTTP endpoint makes its profiles from them. */
#ifndef PEBSD_HTTP_ZOOMS_H
#define PEBSD_HTTP_ZOOMS_H

#include "detail/zooms.h"
#include "http/http_source.h"
#include "http/shared/http_wire.h"

struct http_zooms {
	struct zooms *zooms; /* not owned */
	bool modelled;       /* the origin is the model: everybody may see its zooms */
	const bool *enabled; /* `profiles` of [export], which can change; the caller owns it */
	struct {
		u64 id;         /* 0: unused entry */
		double seconds; /* duration of the zoom when a client last began or joined it */
	} begun[HTTP_PROFILES_MAX];
};

/* Returns the callbacks. The caller owns `requests`, which must outlive the endpoint. */
struct http_profiles http_zooms_profiles(struct http_zooms *requests);

#endif

// SPDX-License-Identifier: GPL-2.0
/* GET /debug/pprof/memory?cgroup=PATH&seconds=N: a profile that takes N seconds to make (http_pending.h). */
#ifndef PEBSD_HTTP_PROFILE_H
#define PEBSD_HTTP_PROFILE_H

#include "http/server/http_pending.h"

#define HTTP_PROFILE_PATH            "/debug/pprof/memory"
#define HTTP_PROFILE_SECONDS_DEFAULT 30

/*
 * Answers a request of `owner` on the socket `fd`: with a refusal if profiles are not `enabled` or the parameters are
 * wrong, otherwise as http_pending_begin().
 */
enum MHD_Result http_profile_begin(struct http_pending *pending, bool enabled,
				   struct MHD_Connection *connection, int fd, struct http_owner owner,
				   struct http_pending_request **ret);

#endif

// SPDX-License-Identifier: GPL-2.0
/* How often something may be, with some of it at once: a bucket of tokens. Pure. */
#ifndef PEBSD_HTTP_LIMIT_H
#define PEBSD_HTTP_LIMIT_H

#include "pebsd/types.h"

struct http_limit {
	u64 every_ns; /* a token comes back so often */
	u64 burst;    /* as many are there at most, and at first */
	u64 full_ns;  /* when all will be back; 0 at first */
};

/* Takes a token: 0. None is there: takes none, and returns the ns until one is. `now_ns` never goes back. */
u64 http_limit_take(struct http_limit *limit, u64 now_ns);

#endif

// SPDX-License-Identifier: GPL-2.0
/* A finished zoom as JSON for the page at / (export/json/json_flame.h). */
#ifndef PEBSD_ZOOM_FLAME_H
#define PEBSD_ZOOM_FLAME_H

#include "detail/zooms.h"

/*
 * `addresses`: everybody may see the addresses of data, because they are modelled. The caller frees `*ret`, which has a
 * NUL after its bytes. Returns 0, -ENOMEM or -E2BIG.
 */
int zoom_flame(const struct zoom *zoom, bool addresses, u8 **ret, size_t *ret_size);

#endif

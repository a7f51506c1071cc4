// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the block of a pane, and of an alert. A pane that is accepted must have rows in order with
 * sound packed counters, and must be the same after it is written and read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/packed.h"
#include "history/shared/history_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)         \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static void check_rows(const struct history_pane *pane)
{
	for (size_t i = 0; i < pane->n_rows; i++) {
		const struct history_row *row = &pane->rows[i];

		DEMAND(row->cgroup < pane->n_cgroups && row->event < pane->n_events);
		DEMAND(packed_sound(row->packed, row->size));
		DEMAND(i == 0 || row->cgroup > row[-1].cgroup ||
		       (row->cgroup == row[-1].cgroup && row->event > row[-1].event));
	}
}

/* Writing shortens the numbers of the input, so its bytes may change, but only the first time. */
static void check_again(const struct history_pane *pane)
{
	_cleanup_free_ u8 *first = NULL;
	_cleanup_free_ u8 *second = NULL;
	size_t n_first, n_second, used;
	struct history_pane again;

	DEMAND(history_pane_write(pane, &first, &n_first) == 0);
	DEMAND(history_pane_read(first, n_first, &again, &used) == 0 && used == n_first);
	DEMAND(history_pane_write(&again, &second, &n_second) == 0);
	DEMAND(n_first == n_second && memcmp(first, second, n_first) == 0);
	history_pane_done(&again);
}

static void try_alert(const uint8_t *data, size_t size)
{
	_cleanup_free_ u8 *block = NULL;
	struct history_alert alert, again;
	size_t n;

	if (history_alert_read(data, size, &alert) < 0)
		return;
	DEMAND(history_alert_write(&alert, &block, &n) == 0);
	DEMAND(history_alert_read(block, n, &again) == 0 && strcmp(alert.json, again.json) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct history_pane pane;
	size_t used;

	for (size_t at = 0; at < size; at += used) {
		if (history_pane_read(data + at, size - at, &pane, &used) < 0)
			break;
		DEMAND(used > 0 && used <= size - at);
		check_rows(&pane);
		check_again(&pane);
		history_pane_done(&pane);
	}
	try_alert(data, size);
	return 0;
}

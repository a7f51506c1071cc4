// SPDX-License-Identifier: GPL-2.0
/* What goes to the symboliser and comes from it, in the order of the questions. Nothing waits. */
#ifndef PEBSD_SYMBOLS_EXCHANGE_H
#define PEBSD_SYMBOLS_EXCHANGE_H

#include <stdbool.h>

struct symbols;

/* Takes in the answers that have come. Returns whether it is as it should be: else it has ended, or was ended
 * for what it said. */
bool symbols_exchange_receive(struct symbols *symbols);

/* Sends what was not sent, as far as there is room for it now; the rest once there is. */
void symbols_exchange_send(struct symbols *symbols);

#endif

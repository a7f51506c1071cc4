// SPDX-License-Identifier: GPL-2.0
#include "precise_store.h"

#include "load_source.h"

bool precise_store_enabled(const struct machine *machine, u64 pebs_enable)
{
	u64 bits = MODEL_BIT(PRECISE_STORE_COUNTER) | PEBS_ENABLE_PRECISE_STORE;

	return machine->mechanisms & MECHANISM_PRECISE_STORE && (pebs_enable & bits) == bits;
}

void precise_store_record(const struct retired *store, struct record *record)
{
	record->values[RECORD_ADDRESS] = store->address;
	record->values[RECORD_SOURCE] = store_status_encode(store);
	record->values[RECORD_LATENCY] = 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the store of alerts: the store is refused, or its content can be written and read back
 * unchanged.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "act/alert_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct alert_store *store)
{
	if (store->next_number == 0 || strlen(store->boot) >= ALERT_STORE_BOOT_MAX)
		abort();
	for (size_t i = 0; i < store->n_saved_alerts; i++) {
		const struct policy_saved_alert *saved = &store->saved_alerts[i];

		if (!*saved->rule || strlen(saved->rule) >= RULE_NAME_MAX || !*saved->cgroup ||
		    !*saved->event_key || saved->number >= store->next_number ||
		    saved->state == ALERT_INACTIVE || saved->state > ALERT_RESOLVED || isinf(saved->value))
			abort();
	}
	for (size_t i = 0; i < store->n_files; i++)
		if (alert_store_find_file(store, store->files[i].alert) != &store->files[i])
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(alert_store_clear) struct alert_store store = {0}, again = {0};
	_cleanup_free_ char *text = NULL, *same = NULL;
	const char *wrong = NULL;
	size_t length;
	int r;

	r = alert_store_parse((const char *)data, size, &store, &wrong);
	if (r < 0) {
		if (r != -EBADMSG || !wrong)
			abort();
		return 0;
	}
	check(&store);
	if (alert_store_format(&store, &text, &length) < 0 ||
	    alert_store_parse(text, length, &again, &wrong) < 0)
		abort();
	if (alert_store_format(&again, &same, &length) < 0 || strcmp(text, same) != 0)
		abort();
	return 0;
}

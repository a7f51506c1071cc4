// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a configuration file. What comes out must be within what the keys allow, whatever went in: a
 * mistake changes nothing that it stands for.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config.h"
#include "config_file.h"
#include "config_keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_numbers(const struct config *config)
{
	const struct config_key *keys;
	size_t n;

	keys = config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		u64 value;

		if (keys[i].type != CONFIG_KEY_NUMBER && keys[i].type != CONFIG_KEY_DURATION)
			continue;
		memcpy(&value, (const char *)config + keys[i].offset, sizeof(value));
		if ((value < keys[i].min || value > keys[i].max) &&
		    !(keys[i].has_auto && value == keys[i].auto_value))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(config_mistakes_clear) struct config_mistakes mistakes = {0};
	_cleanup_(config_freep) struct config *config = NULL;
	unsigned int lines = 1;

	if (config_new(&config) < 0)
		return 0;
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	if (config_file_parse("fuzz", (const char *)data, size, config, &mistakes) < 0)
		abort();
	check_numbers(config);
	(void)config_exports(config, "/system.slice/nginx.service");
	(void)config_exports(config, "comm:kworker/0:1");
	for (size_t i = 0; i < mistakes.n; i++)
		if (mistakes.list[i].line < 1 || mistakes.list[i].line > lines ||
		    strpbrk(mistakes.list[i].message, "\n\r\x1b"))
			abort();
	return 0;
}

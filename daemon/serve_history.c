// SPDX-License-Identifier: GPL-2.0
#include "serve_history.h"

#include <errno.h>

static int get_past(void *userdata, u64 since_us, u64 until_us, u32 bins, const char *path, bool subtree,
		    const struct past **ret)
{
	(void)userdata;
	(void)since_us;
	(void)until_us;
	(void)bins;
	(void)path;
	(void)subtree;
	(void)ret;
	return -EOPNOTSUPP;
}

static int get_past_alerts(void *userdata, u64 since_us, u64 until_us, const char **ret_json)
{
	(void)userdata;
	(void)since_us;
	(void)until_us;
	(void)ret_json;
	return -EOPNOTSUPP;
}

static int get_past_neighbours(void *userdata, const struct past *past, const char *path,
			       struct neighbours_report **ret)
{
	(void)userdata;
	(void)past;
	(void)path;
	(void)ret;
	return -EOPNOTSUPP;
}

static void get_history(void *userdata, struct history_state *ret)
{
	(void)userdata;
	*ret = (struct history_state){.off_reason = "not built in"};
}

void serve_history_fill(struct control_backend *backend)
{
	backend->past = get_past;
	backend->past_alerts = get_past_alerts;
	backend->past_neighbours = get_past_neighbours;
	backend->history = get_history;
}

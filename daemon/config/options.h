// SPDX-License-Identifier: GPL-2.0
/* The command line of pebsd. */
#ifndef PEBSD_OPTIONS_H
#define PEBSD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/listen_address.h"
#include "base/version.h"
#include "config/config.h"
#include "pebsd/types.h"

#define OPTIONS_SOCKET_DEFAULT  "/run/pebsd/control.sock"
#define OPTIONS_ONCE_NS_DEFAULT (10 * NSEC_PER_SEC)

/* Of the model's time: computed in a few seconds. */
#define OPTIONS_TEST_NS_DEFAULT (180 * NSEC_PER_SEC)

enum options_action {
	OPTIONS_RUN, /* serve, or with `once` print and exit */
	OPTIONS_PROBE,
	OPTIONS_CHECK_CONFIG,
	OPTIONS_TEST_RULES,
	OPTIONS_SYMBOLIZER, /* what pebsd runs itself: symbols/resolver/symbols_worker.h, symbols_unit.h */
	OPTIONS_HTTP,       /* and http/server/http_worker.h */
	OPTIONS_CONTAINER_NAMES, /* and containers/container_worker.h */
	OPTIONS_VERSION,
	OPTIONS_HELP,
};

/* Strings are the command line's own; the list of recordings is ours. */
struct options {
	enum options_action action;
	const char *config; /* NULL: the files in their default places */
	bool has_origin;    /* `origin` goes before the configuration's */
	enum config_origin origin;
	const char **recordings; /* in the order given; "-": standard input; never with another origin */
	size_t n_recordings;
	bool once;
	u64 once_ns; /* how long a live origin samples with `once` */
	u64 test_ns; /* how long the model runs, in its own time, to test rules */
	bool json;
	const char *socket; /* fits into struct sockaddr_un */
	bool has_listen;    /* `listen` goes before the configuration's */
	struct listen_address listen;
	const char *sysfs_root; /* NULL: /sys */
};

/*
 * Reads the command line; `argv` may be reordered. Returns 0, free with options_clear(); -EINVAL with
 * `*ret_problem` (what is wrong and what to do; the caller's), which is exit code 2; -ENOMEM.
 */
int options_parse(int argc, char *argv[], struct options *ret, char **ret_problem);
void options_clear(struct options *options);

/*
 * Puts what the command line says in the place of what the configuration says. Returns 0; -EINVAL with
 * `*ret_problem` where the two make no sense together, which is exit code 2; -ENOMEM.
 */
int options_override(const struct options *options, struct config *config, char **ret_problem);

void options_print_help(FILE *out);
void options_print_version(FILE *out);

#endif

// SPDX-License-Identifier: GPL-2.0
/* The command line of pebsd. */
#ifndef PEBSD_OPTIONS_H
#define PEBSD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/default_socket.h"
#include "base/listen_address.h"
#include "base/version.h"
#include "config/config.h"
#include "pebsd/types.h"

#define OPTIONS_ONCE_NS_DEFAULT (10 * NSEC_PER_SEC)

/* Default run time of a test with the model, in model time. The model computes it within a few seconds. */
#define OPTIONS_TEST_NS_DEFAULT (180 * NSEC_PER_SEC)

enum options_action {
	OPTIONS_RUN, /* serve, or with `once` print and exit */
	OPTIONS_PROBE,
	OPTIONS_CHECK_CONFIG,
	OPTIONS_TEST_RULES,
	OPTIONS_COMPARE, /* of two recordings */
	OPTIONS_SYMBOLIZER, /* symbols/resolver: started by pebsd (symbols_worker.h) or systemd (symbols_unit.h) */
	OPTIONS_HTTP,       /* started by pebsd itself: http/server/http_worker.h */
	OPTIONS_CONTAINER_NAMES, /* started by pebsd itself: containers/container_worker.h */
	OPTIONS_KEEPER,          /* started by pebsd itself: history/keeper/keeper.h */
	OPTIONS_VERSION,
	OPTIONS_HELP,
};

/* The strings belong to the command line or are in the struct, which owns the list of recordings. */
struct options {
	enum options_action action;
	const char *config; /* NULL: the files at their default paths */
	bool has_origin;    /* `origin` overrides the configuration's */
	enum config_origin origin;
	const char **recordings; /* in the order given; "-": standard input; never with another origin */
	size_t n_recordings;
	bool once;
	u64 once_ns; /* sampling time of a live origin with `once` */
	u64 test_ns; /* run time of the model for a test of rules, in model time */
	bool full;   /* paths of cgroups instead of their names */
	bool json;
	const char *socket; /* fits into struct sockaddr_un; to serve on, or with --probe to ask */
	char own_socket[DEFAULT_SOCKET_MAX];
	bool has_listen; /* `listen` overrides the configuration's */
	struct listen_address listen;
	const char *sysfs_root; /* NULL: /sys */
};

/*
 * Parses the command line. Returns 0, and the caller frees `*ret` with options_clear(). Returns -EINVAL with
 * `*ret_problem`, which says what is wrong and what to do; the caller frees the text, and the exit code is 2.
 * Returns -ENOMEM if memory runs out.
 */
int options_parse(int argc, char *argv[], struct options *ret, char **ret_problem);
void options_clear(struct options *options);

/*
 * Overrides values of the configuration with those of the command line. Returns 0 or -ENOMEM. Returns -EINVAL
 * with `*ret_problem` if a recording is missing: the origin replay needs one, --test-rules needs one or
 * the model, and --compare needs two. The exit code is then 2.
 */
int options_override(const struct options *options, struct config *config, char **ret_problem);

void options_print_help(FILE *out);
void options_print_version(FILE *out);

#endif

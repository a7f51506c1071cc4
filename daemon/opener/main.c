// SPDX-License-Identifier: GPL-2.0
/*
 * pebsd-opener opens perf events for pebsd if the kernel demands rights that pebsd does not have. It is a
 * separate program so that the code that runs with CAP_SYS_ADMIN is only this program, the plan of the PMUs,
 * libsystemd and the C library. It needs none of the other libraries of pebsd. pebsd-opener.socket starts it,
 * see pebsd-opener(8).
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "base/log.h"
#include "base/number.h"
#include "opener/opener_serve.h"

#define IDLE_S     60
#define IDLE_MAX_S 86400 /* a day; idle_ms is an int, which holds less than 25 days */

static int usage(FILE *stream)
{
	(void)fprintf(
		stream,
		"usage: pebsd-opener [--sysfs-root DIR] [--idle SECONDS]\n"
		"Opens perf events for pebsd, on a socket that systemd passes to it; see pebsd-opener(8).\n");
	return stream == stdout ? 0 : 2;
}

static int parse(int argc, char *argv[], struct opener_serve_settings *ret)
{
	static const struct option options[] = {
		{"sysfs-root", required_argument, NULL, 's'},
		{"idle", required_argument, NULL, 'i'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	u64 seconds;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		switch (option) {
		case 's':
			ret->sysfs_root = optarg;
			break;
		case 'i':
			if (number_parse(optarg, 1, IDLE_MAX_S, &seconds) < 0) {
				(void)log_error(
					0,
					"invalid --idle '%s': expected a whole number of seconds from 1 to %d",
					optarg, IDLE_MAX_S);
				return -EINVAL;
			}
			ret->idle_ms = (int)seconds * 1000;
			break;
		case 'h':
			exit(usage(stdout));
		default:
			return -EINVAL;
		}
	if (optind == argc)
		return 0;
	(void)log_error(0, "unexpected argument '%s'", argv[optind]);
	return -EINVAL;
}

int main(int argc, char *argv[])
{
	struct opener_serve_settings settings = {.sysfs_root = "/sys", .idle_ms = IDLE_S * 1000};
	int n;

	log_open("pebsd-opener");
	if (parse(argc, argv, &settings) < 0)
		return usage(stderr);
	n = sd_listen_fds(true);
	if (n != 1 || sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_SEQPACKET, 1, NULL, 0) <= 0) {
		(void)log_error(
			0,
			"no socket to serve: systemd has to pass it; run systemctl start pebsd-opener.socket instead");
		return 2;
	}
	settings.listening = SD_LISTEN_FDS_START;
	/*
	 * Another process may have accepted the connection that started this one, so accept() must not block.
	 */
	(void)fcntl(settings.listening, F_SETFL, O_NONBLOCK);
	return opener_serve(&settings) < 0;
}

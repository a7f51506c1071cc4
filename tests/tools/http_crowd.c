// SPDX-License-Identifier: GPL-2.0
/*
 * http_crowd PORT KIND N [UID]: runs N slow HTTP clients of one kind (silent, drip, deaf or sip:
 * http_crowd.h) on a port of loopback, as the user UID, until the end of standard input. Prints
 * connected=NUMBER once each client has been connected, or connected=0 after 60 s. At the end, prints
 * ended=NUMBER, the number of connections that the server has closed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http_crowd.h"

#define WAIT_MS 60000

int main(int argc, char *argv[])
{
	struct http_crowd_settings settings = {0};
	size_t kind = 0;
	struct http_crowd crowd;
	char byte;
	int r;

	while (argc >= 3 && kind < HTTP_CROWD_KINDS && strcmp(argv[2], http_crowd_name(kind)) != 0)
		kind++;
	if (argc < 4 || argc > 5 || kind == HTTP_CROWD_KINDS) {
		(void)fprintf(stderr, "usage: http_crowd PORT silent|drip|deaf|sip N [UID]\n");
		return 2;
	}
	settings.port = (u16)strtoul(argv[1], NULL, 10);
	settings.n[kind] = (unsigned int)strtoul(argv[3], NULL, 10);
	settings.user = argc == 5 ? (uid_t)strtoul(argv[4], NULL, 10) : 0;
	r = http_crowd_start(&settings, &crowd);
	if (r < 0) {
		(void)fprintf(stderr, "http_crowd: %s\n", strerror(-r));
		return 1;
	}
	(void)printf("connected=%u\n", http_crowd_wait(&crowd, WAIT_MS));
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	(void)printf("ended=%lu\n", http_crowd_stop(&crowd));
	return 0;
}

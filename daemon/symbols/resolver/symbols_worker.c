// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/symbols_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/failure.h"
#include "base/log.h"
#include "child/child.h"
#include "symbols/resolver/resolver.h"
#include "symbols/resolver/symbols_confine.h"
#include "symbols/shared/symbols_wire.h"

struct worker {
	int fd;
	struct resolver *resolver;
	u8 packet[SYMBOLS_WIRE_PACKET];
	u8 answer[SYMBOLS_WIRE_MAX];
	char code[PROCESS_CODE_MAX];
};

static int send_answer(struct worker *worker, size_t size)
{
	while (send(worker->fd, worker->answer, size, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int answer(struct worker *worker, u64 number, const struct symbol *symbol)
{
	return send_answer(worker, symbols_wire_write_answer(number, resolver_bytes(worker->resolver), symbol,
							     worker->answer));
}

static int find(struct worker *worker, const struct symbols_wire_request *request)
{
	_cleanup_(symbol_done) struct symbol symbol = {0};

	/* Memory is short: answer SYMBOL_UNKNOWN. */
	if (resolver_find(worker->resolver, &request->query, &symbol) < 0)
		symbol = (struct symbol){0};
	return answer(worker, request->number, &symbol);
}

static int send_code(struct worker *worker, const struct symbols_wire_request *request)
{
	/* Mappings that cannot be read are left out of the answer. */
	(void)process_code_read("/proc", request->pid, worker->code);
	return send_answer(worker, symbols_wire_write_code(request->number, worker->code, worker->answer));
}

/* Errors of the resolver are ignored: names are then missing, and the answers to later queries say so. */
static int handle(struct worker *worker, const struct symbols_wire_request *request)
{
	switch (request->type) {
	case SYMBOLS_WIRE_FIND:
		return find(worker, request);
	case SYMBOLS_WIRE_CODE:
		return send_code(worker, request);
	case SYMBOLS_WIRE_PROCESS:
		(void)resolver_process(worker->resolver, request->pid);
		break;
	case SYMBOLS_WIRE_MAPPED:
		(void)resolver_mapped(worker->resolver, &request->mapping);
		break;
	case SYMBOLS_WIRE_EXECUTED:
		resolver_executed(worker->resolver, request->pid);
		break;
	case SYMBOLS_WIRE_FORKED:
		(void)resolver_forked(worker->resolver, request->pid, request->parent);
		break;
	case SYMBOLS_WIRE_TYPES:
		break;
	}
	return answer(worker, request->number, NULL);
}

static int handle_packet(struct worker *worker, size_t size)
{
	for (size_t at = 0; at < size;) {
		struct symbols_wire_request request;
		ssize_t n = symbols_wire_read_request(worker->packet + at, size - at, &request);
		int r;

		if (n < 0)
			return (int)n;
		r = handle(worker, &request);
		if (r < 0)
			return r;
		at += (size_t)n;
	}
	return 0;
}

/* Serves until the other side closes the socket. */
static int serve(struct worker *worker)
{
	int r = answer(worker, SYMBOLS_WIRE_READY, NULL);

	while (r == 0) {
		ssize_t n = recv(worker->fd, worker->packet, sizeof(worker->packet), MSG_TRUNC);

		/* The other side may close before it has read an answer (unix_release_sock() in Linux 6.12). */
		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		r = (size_t)n > sizeof(worker->packet) ? -EBADMSG : handle_packet(worker, (size_t)n);
	}
	return r == -EPIPE ? 0 : r;
}

int symbols_worker(int fd, bool debuginfod)
{
	const struct resolver_settings settings = {
		.proc = "/proc", .kallsyms = "/proc/kallsyms", .debuginfod = debuginfod};
	_cleanup_(resolver_freep) struct resolver *resolver = NULL;
	_cleanup_free_ struct worker *worker = NULL;
	int r;

	if (!child_is_ours(fd)) {
		(void)log_error(
			0,
			"--symbolizer: standard input is not a socket from pebsd; pebsd starts this process itself if names are needed, see pebsd(8)");
		return EXIT_INPUT;
	}
	r = symbols_confine(debuginfod);
	if (r < 0) {
		(void)log_error(r, "the symbolizer exits, because it cannot drop its privileges");
		return EXIT_FAILED;
	}
	worker = calloc(1, sizeof(*worker));
	r = worker ? resolver_new(&settings, &resolver) : -ENOMEM;
	if (r == 0) {
		worker->fd = fd;
		worker->resolver = resolver;
		r = serve(worker);
	}
	if (r < 0)
		(void)log_error(r, "the symbolizer cannot continue");
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

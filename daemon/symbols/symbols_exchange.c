// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols_exchange.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "symbols/symbols_door.h"
#include "symbols/symbols_link.h"
#include "symbols/symbols_parts.h"

/* Answers that are taken in before other work has its turn. */
#define ANSWERS_AT_ONCE 256

/* _text is at least so aligned on x86 and arm64. */
#define KERNEL_ALIGNED (64ULL << 10)

/* Where _text is hidden the answer's place is in its function instead, which begins at no page but by chance.
 */
static void learn_kernel_start(struct symbols *symbols, const struct symbol_query *query,
			       const struct symbol *symbol)
{
	u64 start = query->address - symbol->address;

	if (symbol->region == SYMBOL_KERNEL && !symbol->module && symbol->n_frames &&
	    query->kind == SYMBOL_CODE && SYMBOL_IS_KERNEL(start) && start % KERNEL_ALIGNED == 0)
		symbols->kernel_start = start;
}

/* Takes in an answer. Returns 0, or -EBADMSG where it is none to the oldest request. */
static int take_answer(struct symbols *symbols, size_t size)
{
	const struct symbols_asked *first = symbols_queue_first(&symbols->queue);
	struct symbols_wire_answer answer = {0};
	int r = symbols_wire_read_answer(symbols->packet, size, &answer);
	_cleanup_free_ void *block = answer.block;

	if (r == -EBADMSG)
		return r;
	if (r == 0 && !symbols->ready) {
		if (answer.number != SYMBOLS_WIRE_READY || answer.has_symbol)
			return -EBADMSG;
		symbols->ready = true;
		symbols_link_begin_time(symbols);
		return 0;
	}
	if (!first || (r == 0 && (answer.number != first->number || answer.has_symbol != !!first->entry)))
		return -EBADMSG;
	if (first->entry) {
		if (r == 0)
			learn_kernel_start(symbols, &first->entry->query, &answer.symbol);
		symbols->figures.answered += r == 0;
		symbols->figures.unknown += r == 0 && answer.symbol.n_frames == 0;
		symbols->figures.lost += r < 0;
		block = NULL;
		symbols_cache_answer(symbols->cache, first->entry, r == 0 ? &answer : NULL,
				     symbols_link_now_ns(symbols));
		symbols_link_soon(symbols);
	}
	symbols->held = answer.held;
	symbols_queue_remove_first(&symbols->queue);
	symbols->since_ns = symbols_link_now_ns(symbols);
	symbols->prolonged = 0;
	if (symbols->queue.n == 0)
		symbols_link_arm(symbols);
	return 0;
}

static ssize_t receive_packet(struct symbols *symbols)
{
	if (symbols->child.pid <= 0)
		return symbols_door_receive(&symbols->child, symbols->packet, sizeof(symbols->packet));
	return recv(symbols->child.socket, symbols->packet, sizeof(symbols->packet),
		    MSG_DONTWAIT | MSG_TRUNC);
}

bool symbols_exchange_receive(struct symbols *symbols)
{
	for (unsigned int i = 0; i < ANSWERS_AT_ONCE && symbols_link_runs(symbols); i++) {
		ssize_t n = receive_packet(symbols);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0) {
			/* It has ended, or is about to: its pidfd tells how. */
			symbols->on_socket = sd_event_source_disable_unref(symbols->on_socket);
			if (symbols->child.pidfd < 0)
				symbols_link_fail(
					symbols, "has ended, and `journalctl -u pebsd-symbols` may tell how");
			return false;
		}
		if ((size_t)n > sizeof(symbols->packet) || take_answer(symbols, (size_t)n) < 0) {
			symbols_link_fail(symbols, "answers what it was not asked");
			return false;
		}
	}
	return true;
}

void symbols_exchange_send(struct symbols *symbols)
{
	const u8 *packet;
	size_t size;

	if (!symbols->on_socket)
		return;
	while ((size = symbols_queue_packet(&symbols->queue, &packet)) > 0) {
		ssize_t n = send(symbols->child.socket, packet, size, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			(void)sd_event_source_set_io_events(symbols->on_socket, EPOLLIN | EPOLLOUT);
			return;
		}
		if (n < 0)
			return;
		symbols_queue_sent(&symbols->queue, size);
	}
	(void)sd_event_source_set_io_events(symbols->on_socket, EPOLLIN);
}

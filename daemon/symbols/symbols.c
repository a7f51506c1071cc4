// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/log.h"
#include "symbols/symbols_blame.h"
#include "symbols/symbols_child.h"
#include "symbols/symbols_door.h"
#include "symbols/symbols_queue.h"

/* Answers that are taken in before other work has its turn. */
#define ANSWERS_AT_ONCE 256

/* While more is to come, answers are let to gather, as each would wake pebsd otherwise: five times the cost.
 */
#define GATHER_US 2000

#define ASK_AGAIN_NS       NSEC_PER_SEC
#define ASK_AGAIN_DOUBLING 10

/* A killed process that does not end: it waits for a file system that does not answer. */
#define END_NS (10 * NSEC_PER_SEC)

/* A request may take so many times SYMBOLS_QUESTION_S more. */
#define PROLONGED_MAX 6

/* Of failures one line in this time. */
#define SAY_AGAIN_NS (600 * NSEC_PER_SEC)

/* _text is at least so aligned on x86 and arm64. */
#define KERNEL_ALIGNED (64ULL << 10)

/* An answer has gone before the time for it is looked at. */
#define TIMER_PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

struct symbols {
	sd_event *event;
	char *debuginfod;
	char *program;
	char *door;
	bool said_alone; /* that the unit is not there */
	u64 question_ns;
	u64 idle_ns;
	struct symbols_cache *cache;
	struct symbols_queue queue;
	struct symbols_blame blame;
	struct child child;     /* its socket closed: it was killed, and has not ended yet */
	bool ready;             /* it has begun */
	bool stuck;             /* it was killed, and does not end */
	unsigned int prolonged; /* how often the oldest request was given its time once more */
	u64 cpu_ns;             /* that it had taken then */
	u64 since_ns;           /* the oldest request is so, or there is none, or it was killed */
	u64 said_ns;
	u64 held; /* bytes, by the symboliser */
	u64 kernel_start;
	struct symbols_figures figures;
	sd_event_source *on_socket;
	sd_event_source *on_end;
	sd_event_source *timer;
	sd_event_source *gathering;
	sd_event_source *soon;
	u8 packet[SYMBOLS_WIRE_MAX];
};

static u64 now_ns(const struct symbols *symbols)
{
	u64 now_us = 0;

	(void)sd_event_now(symbols->event, CLOCK_MONOTONIC, &now_us);
	return now_us ? now_us * NSEC_PER_USEC : 1;
}

static bool runs(const struct symbols *symbols)
{
	return symbols->child.socket >= 0;
}

/* It runs, or was killed and has not ended. That of the unit is none of pebsd's once its socket is closed. */
static bool exists(const struct symbols *symbols)
{
	return symbols->child.pidfd >= 0 || runs(symbols);
}

static bool cannot_start(const struct symbols *symbols, u64 now)
{
	if (exists(symbols))
		return symbols->stuck;
	return !symbols_blame_may_start(&symbols->blame, now);
}

/* Sends, and frees what has gone, once the event loop has control. */
static void do_soon(struct symbols *symbols)
{
	(void)sd_event_source_set_enabled(symbols->soon, SD_EVENT_ONESHOT);
}

static u64 deadline(const struct symbols *symbols)
{
	if (!exists(symbols) || symbols->stuck)
		return UINT64_MAX;
	if (!runs(symbols))
		return symbols->since_ns + END_NS;
	return symbols->since_ns + (symbols->queue.n ? symbols->question_ns : symbols->idle_ns);
}

static void arm(struct symbols *symbols)
{
	u64 at = deadline(symbols);

	if (at != UINT64_MAX)
		(void)sd_event_source_set_time(symbols->timer, at / NSEC_PER_USEC + 1);
	(void)sd_event_source_set_enabled(symbols->timer, at == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

static void begin_time(struct symbols *symbols)
{
	symbols->since_ns = now_ns(symbols);
	symbols->prolonged = 0;
	arm(symbols);
}

static void say(struct symbols *symbols, int error, const char *what, const char *consequence)
{
	u64 now = now_ns(symbols);

	if (symbols->said_ns && now - symbols->said_ns < SAY_AGAIN_NS)
		return;
	symbols->said_ns = now;
	(void)log_warning(error,
			  "the symboliser %s; %s (more of this is not said within the next ten minutes)",
			  what, consequence);
}

static void count_lost(struct symbols *symbols)
{
	symbols->figures.lost++;
}

/* Nothing will come of what is under way. */
static void give_up(struct symbols *symbols)
{
	const struct symbols_asked *asked;

	while ((asked = symbols_queue_first(&symbols->queue))) {
		if (asked->entry) {
			symbols_cache_answer(symbols->cache, asked->entry, NULL, now_ns(symbols));
			count_lost(symbols);
		}
		symbols_queue_remove_first(&symbols->queue);
	}
	symbols_queue_begin_anew(&symbols->queue);
	do_soon(symbols);
}

static void kill_child(struct symbols *symbols)
{
	symbols->on_socket = sd_event_source_disable_unref(symbols->on_socket);
	child_kill(&symbols->child);
	symbols->held = 0;
	begin_time(symbols);
	if (!exists(symbols) && symbols->queue.n)
		do_soon(symbols);
}

/* It is of no more use: what it was at is unknown, and the rest is for the next one. */
static void blame_first(struct symbols *symbols)
{
	const struct symbols_asked *first = symbols_queue_first(&symbols->queue);
	struct symbols_entry *entry = first ? first->entry : NULL;

	if (!symbols->ready) {
		give_up(symbols);
		return;
	}
	if (!first)
		return;
	if (first->pid)
		symbols_blame_add(&symbols->blame, first->pid, now_ns(symbols));
	if (entry) {
		entry->barred = true;
		symbols_cache_answer(symbols->cache, entry, NULL, now_ns(symbols));
		count_lost(symbols);
	}
	symbols_queue_remove_first(&symbols->queue);
	symbols_queue_begin_anew(&symbols->queue);
}

static void fail(struct symbols *symbols, const char *what)
{
	say(symbols, 0, what,
	    symbols->ready ? "what it was asked then has no name, and it is started anew when needed"
			   : "addresses have no names");
	blame_first(symbols);
	kill_child(symbols);
}

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
		begin_time(symbols);
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
		symbols_cache_answer(symbols->cache, first->entry, r == 0 ? &answer : NULL, now_ns(symbols));
		do_soon(symbols);
	}
	symbols->held = answer.held;
	symbols_queue_remove_first(&symbols->queue);
	symbols->since_ns = now_ns(symbols);
	symbols->prolonged = 0;
	if (symbols->queue.n == 0)
		arm(symbols);
	return 0;
}

static ssize_t receive_packet(struct symbols *symbols)
{
	if (symbols->child.pid <= 0)
		return symbols_door_receive(&symbols->child, symbols->packet, sizeof(symbols->packet));
	return recv(symbols->child.socket, symbols->packet, sizeof(symbols->packet),
		    MSG_DONTWAIT | MSG_TRUNC);
}

/* Returns whether it is as it should be. */
static bool receive(struct symbols *symbols)
{
	for (unsigned int i = 0; i < ANSWERS_AT_ONCE && runs(symbols); i++) {
		ssize_t n = receive_packet(symbols);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0) {
			/* It has ended, or is about to: its pidfd tells how. */
			symbols->on_socket = sd_event_source_disable_unref(symbols->on_socket);
			if (symbols->child.pidfd < 0)
				fail(symbols, "has ended, and `journalctl -u pebsd-symbols` may tell how");
			return false;
		}
		if ((size_t)n > sizeof(symbols->packet) || take_answer(symbols, (size_t)n) < 0) {
			fail(symbols, "answers what it was not asked");
			return false;
		}
	}
	return true;
}

static void send_unsent(struct symbols *symbols)
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

static int on_socket(sd_event_source *source, int fd, u32 events, void *userdata)
{
	struct symbols *symbols = userdata;

	(void)source;
	(void)fd;
	if (!receive(symbols))
		return 0;
	if (events & EPOLLOUT)
		send_unsent(symbols);
	if (symbols->queue.n == 0 || !symbols->ready)
		return 0;
	(void)sd_event_source_set_enabled(symbols->on_socket, SD_EVENT_OFF);
	(void)sd_event_source_set_time(symbols->gathering, now_ns(symbols) / NSEC_PER_USEC + GATHER_US);
	(void)sd_event_source_set_enabled(symbols->gathering, SD_EVENT_ONESHOT);
	return 0;
}

static int on_gathered(sd_event_source *source, u64 usec, void *userdata)
{
	struct symbols *symbols = userdata;

	(void)source;
	(void)usec;
	if (symbols->on_socket)
		(void)sd_event_source_set_enabled(symbols->on_socket, SD_EVENT_ON);
	return 0;
}

static int on_end(sd_event_source *source, int fd, u32 events, void *userdata)
{
	struct symbols *symbols = userdata;
	char how[CHILD_END_MAX];
	size_t before;

	(void)source;
	(void)fd;
	(void)events;
	/* What it answered before is an answer; whoever has its end of the socket now sends none. */
	do {
		before = symbols->queue.n;
	} while (symbols->on_socket && receive(symbols) && symbols->queue.n < before);
	symbols->on_end = sd_event_source_disable_unref(symbols->on_end);
	if (child_reap(&symbols->child, how) == 0) {
		/* Readable and not ended: cannot be. It is not waited for. */
		(void)close(symbols->child.pidfd);
		symbols->child.pidfd = -1;
		(void)snprintf(how, sizeof(how), "has ended");
	}
	symbols->stuck = false;
	if (runs(symbols))
		fail(symbols, how);
	arm(symbols);
	if (symbols->queue.n)
		do_soon(symbols);
	return 0;
}

/*
 * Where others take the CPUs, it gets little of them (it is nice) and is late without being at fault: as long
 * as it wants to run and had less than half of the time, it is given that once more.
 */
static bool prolong(struct symbols *symbols)
{
	u64 before_ns = symbols->cpu_ns;
	/* The service manager is at it, of whose time nothing is known here. */
	bool starts = !symbols->ready && symbols->child.pidfd < 0;

	if (symbols->prolonged == PROLONGED_MAX ||
	    (!starts && !child_is_busy(&symbols->child, &symbols->cpu_ns)) ||
	    (symbols->prolonged && symbols->cpu_ns - before_ns >= symbols->question_ns / 2))
		return false;
	symbols->prolonged++;
	symbols->since_ns = now_ns(symbols);
	arm(symbols);
	return true;
}

static int on_timer(sd_event_source *source, u64 usec, void *userdata)
{
	struct symbols *symbols = userdata;

	(void)source;
	(void)usec;
	if (symbols->on_socket && !receive(symbols)) {
		/* It may have closed its socket, and not end. */
		arm(symbols);
		return 0;
	}
	if (now_ns(symbols) < deadline(symbols)) {
		arm(symbols);
	} else if (!runs(symbols)) {
		symbols->stuck = true;
		say(symbols, 0, "was killed and does not end", "addresses have no names until it does");
		give_up(symbols);
	} else if (symbols->queue.n && prolong(symbols)) {
		return 0;
	} else if (symbols->queue.n) {
		fail(symbols, "took too long for an answer");
	} else {
		kill_child(symbols);
	}
	return 0;
}

/* Asks the unit, where there is one. */
static int open_child(struct symbols *symbols)
{
	int r;

	if (!symbols->door)
		return symbols_child_start(symbols->program, symbols->debuginfod, &symbols->child);
	r = symbols_door_connect(symbols->door, &symbols->child);
	if (r == 0 || r == -EAGAIN)
		return r;
	if (!symbols->said_alone && (r == -EPERM || symbols_door_is_needed()))
		(void)log_warning(r == -EPERM ? 0 : r,
				  "%s%s: addresses in programs of other users have no names; run `systemctl "
				  "restart pebsd-symbols.socket`",
				  symbols->door, r == -EPERM ? " is not root's, and is not asked" : "");
	symbols->said_alone = true;
	return symbols_child_start(symbols->program, symbols->debuginfod, &symbols->child);
}

static int start(struct symbols *symbols)
{
	u64 now = now_ns(symbols);
	int r;

	symbols_blame_started(&symbols->blame, now);
	r = open_child(symbols);
	if (r < 0)
		return r;
	symbols->figures.starts++;
	symbols->ready = false;
	if ((symbols->child.pidfd >= 0 &&
	     (r = sd_event_add_io(symbols->event, &symbols->on_end, symbols->child.pidfd, EPOLLIN, on_end,
				  symbols)) < 0) ||
	    (r = sd_event_add_io(symbols->event, &symbols->on_socket, symbols->child.socket, EPOLLIN,
				 on_socket, symbols)) < 0) {
		kill_child(symbols);
		return r;
	}
	begin_time(symbols);
	return 0;
}

static int on_soon(sd_event_source *source, void *userdata)
{
	struct symbols *symbols = userdata;
	int r;

	(void)source;
	(void)symbols_cache_sweep(symbols->cache);
	if (symbols->queue.n == 0)
		return 0;
	if (cannot_start(symbols, now_ns(symbols))) {
		say(symbols, 0, "failed again and again", "for some time addresses have no names");
		give_up(symbols);
		return 0;
	}
	if (!exists(symbols)) {
		r = start(symbols);
		if (r < 0) {
			say(symbols, r, "cannot be started", "addresses have no names");
			give_up(symbols);
			return 0;
		}
	}
	send_unsent(symbols);
	return 0;
}

static int copy_text(const char *text, char **ret)
{
	if (text && !(*ret = strdup(text)))
		return -ENOMEM;
	return 0;
}

int symbols_new(const struct symbols_settings *settings, struct symbols **ret)
{
	const struct symbols_cache_limits limits = {SYMBOLS_KEPT_MAX, SYMBOLS_KEPT_BYTES_MAX};
	_cleanup_(symbols_freep) struct symbols *symbols = calloc(1, sizeof(*symbols));
	int r;

	if (!symbols)
		return -ENOMEM;
	symbols->child = CHILD_NONE;
	symbols->event = sd_event_ref(settings->event);
	symbols->question_ns =
		settings->question_ns ? settings->question_ns : SYMBOLS_QUESTION_S * NSEC_PER_SEC;
	symbols->idle_ns = settings->idle_ns ? settings->idle_ns : SYMBOLS_IDLE_S * NSEC_PER_SEC;
	if ((r = copy_text(settings->debuginfod, &symbols->debuginfod)) < 0 ||
	    (r = copy_text(settings->program, &symbols->program)) < 0 ||
	    (r = copy_text(settings->door, &symbols->door)) < 0 ||
	    (r = symbols_cache_new(&limits, &symbols->cache)) < 0 ||
	    (r = sd_event_add_defer(symbols->event, &symbols->soon, on_soon, symbols)) < 0 ||
	    (r = sd_event_source_set_enabled(symbols->soon, SD_EVENT_OFF)) < 0 ||
	    (r = sd_event_add_time(symbols->event, &symbols->timer, CLOCK_MONOTONIC, 0, 0, on_timer,
				   symbols)) < 0 ||
	    (r = sd_event_source_set_enabled(symbols->timer, SD_EVENT_OFF)) < 0 ||
	    (r = sd_event_source_set_priority(symbols->timer, TIMER_PRIORITY)) < 0 ||
	    (r = sd_event_add_time(symbols->event, &symbols->gathering, CLOCK_MONOTONIC, 0, 1, on_gathered,
				   symbols)) < 0 ||
	    (r = sd_event_source_set_enabled(symbols->gathering, SD_EVENT_OFF)) < 0)
		return r;
	*ret = TAKE_PTR(symbols);
	return 0;
}

struct symbols *symbols_free(struct symbols *symbols)
{
	char how[CHILD_END_MAX];

	if (!symbols)
		return NULL;
	(void)sd_event_source_disable_unref(symbols->on_socket);
	(void)sd_event_source_disable_unref(symbols->on_end);
	(void)sd_event_source_disable_unref(symbols->timer);
	(void)sd_event_source_disable_unref(symbols->gathering);
	(void)sd_event_source_disable_unref(symbols->soon);
	child_kill(&symbols->child);
	if (symbols->child.pidfd >= 0 && child_wait(&symbols->child, how) == 0)
		(void)close(symbols->child.pidfd);
	if (symbols->cache) {
		const struct symbols_asked *asked;

		/* Dropped ones are nobody else's. */
		while ((asked = symbols_queue_first(&symbols->queue))) {
			if (asked->entry)
				symbols_cache_answer(symbols->cache, asked->entry, NULL, 1);
			symbols_queue_remove_first(&symbols->queue);
		}
	}
	symbols_queue_clear(&symbols->queue);
	(void)symbols_cache_free(symbols->cache);
	(void)sd_event_unref(symbols->event);
	free(symbols->debuginfod);
	free(symbols->program);
	free(symbols->door);
	free(symbols);
	return NULL;
}

static int add(struct symbols *symbols, struct symbols_wire_request *request, u32 pid,
	       struct symbols_entry *entry)
{
	int r = symbols_queue_add(&symbols->queue, request, pid, entry);

	if (r < 0)
		return r;
	if (symbols->queue.n == 1 && runs(symbols))
		begin_time(symbols);
	do_soon(symbols);
	return 0;
}

/* Nothing is told where nobody listens: who starts then looks for itself. */
static int tell(struct symbols *symbols, struct symbols_wire_request *request, u32 pid)
{
	do_soon(symbols);
	if (!runs(symbols) && symbols->queue.n == 0)
		return 0;
	return add(symbols, request, pid, NULL);
}

int symbols_process(struct symbols *symbols, u32 pid)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_PROCESS, .pid = pid};
	u64 now = now_ns(symbols);

	if (cannot_start(symbols, now) || symbols_blame_is_barred(&symbols->blame, pid, now))
		return 0;
	return add(symbols, &request, pid, NULL);
}

int symbols_mapped(struct symbols *symbols, const struct resolver_mapping *mapping)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_MAPPED, .mapping = *mapping};

	symbols_cache_drop_range(symbols->cache, mapping->pid, mapping->start, mapping->size);
	return tell(symbols, &request, mapping->pid);
}

int symbols_executed(struct symbols *symbols, u32 pid)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_EXECUTED, .pid = pid};

	symbols_cache_drop(symbols->cache, pid);
	return tell(symbols, &request, pid);
}

int symbols_forked(struct symbols *symbols, u32 pid, u32 parent)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_FORKED, .pid = pid, .parent = parent};

	/* A thread. */
	if (pid == parent)
		return 0;
	/* Its number was another's before. */
	symbols_cache_drop(symbols->cache, pid);
	return tell(symbols, &request, pid);
}

static bool may_ask_again(const struct symbols_entry *entry, u64 now)
{
	unsigned int doublings = entry->answers ? entry->answers - 1U : 0;

	if (doublings > ASK_AGAIN_DOUBLING)
		doublings = ASK_AGAIN_DOUBLING;
	return entry->symbol.region == SYMBOL_UNKNOWN && !entry->barred &&
	       now - entry->answered_ns >= ASK_AGAIN_NS << doublings;
}

static const struct symbol *ask(struct symbols *symbols, struct symbols_entry *entry, u64 now)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_FIND, .query = entry->query};
	bool said =
		cannot_start(symbols, now) || symbols_blame_is_barred(&symbols->blame, entry->query.pid, now);

	if (!said && add(symbols, &request, entry->query.pid, entry) == 0) {
		symbols->figures.asked++;
		return NULL;
	}
	count_lost(symbols);
	do_soon(symbols);
	if (!said) {
		/* Too much is under way. Nothing is kept of it, so that it can be asked the next time. */
		symbols_cache_discard(symbols->cache, entry);
		return NULL;
	}
	symbols_cache_answer(symbols->cache, entry, NULL, now);
	return &entry->symbol;
}

const struct symbol *symbols_find(struct symbols *symbols, const struct symbol_query *query)
{
	struct symbol_query key = symbols_cache_key(query);
	struct symbols_entry *entry = symbols_cache_get(symbols->cache, &key);
	u64 now = now_ns(symbols);

	if (entry && entry->pending)
		return NULL;
	if (entry && !may_ask_again(entry, now))
		return &entry->symbol;
	if (entry)
		symbols_cache_ask_again(symbols->cache, entry);
	else if (symbols_cache_add(symbols->cache, &key, &entry) < 0) {
		count_lost(symbols);
		return NULL;
	}
	return ask(symbols, entry, now);
}

u64 symbols_kernel_start(const struct symbols *symbols)
{
	return symbols->kernel_start;
}

size_t symbols_pending(const struct symbols *symbols)
{
	return symbols->queue.questions;
}

struct symbols_figures symbols_figures(const struct symbols *symbols)
{
	struct symbols_figures figures = symbols->figures;

	figures.bytes = sizeof(*symbols) + symbols_cache_bytes(symbols->cache) +
			symbols_queue_bytes(&symbols->queue) + symbols->held;
	figures.running = runs(symbols);
	return figures;
}

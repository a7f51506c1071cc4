// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "child/child.h"
#include "pebsd/types.h"
#include "symbols/shared/symbols_child.h"
#include "symbols/symbols_backoff.h"
#include "symbols/symbols_cache.h"
#include "symbols/symbols_queue.h"
#include "symbols/symbols_socket.h"

struct symbols {
	sd_event *event;
	char *debuginfod;
	char *program;
	char *socket;
	bool logged_no_unit; /* logged that the unit is not available */
	u64 query_ns;
	u64 idle_ns;
	struct symbols_cache *cache;
	struct symbols_queue queue;
	struct symbols_backoff backoff;
	struct child child;     /* socket closed but pidfd open: killed, not ended yet */
	bool ready;             /* the symbolizer has sent SYMBOLS_WIRE_READY */
	bool stuck;             /* the symbolizer was killed and does not end */
	unsigned int prolonged; /* extensions of the oldest request */
	u64 cpu_ns;             /* CPU time of the symbolizer at the last extension */
	u64 since_ns;           /* start of the oldest request, of idleness, or of the kill */
	u64 failure_logged_ns;
	u64 late_logged_ns;
	u64 resolver_bytes; /* memory of the symbolizer */
	u64 kernel_start;
	struct symbols_counts counts;
	sd_event_source *on_socket;
	sd_event_source *on_end;
	sd_event_source *timer;
	sd_event_source *gathering;
	sd_event_source *soon;
	u8 packet[SYMBOLS_WIRE_MAX];
};

/*
 * Controls the symbolizer's lifetime. The symbolizer is started when a request is to be sent, has a time
 * limit for each request, and is killed if it is late, misbehaves or is idle. A query on which the symbolizer
 * failed is not sent again, unless it is for an address of the kernel.
 */

/*
 * If more answers are to come, wait this long and read several at once. Waking pebsd for each answer costs
 * five times as much.
 */
#define GATHER_US 2000

/* The time that a killed process may take to end. A file system that does not respond may delay the process. */
#define END_NS (10 * NSEC_PER_SEC)

/* The number of times that the time limit of a request may be extended by SYMBOLS_QUERY_S. */
#define PROLONGED_MAX 6

/* Failures are logged at most once in this time. */
#define LOG_AGAIN_NS (600 * NSEC_PER_SEC)

/*
 * The socket has a higher priority than the timer. If both are due in one iteration of the loop, answers that
 * have arrived are read before the timer can find that they are late.
 */
#define ANSWER_PRIORITY (SD_EVENT_PRIORITY_NORMAL - 10)

/* CLOCK_MONOTONIC at the start of this event loop iteration; never 0. */
static u64 link_now_ns(const struct symbols *symbols)
{
	u64 now_us = 0;

	(void)sd_event_now(symbols->event, CLOCK_MONOTONIC, &now_us);
	return now_us ? now_us * NSEC_PER_USEC : 1;
}

/* Returns whether a symbolizer can receive requests. */
static bool link_runs(const struct symbols *symbols)
{
	return symbols->child.socket >= 0;
}

/*
 * The symbolizer runs, or was killed and has not ended. The unit's symbolizer counts only while the socket is
 * open, because the unit ends it.
 */
static bool exists(const struct symbols *symbols)
{
	return symbols->child.pidfd >= 0 || link_runs(symbols);
}

/* Returns whether there will be no answers for now: a killed symbolizer does not end, or none can be started. */
static bool link_cannot_start(const struct symbols *symbols, u64 now)
{
	if (exists(symbols))
		return symbols->stuck;
	return !symbols_backoff_may_start(&symbols->backoff, now);
}

/*
 * Schedules work for when the event loop has control: starts the symbolizer if needed, sends, and frees
 * removed entries.
 */
static void link_soon(struct symbols *symbols)
{
	(void)sd_event_source_set_enabled(symbols->soon, SD_EVENT_ONESHOT);
}

static u64 deadline(const struct symbols *symbols)
{
	if (!exists(symbols) || symbols->stuck)
		return UINT64_MAX;
	if (!link_runs(symbols))
		return symbols->since_ns + END_NS;
	return symbols->since_ns + (symbols->queue.n ? symbols->query_ns : symbols->idle_ns);
}

/* Sets the timer to the end of the present time limit. */
static void link_arm(struct symbols *symbols)
{
	u64 at = deadline(symbols);

	if (at != UINT64_MAX)
		(void)sd_event_source_set_time(symbols->timer, at / NSEC_PER_USEC + 1);
	(void)sd_event_source_set_enabled(symbols->timer, at == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

/* Restarts the time limit of the oldest request, or of idleness. */
static void link_begin_time(struct symbols *symbols)
{
	symbols->since_ns = link_now_ns(symbols);
	symbols->prolonged = 0;
	link_arm(symbols);
}

static bool is_of_kernel(const struct symbols_entry *entry)
{
	return entry && SYMBOL_IS_KERNEL(entry->query.address);
}

/* Call this once for each late query. */
static void note_late(struct symbols *symbols, bool of_kernel)
{
	u64 now = link_now_ns(symbols);

	symbols->counts.late++;
	if (symbols->late_logged_ns && now - symbols->late_logged_ns < LOG_AGAIN_NS)
		return;
	symbols->late_logged_ns = now;
	(void)log_warning(
		0,
		"the symbolizer has not answered for %llu s: %s; names come later, ask for them again (this is logged at most once in ten minutes)",
		(unsigned long long)(symbols->query_ns / NSEC_PER_SEC),
		of_kernel ? "it reads the kernel's symbols, and this machine is slow or busy"
			  : "it is busy with one address, or gets little CPU time");
}

static void log_failure(struct symbols *symbols, int error, const char *what, const char *consequence)
{
	u64 now = link_now_ns(symbols);

	if (symbols->failure_logged_ns && now - symbols->failure_logged_ns < LOG_AGAIN_NS)
		return;
	symbols->failure_logged_ns = now;
	(void)log_warning(0, "the symbolizer %s%s%s; %s (this is logged at most once in ten minutes)", what,
			  error ? ": " : "", error ? strerror(-error) : "", consequence);
}

/* Gives up all requests in flight. */
static void give_up(struct symbols *symbols)
{
	const struct symbols_request *request;

	while ((request = symbols_queue_first(&symbols->queue))) {
		if (request->entry) {
			symbols_cache_answer(symbols->cache, request->entry, NULL, link_now_ns(symbols));
			symbols->counts.lost++;
		}
		symbols_queue_remove_first(&symbols->queue);
	}
	(void)symbols_queue_restart(&symbols->queue); /* the queue is empty */
	link_soon(symbols);
}

static void kill_child(struct symbols *symbols)
{
	symbols->on_socket = sd_event_source_disable_unref(symbols->on_socket);
	child_kill(&symbols->child);
	symbols->resolver_bytes = 0;
	link_begin_time(symbols);
	if (!exists(symbols) && symbols->queue.n)
		link_soon(symbols);
}

/*
 * The symbolizer has failed. Gives up the request that it worked on, and leaves the queries after it for the next
 * symbolizer. Gives up all if the symbolizer failed before it was ready, or if memory is short.
 */
static void give_up_first(struct symbols *symbols)
{
	const struct symbols_request *first = symbols_queue_first(&symbols->queue);
	struct symbols_entry *entry = first ? first->entry : NULL;

	if (!symbols->ready) {
		give_up(symbols);
		return;
	}
	if (!first)
		return;
	if (first->pid)
		symbols_backoff_add(&symbols->backoff, first->pid, link_now_ns(symbols));
	if (entry) {
		/* Do not bar kernel addresses: nobody can craft kallsyms, unlike a file. */
		entry->barred = !is_of_kernel(entry);
		symbols_cache_answer(symbols->cache, entry, NULL, link_now_ns(symbols));
		symbols->counts.lost++;
	}
	symbols_queue_remove_first(&symbols->queue);
	if (symbols_queue_restart(&symbols->queue) < 0)
		give_up(symbols);
}

/* Logs that "the symbolizer" `what`, gives up the request that it worked on, and kills it. */
static void link_fail(struct symbols *symbols, const char *what)
{
	const struct symbols_request *first = symbols_queue_first(&symbols->queue);

	log_failure(
		symbols, 0, what,
		!symbols->ready
			? "the requested addresses have no names; pebsd starts another symbolizer when needed"
		: first && first->entry
			? "the address that it was looking up has no name; pebsd starts another symbolizer when needed"
			: "pebsd starts another one when needed");
	give_up_first(symbols);
	kill_child(symbols);
}

/* Maximum answers that are handled before other event sources get their turn. */
#define ANSWERS_AT_ONCE 256

/* Alignment of _text: at least this on x86 and arm64. */
#define KERNEL_ALIGNED (64ULL << 10)

/*
 * If the address of _text is hidden, the answer has the offset in the function instead of the offset from
 * _text. The alignment tells the two apart: the start of a function is aligned like _text only by chance.
 */
static void learn_kernel_start(struct symbols *symbols, const struct symbol_query *query,
			       const struct symbol *symbol)
{
	u64 start = query->address - symbol->address;

	if (symbol->region == SYMBOL_KERNEL && !symbol->module && symbol->n_frames &&
	    query->kind == SYMBOL_CODE && SYMBOL_IS_KERNEL(start) && start % KERNEL_ALIGNED == 0)
		symbols->kernel_start = start;
}

/* Handles one answer. Returns 0, or -EBADMSG if it does not answer the oldest request. */
static int take_answer(struct symbols *symbols, size_t size)
{
	const struct symbols_request *first = symbols_queue_first(&symbols->queue);
	struct symbols_wire_answer answer = {0};
	int r = symbols_wire_read_answer(symbols->packet, size, &answer);
	_cleanup_free_ void *block = answer.block;

	if (r == -EBADMSG)
		return r;
	if (r == 0 && !symbols->ready) {
		if (answer.number != SYMBOLS_WIRE_READY || answer.has_symbol)
			return -EBADMSG;
		symbols->ready = true;
		link_begin_time(symbols);
		return 0;
	}
	if (!first || (r == 0 && (answer.number != first->number || answer.has_symbol != !!first->entry)))
		return -EBADMSG;
	if (first->entry) {
		if (r == 0)
			learn_kernel_start(symbols, &first->entry->query, &answer.symbol);
		symbols->counts.answered += r == 0;
		symbols->counts.unknown += r == 0 && answer.symbol.n_frames == 0;
		symbols->counts.lost += r < 0;
		block = NULL;
		symbols_cache_answer(symbols->cache, first->entry, r == 0 ? &answer : NULL,
				     link_now_ns(symbols));
		/* The event loop has control, so nobody uses the answers that this one has removed. */
		(void)symbols_cache_sweep(symbols->cache);
		link_soon(symbols);
	}
	symbols->resolver_bytes = answer.resolver_bytes;
	symbols_queue_remove_first(&symbols->queue);
	symbols->since_ns = link_now_ns(symbols);
	symbols->prolonged = 0;
	if (symbols->queue.n == 0)
		link_arm(symbols);
	return 0;
}

static ssize_t receive_packet(struct symbols *symbols)
{
	if (symbols->child.pid <= 0)
		return symbols_socket_receive(&symbols->child, symbols->packet, sizeof(symbols->packet));
	return recv(symbols->child.socket, symbols->packet, sizeof(symbols->packet),
		    MSG_DONTWAIT | MSG_TRUNC);
}

/*
 * Handles the answers that have arrived. Returns false if the symbolizer ended, or was killed for an invalid
 * answer.
 */
static bool receive(struct symbols *symbols)
{
	for (unsigned int i = 0; i < ANSWERS_AT_ONCE && link_runs(symbols); i++) {
		ssize_t n = receive_packet(symbols);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0) {
			/*
			 * The symbolizer has ended or is about to end. Stop reading. If it is a child, its
			 * pidfd tells how it ended.
			 */
			symbols->on_socket = sd_event_source_disable_unref(symbols->on_socket);
			if (symbols->child.pidfd < 0)
				link_fail(symbols, "has ended (`journalctl -u pebsd-symbols` may say why)");
			return false;
		}
		if ((size_t)n > sizeof(symbols->packet) || take_answer(symbols, (size_t)n) < 0) {
			link_fail(symbols, "sent an invalid answer");
			return false;
		}
	}
	return true;
}

/* Sends as much as the socket takes now. The rest follows when it is writable. */
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
	(void)sd_event_source_set_time(symbols->gathering, link_now_ns(symbols) / NSEC_PER_USEC + GATHER_US);
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
	/*
	 * Answers that the symbolizer sent before it ended are valid. Read only while answers arrive: another
	 * process may hold the other end of the socket open.
	 */
	do {
		before = symbols->queue.n;
	} while (symbols->on_socket && receive(symbols) && symbols->queue.n < before);
	symbols->on_end = sd_event_source_disable_unref(symbols->on_end);
	if (child_reap(&symbols->child, how) == 0) {
		/*
		 * child_reap() found no exit status, but the pidfd is readable, so the process has ended. Do
		 * not wait for it.
		 */
		(void)close(symbols->child.pidfd);
		symbols->child.pidfd = -1;
		(void)snprintf(how, sizeof(how), "has ended");
	}
	symbols->stuck = false;
	if (link_runs(symbols))
		link_fail(symbols, how);
	link_arm(symbols);
	if (symbols->queue.n)
		link_soon(symbols);
	return 0;
}

/*
 * The symbolizer has a low CPU priority, so on busy CPUs it is late through no fault of its own. Its time
 * limit is extended while it wants to run and has had less than half of the time on a CPU. The limit is also
 * extended while it reads the kernel's symbols, which it does for the first kernel address: that takes long
 * on a slow machine, and a new symbolizer would have to start over.
 */
static bool prolong(struct symbols *symbols)
{
	const struct symbols_request *first = symbols_queue_first(&symbols->queue);
	bool of_kernel = is_of_kernel(first ? first->entry : NULL);
	u64 before_ns = symbols->cpu_ns;
	/* The service manager is starting the unit, and it is not known how long that takes. */
	bool starts = !symbols->ready && symbols->child.pidfd < 0;

	if (symbols->prolonged == PROLONGED_MAX ||
	    (!starts && !child_is_busy(&symbols->child, &symbols->cpu_ns)) ||
	    (symbols->prolonged && !of_kernel && symbols->cpu_ns - before_ns >= symbols->query_ns / 2))
		return false;
	if (symbols->prolonged == 0 && symbols->ready)
		note_late(symbols, of_kernel);
	symbols->prolonged++;
	symbols->since_ns = link_now_ns(symbols);
	link_arm(symbols);
	return true;
}

static int on_timer(sd_event_source *source, u64 usec, void *userdata)
{
	struct symbols *symbols = userdata;

	(void)source;
	(void)usec;
	if (symbols->on_socket && !receive(symbols)) {
		/* The symbolizer may have closed its socket without ending, so keep a time limit. */
		link_arm(symbols);
		return 0;
	}
	if (link_now_ns(symbols) < deadline(symbols)) {
		link_arm(symbols);
	} else if (!link_runs(symbols)) {
		symbols->stuck = true;
		log_failure(symbols, 0, "was killed but is still there",
			    "addresses have no names until it has ended");
		give_up(symbols);
	} else if (symbols->queue.n && prolong(symbols)) {
		return 0;
	} else if (symbols->queue.n) {
		link_fail(symbols, "took too long for an answer");
	} else {
		kill_child(symbols);
	}
	return 0;
}

/* Connects to the unit if there is one, otherwise starts a child. */
static int open_child(struct symbols *symbols)
{
	int r;

	if (!symbols->socket)
		return symbols_child_start(symbols->program, symbols->debuginfod, &symbols->child);
	r = symbols_socket_connect(symbols->socket, &symbols->child);
	if (r == 0 || r == -EAGAIN)
		return r;
	if (!symbols->logged_no_unit && (r == -EPERM || symbols_socket_is_needed()))
		(void)log_warning(0,
				  "cannot use %s: %s; addresses in programs of other users have no names; "
				  "run `systemctl restart pebsd-symbols.socket`",
				  symbols->socket,
				  r == -EPERM ? "a user other than root listens on it" : strerror(-r));
	symbols->logged_no_unit = true;
	return symbols_child_start(symbols->program, symbols->debuginfod, &symbols->child);
}

static int start(struct symbols *symbols)
{
	u64 now = link_now_ns(symbols);
	int r;

	symbols_backoff_started(&symbols->backoff, now);
	r = open_child(symbols);
	if (r < 0)
		return r;
	symbols->counts.starts++;
	symbols->ready = false;
	if ((symbols->child.pidfd >= 0 &&
	     (r = sd_event_add_io(symbols->event, &symbols->on_end, symbols->child.pidfd, EPOLLIN, on_end,
				  symbols)) < 0) ||
	    (r = sd_event_add_io(symbols->event, &symbols->on_socket, symbols->child.socket, EPOLLIN,
				 on_socket, symbols)) < 0 ||
	    (r = sd_event_source_set_priority(symbols->on_socket, ANSWER_PRIORITY)) < 0) {
		kill_child(symbols);
		return r;
	}
	link_begin_time(symbols);
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
	if (link_cannot_start(symbols, link_now_ns(symbols))) {
		if (symbols->stuck)
			log_failure(symbols, 0, "was killed but is still there",
				    "addresses have no names until it has ended");
		else
			log_failure(symbols, 0, "was started too often in the last minute",
				    "addresses have no names for up to a minute");
		give_up(symbols);
		return 0;
	}
	if (!exists(symbols)) {
		r = start(symbols);
		if (r < 0) {
			log_failure(symbols, r, "cannot be started",
				    "addresses have no names until a later start succeeds");
			give_up(symbols);
			return 0;
		}
	}
	send_unsent(symbols);
	return 0;
}

/* Starts no process yet. Returns 0 or -errno. The child must be CHILD_NONE before. */
static int link_open(struct symbols *symbols)
{
	int r;

	if ((r = sd_event_add_defer(symbols->event, &symbols->soon, on_soon, symbols)) < 0 ||
	    (r = sd_event_source_set_enabled(symbols->soon, SD_EVENT_OFF)) < 0 ||
	    (r = sd_event_add_time(symbols->event, &symbols->timer, CLOCK_MONOTONIC, 0, 0, on_timer,
				   symbols)) < 0 ||
	    (r = sd_event_source_set_enabled(symbols->timer, SD_EVENT_OFF)) < 0 ||
	    (r = sd_event_add_time(symbols->event, &symbols->gathering, CLOCK_MONOTONIC, 0, 1, on_gathered,
				   symbols)) < 0)
		return r;
	return sd_event_source_set_enabled(symbols->gathering, SD_EVENT_OFF);
}

/* Call it also after link_open() failed. Kills a running symbolizer and waits for at most a second. */
static void link_close(struct symbols *symbols)
{
	char how[CHILD_END_MAX];

	(void)sd_event_source_disable_unref(symbols->on_socket);
	(void)sd_event_source_disable_unref(symbols->on_end);
	(void)sd_event_source_disable_unref(symbols->timer);
	(void)sd_event_source_disable_unref(symbols->gathering);
	(void)sd_event_source_disable_unref(symbols->soon);
	child_kill(&symbols->child);
	if (symbols->child.pidfd >= 0 && child_wait(&symbols->child, how) == 0)
		(void)close(symbols->child.pidfd);
}

/* The functions of symbols.h. */

#define ASK_AGAIN_NS       NSEC_PER_SEC
#define ASK_AGAIN_DOUBLING 10

/*
 * The part of SYMBOLS_KEPT_BYTES_MAX that is not for entries of the cache: `struct symbols`, the cache's tables (1.1
 * MiB), and removed answers until control returns to the event loop.
 */
#define RESERVED_BYTES (6ULL << 20)

/* No query is added if less than this is left. One answer and the one before it fit in. */
#define LEFT_BYTES_MIN (256ULL << 10)

_Static_assert(2ULL * SYMBOLS_WIRE_MAX < LEFT_BYTES_MIN, "two answers fit");

static int copy_text(const char *text, char **ret)
{
	if (text && !(*ret = strdup(text)))
		return -ENOMEM;
	return 0;
}

int symbols_new(const struct symbols_settings *settings, struct symbols **ret)
{
	const struct symbols_cache_limits limits = {SYMBOLS_KEPT_MAX,
						    SYMBOLS_KEPT_BYTES_MAX - RESERVED_BYTES};
	_cleanup_(symbols_freep) struct symbols *symbols = calloc(1, sizeof(*symbols));
	int r;

	if (!symbols)
		return -ENOMEM;
	symbols->child = CHILD_NONE;
	symbols->event = sd_event_ref(settings->event);
	symbols->query_ns = settings->query_ns ? settings->query_ns : SYMBOLS_QUERY_S * NSEC_PER_SEC;
	symbols->idle_ns = settings->idle_ns ? settings->idle_ns : SYMBOLS_IDLE_S * NSEC_PER_SEC;
	if ((r = copy_text(settings->debuginfod, &symbols->debuginfod)) < 0 ||
	    (r = copy_text(settings->program, &symbols->program)) < 0 ||
	    (r = copy_text(settings->socket, &symbols->socket)) < 0 ||
	    (r = symbols_cache_new(&limits, &symbols->cache)) < 0 || (r = link_open(symbols)) < 0)
		return r;
	*ret = TAKE_PTR(symbols);
	return 0;
}

struct symbols *symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return NULL;
	link_close(symbols);
	if (symbols->cache) {
		const struct symbols_request *request;

		/* Dropped entries belong to the queue only. An answer frees them. */
		while ((request = symbols_queue_first(&symbols->queue))) {
			if (request->entry)
				symbols_cache_answer(symbols->cache, request->entry, NULL, 1);
			symbols_queue_remove_first(&symbols->queue);
		}
	}
	symbols_queue_clear(&symbols->queue);
	(void)symbols_cache_free(symbols->cache);
	(void)sd_event_unref(symbols->event);
	free(symbols->debuginfod);
	free(symbols->program);
	free(symbols->socket);
	free(symbols);
	return NULL;
}

static int add(struct symbols *symbols, struct symbols_wire_request *request, u32 pid,
	       struct symbols_entry *entry)
{
	int r = symbols_queue_add(&symbols->queue, request, pid, entry);

	if (r < 0)
		return r;
	if (symbols->queue.n == 1 && link_runs(symbols))
		link_begin_time(symbols);
	link_soon(symbols);
	return 0;
}

/*
 * Passes an event on if a symbolizer runs or requests wait. Otherwise the next symbolizer will read the state
 * itself.
 */
static int pass_on(struct symbols *symbols, struct symbols_wire_request *request, u32 pid)
{
	link_soon(symbols);
	if (!link_runs(symbols) && symbols->queue.n == 0)
		return 0;
	return add(symbols, request, pid, NULL);
}

int symbols_process(struct symbols *symbols, u32 pid)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_PROCESS, .pid = pid};
	u64 now = link_now_ns(symbols);

	if (link_cannot_start(symbols, now) || symbols_backoff_is_barred(&symbols->backoff, pid, now))
		return 0;
	return add(symbols, &request, pid, NULL);
}

int symbols_mapped(struct symbols *symbols, const struct symbol_mapping *mapping)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_MAPPED, .mapping = *mapping};

	symbols_cache_drop_range(symbols->cache, mapping->pid, mapping->start, mapping->size);
	return pass_on(symbols, &request, mapping->pid);
}

int symbols_executed(struct symbols *symbols, u32 pid)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_EXECUTED, .pid = pid};

	symbols_cache_drop(symbols->cache, pid);
	return pass_on(symbols, &request, pid);
}

int symbols_forked(struct symbols *symbols, u32 pid, u32 parent)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_FORKED, .pid = pid, .parent = parent};

	/* A new thread, not a process. */
	if (pid == parent)
		return 0;
	/* The pid may have belonged to another process before. */
	symbols_cache_drop(symbols->cache, pid);
	return pass_on(symbols, &request, pid);
}

static bool may_ask_again(const struct symbols_entry *entry, u64 now)
{
	unsigned int doublings = entry->answers ? entry->answers - 1U : 0;

	if (doublings > ASK_AGAIN_DOUBLING)
		doublings = ASK_AGAIN_DOUBLING;
	return symbols_cache_may_change(entry) && !entry->barred &&
	       now - entry->answered_ns >= ASK_AGAIN_NS << doublings;
}

static const struct symbol *ask(struct symbols *symbols, struct symbols_entry *entry, u64 now)
{
	struct symbols_wire_request request = {.type = SYMBOLS_WIRE_FIND, .query = entry->query};
	bool refused = link_cannot_start(symbols, now) ||
		       symbols_backoff_is_barred(&symbols->backoff, entry->query.pid, now);

	if (!refused && add(symbols, &request, entry->query.pid, entry) == 0) {
		symbols->counts.asked++;
		return NULL;
	}
	symbols->counts.lost++;
	link_soon(symbols);
	if (!refused) {
		/* Too many requests, or no memory. Keep no answer, so that the next call tries again. */
		symbols_cache_discard(symbols->cache, entry);
		return NULL;
	}
	symbols_cache_answer(symbols->cache, entry, NULL, now);
	return &entry->symbol;
}

/* Returns the memory that SYMBOLS_KEPT_BYTES_MAX limits. */
static u64 kept_bytes(const struct symbols *symbols)
{
	return sizeof(*symbols) + symbols_cache_bytes(symbols->cache);
}

static int add_entry(struct symbols *symbols, const struct symbol_query *key, struct symbols_entry **ret)
{
	if (kept_bytes(symbols) + LEFT_BYTES_MIN > SYMBOLS_KEPT_BYTES_MAX) {
		link_soon(symbols);
		return -ENOBUFS;
	}
	return symbols_cache_add(symbols->cache, key, ret);
}

const struct symbol *symbols_find(struct symbols *symbols, const struct symbol_query *query)
{
	struct symbol_query key = symbols_cache_key(query);
	struct symbols_entry *entry = symbols_cache_get(symbols->cache, &key);
	u64 now = link_now_ns(symbols);

	if (entry && entry->pending)
		return NULL;
	if (entry && !may_ask_again(entry, now))
		return &entry->symbol;
	if (entry)
		symbols_cache_ask_again(symbols->cache, entry);
	else if (add_entry(symbols, &key, &entry) < 0) {
		symbols->counts.lost++;
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
	return symbols->queue.queries;
}

struct symbols_counts symbols_counts(const struct symbols *symbols)
{
	struct symbols_counts counts = symbols->counts;

	counts.queue_bytes = symbols_queue_bytes(&symbols->queue);
	counts.own_bytes = kept_bytes(symbols) + counts.queue_bytes;
	counts.bytes = counts.own_bytes + symbols->resolver_bytes;
	counts.running = link_runs(symbols);
	return counts;
}

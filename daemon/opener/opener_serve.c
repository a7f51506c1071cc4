// SPDX-License-Identifier: GPL-2.0
#include "opener/opener_serve.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/monotonic.h"
#include "opener/opener_plans.h"
#include "origin/opener/opener_socket.h"
#include "origin/opener/opener_wire.h"

/*
 * pebsd has one connection. More connections allow an administrator to run pebsd --probe, or to try
 * pebsd-opener by hand.
 */
#define PEERS_MAX 8

/* If a request is refused, the PMUs are read again, but for the same threshold at most once in this time. */
#define PLAN_NS         NSEC_PER_SEC
#define ACCEPT_AGAIN_US 100000

struct peer {
	int fd;
	pid_t pid;
};

struct server {
	const struct opener_serve_settings *settings;
	uid_t owner;
	struct opener_plans plans;
	u64 planned_ns;
	pid_t warned; /* the process that the last warning was about */
	size_t n;
	struct peer peers[PEERS_MAX];
};

/*
 * Decides whether the request is allowed. It tries the existing plans first, although they may be old,
 * because most requests resemble the previous one.
 */
static int judge(struct server *server, const struct opener_request *request,
		 char ret_reason[OPENER_REASON_MAX])
{
	const u32 asked = opener_ldlat(&request->attr);
	const u32 ldlat = asked ? asked : server->plans.ldlat ? server->plans.ldlat : 31;
	int r = -EACCES;

	if (server->plans.ldlat)
		r = opener_plans_allow(&server->plans, request, ret_reason);
	if (r == 0 || (ldlat == server->plans.ldlat && monotonic_ns() - server->planned_ns < PLAN_NS))
		return r;
	server->planned_ns = monotonic_ns();
	r = opener_plans_make(&server->plans, server->settings->sysfs_root, ldlat);
	if (r < 0) {
		(void)snprintf(ret_reason, OPENER_REASON_MAX, "cannot read the PMUs of this machine: %s",
			       strerror(-r));
		return -EACCES;
	}
	return opener_plans_allow(&server->plans, request, ret_reason);
}

/*
 * Returns true if the thread belongs to the peer. It does not use /proc, because this unit cannot see other
 * users' processes there (ProtectProc=). tgkill() with signal 0 sends no signal. The kernel checks whose
 * thread it is before it checks the permission (do_send_specific(), kernel/signal.c, Linux 6.1). A reused
 * thread number does no harm, because pebsd may open events for all threads on a CPU anyway.
 */
static bool is_of_peer(const struct peer *peer, int thread)
{
	return thread > 0 && (tgkill(peer->pid, thread, 0) == 0 || errno == EPERM);
}

/*
 * Does not access the cgroup's directory, because another user's file system could delay that. The kernel
 * accepts only directories of cgroups (css_tryget_online_from_dir(), kernel/cgroup/cgroup.c, Linux 6.1).
 */
static int open_event(const struct opener_request *request, const int *fds)
{
	const int group = request->has_group ? fds[0] : -1;
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	int of = request->target == OPENER_THREAD ? request->thread : -1;
	long fd;

	if (request->target == OPENER_CGROUP) {
		of = fds[request->has_group ? 1 : 0];
		flags |= PERF_FLAG_PID_CGROUP;
	}
	fd = syscall(SYS_perf_event_open, &request->attr, of, request->cpu, group, flags);
	return fd < 0 ? -errno : (int)fd;
}

/* Logs a warning, unless the last one was about the same process. */
static void log_refusal(struct server *server, const struct peer *peer, const char *reason)
{
	if (server->warned == peer->pid)
		return;
	server->warned = peer->pid;
	(void)log_warning(0, "refused the event that process %d requested: %s", peer->pid, reason);
}

/* Returns the event's descriptor, or a negative number with the error in `answer`. */
static int answer_request(struct server *server, const struct peer *peer,
			  const struct opener_request *request, const int *fds, struct opener_answer *answer)
{
	int fd;

	answer->error = judge(server, request, answer->reason);
	if (answer->error == 0 && request->target == OPENER_THREAD && !is_of_peer(peer, request->thread)) {
		answer->error = -EACCES;
		(void)snprintf(answer->reason, sizeof(answer->reason),
			       "thread %d does not belong to process %d", request->thread, peer->pid);
	}
	if (answer->error < 0) {
		log_refusal(server, peer, answer->reason);
		return -1;
	}
	fd = open_event(request, fds);
	if (fd < 0)
		answer->error = fd;
	return fd;
}

/* Handles one request. Returns false if the peer is to be dropped. */
static bool serve_peer(struct server *server, const struct peer *peer)
{
	u8 bytes[OPENER_REQUEST_BYTES], reply[OPENER_ANSWER_BYTES];
	struct opener_answer answer = {0};
	struct opener_request request;
	_cleanup_close_ int event = -1;
	int fds[OPENER_FDS_MAX];
	size_t n_fds;
	ssize_t size = opener_socket_receive(peer->fd, bytes, sizeof(bytes), fds, &n_fds);
	int r;

	if (size == -EAGAIN || size == -EINTR)
		return true;
	if (size <= 0) {
		if (size < 0 && size != -ECONNRESET)
			log_refusal(
				server, peer,
				size == -EMFILE
					? "no descriptor is left for those of the request; raise LimitNOFILE= of pebsd-opener.service"
					: "the request is malformed; pebsd does not send such requests");
		return false;
	}
	r = opener_wire_read_request(bytes, (size_t)size, n_fds, &request);
	if (r == 0) {
		event = answer_request(server, peer, &request, fds, &answer);
		opener_wire_write_answer(&answer, reply);
		r = opener_socket_send(peer->fd, reply, sizeof(reply), &event, event >= 0 ? 1 : 0);
	} else {
		log_refusal(server, peer,
			    r == -EPROTONOSUPPORT
				    ? "pebsd and pebsd-opener have different versions; restart both"
				    : "the request is malformed; pebsd does not send such requests");
	}
	for (size_t i = 0; i < n_fds; i++)
		(void)close(fds[i]);
	/* Drop a peer that sent a malformed request or does not read its answers. */
	return r == 0;
}

static void take_peer(struct server *server)
{
	_cleanup_close_ int fd =
		accept4(server->settings->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	/*
	 * If accepting fails, for example for lack of descriptors, the connection stays in the queue and
	 * poll() returns at once. Do not retry all the time.
	 */
	if (fd < 0)
		(void)usleep(ACCEPT_AGAIN_US);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return;
	if (peer.uid != 0 && peer.uid != server->owner) {
		(void)log_warning(0,
				  "refused process %d of user %u: only root and user %u may request events",
				  peer.pid, peer.uid, server->owner);
		return;
	}
	if (server->n == PEERS_MAX) {
		/* Drop the oldest connection. */
		(void)close(server->peers[0].fd);
		memmove(&server->peers[0], &server->peers[1], --server->n * sizeof(server->peers[0]));
	}
	server->peers[server->n++] = (struct peer){.fd = TAKE_FD(fd), .pid = peer.pid};
}

static void drop_peer(struct server *server, size_t index)
{
	(void)close(server->peers[index].fd);
	memmove(&server->peers[index], &server->peers[index + 1],
		(--server->n - index) * sizeof(server->peers[0]));
}

static int find_owner(struct server *server)
{
	struct sockaddr_un address = {0};
	socklen_t size = sizeof(address);
	struct stat st;

	if (getsockname(server->settings->listening, (struct sockaddr *)&address, &size) < 0)
		return -errno;
	if (address.sun_family != AF_UNIX || address.sun_path[0] != '/')
		return -ENOTSOCK;
	address.sun_path[sizeof(address.sun_path) - 1] = '\0';
	if (stat(address.sun_path, &st) < 0)
		return -errno;
	server->owner = st.st_uid;
	return 0;
}

/* Waits for requests and handles them. Returns 1 if there may be more, 0 after the idle time, or -errno. */
static int turn(struct server *server)
{
	struct pollfd waits[PEERS_MAX + 1] = {{.fd = server->settings->listening, .events = POLLIN}};
	const size_t n = server->n;
	int r;

	for (size_t i = 0; i < n; i++)
		waits[i + 1] = (struct pollfd){.fd = server->peers[i].fd, .events = POLLIN};
	r = poll(waits, n + 1, server->settings->idle_ms);
	if (r <= 0)
		return r < 0 && errno != EINTR ? -errno : r < 0;
	for (size_t i = n; i-- > 0;)
		if (waits[i + 1].revents && !serve_peer(server, &server->peers[i]))
			drop_peer(server, i);
	if (waits[0].revents)
		take_peer(server);
	return 1;
}

int opener_serve(const struct opener_serve_settings *settings)
{
	struct server server = {.settings = settings};
	int r = find_owner(&server);

	if (r < 0)
		return log_error(
			r,
			"cannot find the owner of the socket that systemd passed, which must be that of pebsd-opener.socket");
	do
		r = turn(&server);
	while (r > 0);
	while (server.n > 0)
		drop_peer(&server, server.n - 1);
	opener_plans_done(&server.plans);
	return r < 0 ? log_error(r, "cannot wait for requests") : 0;
}

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
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "opener/opener_plans.h"
#include "origin/opener/opener_socket.h"
#include "origin/opener/opener_wire.h"

/* pebsd has one connection, and a second while a calibration goes on; the rest is somebody's who tries it by
 * hand. */
#define PEERS_MAX 8

/* The tree of PMUs is read anew for a request that was refused, but not more often. */
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
	pid_t told; /* the process that something was last said of */
	size_t n;
	struct peer peers[PEERS_MAX];
};

static u64 now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

/* Plans that may be of old are asked first: most requests are like the one before. */
static int judge(struct server *server, const struct opener_request *request,
		 char ret_reason[OPENER_REASON_MAX])
{
	const u32 asked = opener_ldlat(&request->attr);
	const u32 ldlat = asked ? asked : server->plans.ldlat ? server->plans.ldlat : 31;
	int r = -EACCES;

	if (server->plans.ldlat)
		r = opener_plans_allow(&server->plans, request, ret_reason);
	if (r == 0 || (ldlat == server->plans.ldlat && now_ns() - server->planned_ns < PLAN_NS))
		return r;
	server->planned_ns = now_ns();
	r = opener_plans_make(&server->plans, server->settings->sysfs_root, ldlat);
	if (r < 0) {
		(void)snprintf(ret_reason, OPENER_REASON_MAX, "it cannot read the PMUs of this machine: %s",
			       strerror(-r));
		return -EACCES;
	}
	return opener_plans_allow(&server->plans, request, ret_reason);
}

/*
 * Not by /proc, in which this unit sees nobody else's processes (ProtectProc=). No signal is sent; that it
 * may not be is found out after whose thread it is (do_send_specific(), kernel/signal.c, Linux 6.1). A number
 * that was given anew is no harm: pebsd may have the events of every thread on a CPU.
 */
static bool is_of_peer(const struct peer *peer, int thread)
{
	return thread > 0 && (tgkill(peer->pid, thread, 0) == 0 || errno == EPERM);
}

/* Of the cgroup's directory nothing is asked here: the file system of another's could keep us waiting. The
 * kernel takes none but a cgroup's (css_tryget_online_from_dir(), kernel/cgroup/cgroup.c, Linux 6.1). */
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

/* One warning a process is enough to look at it. */
static void log_refusal(struct server *server, const struct peer *peer, const char *reason)
{
	if (server->told == peer->pid)
		return;
	server->told = peer->pid;
	(void)log_warning(0, "process %d asked for an event that is refused: %s", peer->pid, reason);
}

/* Returns the event, or -1 with the answer filled in. */
static int answer_request(struct server *server, const struct peer *peer,
			  const struct opener_request *request, const int *fds, struct opener_answer *answer)
{
	int fd;

	answer->error = judge(server, request, answer->reason);
	if (answer->error == 0 && request->target == OPENER_THREAD && !is_of_peer(peer, request->thread)) {
		answer->error = -EACCES;
		(void)snprintf(answer->reason, sizeof(answer->reason), "the thread %d is not of process %d",
			       request->thread, peer->pid);
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

/* Returns whether the peer stays. */
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
			log_refusal(server, peer, "its message is none that pebsd sends");
		return false;
	}
	r = opener_wire_read_request(bytes, (size_t)size, n_fds, &request);
	if (r == 0) {
		event = answer_request(server, peer, &request, fds, &answer);
		opener_wire_write_answer(&answer, reply);
		r = opener_socket_send(peer->fd, reply, sizeof(reply), &event, event >= 0 ? 1 : 0);
	} else {
		log_refusal(server, peer,
			    r == -EPROTONOSUPPORT ? "it is of another version: restart both"
						  : "its message is none that pebsd sends");
	}
	for (size_t i = 0; i < n_fds; i++)
		(void)close(fds[i]);
	/* Who does not read its answers is gone, or waits for nothing. */
	return r == 0;
}

static void take_peer(struct server *server)
{
	_cleanup_close_ int fd =
		accept4(server->settings->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	/* Out of descriptors, say: it stays, and is tried again, but not all the time until then. */
	if (fd < 0)
		(void)usleep(ACCEPT_AGAIN_US);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return;
	if (peer.uid != 0 && peer.uid != server->owner) {
		(void)log_warning(
			0, "process %d of user %u asked for events, which only root and user %u get here",
			peer.pid, peer.uid, server->owner);
		return;
	}
	if (server->n == PEERS_MAX) {
		/* The one that was there first has had its time. */
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

/* Returns whether anything came. */
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
		return log_error(r, "the opener's socket is none of pebsd-opener.socket");
	do
		r = turn(&server);
	while (r > 0);
	while (server.n > 0)
		drop_peer(&server, server.n - 1);
	opener_plans_done(&server.plans);
	return r < 0 ? log_error(r, "cannot wait for requests") : 0;
}

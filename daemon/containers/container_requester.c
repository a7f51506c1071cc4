// SPDX-License-Identifier: GPL-2.0
#include "containers/container_requester.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/log.h"
#include "child/child.h"
#include "containers/container_wire.h"

struct container_requester {
	struct container_requester_settings settings;
	struct child child;
	sd_event_source *on_answer;
	sd_event_source *on_end;
	u64 number; /* of the last request */
	bool asked; /* a request is pending */
	bool killed;
	bool logged;
	u64 used_ns;  /* time of the last request */
	u64 rests_ns; /* earliest time of the next start */
};

int container_requester_new(const struct container_requester_settings *settings,
			    struct container_requester **ret)
{
	struct container_requester *requester = calloc(1, sizeof(*requester));

	if (!requester)
		return -ENOMEM;
	requester->settings = *settings;
	requester->child = CHILD_NONE;
	*ret = requester;
	return 0;
}

static void end_child(struct container_requester *requester)
{
	requester->on_answer = sd_event_source_disable_unref(requester->on_answer);
	requester->killed = true;
	child_kill(&requester->child);
}

struct container_requester *container_requester_free(struct container_requester *requester)
{
	char how[CHILD_END_MAX];

	if (!requester)
		return NULL;
	end_child(requester);
	sd_event_source_disable_unref(requester->on_end);
	/* Waits for at most a second. If a file system blocks the process, it ends after that. */
	if (requester->child.pidfd >= 0 && child_wait(&requester->child, how) == 0)
		(void)close(requester->child.pidfd);
	free(requester);
	return NULL;
}

static void log_once(struct container_requester *requester, int error, const char *what)
{
	if (requester->logged)
		return;
	requester->logged = true;
	(void)log_warning(
		0,
		"new containers have no names for now: the process that reads names %s%s%s; sampling continues, and pebsd tries again every %d s without logging this again (`names = no` in [containers] disables the process)",
		what, error ? ": " : "", error ? strerror(-error) : "", CONTAINER_REQUESTER_REST_SECONDS);
}

/* Ends the pending request, with or without an answer. */
static void conclude(struct container_requester *requester, const struct container_labels *answer)
{
	if (!requester->asked)
		return;
	requester->asked = false;
	requester->settings.answered(requester->settings.userdata, answer);
}

static int on_end(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct container_requester *requester = userdata;
	char how[CHILD_END_MAX];

	(void)source;
	(void)fd;
	(void)events;
	requester->on_end = sd_event_source_disable_unref(requester->on_end);
	requester->on_answer = sd_event_source_disable_unref(requester->on_answer);
	if (child_reap(&requester->child, how) == 0) {
		(void)close(requester->child.pidfd);
		(void)snprintf(how, sizeof(how), "has ended");
	}
	child_kill(&requester->child);
	requester->child = CHILD_NONE;
	if (!requester->killed) {
		requester->rests_ns = requester->used_ns + CONTAINER_REQUESTER_REST_SECONDS * NSEC_PER_SEC;
		log_once(requester, 0, how);
	}
	conclude(requester, NULL);
	return 0;
}

static int on_answer(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct container_requester *requester = userdata;
	struct container_message message;
	ssize_t n = recv(fd, &message, sizeof(message), MSG_DONTWAIT);

	(void)source;
	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0 && requester->asked && container_message_ok(&message, (size_t)n) &&
	    message.number == requester->number) {
		conclude(requester, &message.labels);
		return 0;
	}
	/* The socket was closed, or the message is invalid: kill the process. on_end() then reports it. */
	requester->on_answer = sd_event_source_disable_unref(requester->on_answer);
	child_kill(&requester->child);
	return 0;
}

static int start(struct container_requester *requester)
{
	static char *const environment[] = {
#ifdef __SANITIZE_ADDRESS__
		/* The leak checker attaches to the process, which the confinement forbids. */
		(char *)"ASAN_OPTIONS=detect_leaks=0:abort_on_error=1",
#endif
		NULL};
	const struct child_request request = {.program = requester->settings.program,
					      .argument = "--container-names",
					      .environment = environment};
	char how[CHILD_END_MAX];
	int r = child_start(&request, &requester->child);

	if (r < 0)
		return r;
	requester->killed = false;
	r = sd_event_add_io(requester->settings.event, &requester->on_answer, requester->child.socket,
			    EPOLLIN, on_answer, requester);
	if (r >= 0)
		r = sd_event_add_io(requester->settings.event, &requester->on_end, requester->child.pidfd,
				    EPOLLIN, on_end, requester);
	if (r >= 0)
		return 0;
	end_child(requester);
	if (child_wait(&requester->child, how) == 0)
		(void)close(requester->child.pidfd);
	requester->child = CHILD_NONE;
	return r;
}

int container_requester_ask(struct container_requester *requester, const struct container_labels *labels,
			    u64 now_ns)
{
	struct container_message message = {.number = requester->number + 1, .labels = *labels};
	int r;

	if (requester->asked || now_ns < requester->rests_ns)
		return -EBUSY;
	/* The process was killed and has not ended yet. */
	if (requester->child.pidfd >= 0 && requester->child.socket < 0)
		return -EBUSY;
	if (requester->child.pidfd < 0) {
		r = start(requester);
		if (r < 0) {
			requester->rests_ns = now_ns + CONTAINER_REQUESTER_REST_SECONDS * NSEC_PER_SEC;
			log_once(requester, r, "cannot be started");
			return r;
		}
	}
	/* If the process ends, the pause until its next start counts from here, even if the request cannot be sent. */
	requester->used_ns = now_ns;
	/* No other message is in the socket, so this one fits. */
	if (send(requester->child.socket, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return errno == EAGAIN || errno == EPIPE ? -EBUSY : -errno;
	requester->number++;
	requester->asked = true;
	return 0;
}

void container_requester_tick(struct container_requester *requester, u64 now_ns)
{
	u64 since = now_ns > requester->used_ns ? now_ns - requester->used_ns : 0;

	if (requester->child.pidfd < 0 || requester->child.socket < 0)
		return;
	if (requester->asked && since >= CONTAINER_REQUESTER_SECONDS * NSEC_PER_SEC) {
		log_once(requester, 0, "has not answered in time, perhaps because a file system hangs");
		requester->rests_ns = now_ns + CONTAINER_REQUESTER_REST_SECONDS * NSEC_PER_SEC;
		end_child(requester);
		conclude(requester, NULL);
	} else if (!requester->asked && since >= CONTAINER_REQUESTER_IDLE_SECONDS * NSEC_PER_SEC) {
		end_child(requester);
	}
}

pid_t container_requester_pid(const struct container_requester *requester)
{
	return requester->child.pidfd >= 0 ? requester->child.pid : -1;
}

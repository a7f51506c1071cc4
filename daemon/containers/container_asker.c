// SPDX-License-Identifier: GPL-2.0
#include "containers/container_asker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/log.h"
#include "child/child.h"
#include "containers/container_wire.h"

struct container_asker {
	struct container_asker_settings settings;
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

int container_asker_new(const struct container_asker_settings *settings, struct container_asker **ret)
{
	struct container_asker *asker = calloc(1, sizeof(*asker));

	if (!asker)
		return -ENOMEM;
	asker->settings = *settings;
	asker->child = CHILD_NONE;
	*ret = asker;
	return 0;
}

static void end_child(struct container_asker *asker)
{
	asker->on_answer = sd_event_source_disable_unref(asker->on_answer);
	asker->killed = true;
	child_kill(&asker->child);
}

struct container_asker *container_asker_free(struct container_asker *asker)
{
	char how[CHILD_END_MAX];

	if (!asker)
		return NULL;
	end_child(asker);
	sd_event_source_disable_unref(asker->on_end);
	/* Waits for at most a second. If a file system blocks the process, it ends after that. */
	if (asker->child.pidfd >= 0 && child_wait(&asker->child, how) == 0)
		(void)close(asker->child.pidfd);
	free(asker);
	return NULL;
}

static void log_once(struct container_asker *asker, int error, const char *what)
{
	if (asker->logged)
		return;
	asker->logged = true;
	(void)log_warning(
		0,
		"new containers have no names for now: the process that reads names %s%s%s; sampling continues, and pebsd tries again every %d s without logging this again (`names = no` in [containers] disables the process)",
		what, error ? ": " : "", error ? strerror(-error) : "", CONTAINER_ASKER_REST_SECONDS);
}

/* Ends the pending request, with or without an answer. */
static void conclude(struct container_asker *asker, const struct container_labels *answer)
{
	if (!asker->asked)
		return;
	asker->asked = false;
	asker->settings.answered(asker->settings.userdata, answer);
}

static int on_end(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct container_asker *asker = userdata;
	char how[CHILD_END_MAX];

	(void)source;
	(void)fd;
	(void)events;
	asker->on_end = sd_event_source_disable_unref(asker->on_end);
	asker->on_answer = sd_event_source_disable_unref(asker->on_answer);
	if (child_reap(&asker->child, how) == 0) {
		(void)close(asker->child.pidfd);
		(void)snprintf(how, sizeof(how), "has ended");
	}
	child_kill(&asker->child);
	asker->child = CHILD_NONE;
	if (!asker->killed) {
		asker->rests_ns = asker->used_ns + CONTAINER_ASKER_REST_SECONDS * NSEC_PER_SEC;
		log_once(asker, 0, how);
	}
	conclude(asker, NULL);
	return 0;
}

static int on_answer(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct container_asker *asker = userdata;
	struct container_message message;
	ssize_t n = recv(fd, &message, sizeof(message), MSG_DONTWAIT);

	(void)source;
	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0 && asker->asked && container_message_ok(&message, (size_t)n) &&
	    message.number == asker->number) {
		conclude(asker, &message.labels);
		return 0;
	}
	/* The socket was closed, or the message is invalid: kill the process. on_end() then reports it. */
	asker->on_answer = sd_event_source_disable_unref(asker->on_answer);
	child_kill(&asker->child);
	return 0;
}

static int start(struct container_asker *asker)
{
	static char *const environment[] = {
#ifdef __SANITIZE_ADDRESS__
		/* The leak checker attaches to the process, which the confinement forbids. */
		(char *)"ASAN_OPTIONS=detect_leaks=0:abort_on_error=1",
#endif
		NULL};
	const struct child_request request = {.program = asker->settings.program,
					      .argument = "--container-names",
					      .environment = environment};
	char how[CHILD_END_MAX];
	int r = child_start(&request, &asker->child);

	if (r < 0)
		return r;
	asker->killed = false;
	r = sd_event_add_io(asker->settings.event, &asker->on_answer, asker->child.socket, EPOLLIN, on_answer,
			    asker);
	if (r >= 0)
		r = sd_event_add_io(asker->settings.event, &asker->on_end, asker->child.pidfd, EPOLLIN,
				    on_end, asker);
	if (r >= 0)
		return 0;
	end_child(asker);
	if (child_wait(&asker->child, how) == 0)
		(void)close(asker->child.pidfd);
	asker->child = CHILD_NONE;
	return r;
}

int container_asker_ask(struct container_asker *asker, const struct container_labels *labels, u64 now_ns)
{
	struct container_message message = {.number = asker->number + 1, .labels = *labels};
	int r;

	if (asker->asked || now_ns < asker->rests_ns)
		return -EBUSY;
	/* The process was killed and has not ended yet. */
	if (asker->child.pidfd >= 0 && asker->child.socket < 0)
		return -EBUSY;
	if (asker->child.pidfd < 0) {
		r = start(asker);
		if (r < 0) {
			asker->rests_ns = now_ns + CONTAINER_ASKER_REST_SECONDS * NSEC_PER_SEC;
			log_once(asker, r, "cannot be started");
			return r;
		}
	}
	/* If the process ends, the pause until its next start counts from here, even if the request cannot be sent. */
	asker->used_ns = now_ns;
	/* No other message is in the socket, so this one fits. */
	if (send(asker->child.socket, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return errno == EAGAIN || errno == EPIPE ? -EBUSY : -errno;
	asker->number++;
	asker->asked = true;
	return 0;
}

void container_asker_tick(struct container_asker *asker, u64 now_ns)
{
	u64 since = now_ns > asker->used_ns ? now_ns - asker->used_ns : 0;

	if (asker->child.pidfd < 0 || asker->child.socket < 0)
		return;
	if (asker->asked && since >= CONTAINER_ASKER_SECONDS * NSEC_PER_SEC) {
		log_once(asker, 0, "has not answered in time, perhaps because a file system hangs");
		asker->rests_ns = now_ns + CONTAINER_ASKER_REST_SECONDS * NSEC_PER_SEC;
		end_child(asker);
		conclude(asker, NULL);
	} else if (!asker->asked && since >= CONTAINER_ASKER_IDLE_SECONDS * NSEC_PER_SEC) {
		end_child(asker);
	}
}

pid_t container_asker_pid(const struct container_asker *asker)
{
	return asker->child.pidfd >= 0 ? asker->child.pid : -1;
}

// SPDX-License-Identifier: GPL-2.0
#include "containers/containers.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/heap.h"
#include "cgroup/container_path.h"
#include "containers/container_files.h"
#include "containers/container_requester.h"
#include "containers/container_state.h"

struct known {
	const char *path; /* points into `texts`; must be first, as tfind(3) compares it with a plain path */
	struct container shown;
	char *texts;
	size_t bytes; /* memory of `texts` */
	unsigned int tries;
	u64 due_ns; /* time of the next search */
	u64 used_ns;
	bool wanting; /* is in the list `wanting` */
	bool again;   /* the path was born again, and the name may be another by now */
	TAILQ_ENTRY(known) all;
	TAILQ_ENTRY(known) waiting;
};

TAILQ_HEAD(known_list, known);

/* Memory of a path without its texts: the struct, and its node in the index (tsearch(3)). */
#define EACH_BYTES (heap_bytes(sizeof(struct known)) + 4 * sizeof(void *))

struct containers {
	struct container_lookup lookup;
	struct container_requester *requester; /* NULL: only paths */
	bool look;
	void *index; /* of struct known, by path: tsearch(3) */
	struct known_list all;
	struct known_list wanting; /* containers whose names are still missing */
	struct known *asked; /* entry that the pending request is for; NULL: none, or the entry was removed */
	size_t count;
	size_t bytes; /* memory of all texts */
	u64 now_ns;   /* time of the last tick */
};

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t containers_bytes(const struct containers *containers)
{
	return containers->bytes + containers->count * EACH_BYTES;
}

/*
 * Allocates one block for the path and all its labels. Returns 0, -ENOMEM, or -ENOSPC if that would exceed
 * CONTAINERS_BYTES_MAX.
 */
static int set_texts(struct containers *containers, struct known *known, const char *path,
		     const struct container_labels *labels)
{
	size_t size = strlen(path) + 1, own = known->texts ? 0 : EACH_BYTES;
	char *texts, *at;

	for (enum container_label label = 0; label < CONTAINER_LABELS; label++)
		size += strlen(labels->text[label]) + 1;
	if (containers_bytes(containers) - known->bytes + heap_bytes(size) + own > CONTAINERS_BYTES_MAX)
		return -ENOSPC;
	texts = at = malloc(size);
	if (!texts)
		return -ENOMEM;
	at = stpcpy(at, path) + 1;
	for (enum container_label label = 0; label < CONTAINER_LABELS; label++) {
		known->shown.text[label] = *labels->text[label] ? at : NULL;
		at = stpcpy(at, labels->text[label]) + 1;
	}
	free(known->texts);
	containers->bytes += heap_bytes(size) - known->bytes;
	known->bytes = heap_bytes(size);
	known->texts = texts;
	known->path = texts;
	return 0;
}

static void get_labels(const struct known *known, struct container_labels *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (enum container_label label = 0; label < CONTAINER_LABELS; label++)
		if (known->shown.text[label])
			(void)stpcpy(ret->text[label], known->shown.text[label]);
}

/* Gets the labels that the search begins with. */
static void get_labels_to_complete(const struct known *known, struct container_labels *ret)
{
	if (known->again)
		(void)container_path_parse(known->path, ret);
	else
		get_labels(known, ret);
}

static void give_up_looking(struct containers *containers, struct known *known)
{
	if (known->wanting)
		TAILQ_REMOVE(&containers->wanting, known, waiting);
	known->wanting = known->again = false;
}

/* The known labels stay until the answer. An answer to an earlier request may be too old. */
static void look_again(struct containers *containers, struct known *known)
{
	if (!known->wanting)
		TAILQ_INSERT_TAIL(&containers->wanting, known, waiting);
	if (containers->asked == known)
		containers->asked = NULL;
	known->wanting = known->again = true;
	known->tries = 0;
	known->due_ns = 0;
}

static void forget(struct containers *containers, struct known *known)
{
	give_up_looking(containers, known);
	if (containers->asked == known)
		containers->asked = NULL;
	tdelete(known, &containers->index, compare_paths);
	TAILQ_REMOVE(&containers->all, known, all);
	containers->count--;
	containers->bytes -= known->bytes;
	free(known->texts);
	free(known);
}

static void leave_to_list(void *known)
{
	(void)known;
}

struct containers *containers_free(struct containers *containers)
{
	if (!containers)
		return NULL;
	container_requester_free(containers->requester);
	tdestroy(containers->index, leave_to_list);
	while (!TAILQ_EMPTY(&containers->all)) {
		struct known *known = TAILQ_FIRST(&containers->all);

		TAILQ_REMOVE(&containers->all, known, all);
		free(known->texts);
		free(known);
	}
	free(containers);
	return NULL;
}

static void look_again_later(struct containers *containers, struct known *known)
{
	u64 wait = CONTAINERS_FIRST_NS;

	known->tries++;
	if (known->tries >= CONTAINERS_TRIES) {
		give_up_looking(containers, known);
		return;
	}
	for (unsigned int i = 1; i < known->tries; i++)
		wait *= 4;
	known->due_ns = containers->now_ns + wait;
}

/* Takes the runtime and names from the answer, if they are not known yet. */
static void merge(struct container_labels *labels, const struct container_labels *answer)
{
	static const enum container_label taken[] = {CONTAINER_LABEL_RUNTIME, CONTAINER_LABEL_NAMESPACE,
						     CONTAINER_LABEL_POD, CONTAINER_LABEL_CONTAINER};

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (!*labels->text[taken[i]] && container_state_is_name(answer->text[taken[i]]))
			(void)stpcpy(labels->text[taken[i]], answer->text[taken[i]]);
}

/* Requests the names of the first path that is due. */
static void ask_next(struct containers *containers)
{
	struct container_labels labels;
	struct known *known;

	if (!containers->requester || !containers->look)
		return;
	TAILQ_FOREACH (known, &containers->wanting, waiting)
		if (known->due_ns <= containers->now_ns)
			break;
	if (!known)
		return;
	get_labels_to_complete(known, &labels);
	if (container_requester_ask(containers->requester, &labels, containers->now_ns) == 0)
		containers->asked = known;
}

static void on_answered(void *userdata, const struct container_labels *answer)
{
	struct containers *containers = userdata;
	struct known *known = containers->asked;
	struct container_labels labels;

	containers->asked = NULL;
	if (known) {
		bool complete;

		get_labels_to_complete(known, &labels);
		if (answer)
			merge(&labels, answer);
		complete = container_files_complete(&labels);
		/*
		 * The index finds the entry by its path, which moves to new memory here. The text is the same, so
		 * the order stays.
		 */
		if ((complete || !known->again) && set_texts(containers, known, known->path, &labels) < 0)
			complete = false;
		if (complete)
			give_up_looking(containers, known);
		else
			look_again_later(containers, known);
	}
	ask_next(containers);
}

static const struct container *find(void *userdata, const char *path)
{
	return containers_find(userdata, path);
}

int containers_new(const struct containers_settings *settings, struct containers **ret)
{
	_cleanup_(containers_freep) struct containers *containers = calloc(1, sizeof(*containers));
	struct container_requester_settings requester = {.event = settings->event,
							 .program = settings->program,
							 .answered = on_answered,
							 .userdata = containers};
	int r = 0;

	if (!containers)
		return -ENOMEM;
	containers->lookup = (struct container_lookup){.find = find, .userdata = containers};
	TAILQ_INIT(&containers->all);
	TAILQ_INIT(&containers->wanting);
	if (settings->event)
		r = container_requester_new(&requester, &containers->requester);
	if (r == 0)
		*ret = TAKE_PTR(containers);
	return r;
}

void containers_look_for_names(struct containers *containers, bool yes)
{
	containers->look = yes;
}

/* Adds a path. Returns NULL if memory ran out or the limit is reached. */
static struct known *enter(struct containers *containers, const char *path,
			   const struct container_labels *labels)
{
	struct known *known = calloc(1, sizeof(*known));

	if (!known)
		return NULL;
	if (set_texts(containers, known, path, labels) < 0) {
		free(known);
		return NULL;
	}
	if (!tsearch(known, &containers->index, compare_paths)) {
		containers->bytes -= known->bytes;
		free(known->texts);
		free(known);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&containers->all, known, all);
	containers->count++;
	if (!container_files_complete(labels)) {
		known->wanting = true;
		TAILQ_INSERT_TAIL(&containers->wanting, known, waiting);
	}
	return known;
}

const struct container *containers_find(struct containers *containers, const char *path)
{
	struct known *const *place = tfind(&path, &containers->index, compare_paths);
	struct container_labels labels;
	struct known *known = place ? *place : NULL;

	if (!known) {
		if (!container_path_parse(path, &labels) || containers->count >= CONTAINERS_MAX)
			return NULL;
		known = enter(containers, path, &labels);
	}
	if (!known)
		return NULL;
	known->used_ns = containers->now_ns;
	return &known->shown;
}

const struct container_lookup *containers_lookup(struct containers *containers)
{
	return &containers->lookup;
}

void containers_born(struct containers *containers, const char *path)
{
	struct known *const *place = tfind(&path, &containers->index, compare_paths);
	struct container_labels labels;

	if (!containers->look || !container_path_parse(path, &labels) || container_files_complete(&labels))
		return;
	if (place)
		look_again(containers, *place);
	else
		(void)containers_find(containers, path);
}

void containers_tick(struct containers *containers, u64 now_ns)
{
	struct known *next;

	containers->now_ns = now_ns;
	for (struct known *known = TAILQ_FIRST(&containers->all); known; known = next) {
		next = TAILQ_NEXT(known, all);
		/* An entry that was added before the first tick has no time yet. */
		if (!known->used_ns)
			known->used_ns = now_ns;
		if (now_ns - known->used_ns > CONTAINERS_KEEP_NS)
			forget(containers, known);
	}
	if (!containers->requester)
		return;
	container_requester_tick(containers->requester, now_ns);
	if (!containers->asked)
		ask_next(containers);
}

size_t containers_count(const struct containers *containers)
{
	return containers->count;
}

pid_t containers_pid(const struct containers *containers)
{
	return containers->requester ? container_requester_pid(containers->requester) : -1;
}

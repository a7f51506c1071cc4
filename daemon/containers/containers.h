// SPDX-License-Identifier: GPL-2.0
/*
 * The labels of cgroups besides their paths. Labels that the path contains are known at once (container_path.h).
 * The names of pods and containers are kept on this host, and another process reads them (container_requester.h). A
 * result is kept as long as it is used. It is searched for again only if the path is born again, because an id never
 * belongs to another container, but a container can be renamed.
 *
 * Names may be written after the cgroup is made, so the search is repeated: there are at most CONTAINERS_TRIES
 * searches. Each wait is four times as long as the one before.
 */
#ifndef PEBSD_CONTAINERS_H
#define PEBSD_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "cgroup/container_label.h"
#include "pebsd/types.h"

#define CONTAINERS_TRIES    5
#define CONTAINERS_FIRST_NS (500 * NSEC_PER_MSEC) /* between the first two searches */

/*
 * Labels are kept this long after their last use. Each collection uses the labels of all exported series, so these
 * stay.
 */
#define CONTAINERS_KEEP_NS (1200 * NSEC_PER_SEC)

/*
 * Maximum number of labelled paths, and maximum of containers_bytes(). Further paths get no labels.
 */
#define CONTAINERS_MAX       65536
#define CONTAINERS_BYTES_MAX (32UL << 20)

struct containers_settings {
	sd_event *event;     /* NULL: only paths, as for a recording from another machine */
	const char *program; /* as in container_requester_settings; outlives `containers` */
};

struct containers;

/* Returns the bytes of memory for paths and their labels. */
size_t containers_bytes(const struct containers *containers);

/* Returns 0 or -ENOMEM. Free it with containers_free(). */
int containers_new(const struct containers_settings *settings, struct containers **ret);
struct containers *containers_free(struct containers *containers);
DEFINE_CLEANUP(struct containers *, containers_free)

/* Turns the search for names on or off, for a reload. At first it is off. Known names stay. */
void containers_look_for_names(struct containers *containers, bool yes);

/*
 * Returns the labels of a path that are known now, or NULL. They are valid until the next call of
 * containers_tick() or the next answer.
 */
const struct container *containers_find(struct containers *containers, const char *path);

/* Returns containers_find() as an interface for exporters, which is valid as long as `containers`. */
const struct container_lookup *containers_lookup(struct containers *containers);

/* Call this when a cgroup is born: the search for the cgroup's names then begins before they are needed. */
void containers_born(struct containers *containers, const char *path);

/* Call this once a collection. `now_ns`: CLOCK_MONOTONIC. */
void containers_tick(struct containers *containers, u64 now_ns);

/* Return the number of labelled paths, and the id of the process that reads names, or -1 if none runs. */
size_t containers_count(const struct containers *containers);
pid_t containers_pid(const struct containers *containers);

#endif

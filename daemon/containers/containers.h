// SPDX-License-Identifier: GPL-2.0
/*
 * What is told of cgroups beside their paths: by the path alone at once (container_path.h), and of pods and
 * containers the names that this host keeps, which another process reads (container_asker.h). What was found
 * is kept for as long as anybody asks for it, and is not read again: an id is never another container's.
 *
 * Names may be written after the cgroup is made: it is looked CONTAINERS_TRIES times at most, with four times
 * as long between as before.
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
#define CONTAINERS_FIRST_NS (500 * NSEC_PER_MSEC) /* between the first two */

/* Kept so long after it was last asked for: longer than a series lives (collect/series.h). */
#define CONTAINERS_KEEP_NS (1200 * NSEC_PER_SEC)

/* Most paths with labels, and most bytes of these paths and labels. Further paths get no labels. */
#define CONTAINERS_MAX       65536
#define CONTAINERS_BYTES_MAX (32UL << 20)

struct containers_settings {
	sd_event *event;     /* NULL: paths alone, as of a recording, which is another machine's */
	const char *program; /* as container_asker_settings; outlives `containers` */
};

struct containers;

/* Of memory for paths and what is known of them. */
size_t containers_bytes(const struct containers *containers);

/* 0 or -ENOMEM; free with containers_free(). */
int containers_new(const struct containers_settings *settings, struct containers **ret);
struct containers *containers_free(struct containers *containers);
DEFINE_CLEANUP(struct containers *, containers_free)

/* Whether names are looked for, for a reload; from the start they are not. Those that are known stay. */
void containers_look_for_names(struct containers *containers, bool yes);

/* What is known of a path now; NULL: nothing. Valid until the next call of containers_tick() or an answer. */
const struct container *containers_find(struct containers *containers, const char *path);

/* The same in the form that exporters take. The container's, as long as it lives. */
const struct container_lookup *containers_lookup(struct containers *containers);

/* A cgroup was born: its names are looked for before anybody asks. */
void containers_born(struct containers *containers, const char *path);

/* Once a collection. `now_ns`: CLOCK_MONOTONIC. */
void containers_tick(struct containers *containers, u64 now_ns);

/* How many are kept; and the process that reads, -1: none runs. */
size_t containers_count(const struct containers *containers);
pid_t containers_pid(const struct containers *containers);

#endif

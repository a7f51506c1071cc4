// SPDX-License-Identifier: GPL-2.0
/*
 * The service manager's descriptor store (FileDescriptorStoreMax= of the unit): what is put there outlives
 * this process, and the next one is passed it, as it is passed the sockets that a socket unit listens on.
 * Without a manager there is nothing to take, and what is put goes nowhere.
 *
 * A descriptor is kept under a name until it is removed by that name, or the unit stops. Whoever replaces one
 * puts the new one first, under another name, and removes the old one then: whenever the process ends, the
 * next is passed one of them at least, and says by what it holds itself which it takes.
 */
#ifndef PEBSD_STORE_H
#define PEBSD_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct store;

/*
 * Takes over all that the manager passed (sd_listen_fds_with_names(3)), and takes it out of the environment.
 * Before there are threads. 0 or -errno. store_free() closes what nobody took; what is stored stays stored.
 */
int store_open(struct store **ret);
struct store *store_free(struct store *store);
DEFINE_CLEANUP(struct store *, store_free)

/* Whether there is a manager to put anything at: it need not keep it. `store` may be NULL, here and below:
 * there is none. */
bool store_keeps(const struct store *store);

/*
 * The descriptor that was passed under a name; the caller's from now on, close-on-exec. -ENOENT: none;
 * -ENOTUNIQ: several, which stay.
 */
int store_take(struct store *store, const char *name);

/* The same where several may have that name, as the sockets of one unit do: one of those that nobody took.
 * -ENOENT: none is left. */
int store_take_one_of(struct store *store, const char *name);

/* Names of what was passed and not taken, from 0 on, ascending; NULL at the end. The store's, until one is
 * taken. */
const char *store_nth(const struct store *store, size_t index);

/* Closes what was passed and not taken, and has the manager forget it, as far as its name is one of ours
 * (stored_name.h): sockets, and what others named, stay. */
void store_drop_rest(struct store *store);

struct store_item {
	const char *name;
	int fd; /* stays the caller's */
};

/*
 * Has the manager keep descriptors: each of a name of its own, valid by stored_name.h. Returns when the
 * messages are sent; store_settle() waits for the manager. More than STORE_BATCH at a time are sent in parts,
 * each settled before the next. 0; -E2BIG where the names would not fit into the environment of the next
 * process (those before stay put); -errno.
 */
#define STORE_BATCH 200
int store_put(struct store *store, const char *name, int fd);
int store_put_all(struct store *store, const struct store_item *items, size_t n);

/* Has the manager close what it keeps under the name. 0 or -errno. */
int store_remove(struct store *store, const char *name);

/* Waits until the manager has read all that was put and removed. 0, -ETIMEDOUT, -errno. */
int store_settle(const struct store *store);

#endif

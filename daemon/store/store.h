// SPDX-License-Identifier: GPL-2.0
/*
 * The descriptor store of the service manager (FileDescriptorStoreMax= of the unit). Stored descriptors
 * outlive this process, and the manager passes them to the next process, just as it passes the sockets of a
 * socket unit. Without a manager, nothing is passed and nothing is stored.
 *
 * A descriptor is stored under a name until it is removed by that name, or until the unit stops. To replace a
 * descriptor, store the new one under another name first, then remove the old one. So the next process gets
 * at least one of them whenever this process ends, and it chooses by the content which one it uses.
 */
#ifndef PEBSD_STORE_H
#define PEBSD_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct store;

/*
 * Takes over everything that the manager passed (sd_listen_fds_with_names(3)), and removes it from the
 * environment. Call store_open() before there are threads. Returns 0 or -errno. store_free() closes the
 * descriptors that nobody took. The manager keeps its own copies of stored descriptors.
 */
int store_open(struct store **ret);
struct store *store_free(struct store *store);
DEFINE_CLEANUP(struct store *, store_free)

/*
 * Returns whether there is a manager that could store descriptors. It may still refuse to. `store` may be
 * NULL, here and below, which means that there is no manager.
 */
bool store_has_manager(const struct store *store);

/*
 * Takes the descriptor that was passed under `name`. The caller owns it, and it is close-on-exec. -ENOENT:
 * there is none. -ENOTUNIQ: there are several, and none of them is taken.
 */
int store_take(struct store *store, const char *name);

/*
 * Takes one of several descriptors that may have the same name, as the sockets of a unit do. -ENOENT: none is
 * left.
 */
int store_take_one_of(struct store *store, const char *name);

/*
 * Returns the name of the descriptor number `index` (from 0, in ascending order of names) that was passed and
 * not taken, or NULL at the end. The store owns the name. When a descriptor is taken, those after it move
 * down by one.
 */
const char *store_nth(const struct store *store, size_t index);

/*
 * Closes the descriptors that were passed and not taken, and makes the manager forget them. This applies only
 * to names in our own form (stored_name.h): sockets and names of others stay.
 */
void store_drop_rest(struct store *store);

/*
 * Stores a descriptor, which stays the caller's. The name is unique, and valid by stored_name.h. Returns when the
 * message is sent; store_settle() waits for the manager. If many descriptors are stored, also waits for the manager
 * between them. Returns 0 or -errno. -E2BIG: the name would not fit into the environment of the next process.
 */
int store_put(struct store *store, const char *name, int fd);

/* Makes the manager close the descriptors that it stores under `name`. Returns 0 or -errno. */
int store_remove(struct store *store, const char *name);

/*
 * Waits until the manager has processed all earlier messages of this process. Returns 0, -ETIMEDOUT or
 * -errno.
 */
int store_settle(struct store *store);

#endif

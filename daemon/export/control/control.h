// SPDX-License-Identifier: GPL-2.0
/*
 * The control socket: status and figures for pebsctl and for anything that speaks Varlink
 * (io.pebsd.varlink). Who may call is decided by the socket's mode; what does more than to tell, by
 * control_permit(); Reload is for root alone.
 */
#ifndef PEBSD_CONTROL_H
#define PEBSD_CONTROL_H

#include <json-c/json.h>
#include <systemd/sd-event.h>

#include "collect/hot_places.h"
#include "detail/zooms.h"
#include "neighbours/neighbours_report.h"
#include "policy/policy.h"
#include "snapshot/snapshot.h"

struct control_backend {
	/*
	 * The books over the last `window_seconds` (not known: all since the start), as near as they are
	 * kept. `ret` is the backend's and is used only until the next call. Returns 0, or -ENODATA where
	 * nothing was collected yet.
	 */
	int (*snapshot)(void *userdata, const struct maybe_double *window_seconds,
			const struct snapshot **ret);

	/* It was answered: what is in memory for the last snapshot alone can go. NULL: nothing is. */
	void (*release)(void *userdata);

	/*
	 * Reads the configuration again. Returns 0, with remarks on what could be taken over only in part; or
	 * -EINVAL with the mistakes, or another -errno, and then the old configuration stays. `ret_lines` is
	 * a NULL-terminated list of texts, or NULL; it and they are malloc'ed and the caller frees them.
	 */
	int (*reload)(void *userdata, char ***ret_lines);

	/*
	 * Frees every counter for others, for so many seconds (above 0, at most CONTROL_PAUSE_SECONDS_MAX;
	 * not known: until `resume`), in the place of a pause under way: the snapshot then says until when.
	 * Returns 0, -EOPNOTSUPP where there is no counter, or another -errno.
	 */
	int (*pause)(void *userdata, const struct maybe_double *seconds);

	/* Returns whether it was paused. */
	bool (*resume)(void *userdata);

	/* The policy, the backend's, as of the last collection; never NULL: it may have no rule. */
	const struct policy *(*policy)(void *userdata);

	/* Who rose when the cgroup of a path slowed: as neighbours_report(). */
	int (*neighbours)(void *userdata, const char *path, struct neighbours_report **ret);

	/*
	 * Tables of hot code and data: engine_hot_choose() for so many seconds from now, engine_hot_choice(),
	 * engine_hot_places(), which say what is returned.
	 */
	int (*hot_choose)(void *userdata, const char *path, double seconds);
	bool (*hot_choice)(void *userdata, const char *path, struct hot_choice *ret);
	int (*hot_places)(void *userdata, const char *path, unsigned event, enum hot_kind kind,
			  struct hot_places *ret);

	/* The zooms and the names of addresses, the backend's; never NULL. */
	struct zooms *(*zooms)(void *userdata);
	struct symbols *(*symbols)(void *userdata);

	/* Of an address of no process: as sampling_name(). NULL: nobody has names for them. */
	const struct symbol *(*name)(void *userdata, const struct symbol_query *query);

	void *userdata;
};

/* A year: what is paused by a slip of the keyboard is not so for good. */
#define CONTROL_PAUSE_SECONDS_MAX (365.0 * 86400)

struct control;

/*
 * Listens on `socket_path`, whose directory is made (0755) where it is missing. A socket that nobody answers
 * on is replaced. The mode is 0660 with `group`; 0600, and a warning, where there is no such group or it
 * cannot be given; 0600 where `group` is NULL. Two that start in the same moment may both find nobody
 * answering; who binds last has the path then, or the other fails. Returns 0, -EADDRINUSE where another
 * daemon answers, or another -errno; on failure `ret_message`, which the caller frees, says what to do.
 */
int control_new(sd_event *event, const char *socket_path, const char *group,
		const struct control_backend *backend, struct control **ret, char **ret_message);

/* Names who, beside root, may call what takes PERMISSION_DETAIL (export/control/permission.h): a user, a group, or
 * both where both have the name. Until it is called, nobody. */
void control_permit(struct control *control, const char *name);

/* Closes all connections, and removes the socket where it is still this one's. */
struct control *control_free(struct control *control);

/*
 * Sends {"time": now, "event": kind, "text": text, ...fields} to every watcher, with the texts in their shown
 * form (base/utf8.h). Takes `fields`, which may be NULL.
 */
void control_publish(struct control *control, const char *kind, const char *text, json_object *fields);

#endif

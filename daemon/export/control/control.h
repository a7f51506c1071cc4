// SPDX-License-Identifier: GPL-2.0
/*
 * The control socket: status and counters for pebsctl and for any client that speaks Varlink
 * (io.pebsd.varlink). The mode of the socket decides who may connect. control_permit() sets the users that may
 * call the methods that change something or look closer. Only root may call Reload.
 */
#ifndef PEBSD_CONTROL_H
#define PEBSD_CONTROL_H

#include <json-c/json.h>
#include <systemd/sd-event.h>

#include "detail/zooms.h"
#include "history/history_state.h"
#include "history/past.h"
#include "hot/hot_places.h"
#include "machine/resctrl.h"
#include "neighbours/neighbours_report.h"
#include "policy/policy.h"
#include "snapshot/snapshot.h"

struct control_backend {
	/*
	 * The sums over the last `window_seconds`; not known: over the whole time since the start. The window
	 * is the nearest one for which sums are kept. The backend owns `ret`, which is used only until the
	 * next call. Returns 0, or -ENODATA if nothing has been collected yet.
	 */
	int (*snapshot)(void *userdata, const struct maybe_double *window_seconds,
			const struct snapshot **ret);

	/*
	 * Called when the reply has been made: the backend may free memory that only the last snapshot needs.
	 * NULL: there is no such memory.
	 */
	void (*release)(void *userdata);

	/*
	 * Reads the configuration again. Returns 0, with remarks: values that were applied, values that need
	 * a restart, and warnings. Returns -EINVAL with the mistakes, or another -errno; the old
	 * configuration then stays in force. `ret_lines` is a NULL-terminated list of texts, or NULL. The
	 * list and its texts are malloc'ed, and the caller frees them.
	 */
	int (*reload)(void *userdata, char ***ret_lines);

	/*
	 * Frees every counter for other tools, for `seconds` (above 0, at most CONTROL_PAUSE_SECONDS_MAX; not
	 * known: until `resume`). Replaces a pause that is in force. The snapshot then has the end of the pause.
	 * Returns 0, -EOPNOTSUPP if there is no counter to free, or another -errno.
	 */
	int (*pause)(void *userdata, const struct maybe_double *seconds);

	/* Ends the pause. Returns true if sampling was paused. */
	bool (*resume)(void *userdata);

	/* The policy as of the last collection, owned by the backend. Never NULL, but it may have no rule. */
	const struct policy *(*policy)(void *userdata);

	/*
	 * Finds the cgroups whose traffic rose when the cgroup of a path slowed down: see neighbours_report().
	 */
	int (*neighbours)(void *userdata, const char *path, struct neighbours_report **ret);

	/*
	 * The past from `since_us` to `until_us` (CLOCK_REALTIME, since < until), in at most `bins` panes, 1 to
	 * HISTORY_PANES_MAX; 0: as many as a snapshot and its trend need. `path` NULL: all cgroups; "": one
	 * cgroup that is the sum of all; else only this one, or with `subtree` also all cgroups below it. The backend
	 * owns `ret`, which is valid until the caller returns to the event loop.
	 *
	 * Returns 0; -EAGAIN: asked for, call it again with the same arguments after control_retry() was called;
	 * -ENODATA: nothing is stored for this time; -EOPNOTSUPP: no history is kept; -EUSERS: too many
	 * questions wait; -EBUSY: another program has locked the database; -E2BIG: the answer is too large, ask for a
	 * shorter time, fewer bins or one cgroup; -ETIME: reading takes too long, ask for the same; -ETIMEDOUT; or
	 * another -errno.
	 */
	int (*past)(void *userdata, u64 since_us, u64 until_us, u32 bins, const char *path, bool subtree,
		    const struct past **ret);

	/*
	 * The alerts that were pending or firing in that time: a JSON array of objects as HISTORY_ASK_ALERTS
	 * returns them. Errors and validity of `ret_json` are as above. An empty array is not an error. `cgroup`, in
	 * its shown form: only the alerts of the rule on it, as json_explain_past() takes them; NULL: those of all
	 * cgroups and rules.
	 */
	int (*past_alerts)(void *userdata, u64 since_us, u64 until_us, const char *cgroup, const char *rule,
			   const char **ret_json);

	/* past_neighbours(). The past must be from past(). */
	int (*past_neighbours)(void *userdata, const struct past *past, const char *path,
			       struct neighbours_report **ret);

	/* The state of the history. */
	void (*history)(void *userdata, struct history_state *ret);

	/*
	 * The bandwidth of resctrl's groups. NULL, or without groups: not known. Reads the counters at most once in ten
	 * seconds, and not beside isolated CPUs. Owned by the backend.
	 */
	const struct resctrl_rates *(*bandwidth)(void *userdata);

	/*
	 * Hot tables (code and data): engine_hot_choose() for this many seconds from now, engine_hot_choice()
	 * and engine_hot_places(). Errors are described there.
	 */
	int (*hot_choose)(void *userdata, const char *path, double seconds);
	bool (*hot_choice)(void *userdata, const char *path, struct hot_choice *ret);
	int (*hot_places)(void *userdata, const char *path, unsigned event, enum hot_kind kind,
			  struct hot_places *ret);

	/* The zooms and the symbols, owned by the backend; never NULL. */
	struct zooms *(*zooms)(void *userdata);
	struct symbols *(*symbols)(void *userdata);

	/*
	 * Finds the name of an address that belongs to neither a process nor the kernel: see sampling_name().
	 * NULL: there are no such names.
	 */
	const struct symbol *(*name)(void *userdata, const struct symbol_query *query);

	void *userdata;
};

/* A year: a typing mistake does not pause sampling forever. */
#define CONTROL_PAUSE_SECONDS_MAX (365.0 * 86400)

struct control;

/*
 * Listens on `socket_path`, and creates its directory (0755) if it is missing. Replaces a socket on which
 * nobody answers. The mode is 0660 with `group`. It is 0600 if `group` is NULL. It is also 0600, with a
 * message in the log, if there is no such group or the socket cannot be given to it.
 *
 * If two daemons start at the same moment, both may find that nobody answers: then the one that binds last
 * either replaces the socket of the other, or fails. Returns 0, -EADDRINUSE if another daemon listens, or
 * another -errno. On failure `*ret_message`, which the caller frees, says what to do. It is NULL if only the
 * error is known.
 */
int control_new(sd_event *event, const char *socket_path, const char *group,
		const struct control_backend *backend, struct control **ret, char **ret_message);

/*
 * Permits the user and the group called `name` to call methods of PERMISSION_DETAIL
 * (export/control/permission.h). Root always may. Until this function is called, only root may.
 */
void control_permit(struct control *control, const char *name);

/* Permits every method to the user who runs this process, which then needs no privileges that the user lacks. */
void control_permit_own(struct control *control);

/* Closes all connections, and removes the socket if it still is the one that this process made. */
struct control *control_free(struct control *control);

/*
 * Sends {"time": now, "event": kind, "text": text, ...fields} to every watcher, with the texts in their shown
 * form (base/utf8.h), and the "name" of the "cgroup" if `fields` has one. Takes ownership of `fields`, which may be
 * NULL.
 */
void control_publish(struct control *control, const char *kind, const char *text, json_object *fields);

/* Makes the names of cgroups again if somebody is watching and they are old. Call it after each collection. */
void control_collected(struct control *control);

/* Runs the calls again that wait for an answer about the past: `past` and `past_alerts` may have it now. */
void control_retry(struct control *control);

#endif

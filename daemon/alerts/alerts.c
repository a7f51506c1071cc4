// SPDX-License-Identifier: GPL-2.0
#include "alerts/alerts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "alerts/alerts_saved.h"
#include "alerts/alerts_time.h"
#include "alerts/attributes.h"
#include "alerts/round_robin.h"
#include "base/log.h"
#include "cgroup/mount.h"
#include "cgroup/walk.h"

/* Each cgroup directory is read at least once within this many collections. The first round may take longer. */
#define PREFERENCE_COLLECTIONS 60
/* Maximum number of directories of pending alerts that are read again at each collection. */
#define PREFERENCE_PENDING_MAX 64

struct alerts {
	struct alerts_settings settings;
	struct policy *policy;
	struct act *act;
	struct alerts_saved *saved;
	int cgroup_root; /* -1: the paths are not in this kernel's cgroup tree */
	bool attributes_failed;
	struct reading before[EVENTS_MAX]; /* of the last collection */
	u64 collected_ns;
	char *last_pending; /* the path that read_pending() read last; NULL: none so far */
	char *last_in_turn; /* the path that read_in_turn() read last; NULL: begin a round */
	size_t round_paths; /* number of paths read in the last complete round */
	size_t paths_read;  /* number of paths read so far in this round */
};

/*
 * A recording has its own time, so its rules are not judged while it is served. `pebsd --test-rules` judges
 * them.
 */
static size_t rules_to_judge(const struct alerts_settings *settings)
{
	if (strcmp(engine_head(settings->engine)->origin, "replay") != 0)
		return settings->config->n_rules;
	if (settings->config->n_rules)
		log_notice(
			"rules are not judged on a recording that is served; to judge them, run pebsd --test-rules --replay FILE");
	return 0;
}

static int open_policy(struct alerts *alerts)
{
	const struct snapshot *head = engine_head(alerts->settings.engine);
	const u64 stored = act_next_number(alerts->act), saved = alerts_saved_next_number(alerts->saved);
	struct event events[EVENTS_MAX];

	for (size_t i = 0; i < head->n_events; i++)
		events[i] = head->events[i].event;
	return policy_new(
		&(struct policy_settings){
			.rules = alerts->settings.config->rules,
			.n_rules = rules_to_judge(&alerts->settings),
			.events = events,
			.n_events = head->n_events,
			.start_ns = engine_windows_began_ns(alerts->settings.engine),
			.next_number = stored > saved ? stored : saved,
			.max_bytes = POLICY_BYTES,
		},
		&alerts->policy);
}

static void read_preference(struct alerts *alerts, const char *path)
{
	_cleanup_(attributes_done) struct attributes attributes;

	/* The path of a removed cgroup keeps its preference until the policy forgets the path. */
	if (attributes_read(alerts->cgroup_root, path, &attributes) < 0)
		return;
	if (attributes.error < 0 && !alerts->attributes_failed) {
		alerts->attributes_failed = true;
		(void)log_warning(
			0,
			"the attribute %s of the cgroup %s has no effect, because it cannot be read: %s; such a failure is not logged again",
			attributes.unread, path,
			attributes.error == -E2BIG ? "its value is too long" : strerror(-attributes.error));
	}
	(void)policy_prefer(alerts->policy, path, &attributes.preference);
}

/*
 * Ends the alerts of a cgroup that was removed or excluded while no pebsd was running. No listener reports
 * such a change later. Reads the attributes of other cgroups: on a host with hundreds of cgroups their turn might come
 * after the window is full, and an alert whose attribute has a lower threshold would resolve.
 */
static void refresh_restored(struct alerts *alerts, const char *path)
{
	_cleanup_close_ int fd = -1;

	if (!config_exports(alerts->settings.config, path))
		policy_leave_out(alerts->policy, path);
	if (alerts->cgroup_root < 0)
		return;
	fd = cgroup_walk_open(alerts->cgroup_root, path);
	if (fd == -ENOENT)
		policy_gone(alerts->policy, path);
	else
		read_preference(alerts, path);
}

/*
 * Restores the alerts of the previous process. Alerts of removed or changed rules end with the first
 * collection.
 */
static int restore(struct alerts *alerts)
{
	const struct policy_saved_alert *saved_alerts;
	size_t n, stale = 0;
	int r;

	if (alerts_saved_is_newer(alerts->saved, act_judged_ns(alerts->act)))
		saved_alerts = alerts_saved_alerts(alerts->saved, &n);
	else
		saved_alerts = act_saved_alerts(alerts->act, &n);
	for (size_t i = 0; i < n; i++) {
		r = policy_restore_alert(alerts->policy, &saved_alerts[i]);
		if (r == -ESTALE)
			stale++;
		else if (r < 0)
			return r;
		else
			refresh_restored(alerts, saved_alerts[i].cgroup);
	}
	if (n && !stale)
		log_info("restored %zu alert%s from before the restart", n, n == 1 ? "" : "s");
	else if (n)
		log_info(
			"restored %zu of %zu alerts from before the restart: the rules of the others were changed or removed, or no longer judge their cgroups or events",
			n - stale, n);
	act_forget_saved_alerts(alerts->act);
	return 0;
}

static int open_saved(struct alerts *alerts)
{
	const struct engine *engine = alerts->settings.engine;
	const char *wrong;
	int r = alerts_saved_new(engine_state(engine), engine_collected_ns(engine), &alerts->saved, &wrong);

	if (r == 0 && wrong)
		log_full(
			LOG_WARNING, 0, NULL,
			"%s; they are restored from the copy in %s, which has pending alerts as they were at their last change",
			wrong, alerts->settings.directory);
	return r;
}

static void open_cgroups(struct alerts *alerts)
{
	_cleanup_free_ char *mount = NULL;
	bool subtree;
	int r;

	if (!alerts->settings.live_cgroups)
		return;
	r = cgroup_mount_find(&mount, &subtree);
	if (r == 0) {
		alerts->cgroup_root = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = alerts->cgroup_root < 0 ? -errno : 0;
	}
	if (r < 0)
		(void)log_warning(
			0,
			"cannot open the cgroup2 hierarchy: %s; rules ignore the attributes user.pebsd.ignore and user.pebsd.threshold of cgroups",
			strerror(-r));
}

int alerts_new(const struct alerts_settings *settings, struct alerts **ret)
{
	_cleanup_(alerts_freep) struct alerts *alerts = calloc(1, sizeof(*alerts));
	const struct act_settings act = {
		.event = settings->event,
		.directory = settings->directory,
		.no_units = sd_booted() <= 0,
		.start_detail = settings->start_detail,
		.userdata = settings->userdata,
	};
	int r;

	if (!alerts)
		return -ENOMEM;
	alerts->settings = *settings;
	alerts->cgroup_root = -1;
	alerts->collected_ns = engine_windows_began_ns(settings->engine);
	r = act_new(&act, &alerts->act);
	if (r < 0)
		return r;
	/* These readings may include counts of a previous process, up to the time where windows begin. */
	for (unsigned event = 0; event < engine_head(settings->engine)->n_events; event++)
		alerts->before[event] = engine_reading(settings->engine, event);
	open_cgroups(alerts);
	r = open_saved(alerts);
	if (r == 0)
		r = open_policy(alerts);
	if (r == 0)
		r = restore(alerts);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(alerts);
	return 0;
}

struct alerts *alerts_free(struct alerts *alerts)
{
	if (!alerts)
		return NULL;
	alerts_saved_free(alerts->saved);
	policy_free(alerts->policy);
	act_free(alerts->act);
	if (alerts->cgroup_root >= 0)
		(void)close(alerts->cgroup_root);
	free(alerts->last_pending);
	free(alerts->last_in_turn);
	free(alerts);
	return NULL;
}

/*
 * Reads the directories of pending alerts, so that a preference that was just written has an effect before
 * the alert fires. If there are more than PREFERENCE_PENDING_MAX directories, they take turns.
 */
static void read_pending(struct alerts *alerts)
{
	_cleanup_free_ struct policy_saved_alert *list = NULL;
	_cleanup_free_ const char **pending = NULL;
	char *paths[PREFERENCE_PENDING_MAX];
	size_t n, n_pending = 0, n_paths = 0;

	/* Unlike policy_alerts(), this computes no bounds. */
	if (policy_save_states(alerts->policy, &list, &n) < 0)
		return;
	pending = calloc(n ? n : 1, sizeof(*pending));
	if (!pending)
		return;
	for (size_t i = 0; i < n; i++)
		if (list[i].state == ALERT_PENDING)
			pending[n_pending++] = list[i].cgroup;
	n_pending = round_robin(pending, n_pending, alerts->last_pending, PREFERENCE_PENDING_MAX);
	for (size_t i = 0; i < n_pending; i++) {
		paths[n_paths] = strdup(pending[i]);
		n_paths += paths[n_paths] != NULL;
	}
	for (size_t i = 0; i < n_paths; i++) {
		read_preference(alerts, paths[i]);
		free(alerts->last_pending);
		alerts->last_pending = paths[i];
	}
}

/* Reads the next directories: enough that a round as long as the last one takes PREFERENCE_COLLECTIONS. */
static void read_in_turn(struct alerts *alerts)
{
	size_t n = alerts->round_paths / PREFERENCE_COLLECTIONS + 8;

	while (n--) {
		const char *next = policy_next_path(alerts->policy, alerts->last_in_turn);
		char *path = next ? strdup(next) : NULL;

		free(alerts->last_in_turn);
		alerts->last_in_turn = path;
		if (!path) {
			alerts->round_paths = alerts->paths_read;
			alerts->paths_read = 0;
			return;
		}
		alerts->paths_read++;
		read_preference(alerts, path);
	}
}

/* Passes the deltas to the policy. Adjacent deltas of the same entry are passed together. */
static void put_deltas(struct alerts *alerts)
{
	struct engine *engine = alerts->settings.engine;
	const struct delta *list;
	size_t n;

	list = engine_deltas(engine, &n);
	for (size_t i = 0, next; i < n; i = next) {
		struct totals_entry *entry = list[i].entry;

		for (next = i + 1; next < n && list[next].entry == entry;)
			next++;
		if (!engine_exports(engine, entry))
			continue;
		policy_put(alerts->policy, entry->number, entry->path, &list[i], next - i);
		/*
		 * The cgroup is gone, and alerts_gone() was called before these samples. They may be the
		 * first samples of the path, so the policy may have ignored that call. Report the removal
		 * again.
		 */
		if (!entry->living)
			policy_gone(alerts->policy, entry->path);
	}
}

static void read_times(struct alerts *alerts, u64 elapsed_ns, struct sliding_time ret[EVENTS_MAX])
{
	const struct snapshot *head = engine_head(alerts->settings.engine);

	for (unsigned event = 0; event < head->n_events; event++) {
		struct reading now = engine_reading(alerts->settings.engine, event);

		ret[event] =
			alerts_time(&now, &alerts->before[event], elapsed_ns, head->events[event].n_cpus);
		alerts->before[event] = now;
		policy_set_period(alerts->policy, event, head->events[event].event.period);
		policy_set_frequency(
			alerts->policy, event,
			head->events[event].frequency_hz.known ? head->events[event].frequency_hz.value : 0);
	}
}

static void act(struct alerts *alerts, const struct transition *transitions, size_t n)
{
	act_on(alerts->act, alerts->policy, transitions, n);
	for (size_t i = 0; i < n && alerts->settings.changed; i++)
		alerts->settings.changed(alerts->settings.userdata, &transitions[i]);
}

/* Saves the alerts, after the actions. Until then the alert store on disk is the newer copy. */
static void save(struct alerts *alerts)
{
	int r = alerts_saved_write(alerts->saved, alerts->policy);

	if (r < 0)
		(void)log_warning(
			0,
			"cannot save the alerts for the next process: %s; the next process continues from the copy in %s, which has pending alerts as they were at their last change",
			strerror(-r), alerts->settings.directory);
}

void alerts_collected(struct alerts *alerts)
{
	const struct snapshot *head = engine_head(alerts->settings.engine);
	u64 now_ns = engine_collected_ns(alerts->settings.engine);
	struct sliding_time time[EVENTS_MAX] = {0};
	const struct transition *transitions;
	size_t n;
	int r;

	if (alerts->cgroup_root >= 0) {
		read_pending(alerts);
		read_in_turn(alerts);
	}
	read_times(alerts, now_ns - alerts->collected_ns, time);
	alerts->collected_ns = now_ns;
	policy_set_no_slot(alerts->policy, head->no_slot);
	policy_begin(alerts->policy, now_ns, &head->taken, time);
	put_deltas(alerts);
	r = policy_tick(alerts->policy, &transitions, &n);
	if (r < 0)
		(void)log_warning(
			0,
			"cannot judge every rule at this collection: %s; a rule whose window was discarded because of this neither fires nor resolves until its window is full again",
			strerror(-r));
	act(alerts, transitions, n);
	save(alerts);
	act_clean(alerts->act, &head->taken);
}

/* Leaves out the paths that `include` and `exclude` no longer admit. */
static int leave_out(struct alerts *alerts)
{
	_cleanup_free_ char *path = NULL;
	const char *next;

	while ((next = policy_next_path(alerts->policy, path))) {
		char *copy = strdup(next);

		if (!copy)
			return -ENOMEM;
		free(path);
		path = copy;
		if (!config_exports(alerts->settings.config, path))
			policy_leave_out(alerts->policy, path);
	}
	return 0;
}

int alerts_reload(struct alerts *alerts)
{
	int r = policy_set_rules(alerts->policy, alerts->settings.config->rules,
				 rules_to_judge(&alerts->settings));

	return r < 0 ? r : leave_out(alerts);
}

void alerts_gone(struct alerts *alerts, const char *path)
{
	policy_gone(alerts->policy, path);
}

const struct policy *alerts_policy(const struct alerts *alerts)
{
	return alerts->policy;
}

const struct act *alerts_act(const struct alerts *alerts)
{
	return alerts->act;
}

int alerts_cgroup_root(const struct alerts *alerts)
{
	return alerts->cgroup_root;
}

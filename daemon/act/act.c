// SPDX-License-Identifier: GPL-2.0
#include "act/act.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "act/action_rate_limit.h"
#include "act/alert_files.h"
#include "act/alert_store.h"
#include "act/facts.h"
#include "act/journal.h"
#include "act/unit.h"
#include "base/log.h"
#include "base/text_file.h"

#define CLEAN_EVERY_S 60
/* The actions whose effect outlives the daemon. Their intents are stored. */
#define STORED_ACTIONS ((unsigned)(RULE_LOG | RULE_UNIT))

#define RESOLVED_S ((time_t)(DECIDE_RESOLVED_NS / NSEC_PER_SEC))

struct act {
	char *directory;
	int fd; /* of the directory; -1: the directory cannot be used */
	bool no_units;
	int (*start_detail)(void *userdata, const struct transition *transition, enum rule_action action,
			    char **ret_message);
	void *userdata;
	bool write_failed;         /* the last write failed, which was logged */
	bool remove_failed;        /* a file could not be removed, which was logged */
	struct alert_store before; /* the store that was found at the start */
	struct alert_store store;
	sd_event_source *write; /* writes the store when the event loop runs again */
	struct unit *unit;
	struct action_rate_limit limits[ACT_KINDS];
	u64 counts[ACT_KINDS][ACT_RESULTS];
	time_t cleaned;
};

static void count(struct act *act, enum act_kind kind, enum act_result result)
{
	act->counts[kind][result]++;
}

static const char *why_not(int error)
{
	switch (error) {
	case -EPERM:
		return "it belongs to another user, or other users may write to it; give it to the daemon's user, with mode 0700";
	case -EACCES:
		return "permission denied; it must exist and belong to the daemon's user, with mode 0700";
	case -EBUSY:
		return "another daemon uses it; stop that daemon, or use a --socket in another directory";
	case -ENOSPC:
	case -EDQUOT:
		return "its file system has no space left; free some space";
	case -E2BIG:
		return "it would be too large to be read again; let rules judge fewer cgroups";
	case -EROFS:
		return "its file system is read-only; make it writable";
	default:
		return strerror(-error);
	}
}

/* Logs a failure once, and again only after a write succeeded. */
static void log_written(struct act *act, int result)
{
	if (result < 0 && !act->write_failed)
		(void)log_error(
			0,
			"cannot write the state of alerts to %s: %s; alerts are judged and logged, but no unit is started, and a restart may forget them",
			act->directory, why_not(result));
	else if (result == 0 && act->write_failed)
		log_notice("the state of alerts is written to %s again", act->directory);
	act->write_failed = result < 0;
}

/*
 * Units find the facts of their alerts below the directory's path, so the path must lead to the open directory.
 * If that was removed or replaced, opens the path again. Returns 0 or -errno.
 */
static int follow_directory(struct act *act)
{
	struct stat open, there;
	int fd, r;

	if (fstat(act->fd, &open) < 0)
		return -errno;
	if (lstat(act->directory, &there) == 0 && open.st_dev == there.st_dev && open.st_ino == there.st_ino)
		return 0;
	r = alert_files_open(act->directory, &fd);
	if (r < 0)
		return r;
	(void)close(act->fd);
	act->fd = fd;
	log_notice(
		"the directory %s was removed or replaced: pebsd now uses the new one, but the files NUMBER.env of earlier alerts are lost",
		act->directory);
	return 0;
}

/* Writes the store. Returns whether it is on disk. */
static bool write_store(struct act *act)
{
	int r;

	(void)sd_event_source_set_enabled(act->write, SD_EVENT_OFF);
	if (act->fd < 0)
		return false;
	r = follow_directory(act);
	if (r == 0)
		r = alert_store_write(act->fd, &act->store);
	log_written(act, r);
	return r == 0;
}

static int write_later(sd_event_source *source, void *userdata)
{
	(void)source;
	(void)write_store(userdata);
	return 0;
}

static void changed(struct act *act)
{
	(void)sd_event_source_set_enabled(act->write, SD_EVENT_ONESHOT);
}

static void unit_ended(void *userdata, u64 alert, int result, const char *message)
{
	struct act *act = userdata;

	count(act, ACT_UNIT, result < 0 ? ACT_FAILED : ACT_DONE);
	if (result == -ECONNRESET || result == -ETIMEDOUT)
		log_full(LOG_ERR, 0, NULL,
			 "%s (the unit may have been started after all, so pebsd does not try again)",
			 message);
	else if (result < 0)
		log_full(LOG_ERR, 0, NULL, "%s", message);
	alert_store_end(&act->store, alert, true, RULE_UNIT);
	changed(act);
}

static void log_begun(const struct alert_store *store)
{
	for (size_t i = 0; i < store->n_intents; i++) {
		const struct alert_store_intent *intent = &store->intents[i];
		char name[UNIT_NAME_MAX];

		unit_name(intent->alert, name);
		if (intent->actions & RULE_UNIT)
			log_full(
				LOG_WARNING, 0, NULL,
				"%s may not have run: the daemon ended while starting it, and does not try again, because no action runs twice; if it did not run, run systemctl start %s",
				name, name);
		if (intent->actions & RULE_LOG)
			log_notice("alert %llu %s just as the daemon ended: its log entry may be missing",
				   (unsigned long long)intent->alert, intent->firing ? "fired" : "resolved");
	}
}

static void raise_number(void *userdata, u64 alert)
{
	struct alert_store *store = userdata;

	if (alert >= store->next_number && alert < ALERT_STORE_NUMBERS_MAX)
		store->next_number = alert + 1;
}

/* Forgets the alerts of an earlier boot, because their cgroups are gone. The numbers of alerts continue. */
static int leave_boot(struct act *act, const char *boot)
{
	if (strcmp(act->store.boot, boot) == 0)
		return 0;
	if (act->store.n_saved_alerts)
		log_notice("%zu alert%s (pending, firing or just resolved) ended with the previous boot",
			   act->store.n_saved_alerts, act->store.n_saved_alerts == 1 ? "" : "s");
	act->store.n_files = 0;
	act->store.judged_ns = 0;
	(void)snprintf(act->store.boot, sizeof(act->store.boot), "%s", boot);
	return alert_store_set_alerts(&act->store, NULL, 0);
}

static int take_over(struct act *act)
{
	_cleanup_free_ char *message = NULL, *boot = NULL;
	int r;

	r = alert_store_read(act->fd, &act->store, &message);
	if (message)
		log_full(LOG_WARNING, 0, NULL, "%s: %s", act->directory, message);
	if (r < 0)
		return r;
	/* If the state was lost, the names of the files still show some of the numbers in use. */
	r = alert_files_scan(act->fd, raise_number, &act->store);
	if (r < 0)
		return r;
	log_begun(&act->store);
	act->store.n_intents = 0;
	if (text_file_read("/proc/sys/kernel/random/boot_id", &boot) == 0 &&
	    strlen(boot) < ALERT_STORE_BOOT_MAX)
		r = leave_boot(act, boot);
	if (r == 0)
		r = alert_store_set_alerts(&act->before, act->store.saved_alerts, act->store.n_saved_alerts);
	act->before.next_number = act->store.next_number;
	act->before.judged_ns = act->store.judged_ns;
	return r;
}

/*
 * If the directory cannot be used, alerts are not stored and no unit is started. Everything else works, so
 * only -ENOMEM is returned.
 */
static int open_directory(struct act *act)
{
	int r;

	r = alert_files_open(act->directory, &act->fd);
	if (r == 0)
		r = take_over(act);
	if (r == 0) {
		(void)write_store(act);
		return 0;
	}
	if (act->fd >= 0)
		(void)close(act->fd);
	act->fd = -1;
	if (r == -ENOMEM)
		return r;
	log_full(
		LOG_ERR, 0, NULL,
		"cannot use the directory %s for alerts: %s; alerts are judged and logged, but no unit is started, and a restart may forget them",
		act->directory, why_not(r));
	return 0;
}

int act_new(const struct act_settings *settings, struct act **ret)
{
	_cleanup_(act_freep) struct act *act = calloc(1, sizeof(*act));
	struct unit_settings units = {.event = settings->event,
				      .timeout_ns = UNIT_TIMEOUT_NS,
				      .ended = unit_ended,
				      .userdata = act};
	int r;

	if (!act)
		return -ENOMEM;
	act->fd = -1;
	act->no_units = settings->no_units;
	act->start_detail = settings->start_detail;
	act->userdata = settings->userdata;
	alert_store_init(&act->before);
	alert_store_init(&act->store);
	act->directory = strdup(settings->directory);
	if (!act->directory)
		return -ENOMEM;
	r = unit_new(&units, &act->unit);
	if (r >= 0)
		r = sd_event_add_defer(settings->event, &act->write, write_later, act);
	if (r >= 0)
		r = sd_event_source_set_enabled(act->write, SD_EVENT_OFF);
	if (r >= 0)
		r = open_directory(act);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(act);
	return 0;
}

struct act *act_free(struct act *act)
{
	int pending = SD_EVENT_OFF;

	if (!act)
		return NULL;
	if (act->write && sd_event_source_get_enabled(act->write, &pending) >= 0 && pending != SD_EVENT_OFF)
		(void)write_store(act);
	sd_event_source_disable_unref(act->write);
	unit_free(act->unit);
	alert_store_clear(&act->before);
	alert_store_clear(&act->store);
	if (act->fd >= 0)
		(void)close(act->fd);
	free(act->directory);
	free(act);
	return NULL;
}

u64 act_next_number(const struct act *act)
{
	return act->before.next_number;
}

u64 act_judged_ns(const struct act *act)
{
	return act->before.judged_ns;
}

const struct policy_saved_alert *act_saved_alerts(const struct act *act, size_t *ret_n)
{
	*ret_n = act->before.n_saved_alerts;
	return act->before.saved_alerts;
}

void act_forget_saved_alerts(struct act *act)
{
	const u64 next_number = act->before.next_number, judged_ns = act->before.judged_ns;

	alert_store_clear(&act->before);
	alert_store_init(&act->before);
	act->before.next_number = next_number;
	act->before.judged_ns = judged_ns;
}

/* Marks each NUMBER.env whose alert has stopped firing: act_clean() removes it after DECIDE_RESOLVED_NS. */
static void note_resolved(struct act *act)
{
	_cleanup_free_ bool *firing = calloc(act->store.n_files + 1, sizeof(*firing));
	struct timespec now;

	if (!firing)
		return;
	for (size_t i = 0; i < act->store.n_saved_alerts; i++) {
		const struct policy_saved_alert *saved = &act->store.saved_alerts[i];
		const struct alert_store_file *file = alert_store_find_file(&act->store, saved->number);

		if (file && saved->state == ALERT_FIRING)
			firing[file - act->store.files] = true;
	}
	(void)clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < act->store.n_files; i++)
		if (!firing[i] && act->store.files[i].resolved.tv_sec == 0)
			act->store.files[i].resolved = now;
}

static int save_alerts(struct act *act, const struct policy *policy)
{
	_cleanup_free_ struct policy_saved_alert *saved_alerts = NULL;
	size_t n;
	int r;

	r = policy_save_alerts(policy, &saved_alerts, &n);
	if (r == 0)
		r = alert_store_set_alerts(&act->store, saved_alerts, n);
	if (r < 0)
		return r;
	act->store.next_number = policy_next_number(policy);
	act->store.judged_ns = policy_judged_ns(policy);
	note_resolved(act);
	return 0;
}

/* The actions that the rule asks for on a transition. */
static unsigned wanted(const struct transition *transition)
{
	const struct rule *rule = transition->alert.rule;

	if (transition->to != ALERT_FIRING &&
	    (transition->to != ALERT_RESOLVED || transition->from != ALERT_FIRING))
		return 0;
	/* A dry run is always logged, even without the action `log`: it has no other effect. */
	if (rule->dry_run)
		return RULE_LOG;
	return transition->to == ALERT_FIRING ? rule->actions : rule->actions & RULE_LOG;
}

static void drop_limited(struct act *act, enum act_kind kind, unsigned action, unsigned *actions, u64 now_ns)
{
	if (!(*actions & action) || action_rate_limit_take(&act->limits[kind], now_ns))
		return;
	*actions &= ~action;
	count(act, kind, ACT_LIMITED);
}

static void log_limited(struct act *act)
{
	static const char *const what[ACT_KINDS] = {
		[ACT_LOG] = "log entries of alerts are left out",
		[ACT_UNIT] = "units of alerts are not started",
		[ACT_ZOOM] = "zooms of alerts are not started",
		[ACT_HOT] = "hot tables of alerts are not started",
	};
	u64 refused;

	for (unsigned kind = 0; kind < ACT_KINDS; kind++)
		if (action_rate_limit_report(&act->limits[kind], &refused))
			log_full(
				LOG_WARNING, 0, NULL,
				"%s (%llu so far): the limit is %d at once, then one every %llu s; `pebsctl alerts` lists all alerts",
				what[kind], (unsigned long long)refused, ACTION_RATE_BURST,
				ACTION_RATE_EVERY_NS / NSEC_PER_SEC);
}

/* Decides which actions to run, and notes their intents in the store. */
static int plan(struct act *act, const struct transition *transition, u64 now_ns, unsigned *ret)
{
	unsigned actions = wanted(transition);
	int r = 0;

	drop_limited(act, ACT_LOG, RULE_LOG, &actions, now_ns);
	drop_limited(act, ACT_UNIT, RULE_UNIT, &actions, now_ns);
	drop_limited(act, ACT_ZOOM, RULE_ZOOM, &actions, now_ns);
	drop_limited(act, ACT_HOT, RULE_HOT, &actions, now_ns);
	*ret = actions;
	if ((actions & STORED_ACTIONS) && transition->alert.number)
		r = alert_store_begin(&act->store, transition->alert.number, transition->to == ALERT_FIRING,
				      actions & STORED_ACTIONS);
	if (r == 0 && (actions & RULE_UNIT))
		r = alert_store_add_file(&act->store, transition->alert.number);
	return r;
}

static int write_facts(struct act *act, u64 alert, const struct facts *facts)
{
	_cleanup_free_ char *text = NULL;
	char name[ALERT_FILES_NAME_MAX];
	int r;

	r = facts_format(facts, &text);
	if (r < 0)
		return r;
	alert_files_name(alert, name);
	return alert_store_replace(act->fd, name, text, strlen(text));
}

static void run_log(struct act *act, const struct transition *transition, const struct facts *facts)
{
	count(act, ACT_LOG, journal_write(transition, facts) < 0 ? ACT_FAILED : ACT_DONE);
	alert_store_end(&act->store, transition->alert.number, transition->to == ALERT_FIRING, RULE_LOG);
}

/*
 * `result`: -errno if the facts could not be made or written, else 0. The facts must be on disk before the
 * unit starts.
 */
static void run_unit(struct act *act, const struct transition *transition, bool stored, int result)
{
	u64 alert = transition->alert.number;
	char name[UNIT_NAME_MAX];

	if (stored && result == 0 && !act->no_units) {
		unit_start(act->unit, alert);
		return;
	}
	unit_name(alert, name);
	if (act->no_units)
		(void)log_error(
			0,
			"cannot start %s: systemd is not the service manager here; remove `unit` from the rule's action",
			name);
	else if (stored)
		(void)log_error(0, "cannot start %s: cannot write its environment file to %s: %s", name,
				act->directory, why_not(result));
	count(act, ACT_UNIT, ACT_FAILED);
	alert_store_end(&act->store, alert, true, RULE_UNIT);
}

static void run_detail(struct act *act, const struct transition *transition, enum act_kind kind,
		       enum rule_action action)
{
	_cleanup_free_ char *message = NULL;
	int r = act->start_detail ? act->start_detail(act->userdata, transition, action, &message)
				  : -EOPNOTSUPP;

	count(act, kind, r < 0 ? ACT_FAILED : ACT_DONE);
	if (r < 0)
		(void)log_error(message ? 0 : r, "the action %s of alert %llu (rule %s) failed%s%s",
				act_kind_name(kind), (unsigned long long)transition->alert.number,
				transition->alert.rule->name, message ? ": " : "", message ? message : "");
}

static void run(struct act *act, const struct transition *transition, unsigned actions, bool stored)
{
	_cleanup_(facts_clear) struct facts facts = {0};
	int r;

	r = facts_make(transition, &facts);
	if (r == 0 && stored && (actions & RULE_UNIT) && !act->no_units)
		r = write_facts(act, transition->alert.number, &facts);
	if (actions & RULE_LOG)
		run_log(act, transition, &facts);
	if (actions & RULE_UNIT)
		run_unit(act, transition, stored, r);
	if (actions & RULE_ZOOM)
		run_detail(act, transition, ACT_ZOOM, RULE_ZOOM);
	if (actions & RULE_HOT)
		run_detail(act, transition, ACT_HOT, RULE_HOT);
}

void act_on(struct act *act, const struct policy *policy, const struct transition *transitions, size_t n)
{
	_cleanup_free_ unsigned *actions = calloc(n ? n : 1, sizeof(*actions));
	uint64_t now_us = 0;
	bool stored;
	int r;

	if (n == 0)
		return;
	if (!actions) {
		(void)log_error(0, "cannot act on changes of alerts (%zu): %s; none of their actions runs", n,
				strerror(ENOMEM));
		return;
	}
	(void)sd_event_now(sd_event_source_get_event(act->write), CLOCK_MONOTONIC, &now_us);
	r = save_alerts(act, policy);
	for (size_t i = 0; i < n; i++) {
		int planned = plan(act, &transitions[i], now_us * NSEC_PER_USEC, &actions[i]);

		r = r < 0 ? r : planned;
	}
	if (r < 0)
		(void)log_error(0, "cannot record changes of alerts (%zu): %s; their units are not started",
				n, strerror(-r));
	stored = r == 0 && write_store(act);
	for (size_t i = 0; i < n; i++)
		if (actions[i]) {
			run(act, &transitions[i], actions[i], stored);
			changed(act);
		}
	log_limited(act);
}

static void remove_file(struct act *act, u64 alert)
{
	int r = alert_files_remove(act->fd, alert);

	if (r < 0) {
		if (!act->remove_failed)
			(void)log_warning(
				0,
				"cannot remove the environment file of alert %llu from %s: %s; pebsd tries again every minute, and does not log this again",
				(unsigned long long)alert, act->directory, why_not(r));
		act->remove_failed = true;
		return;
	}
	if (!alert_store_find_file(&act->store, alert))
		return;
	alert_store_remove_file(&act->store, alert);
	changed(act);
}

/* Removes a file that the store does not know: an earlier daemon left it, or it is half-written. */
static void remove_orphan(void *userdata, u64 alert)
{
	struct act *act = userdata;

	if (!alert_store_find_file(&act->store, alert))
		remove_file(act, alert);
}

void act_clean(struct act *act, const struct timespec *now)
{
	if (act->fd < 0 || (act->cleaned && llabs((long long)now->tv_sec - act->cleaned) < CLEAN_EVERY_S))
		return;
	act->cleaned = now->tv_sec;
	for (size_t i = act->store.n_files; i-- > 0;) {
		struct alert_store_file *file = &act->store.files[i];

		/* The clock was set back: count the time from now. */
		if (file->resolved.tv_sec > now->tv_sec)
			file->resolved = *now;
		if (file->resolved.tv_sec && now->tv_sec - file->resolved.tv_sec >= RESOLVED_S)
			remove_file(act, file->alert);
	}
	(void)alert_files_scan(act->fd, remove_orphan, act);
}

u64 act_count(const struct act *act, enum act_kind kind, enum act_result result)
{
	return act->counts[kind][result];
}

const char *act_kind_name(enum act_kind kind)
{
	static const char *const names[ACT_KINDS] = {
		[ACT_LOG] = "log", [ACT_UNIT] = "unit", [ACT_ZOOM] = "zoom", [ACT_HOT] = "hot"};

	return names[kind];
}

const char *act_result_name(enum act_result result)
{
	switch (result) {
	case ACT_DONE:
		return "done";
	case ACT_FAILED:
		return "failed";
	default:
		return "limited";
	}
}

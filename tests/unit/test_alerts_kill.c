// SPDX-License-Identifier: GPL-2.0
/*
 * Processes judge rules one after the other. Most of them are killed at some instruction. A twin judges the
 * same rules without being killed. After each process, the newer one of the state and the alerts' file must have
 * each rule as it was in the twin, after the last tick or the one before. Each transition must have been
 * reported once.
 *
 * A kill can only show in memory that outlives the process. Therefore the test counts the stores to that
 * memory, and kills at one of them (watched_stores.h). The alerts' file is also memory here. One store replaces
 * it, as rename(2) replaces a file.
 */
#include <criterion/criterion.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/alert_store.h"
#include "alerts/alerts_saved.h"
#include "base/cleanup.h"
#include "policy_fixture.h"
#include "state/state_internal.h"
#include "state/state_kinds.h"
#include "watched_stores.h"

#define PATHS     4
#define TICKS_MAX 40
#define TOLD_MAX  4096

static char *everything[] = {"/**"};

struct told {
	u64 tick;
	unsigned path;
	enum alert_state from, to;
	u64 number;
};

/* The alerts' file, with the transitions that were reported when it was written. */
struct file {
	char text[1 << 20];
	size_t length;
	struct told told[TOLD_MAX];
	size_t n_told;
};

struct disk {
	u64 which; /* its lowest bit selects the current file */
	u64 tick;  /* the tick that began last */
	u64 stores;
	_Alignas(4096) struct file files[2];
};

static struct rule the_rule(void)
{
	struct rule rule = fixture_rule("remote", everything);

	rule.window_ns = 3 * NSEC_PER_SEC;
	rule.for_ns = 9 * NSEC_PER_SEC;
	return rule;
}

static void open_policy(struct policy_fixture *fixture, u64 tick, u64 next_number)
{
	struct event event = fixture_event(EVENT_LOADS, "cpu");
	struct rule rule = the_rule();
	struct policy_settings settings = {.rules = &rule,
					   .n_rules = 1,
					   .events = &event,
					   .n_events = 1,
					   .start_ns = FIXTURE_START_NS + tick * NSEC_PER_SEC,
					   .next_number = next_number,
					   .max_bytes = POLICY_BYTES};

	*fixture = (struct policy_fixture){.now_ns = settings.start_ns};
	if (policy_new(&settings, &fixture->policy) < 0)
		abort();
}

static void restore(struct policy_fixture *fixture, const struct policy_saved_alert *saved_alerts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (policy_restore_alert(fixture->policy, &saved_alerts[i]) < 0)
			abort();
}

/*
 * Each path alternates between slow and fast phases of 11 to 32 s: the shortest is shorter than the rule's
 * window and `for` together (12 s), the others are longer.
 */
static void tick_once(struct policy_fixture *fixture, u64 tick)
{
	fixture_begin(fixture);
	for (unsigned path = 0; path < PATHS; path++) {
		bool slow = tick / (11 + 7 * path) % 2;
		char name[8];

		(void)snprintf(name, sizeof(name), "/p%u", path);
		fixture_put(fixture, name, slow ? 40 : 0, slow ? 0 : 40);
	}
	if (fixture_tick(fixture) < 0)
		abort();
}

static size_t list_told(const struct policy_fixture *fixture, u64 tick, struct told *to)
{
	for (size_t i = 0; i < fixture->n; i++) {
		const struct transition *transition = &fixture->transitions[i];

		to[i] = (struct told){.tick = tick,
				      .path = (unsigned)(transition->alert.cgroup[2] - '0'),
				      .from = transition->from,
				      .to = transition->to,
				      .number = transition->alert.number};
	}
	return fixture->n;
}

/* Does what act_on() does: the file is written, together with the transitions, before these are reported. */
static void write_file(const struct policy_fixture *fixture, struct alert_store *store, struct disk *disk,
		       u64 tick)
{
	const struct file *before = &disk->files[disk->which % 2];
	struct file *to = &disk->files[(disk->which + 1) % 2];
	_cleanup_free_ struct policy_saved_alert *saved_alerts = NULL;
	_cleanup_free_ char *text = NULL;
	struct told told[64];
	size_t n, length;

	if (fixture->n == 0)
		return;
	if (policy_save_alerts(fixture->policy, &saved_alerts, &n) < 0 ||
	    alert_store_set_alerts(store, saved_alerts, n) < 0)
		_exit(20);
	store->next_number = policy_next_number(fixture->policy);
	store->judged_ns = policy_judged_ns(fixture->policy);
	if (alert_store_format(store, &text, &length) < 0 || length > sizeof(to->text) ||
	    before->n_told + fixture->n > TOLD_MAX)
		_exit(21);
	n = list_told(fixture, tick, told);
	memcpy(to->text, text, length);
	to->length = length;
	memcpy(to->told, before->told, before->n_told * sizeof(*told));
	memcpy(&to->told[before->n_told], told, n * sizeof(*told));
	to->n_told = before->n_told + n;
	__atomic_store_n(&disk->which, disk->which + 1, __ATOMIC_SEQ_CST);
}

/* Reads the state that a new process finds. The caller owns `saved` and `store`. */
static void look(struct state *state, const struct disk *disk, u64 tick, struct alerts_saved **saved,
		 struct alert_store *store, const struct policy_saved_alert **ret, size_t *ret_n,
		 u64 *ret_next)
{
	const struct file *file = &disk->files[disk->which % 2];
	const char *wrong;

	alert_store_init(store);
	if (file->length > 0 && alert_store_parse(file->text, file->length, store, &wrong) < 0)
		_exit(22);
	if (alerts_saved_new(state, FIXTURE_START_NS + tick * NSEC_PER_SEC, saved, &wrong) < 0 || wrong)
		_exit(23);
	*ret = store->saved_alerts;
	*ret_n = store->n_saved_alerts;
	*ret_next = store->next_number;
	if (alerts_saved_is_newer(*saved, store->judged_ns)) {
		*ret = alerts_saved_alerts(*saved, ret_n);
		*ret_next = alerts_saved_next_number(*saved);
	}
}

/* The life of one process: it runs `ticks` ticks, after the tick that began last. */
static void live(int state_fd, struct disk *disk, unsigned ticks, u64 fatal)
{
	const struct policy_saved_alert *saved_alerts;
	struct policy_fixture fixture;
	struct alerts_saved *saved;
	struct state *state;
	struct alert_store store;
	u64 tick = disk->tick, next;
	const char *wrong;
	size_t n;

	if (state_inherit(state_fd, STATE_RECORDS, &state, &wrong) < 0)
		_exit(11);
	watched_stores_begin(fatal);
	watched_stores_add(state->memory, STATE_HEADER_BYTES + (size_t)STATE_CHUNKS_MAX * STATE_CHUNK_BYTES);
	/*
	 * Watches the page with `which`, which selects the file, but not the two files: the unselected one
	 * may be incomplete.
	 */
	watched_stores_add(disk, 4096);
	look(state, disk, tick, &saved, &store, &saved_alerts, &n, &next);
	open_policy(&fixture, tick, next);
	restore(&fixture, saved_alerts, n);
	state_settle(state);
	for (unsigned i = 0; i < ticks; i++) {
		disk->tick = ++tick;
		tick_once(&fixture, tick);
		write_file(&fixture, &store, disk, tick);
		if (alerts_saved_write(saved, fixture.policy) < 0)
			_exit(12);
	}
	disk->stores = watched_stores_seen();
	_exit(0);
}

/* The state of all rules in a form that can be compared. It leaves out measured figures. */
struct standing {
	u64 next;
	size_t n;
	struct policy_saved_alert saved_alerts[1024];
};

static int compare_saved_alerts(const void *a, const void *b)
{
	const struct policy_saved_alert *left = a, *right = b;
	int order = strcmp(left->cgroup, right->cgroup);

	return order ? order : (left->number > right->number) - (left->number < right->number);
}

static void stand(const struct policy_saved_alert *saved_alerts, size_t n, u64 next, struct standing *ret)
{
	cr_assert_leq(n, ARRAY_SIZE(ret->saved_alerts));
	*ret = (struct standing){.next = next, .n = n};
	for (size_t i = 0; i < n; i++)
		ret->saved_alerts[i] = saved_alerts[i];
	if (n > 0)
		qsort(ret->saved_alerts, n, sizeof(*ret->saved_alerts), compare_saved_alerts);
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool stands_as(const struct standing *a, const struct standing *b)
{
	bool same = a->n == b->n && a->next == b->next;

	for (size_t i = 0; same && i < a->n; i++) {
		const struct policy_saved_alert *left = &a->saved_alerts[i], *right = &b->saved_alerts[i];

		same = strcmp(left->cgroup, right->cgroup) == 0 && left->number == right->number &&
		       left->state == right->state && left->held_ns == right->held_ns &&
		       left->fingerprint == right->fingerprint && left->end == right->end &&
		       same_time(&left->since, &right->since) &&
		       same_time(&left->breached, &right->breached) &&
		       same_time(&left->fired, &right->fired) && same_time(&left->resolved, &right->resolved);
	}
	return same;
}

/*
 * The twin after its last tick, and all transitions that it has reported. For each process, follow() runs it
 * on from the tick that had begun last when the previous process ended (disk->tick).
 */
struct twin {
	struct alert_store now; /* the alerts that the twin has in memory */
	struct told told[TOLD_MAX];
	size_t n_told;
};

static bool told_the_same(const struct file *file, const struct told *told, size_t n)
{
	bool same = file->n_told == n;

	for (size_t i = 0; same && i < n; i++)
		same = file->told[i].tick == told[i].tick && file->told[i].path == told[i].path &&
		       file->told[i].from == told[i].from && file->told[i].to == told[i].to &&
		       file->told[i].number == told[i].number;
	return same;
}

static void set_twin(struct twin *twin, const struct policy_fixture *fixture)
{
	struct policy_saved_alert *saved_alerts;
	size_t n;

	cr_assert_eq(policy_save_alerts(fixture->policy, &saved_alerts, &n), 0);
	cr_assert_eq(alert_store_set_alerts(&twin->now, saved_alerts, n), 0);
	twin->now.next_number = policy_next_number(fixture->policy);
	free(saved_alerts);
}

/*
 * Runs the twin from `tick` until its alerts and reported transitions equal those that the ended process
 * left. They must match at that process's last tick or the one before.
 */
static void follow(struct twin *twin, const struct disk *disk, const struct standing *have, u64 tick)
{
	const struct file *file = &disk->files[disk->which % 2];
	_cleanup_(fixture_free) struct policy_fixture fixture;
	static struct standing want;
	bool met = false;

	open_policy(&fixture, tick, twin->now.next_number);
	restore(&fixture, twin->now.saved_alerts, twin->now.n_saved_alerts);
	for (;;) {
		stand(twin->now.saved_alerts, twin->now.n_saved_alerts, twin->now.next_number, &want);
		met = tick + 1 >= disk->tick && stands_as(have, &want) &&
		      told_the_same(file, twin->told, twin->n_told);
		if (met || tick == disk->tick)
			break;
		tick_once(&fixture, ++tick);
		twin->n_told += list_told(&fixture, tick, &twin->told[twin->n_told]);
		cr_assert_lt(twin->n_told, TOLD_MAX - 64);
		set_twin(twin, &fixture);
	}
	cr_assert(met, "after tick %llu: %zu alerts, should be %zu; %zu told, should be %zu",
		  (unsigned long long)tick, have->n, want.n, file->n_told, twin->n_told);
}

static bool lived(struct state *state, struct disk *disk, unsigned ticks, u64 fatal)
{
	pid_t child = fork();
	int status;

	cr_assert_geq(child, 0);
	if (child == 0)
		live(state_fd(state), disk, ticks, fatal);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
			  (WIFEXITED(status) && WEXITSTATUS(status) == 0),
		  "status %x", (unsigned)status);
	return WIFSIGNALED(status);
}

static void look_and_follow(struct state *left, struct disk *disk, struct twin *twin, u64 tick)
{
	const struct policy_saved_alert *saved_alerts;
	struct alerts_saved *saved;
	static struct standing have;
	struct alert_store store;
	_cleanup_(state_freep) struct state *state = NULL;
	const char *wrong;
	size_t n;
	u64 next;

	cr_assert_eq(state_inherit(state_fd(left), STATE_RECORDS, &state, &wrong), 0);
	look(state, disk, disk->tick, &saved, &store, &saved_alerts, &n, &next);
	stand(saved_alerts, n, next, &have);
	follow(twin, disk, &have, tick);
	alert_store_clear(&store);
	alerts_saved_free(saved);
}

Test(alerts_kill, after_a_kill_rules_equal_an_undisturbed_run_and_report_once, .timeout = 300)
{
	struct disk *disk =
		mmap(NULL, sizeof(*disk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct twin *twin = calloc(1, sizeof(*twin));
	unsigned killed = 0, fired = 0;
	struct state *state;
	u32 random = 17;
	u64 stores;

	cr_assert(twin && disk != MAP_FAILED);
	alert_store_init(&twin->now);
	cr_assert_eq(state_new(STATE_RECORDS, &state), 0);
	cr_assert_eq(state_commit(state), 0);
	cr_assert_not(lived(state, disk, TICKS_MAX, 0));
	look_and_follow(state, disk, twin, 0);
	stores = disk->stores / TICKS_MAX;
	cr_assert_gt(stores, 5);
	for (unsigned i = 0; i < 150; i++) {
		u64 before = disk->tick;
		unsigned ticks;

		random = random * 1664525 + 1013904223;
		ticks = 4 + (random >> 8) % (TICKS_MAX - 4);
		killed += lived(state, disk, ticks, i % 8 == 7 ? 0 : 1 + (random >> 12) % (ticks * stores));
		look_and_follow(state, disk, twin, before);
	}
	for (size_t i = 0; i < twin->n_told; i++)
		fired += twin->told[i].to == ALERT_FIRING;
	(void)fprintf(stderr, "%u of 150 killed, in %llu ticks of %llu stores; %zu transitions, %u alerts\n",
		      killed, (unsigned long long)disk->tick, (unsigned long long)stores, twin->n_told,
		      fired);
	cr_assert_gt(killed, 75);
	cr_assert_gt(fired, 20);
	alert_store_clear(&twin->now);
	state_free(state);
	free(twin);
	(void)munmap(disk, sizeof(*disk));
}

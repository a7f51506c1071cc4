// SPDX-License-Identifier: GPL-2.0
/*
 * Rules over the running kernel's maps when the process ends without cleaning up. The next process must
 * continue each rule in its last state: from the state that the engine saves, or from the alerts' file if
 * that state is lost.
 */
#include <criterion/criterion.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alerts/alerts.h"
#include "base/cleanup.h"
#include "base/monotonic.h"
#include "engine_fixture.h"
#include "kernel/kernel.h"
#include "some_stripes.h"
#include "state/state.h"
#include "state/state_kinds.h"

#define SLOTS   16
#define ID      1000
#define TICK_US 20000

static char *everything[] = {"/**"};

struct life {
	struct state *state;
	struct engine *engine;
	struct alerts *alerts;
	sd_event *event;
	struct config config;
	struct rule rule;
	unsigned told;
	char directory[32];
};

static void on_changed(void *userdata, const struct transition *transition)
{
	struct life *life = userdata;

	(void)transition;
	life->told++;
}

static struct rule the_rule(void)
{
	struct rule rule = {
		.name = "slow",
		.patterns = everything,
		.n_patterns = 1,
		.event = EVENT_LOADS,
		.metric = {.kind = METRIC_SHARE, .share = METRIC_SHARE_SOURCE, .source = SOURCE_REMOTE_DRAM},
		.threshold = 0.5,
		.clear = 0.4,
		.window_ns = 5ULL * TICK_US * NSEC_PER_USEC,
		.for_ns = 3600 * NSEC_PER_SEC,
		.baseline_ns = 3600 * NSEC_PER_SEC,
		.min_samples = 20,
		.confidence = 0.95,
		.severity = "warning",
	};

	return rule;
}

/*
 * Starts the life of one process. Each process has its own kernel side, which makes no difference to rules.
 */
static void begin(struct life *life, struct state *state)
{
	struct engine_settings engine = engine_fixture_settings(SLOTS);

	engine.stripes = one_stripe();
	engine.state = state;
	life->state = state;
	life->rule = the_rule();
	life->config.rules = &life->rule;
	life->config.n_rules = 1;
	life->config.include.list = everything;
	life->config.include.n = 1;
	life->told = 0;
	cr_assert_eq(sd_event_new(&life->event), 0);
	life->engine = engine_fixture_open(&engine);
	cr_assert_eq(alerts_new(&(struct alerts_settings){.event = life->event,
							  .engine = life->engine,
							  .config = &life->config,
							  .directory = life->directory,
							  .changed = on_changed,
							  .userdata = life},
				&life->alerts),
		     0);
	cr_assert_eq(engine_adopt(life->engine, ID, "/a"), 0);
}

static void end(struct life *life)
{
	life->alerts = alerts_free(life->alerts);
	life->engine = engine_free(life->engine);
	life->state = state_free(life->state);
	life->event = sd_event_unref(life->event);
}

/* Begins the next life with the alerts' file, and with the saved state if `with_state`. */
static void begin_again(struct life *life, bool with_state)
{
	struct state *state = NULL;
	const char *wrong;

	if (with_state)
		cr_assert_eq(state_inherit(state_fd(life->state), STATE_RECORDS, &state, &wrong), 0);
	end(life);
	begin(life, state);
}

static void tick(struct life *life)
{
	struct sample samples[40];

	(void)usleep(TICK_US);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		samples[i] = (struct sample){.cgroup_id = ID,
					     .latency = 500,
					     .period = 100,
					     .data_source = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) |
							    PERF_MEM_S(LVL, REM_RAM1),
					     .fields = SAMPLE_LATENCY | SAMPLE_DATA_SOURCE};
	cr_assert_eq(kernel_inject(engine_kernel(life->engine), samples, ARRAY_SIZE(samples)), 0);
	cr_assert_eq(engine_collect(life->engine), 0);
	alerts_collected(life->alerts);
}

static struct alert the_alert(const struct life *life)
{
	struct alert *alerts, alert = {0};
	size_t n;

	cr_assert_eq(policy_alerts(alerts_policy(life->alerts), &alerts, &n), 0);
	cr_assert_leq(n, 1);
	if (n > 0)
		alert = alerts[0];
	free(alerts);
	return alert;
}

static void run_until_held(struct life *life, u64 least_ns)
{
	for (unsigned i = 0; i < 500 && the_alert(life).decision.held_ns < least_ns; i++)
		tick(life);
	cr_assert_geq(the_alert(life).decision.held_ns, least_ns);
}

Test(alerts_restart, pending_time_survives_a_restart_as_far_as_it_was_proven)
{
	struct life life = {.directory = "/tmp/pebsd-alerts-XXXXXX"};
	char command[64];
	struct state *state;
	u64 held_ns = 0;

	cr_assert_not_null(mkdtemp(life.directory));
	cr_assert_eq(state_new(STATE_RECORDS, &state), 0);
	begin(&life, state);
	for (unsigned i = 0; i < 3; i++) {
		u64 begun_ns;

		run_until_held(&life, held_ns + 5ULL * TICK_US * NSEC_PER_USEC);
		held_ns = the_alert(&life).decision.held_ns;
		begun_ns = monotonic_ns();
		begin_again(&life, true);
		cr_expect_eq(the_alert(&life).decision.state, ALERT_PENDING);
		cr_expect_eq(the_alert(&life).decision.held_ns, held_ns);
		tick(&life);
		/* If others took the CPUs, the window may be covered already. */
		if (monotonic_ns() - begun_ns >= the_rule().window_ns / 2)
			continue;
		cr_expect_eq(the_alert(&life).decision.unknown, UNKNOWN_WINDOW);
		cr_expect_eq(the_alert(&life).decision.held_ns, held_ns);
	}
	cr_expect_eq(life.told, 0, "the first process already reported the pending alert");
	begin_again(&life, false);
	cr_expect_eq(the_alert(&life).decision.state, ALERT_PENDING, "the file knows it, too");
	cr_expect_lt(the_alert(&life).decision.held_ns, held_ns, "as of its last change");
	end(&life);
	(void)snprintf(command, sizeof(command), "rm -r %s", life.directory);
	cr_assert_eq(system(command), 0);
}

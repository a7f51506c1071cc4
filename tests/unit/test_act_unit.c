// SPDX-License-Identifier: GPL-2.0
/* Requests to the service manager, over a bus that the test starts. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "act/unit.h"
#include "service_manager.h"

static struct service_manager manager;
static struct unit *unit;

static struct answer {
	u64 alert;
	int result;
	char message[512];
} answers[64];
static size_t n_answers;

static void note(void *userdata, u64 alert, int result, const char *message)
{
	struct answer *answer = &answers[n_answers++];

	(void)userdata;
	answer->alert = alert;
	answer->result = result;
	(void)snprintf(answer->message, sizeof(answer->message), "%s", message);
}

static void open_unit(u64 timeout_ns)
{
	const struct unit_settings settings = {
		.event = manager.event, .timeout_ns = timeout_ns, .ended = note};

	cr_assert_eq(unit_new(&settings, &unit), 0);
}

static void setup(void)
{
	cr_assert_geq(sd_event_new(&manager.event), 0);
	service_manager_start(&manager);
	open_unit(UNIT_TIMEOUT_NS);
}

static void teardown(void)
{
	unit_free(unit);
	service_manager_stop(&manager);
	sd_event_unref(manager.event);
}

static bool answered(void *userdata)
{
	return n_answers >= *(const size_t *)userdata;
}

static void await(size_t n)
{
	service_manager_wait(&manager, answered, &n);
	cr_assert_eq(n_answers, n);
}

static bool asked(void *userdata)
{
	return manager.n >= *(const size_t *)userdata;
}

static void await_starts(size_t n)
{
	service_manager_wait(&manager, asked, &n);
}

TestSuite(act_unit, .init = setup, .fini = teardown);

Test(act_unit, starts_one_unit_for_an_alert)
{
	unit_start(unit, 17);
	await(1);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 1);
	cr_assert_str_eq(manager.starts[0], "pebsd-alert@17.service replace");
	cr_assert_eq(answers[0].alert, 17);
	cr_assert_eq(answers[0].result, 0);
}

Test(act_unit, a_refusal_names_the_unit_the_reason_and_what_to_do)
{
	manager.refusal = SD_BUS_ERROR_ACCESS_DENIED;
	unit_start(unit, 18446744073709551615U);
	await(1);
	cr_assert_eq(answers[0].result, -EACCES);
	cr_assert_not_null(
		strstr(answers[0].message, "pebsd-alert@18446744073709551615.service: refused by the test"),
		"%s", answers[0].message);
	cr_assert_not_null(strstr(answers[0].message, "polkit"), "%s", answers[0].message);
}

Test(act_unit, each_refusal_has_its_remedy)
{
	manager.refusal = "org.freedesktop.systemd1.NoSuchUnit";
	unit_start(unit, 1);
	await(1);
	cr_assert_not_null(strstr(answers[0].message, "daemon-reload"), "%s", answers[0].message);
	manager.refusal = "org.freedesktop.systemd1.UnitMasked";
	unit_start(unit, 2);
	await(2);
	cr_assert_not_null(strstr(answers[1].message, "unmask"), "%s", answers[1].message);
	cr_assert_lt(answers[1].result, 0);
}

/* A slow manager blocks neither the event loop nor other starts. */
Test(act_unit, a_slow_answer_does_not_block_the_event_loop)
{
	manager.silent = true;
	for (u64 alert = 1; alert <= 3; alert++)
		unit_start(unit, alert);
	await_starts(3);
	service_manager_settle(&manager);
	cr_assert_eq(n_answers, 0);
	service_manager_answer(&manager);
	await(3);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(answers[i].alert, i + 1);
		cr_assert_eq(answers[i].result, 0);
	}
}

Test(act_unit, a_missing_answer_fails_once_and_a_late_one_is_ignored)
{
	unit_free(unit);
	open_unit(100 * NSEC_PER_MSEC);
	manager.silent = true;
	unit_start(unit, 7);
	await_starts(1);
	await(1);
	cr_assert_eq(answers[0].result, -ETIMEDOUT);
	cr_assert_not_null(strstr(answers[0].message, "did not answer in time"));
	service_manager_answer(&manager);
	service_manager_settle(&manager);
	cr_assert_eq(n_answers, 1);
	manager.silent = false;
	unit_start(unit, 8);
	await(2);
	cr_assert_eq(answers[1].result, 0);
}

Test(act_unit, a_lost_bus_fails_pending_starts_and_is_opened_again)
{
	manager.silent = true;
	unit_start(unit, 1);
	unit_start(unit, 2);
	await_starts(2);
	service_manager_lose_bus(&manager);
	await(2);
	cr_assert_eq(answers[0].result, -ECONNRESET);
	cr_assert_eq(answers[1].result, -ECONNRESET);

	unit_start(unit, 3);
	await(3);
	cr_assert_lt(answers[2].result, 0, "there is no bus");
	cr_assert_not_null(strstr(answers[2].message, "dbus.service"), "%s", answers[2].message);

	manager.silent = false;
	service_manager_regain_bus(&manager);
	unit_start(unit, 4);
	await(4);
	cr_assert_eq(answers[3].result, 0);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 3, "what failed is not asked again");
}

/* pebsd does not notice the loss of the bus before the next start. */
Test(act_unit, a_bus_that_was_lost_and_regained_unnoticed_is_used_again)
{
	unit_start(unit, 1);
	await(1);
	service_manager_lose_bus(&manager);
	service_manager_regain_bus(&manager);
	unit_start(unit, 2);
	await(2);
	service_manager_settle(&manager);
	if (answers[1].result == 0)
		cr_assert_eq(manager.n, 2);
	else
		cr_assert_eq(manager.n, 1, "what is said to have failed ran");
	unit_start(unit, 3);
	await(3);
	cr_assert_eq(answers[2].result, 0);
}

Test(act_unit, no_callback_runs_after_it_is_freed)
{
	manager.silent = true;
	unit_start(unit, 1);
	await_starts(1);
	unit = unit_free(unit);
	service_manager_answer(&manager);
	service_manager_settle(&manager);
	cr_assert_eq(n_answers, 0);
}

/*
 * The bus accepts the connection and then does not answer. A request that timed out must not reach the service
 * manager later.
 */
Test(act_unit, a_bus_that_does_not_answer_the_hello_is_closed_after_a_timeout)
{
	unit_free(unit);
	open_unit(2 * NSEC_PER_SEC);
	cr_assert_eq(kill(manager.daemon, SIGSTOP), 0);
	unit_start(unit, 1);
	await(1);
	cr_assert_eq(answers[0].result, -ETIMEDOUT);
	cr_assert_eq(kill(manager.daemon, SIGCONT), 0);
	unit_start(unit, 2);
	await(2);
	cr_assert_eq(answers[1].result, 0, "%s", answers[1].message);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 1);
	cr_assert_str_eq(manager.starts[0], "pebsd-alert@2.service replace");
}

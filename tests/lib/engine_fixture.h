// SPDX-License-Identifier: GPL-2.0
/* An engine with its own kernel side, for tests that load BPF programs. */
#ifndef PEBSD_TESTS_ENGINE_FIXTURE_H
#define PEBSD_TESTS_ENGINE_FIXTURE_H

#include "engine/engine.h"

/* Loads as PEBS samples them, with latency and source. */
#define FIXTURE_LOADS                              \
	((const struct event){.role = EVENT_LOADS, \
			      .pmu = "cpu",        \
			      .settings = {.has_latency = 1, .has_source = 1, .weight_struct = 1}})
#define FIXTURE_STORES \
	((const struct event){.role = EVENT_STORES, .pmu = "cpu", .settings = {.has_source = 1}})

/*
 * Returns settings for a test to change: FIXTURE_LOADS alone, all stripes of the machine, an interval of a second, a
 * top of 50, and a series for every path. New cgroups get no slot by themselves (`births`).
 */
struct engine_settings engine_fixture_settings(u32 slots);

/* Fails the test on error. */
struct engine *engine_fixture_open(const struct engine_settings *settings);

#endif

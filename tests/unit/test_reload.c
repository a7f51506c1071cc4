// SPDX-License-Identifier: GPL-2.0
#include "config/reload.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

static char file[] = "/tmp/pebsd-test-reload-XXXXXX";
static struct config *running;
static struct options options;

static void write_config(const char *text)
{
	_cleanup_fclose_ FILE *stream = fopen(file, "we");

	cr_assert(stream);
	cr_assert_geq(fputs(text, stream), 0);
}

static void begin(void)
{
	struct config_mistakes mistakes;
	int fd = mkstemp(file);

	cr_assert_geq(fd, 0);
	(void)close(fd);
	write_config("[rule a]\ncgroup = /a\nmetric = p50\nabove = 100\n"
		     "[rule b]\ncgroup = /b\nmetric = p50\nabove = 100\n");
	options = (struct options){.config = file};
	cr_assert_eq(config_load(file, NULL, &running, &mistakes), 0);
}

static void end(void)
{
	running = config_free(running);
	(void)unlink(file);
}

TestSuite(reload, .init = begin, .fini = end);

static char *apply(void *userdata, const struct config *before, struct config *loaded)
{
	size_t *rules = userdata;

	cr_expect_eq(before, running);
	*rules = loaded->n_rules;
	return NULL;
}

Test(reload, changed_rules_are_logged_and_applied)
{
	size_t rules = 0;
	const struct reload_applier applier = {.apply = apply, .userdata = &rules};
	char **lines;

	write_config("[export]\ntop = 7\n[sampling]\nldlat = 40\n"
		     "[rule b]\ncgroup = /b\nmetric = p50\nabove = 200\n"
		     "[rule c]\ncgroup = /c\nmetric = p50\nabove = 100\n");
	cr_assert_eq(reload_config(&options, &applier, running, &lines), 0);
	cr_expect_eq(rules, 2, "before they are in force");
	cr_expect_str_eq(lines[0], "applied: top, rule b changed, rule c added, rule a removed");
	cr_expect_str_eq(lines[1], "waiting for a restart: ldlat");
	cr_expect_null(lines[2]);
	reload_free_lines(lines);
	cr_assert_eq(running->n_rules, 2);
	cr_expect_str_eq(running->rules[0].name, "b");
	cr_expect_eq(running->rules[0].threshold, 200);

	cr_assert_eq(reload_config(&options, &applier, running, &lines), 0);
	cr_expect_str_eq(lines[0], "waiting for a restart: ldlat", "the rules are the same");
	reload_free_lines(lines);
	write_config("[sampling]\nldlat = 40\n[export]\ntop = 7\n"
		     "[rule b]\ncgroup = /b\nmetric = p50\nabove = 200\nseverity = page\n"
		     "[rule c]\ncgroup = /c\nmetric = p50\nabove = 100\n");
	cr_assert_eq(reload_config(&options, &applier, running, &lines), 0);
	cr_expect_str_eq(lines[0], "applied: rule b changed", "rules alone");
	reload_free_lines(lines);
	write_config("[sampling]\nldlat = 40\nbudget = 50%\n[export]\ntop = 7\n"
		     "[rule b]\ncgroup = /b\nmetric = p50\nabove = 200\nseverity = page\n"
		     "[rule c]\ncgroup = /c\nmetric = p50\nabove = 100\n");
	cr_assert_eq(reload_config(&options, &applier, running, &lines), 0);
	cr_expect_str_eq(lines[0], "applied: budget");
	cr_expect(strstr(lines[2], ":3: budget = 50%: sampling may take 50% of"), "a warning: %s", lines[2]);
	reload_free_lines(lines);
	write_config("");
	cr_assert_eq(reload_config(&options, &applier, running, &lines), 0);
	cr_expect_str_eq(lines[0], "applied: budget, top, rule b removed, rule c removed");
	reload_free_lines(lines);
	cr_expect_eq(running->n_rules, 0);
}

Test(reload, with_a_mistake_the_rules_stay)
{
	size_t rules = 99;
	const struct reload_applier applier = {.apply = apply, .userdata = &rules};
	char **lines;

	write_config("[rule a]\ncgroup = /a\nmetric = p999\nabove = 100\n");
	cr_assert_eq(reload_config(&options, &applier, running, &lines), -EINVAL);
	cr_expect(strstr(lines[0],
			 ":3: [rule a]: min-samples = 500 (the default): p999 with these limits needs 2995"),
		  "%s", lines[0]);
	reload_free_lines(lines);
	cr_expect_eq(rules, 99);
	cr_expect_eq(running->n_rules, 2);
}

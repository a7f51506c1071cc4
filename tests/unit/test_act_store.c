// SPDX-License-Identifier: GPL-2.0
/* The state of alerts that outlives the daemon: it is read back as it was written, or moved aside. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "act/alert_store.h"
#include "base/cleanup.h"
#include "base/json_get.h"
#include "base/text_file.h"
#include "scarce_memory.h"
#include "tree.h"

static const struct policy_saved_alert saved_alerts[] = {
	{
		.rule = "slow-database",
		.fingerprint = 0xfedcba9876543210,
		.cgroup = "/system.slice/db.service",
		.event_key = "loads",
		.number = 17,
		.state = ALERT_FIRING,
		.held_ns = 60000000001,
		.since = {1795240860, 1},
		.breached = {1795240800, 999999999},
		.fired = {1795240860, 0},
		.value = 912.1000000000001,
		.low = 900,
		.high = INFINITY,
	},
	{
		.rule = "a.b_c-D9",
		.fingerprint = ~0ULL,
		.cgroup = "/bytes \xff\xfe\n\"\\ and \xef\xbf\xbd and \xc3\xa9\x01",
		.event_key = "loads:cpu_atom",
		.number = 0,
		.state = ALERT_PENDING,
		.since = {1795240860, 0},
		.value = NAN,
		.low = -INFINITY,
		.high = 0.1,
	},
	{
		.rule = "x",
		.cgroup = "model:mcf",
		.event_key = "stores",
		.number = 3,
		.state = ALERT_RESOLVED,
		.resolved = {1795240861, 0},
		.end = ALERT_END_GONE,
		.value = 4e-320,
		.low = -INFINITY,
		.high = INFINITY,
	},
};

static void fill(struct alert_store *store)
{
	alert_store_init(store);
	(void)stpcpy(store->boot, "01234567-89ab-cdef-0123-456789abcdef");
	store->next_number = 18;
	store->judged_ns = 86400000000001ULL;
	cr_assert_eq(alert_store_set_alerts(store, saved_alerts, ARRAY_SIZE(saved_alerts)), 0);
	cr_assert_eq(alert_store_begin(store, 17, true, RULE_LOG | RULE_UNIT), 0);
	cr_assert_eq(alert_store_begin(store, 3, false, RULE_LOG), 0);
	cr_assert_eq(alert_store_add_file(store, 17), 0);
	cr_assert_eq(alert_store_add_file(store, 3), 0);
	alert_store_find_file(store, 3)->resolved = (struct timespec){1795240861, 5};
}

static bool same_double(double a, double b)
{
	return (isnan(a) && isnan(b)) || a == b;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static void expect_same(const struct alert_store *a, const struct alert_store *b)
{
	cr_assert_str_eq(a->boot, b->boot);
	cr_assert_eq(a->next_number, b->next_number);
	cr_assert_eq(a->judged_ns, b->judged_ns);
	cr_assert_eq(a->n_saved_alerts, b->n_saved_alerts);
	for (size_t i = 0; i < a->n_saved_alerts; i++) {
		const struct policy_saved_alert *x = &a->saved_alerts[i], *y = &b->saved_alerts[i];

		cr_expect_str_eq(x->rule, y->rule);
		cr_expect_eq(x->fingerprint, y->fingerprint);
		cr_expect_str_eq(x->cgroup, y->cgroup);
		cr_expect_str_eq(x->event_key, y->event_key);
		cr_expect_eq(x->number, y->number);
		cr_expect_eq(x->state, y->state);
		cr_expect_eq(x->end, y->end);
		cr_expect_eq(x->held_ns, y->held_ns);
		cr_expect(same_time(&x->since, &y->since) && same_time(&x->breached, &y->breached) &&
			  same_time(&x->fired, &y->fired) && same_time(&x->resolved, &y->resolved));
		cr_expect(same_double(x->value, y->value) && same_double(x->low, y->low) &&
				  same_double(x->high, y->high),
			  "%.17g %.17g %.17g, not %.17g %.17g %.17g", x->value, x->low, x->high, y->value,
			  y->low, y->high);
	}
	cr_assert_eq(a->n_intents, b->n_intents);
	for (size_t i = 0; i < a->n_intents; i++)
		cr_expect(a->intents[i].alert == b->intents[i].alert &&
			  a->intents[i].firing == b->intents[i].firing &&
			  a->intents[i].actions == b->intents[i].actions);
	cr_assert_eq(a->n_files, b->n_files);
	for (size_t i = 0; i < a->n_files; i++)
		cr_expect(a->files[i].alert == b->files[i].alert &&
			  same_time(&a->files[i].resolved, &b->files[i].resolved));
}

Test(act_store, a_written_store_is_read_unchanged)
{
	_cleanup_(alert_store_clear) struct alert_store written, found;
	_cleanup_free_ char *text = NULL;
	const char *wrong;
	size_t length;

	fill(&written);
	cr_assert_eq(alert_store_format(&written, &text, &length), 0);
	cr_assert_eq(strlen(text), length);
	cr_assert_eq(alert_store_parse(text, length, &found, &wrong), 0, "%s: %s", wrong, text);
	expect_same(&found, &written);
}

Test(act_store, every_byte_is_kept_in_names)
{
	_cleanup_(alert_store_clear) struct alert_store written, found;
	_cleanup_free_ char *text = NULL;
	char name[2 * 255 + 1];
	struct policy_saved_alert saved = saved_alerts[0];
	const char *wrong;
	size_t length;

	for (size_t i = 0; i < 255; i++) {
		name[2 * i] = (char)(i + 1);
		name[2 * i + 1] = (char)(i * 7 % 255 + 1);
	}
	name[sizeof(name) - 1] = '\0';
	saved.cgroup = name;
	alert_store_init(&written);
	written.next_number = 18;
	cr_assert_eq(alert_store_set_alerts(&written, &saved, 1), 0);
	cr_assert_eq(alert_store_format(&written, &text, &length), 0);
	cr_assert_eq(alert_store_parse(text, length, &found, &wrong), 0);
	cr_assert_str_eq(found.saved_alerts[0].cgroup, name);
}

Test(act_store, an_ended_action_is_no_longer_pending)
{
	_cleanup_(alert_store_clear) struct alert_store store;

	fill(&store);
	alert_store_end(&store, 17, false, RULE_LOG);
	cr_assert_eq(store.n_intents, 2, "it fired, and did not resolve");
	alert_store_end(&store, 17, true, RULE_LOG);
	cr_assert_eq(store.n_intents, 2);
	cr_assert_eq(store.intents[0].actions, RULE_UNIT);
	alert_store_end(&store, 17, true, RULE_UNIT);
	cr_assert_eq(store.n_intents, 1);
	cr_assert_eq(store.intents[0].alert, 3);
}

Test(act_store, files_are_found_by_their_number)
{
	_cleanup_(alert_store_clear) struct alert_store store;
	static const u64 numbers[] = {5, 900, 2, 7, 1, 5};

	alert_store_init(&store);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		cr_assert_eq(alert_store_add_file(&store, numbers[i]), 0);
	cr_assert_eq(store.n_files, 5);
	alert_store_remove_file(&store, 5);
	alert_store_remove_file(&store, 6);
	cr_assert_eq(store.n_files, 4);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		cr_expect_eq(alert_store_find_file(&store, numbers[i]) != NULL, numbers[i] != 5);
	alert_store_remove_file(&store, 900);
	cr_assert_null(alert_store_find_file(&store, 900));
}

/* Expects the reader to refuse `text` after `from` was replaced by `to`. */
static void expect_refused(const char *text, const char *from, const char *to, const char *expected)
{
	const char *at = strstr(text, from), *wrong = NULL;
	_cleanup_free_ char *other = NULL;
	_cleanup_(alert_store_clear) struct alert_store store = {0};
	int r;

	cr_assert_not_null(at, "'%s' is not in %s", from, text);
	cr_assert_gt(asprintf(&other, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)), 0);
	r = alert_store_parse(other, strlen(other), &store, &wrong);
	cr_expect_eq(r, -EBADMSG, "'%s' for '%s' was taken", to, from);
	cr_expect_not_null(strstr(wrong, expected), "'%s' for '%s': %s", to, from, wrong);
}

Test(act_store, a_truncated_store_is_refused)
{
	_cleanup_(alert_store_clear) struct alert_store store, found = {0};
	_cleanup_free_ char *text = NULL;
	const char *wrong;
	size_t length;

	fill(&store);
	cr_assert_eq(alert_store_format(&store, &text, &length), 0);
	for (size_t i = 0; i < length; i++)
		cr_expect_eq(alert_store_parse(text, i, &found, &wrong), -EBADMSG, "%zu bytes", i);
	expect_refused(text, "\"version\":1", "\"version\":2", "another version");
	expect_refused(text, "\"version\":1", "\"version\":true", "no format version");
	expect_refused(text, "\"next_alert\":18", "\"next_alert\":0", "next alert");
	expect_refused(text, "\"next_alert\":18", "\"next_alert\":17", "an alert");
	expect_refused(text, "\"next_alert\":18", "\"next_alert\":18446744073709551615", "next alert");
	expect_refused(text, "\"boot\":\"", "\"boot\":\"0000000000", "boot");
	expect_refused(text, "\"boot\":\"0", "\"boot\":\"\xef\xbf\xbd", "boot");
	expect_refused(text, "\"alerts\"", "\"alert\"", "list of alerts");
	expect_refused(text, "\"state\":\"firing\"", "\"state\":\"inactive\"", "an alert");
	expect_refused(text, "\"alert\":17", "\"alert\":0", "an alert");
	expect_refused(text, "\"end\":\"gone\"", "\"end\":\"lost\"", "an alert");
	expect_refused(text, "\"end\":\"gone\",", "", "an alert");
	expect_refused(text, "slow-database", "slow database", "an alert");
	expect_refused(text, "\"cgroup\":\"", "\"cgroup\":\"\xef\xbf\xbdzz", "an alert");
	expect_refused(text, "\"cgroup\":\"", "\"cgroup\":\"\xef\xbf\xbd\x30\x30", "an alert");
	expect_refused(text, "\"cgroup\":\"", "\"cgroup\":\"\xef\xbf\xbd\x36\x31", "an alert");
	expect_refused(text, "[1795240860,1]", "[1795240860,1000000000]", "an alert");
	expect_refused(text, "[1795240860,1]", "[253402300800,1]", "an alert");
	expect_refused(text, "[1795240860,1]", "[-1,1]", "an alert");
	expect_refused(text, "[1795240860,1]", "[1]", "an alert");
	expect_refused(text, "\"held_ns\":60000000001", "\"held_ns\":-1", "an alert");
	expect_refused(text, "\"low\":900", "\"low\":1e999", "an alert");
	expect_refused(text, "\"log\":true,\"unit\":true", "\"log\":false,\"unit\":false", "an action");
	expect_refused(text, "\"files\":[{\"alert\":3,", "\"files\":[{\"alert\":17,", "order");
}

/* A file that is refused is moved aside, and its alerts are lost. */
Test(act_store, a_store_is_not_refused_for_lack_of_memory)
{
	_cleanup_(alert_store_clear) struct alert_store written;
	_cleanup_free_ char *text = NULL;
	size_t length, failures = 0;
	bool failed = true;

	fill(&written);
	cr_assert_eq(alert_store_format(&written, &text, &length), 0);
	for (; failed; failures++) {
		_cleanup_(alert_store_clear) struct alert_store found = {0};
		const char *wrong;
		int r;

		scarce_memory_after(failures);
		r = alert_store_parse(text, length, &found, &wrong);
		failed = scarce_memory_end();
		cr_expect_eq(r, failed ? -ENOMEM : 0, "allocation %zu: %s", failures, strerror(-r));
	}
	cr_expect_gt(failures, 2 * ARRAY_SIZE(saved_alerts));
}

/* json-c's objects can take hundreds of times the memory of their text (JSON_VALUES_MAX). */
Test(act_store, a_text_of_too_many_values_is_refused_before_it_is_read)
{
	static const char begin[] = "{\"version\":1,\"boot\":\"0\",\"next_alert\":1,\"alerts\":[0",
			  end[] = "],\"begun\":[],\"files\":[]}";
	const size_t n = JSON_VALUES_MAX;
	_cleanup_free_ char *text = malloc(sizeof(begin) + sizeof(end) + 2 * n);
	_cleanup_(alert_store_clear) struct alert_store found = {0};
	const char *wrong;
	char *at;

	cr_assert_not_null(text);
	at = stpcpy(text, begin);
	for (size_t i = 0; i < n; i++)
		at = stpcpy(at, ",0");
	at = stpcpy(at, end);
	cr_assert_eq(alert_store_parse(text, (size_t)(at - text), &found, &wrong), -EBADMSG);
	cr_expect_str_eq(wrong, "it has more than 2,000,000 values");
}

/* The owner of a cgroup chooses its name, so commas and brackets in it must not count as values. */
Test(act_store, commas_and_brackets_in_names_do_not_count_as_values)
{
	static char cgroup[4096];
	struct policy_saved_alert many[600];
	_cleanup_(alert_store_clear) struct alert_store store, found = {0};
	_cleanup_free_ char *text = NULL;
	const char *wrong;
	size_t length;

	for (size_t i = 0; i < sizeof(cgroup) - 1; i++)
		cgroup[i] = ",[{\"\\"[i % 5];
	cgroup[0] = '/';
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct policy_saved_alert){
			.rule = "r", .cgroup = cgroup, .event_key = "loads", .state = ALERT_PENDING};
	alert_store_init(&store);
	(void)stpcpy(store.boot, "0");
	cr_assert_eq(alert_store_set_alerts(&store, many, ARRAY_SIZE(many)), 0);
	cr_assert_eq(alert_store_format(&store, &text, &length), 0);
	cr_assert_gt(length, JSON_VALUES_MAX);
	cr_assert_eq(alert_store_parse(text, length, &found, &wrong), 0, "%s", wrong);
	cr_expect_eq(found.n_saved_alerts, ARRAY_SIZE(many));
}

static int open_folder(const char *root)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	return fd;
}

Test(act_store, only_the_owner_can_read_the_file)
{
	_cleanup_(tree_removep) char *root = tree_new();
	_cleanup_close_ int folder = open_folder(root);
	_cleanup_(alert_store_clear) struct alert_store store, found;
	_cleanup_free_ char *message = NULL;
	struct stat st;

	fill(&store);
	(void)umask(0);
	cr_assert_eq(alert_store_write(folder, &store), 0);
	cr_assert_eq(fstatat(folder, "state.json", &st, AT_SYMLINK_NOFOLLOW), 0);
	cr_assert_eq(st.st_mode, S_IFREG | 0600);
	cr_assert_eq(faccessat(folder, "state.json.new", F_OK, 0), -1, "nothing is left beside it");
	cr_assert_eq(alert_store_read(folder, &found, &message), 0);
	cr_assert_null(message);
	expect_same(&found, &store);
}

Test(act_store, a_new_directory_starts_with_alert_1)
{
	_cleanup_(tree_removep) char *root = tree_new();
	_cleanup_close_ int folder = open_folder(root);
	_cleanup_(alert_store_clear) struct alert_store store;
	_cleanup_free_ char *message = NULL;

	cr_assert_eq(alert_store_read(folder, &store, &message), 0);
	cr_assert_null(message);
	cr_assert_eq(store.next_number, 1);
	cr_assert_eq(store.n_saved_alerts, 0);
}

Test(act_store, an_unreadable_file_is_kept_under_another_name)
{
	static const char *const texts[] = {"", "{", "{\"version\":2}", "[]", "null", "\xff"};
	_cleanup_(tree_removep) char *root = tree_new();
	_cleanup_close_ int folder = open_folder(root);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_(alert_store_clear) struct alert_store store;
		_cleanup_free_ char *message = NULL, *again = NULL, *kept = NULL, *path = NULL;

		const time_t begun = time(NULL);

		tree_write(root, "state.json", texts[i]);
		cr_assert_eq(alert_store_read(folder, &store, &message), 0);
		cr_assert_not_null(message);
		cr_expect_not_null(strstr(message, "kept as state.json.bad"), "%s", message);
		cr_assert_geq(store.next_number, (u64)begun, "numbers that were given begin at 1");
		/* The clock of time() may be one tick behind the clock that pebsd reads. */
		cr_assert_leq(store.next_number, (u64)time(NULL) + 1);
		cr_assert_eq(store.n_saved_alerts, 0);
		cr_assert_gt(asprintf(&path, "%s/state.json.bad", root), 0);
		cr_assert_eq(text_file_read(path, &kept), 0);
		cr_assert_str_eq(kept, texts[i]);
		cr_assert_eq(alert_store_read(folder, &store, &again), 0);
		cr_assert_null(again, "it is logged once");
	}
}

/* Symbolic links with the names of these files are neither read nor written through. */
/* Expects that a store with `n` alerts on the cgroup is not written, and that the file before it stays. */
static void expect_too_large(const char *cgroup, size_t n)
{
	_cleanup_free_ struct policy_saved_alert *many = calloc(n, sizeof(*many));
	_cleanup_(tree_removep) char *root = tree_new();
	_cleanup_close_ int folder = open_folder(root);
	_cleanup_(alert_store_clear) struct alert_store small, large, found;
	_cleanup_free_ char *message = NULL;

	cr_assert_not_null(many);
	fill(&small);
	cr_assert_eq(alert_store_write(folder, &small), 0);
	for (size_t i = 0; i < n; i++)
		many[i] = (struct policy_saved_alert){
			.rule = "r", .cgroup = cgroup, .event_key = "loads", .state = ALERT_PENDING};
	fill(&large);
	cr_assert_eq(alert_store_set_alerts(&large, many, n), 0);
	cr_expect_eq(alert_store_write(folder, &large), -E2BIG);
	cr_assert_eq(alert_store_read(folder, &found, &message), 0);
	cr_expect_null(message, "%s", message);
	expect_same(&small, &found);
}

Test(act_store, a_store_that_could_not_be_read_again_does_not_replace_the_file)
{
	static char cgroup[4096];

	/* A control character takes six bytes in the file. */
	memset(cgroup, 1, sizeof(cgroup) - 1);
	expect_too_large(cgroup, 4000);
	/* Each alert has at least ten values. */
	expect_too_large("/", JSON_VALUES_MAX / 10);
}

Test(act_store, links_are_not_followed)
{
	_cleanup_(tree_removep) char *root = tree_new();
	_cleanup_close_ int folder = open_folder(root);
	_cleanup_(alert_store_clear) struct alert_store store;
	_cleanup_free_ char *message = NULL, *path = NULL, *kept = NULL;

	tree_write(root, "precious", "kept");
	cr_assert_eq(symlinkat("precious", folder, "state.json"), 0);
	cr_assert_eq(symlinkat("precious", folder, "state.json.new"), 0);
	cr_assert_eq(alert_store_read(folder, &store, &message), 0);
	cr_assert_not_null(message);
	cr_assert_eq(symlinkat("precious", folder, "state.json"), 0);
	cr_assert_eq(alert_store_write(folder, &store), 0);
	cr_assert_gt(asprintf(&path, "%s/precious", root), 0);
	cr_assert_eq(text_file_read(path, &kept), 0);
	cr_assert_str_eq(kept, "kept");
}

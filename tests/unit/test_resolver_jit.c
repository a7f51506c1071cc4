// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "subject.h"
#include "symbols/resolver/resolver.h"
#include "symbols/resolver/resolver_jit.h"

/* A process with its own user and root directory, and the map in that directory. */
struct jitted {
	char *directory;
	struct subject subject;
	struct resolver *resolver;
};

static struct jitted jitted;

static void stop(void)
{
	if (!jitted.directory)
		return;
	if (jitted.subject.pid > 0)
		subject_stop(&jitted.subject);
	resolver_free(jitted.resolver);
	subject_remove(jitted.directory);
}

TestSuite(jit, .fini = stop);

static void add(struct jit_map *map, const char *text)
{
	size_t taken;

	cr_assert_eq(jit_map_add(map, text, strlen(text), &taken), 0);
	cr_assert_eq(taken, strlen(text));
}

static const char *name_at(struct jit_map *map, u64 address)
{
	const char *name = NULL;

	return jit_map_find(map, address, &name) ? name : "";
}

Test(jit, lines_are_parsed_and_malformed_ones_skipped)
{
	_cleanup_(jit_map_done) struct jit_map map = {};

	add(&map, "7f0000001000 20 first of all\n"
		  "0x7f0000002000 0x10 with a prefix\r\n"
		  "7f0000003000 0 empty\n"
		  "7f0000004000 10 \n"
		  "7f0000005000\n"
		  "\n"
		  "xyz 10 no number\n"
		  "-5 10 no number\n"
		  "11112222333344445 10 too long\n"
		  "ffffffffffffffff 10 wraps\n");
	cr_expect_eq(map.n, 2);
	cr_expect_str_eq(name_at(&map, 0x7f0000001000), "first of all");
	cr_expect_str_eq(name_at(&map, 0x7f000000101f), "first of all");
	cr_expect_str_eq(name_at(&map, 0x7f0000001020), "");
	cr_expect_str_eq(name_at(&map, 0x7f0000002005), "with a prefix");
	cr_expect_str_eq(name_at(&map, 0x7f0000003000), "");
}

Test(jit, a_later_line_replaces_an_earlier_one)
{
	_cleanup_(jit_map_done) struct jit_map map = {};

	add(&map, "1000 100 old\n1080 10 small\n");
	cr_expect_str_eq(name_at(&map, 0x1085), "small");
	add(&map, "1000 100 new\n");
	cr_expect_str_eq(name_at(&map, 0x1085), "new");
	cr_expect_str_eq(name_at(&map, 0x1000), "new");
}

Test(jit, an_incomplete_line_is_left_for_later)
{
	_cleanup_(jit_map_done) struct jit_map map = {};
	size_t taken;

	cr_assert_eq(jit_map_add(&map, "1000 10 a\n2000 10 b", 19, &taken), 0);
	cr_expect_eq(taken, 10);
	cr_expect_eq(map.n, 1);
}

Test(jit, status_is_parsed_and_malformed_text_refused)
{
	static const char text[] =
		"Name:\tx\\nNSpid:\t9\nUid:\t10\t11\t12\t13\nNSpid:\t4711\t20\t3\nThreads:\t1\n";
	u32 pid, uid;

	cr_assert_eq(jit_parse_status(text, &pid, &uid), 0);
	cr_expect_eq(pid, 3);
	cr_expect_eq(uid, 11);
	cr_expect_eq(jit_parse_status("", &pid, &uid), -EINVAL);
	cr_expect_eq(jit_parse_status("Name:\tx\nUid:\t1\t2\n", &pid, &uid), -EINVAL);
	cr_expect_eq(jit_parse_status("Name:\tx\nNSpid:\t5\n", &pid, &uid), -EINVAL);
	cr_expect_eq(jit_parse_status("Name:\tx\nNSpid:\t\nUid:\t1\t2\n", &pid, &uid), -EINVAL);
}

#define USER 54321

static bool enter_root(const char *root)
{
	return chroot(root) == 0 && chdir("/") == 0 && setgid(USER) == 0 && setuid(USER) == 0;
}

static bool enter_namespaces(const char *root)
{
	pid_t pid;
	int status;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0)
		return false;
	pid = fork();
	/* The child continues as the process to resolve. Its pid is 1 in its namespace. */
	if (pid == 0)
		return enter_root(root);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return false;
	_exit(0);
}

static void start(bool namespaces)
{
	static const struct resolver_settings settings = {.proc = "/proc"};
	char path[256];

	jitted.directory = subject_directory();
	(void)snprintf(path, sizeof(path), "%s/subject", jitted.directory);
	subject_build(path, "-static");
	subject_run("chmod 755 '%s' && mkdir -m 1777 '%s/tmp'", jitted.directory, jitted.directory);
	jitted.subject =
		subject_start("/subject", namespaces ? enter_namespaces : enter_root, jitted.directory);
	cr_assert_eq(resolver_new(&settings, &jitted.resolver), 0);
}

/* `pid` is the number in the file's name. */
static void write_map(u32 pid, uid_t owner)
{
	subject_run("printf '%%x 40 Jitted::code(int)\\n' %llu >'%s/tmp/perf-%u.map' && chown %u "
		    "'%s/tmp/perf-%u.map'",
		    (unsigned long long)jitted.subject.jit + 0x100, jitted.directory, pid, owner,
		    jitted.directory, pid);
}

static struct symbol look_up(pid_t pid)
{
	const struct symbol_query query = {.address = jitted.subject.jit + 0x110, .pid = (u32)pid};
	struct symbol symbol;

	cr_assert_eq(resolver_find(jitted.resolver, &query, &symbol), 0);
	return symbol;
}

static void expect_found(pid_t pid)
{
	_cleanup_(symbol_done) struct symbol symbol = look_up(pid);

	cr_expect_eq(symbol.region, SYMBOL_JIT);
	cr_assert_eq(symbol.n_frames, 1);
	cr_expect_str_eq(symbol.frames[0].name, "Jitted::code(int)");
	cr_expect_eq(symbol.frames[0].offset, 0x10);
}

static void expect_not_found(pid_t pid)
{
	_cleanup_(symbol_done) struct symbol symbol = look_up(pid);

	cr_expect_eq(symbol.region, SYMBOL_ANONYMOUS);
	cr_expect_eq(symbol.n_frames, 0);
}

Test(jit, the_jit_map_of_a_process_is_read)
{
	start(false);
	write_map((u32)jitted.subject.pid, USER);
	expect_found(jitted.subject.pid);
}

Test(jit, a_jit_map_owned_by_root_is_read)
{
	start(false);
	write_map((u32)jitted.subject.pid, 0);
	expect_found(jitted.subject.pid);
}

Test(jit, a_jit_map_of_another_user_is_refused)
{
	start(false);
	write_map((u32)jitted.subject.pid, USER + 1);
	expect_not_found(jitted.subject.pid);
}

Test(jit, a_symbolic_link_is_refused)
{
	start(false);
	write_map(1, USER);
	subject_run("ln -s perf-1.map '%s/tmp/perf-%d.map' && chown -h %d '%s/tmp/perf-%d.map'",
		    jitted.directory, jitted.subject.pid, USER, jitted.directory, jitted.subject.pid);
	expect_not_found(jitted.subject.pid);
}

/* Nothing ever writes to this FIFO, so opening it for reading would block. */
Test(jit, a_fifo_is_refused)
{
	start(false);
	subject_run("mkfifo '%s/tmp/perf-%d.map' && chown %d '%s/tmp/perf-%d.map'", jitted.directory,
		    jitted.subject.pid, USER, jitted.directory, jitted.subject.pid);
	expect_not_found(jitted.subject.pid);
}

Test(jit, a_too_large_jit_map_is_refused)
{
	start(false);
	write_map((u32)jitted.subject.pid, USER);
	subject_run("truncate -s %llu '%s/tmp/perf-%d.map'", RESOLVER_JIT_FILE_MAX + 1, jitted.directory,
		    jitted.subject.pid);
	expect_not_found(jitted.subject.pid);
}

/* Lines that are added after the file was read are also read. */
Test(jit, lines_added_later_are_read)
{
	start(false);
	subject_run("echo '1 1 x' >'%s/tmp/perf-%d.map'", jitted.directory, jitted.subject.pid);
	expect_not_found(jitted.subject.pid);
	subject_run("printf '%%x 40 Jitted::code(int)\\n' %llu >>'%s/tmp/perf-%d.map'",
		    (unsigned long long)jitted.subject.jit + 0x100, jitted.directory, jitted.subject.pid);
	expect_found(jitted.subject.pid);
}

static void write_file(int fd, const char *text)
{
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

Test(jit, a_map_with_other_contents_is_read_from_its_start)
{
	static const char before[] = "1000 100 first\n2000 100 second\n";
	static const char *const after[] = {
		"1000 100 moved\n",
		"1000 100 moved\n3000 100 others\n",
		"1000 100 moved\n3000 100 third\n2000 100 second\n4000 100 fourth\n",
	};

	cr_assert_eq(strlen(after[1]), strlen(before), "one of them has the same length");
	for (size_t i = 0; i < ARRAY_SIZE(after); i++) {
		_cleanup_(jit_file_done) struct jit_file file = {.fd = memfd_create("map", MFD_CLOEXEC)};
		const bool is_long = i > 0;

		write_file(file.fd, before);
		cr_assert_eq(jit_file_read(&file), 0);
		cr_expect_str_eq(name_at(&file.map, 0x1010), "first");
		write_file(file.fd, after[i]);
		cr_assert_eq(jit_file_read(&file), 0);
		cr_expect_str_eq(name_at(&file.map, 0x1010), "moved", "%zu", i);
		cr_expect_eq(*name_at(&file.map, 0x3010) != '\0', is_long, "%zu", i);
		cr_expect_eq(*name_at(&file.map, 0x2010) != '\0', i == 2, "%zu", i);
		cr_assert_eq(jit_file_read(&file), 0);
		cr_expect_eq(file.map.n, i == 0 ? 1 : i == 1 ? 2 : 4, "nothing is read twice");
	}
}

/* The process and its root are gone, but the map was read while they existed. */
Test(jit, a_jit_map_of_an_ended_process_is_not_read)
{
	start(false);
	write_map((u32)jitted.subject.pid, USER);
	cr_assert_eq(resolver_process(jitted.resolver, (u32)jitted.subject.pid), 0);
	subject_stop(&jitted.subject);
	subject_run("rm -r '%s'", jitted.directory);
	expect_found(jitted.subject.pid);
	jitted.subject.pid = 0; /* it is stopped */
}

/* The process is pid 1 in its namespace. On this system, pid 1 is another process. */
Test(jit, a_jit_map_in_a_pid_namespace_is_read)
{
	char place[64], line[64] = "";
	FILE *children;
	pid_t pid;

	start(true);
	(void)snprintf(place, sizeof(place), "/proc/%d/task/%d/children", jitted.subject.pid,
		       jitted.subject.pid);
	children = fopen(place, "re");
	cr_assert(children && fgets(line, sizeof(line), children));
	(void)fclose(children);
	pid = (pid_t)strtol(line, NULL, 10);
	write_map(1, USER);
	expect_found(pid);
	cr_assert_eq(kill(pid, SIGKILL), 0);
}

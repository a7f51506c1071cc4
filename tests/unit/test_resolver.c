// SPDX-License-Identifier: GPL-2.0
/* The resolver with real processes: their files are replaced or removed, and they are in other namespaces. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "fake_clock.h"
#include "subject.h"
#include "symbols/resolver/resolver.h"

static char *directory;
static char *path; /* of the subject's program */
static struct resolver *resolver;
static struct subject subject;

static char *in_directory(const char *name)
{
	char *file;

	cr_assert_geq(asprintf(&file, "%s/%s", directory, name), 0);
	return file;
}

static void begin_in(const char *proc)
{
	resolver_free(resolver);
	cr_assert_eq(resolver_new(&(struct resolver_settings){.proc = proc}, &resolver), 0);
}

static void begin(void)
{
	directory = subject_directory();
	path = in_directory("subject");
	begin_in("/proc");
}

static void end(void)
{
	if (subject.pid > 0)
		subject_stop(&subject);
	resolver_free(resolver);
	free(path);
	subject_remove(directory);
}

TestSuite(resolver, .init = begin, .fini = end);

static struct symbol look_up(pid_t pid, u64 address, enum symbol_kind kind)
{
	const struct symbol_query query = {.address = address, .pid = (u32)pid, .kind = kind};
	struct symbol symbol;

	cr_assert_eq(resolver_find(resolver, &query, &symbol), 0);
	return symbol;
}

static void expect_text(struct symbol *symbol, const char *expected)
{
	_cleanup_free_ char *text = symbol_text(symbol);

	cr_expect_str_eq(text, expected);
	symbol_done(symbol);
}

static void expect_name(pid_t pid, u64 address, enum symbol_kind kind, const char *name)
{
	struct symbol symbol = look_up(pid, address, kind);

	cr_expect_eq(symbol.region, SYMBOL_FILE);
	expect_text(&symbol, name);
}

/* Expects the function itself, even if another one is inlined at its first instruction. */
static void expect_function(pid_t pid, u64 address, const char *name)
{
	_cleanup_(symbol_done) struct symbol symbol = look_up(pid, address, SYMBOL_CODE);

	cr_expect_eq(symbol.region, SYMBOL_FILE);
	cr_assert_geq(symbol.n_frames, 1);
	cr_expect_str_eq(symbol.frames[symbol.n_frames - 1].name, name);
	cr_expect_eq(symbol.frames[symbol.n_frames - 1].offset, 0);
}

/* Expects the names that the source gives to everything that the subject shows. */
static void expect_names(void)
{
	expect_function(subject.pid, subject.function, "looked_at");
	expect_name(subject.pid, subject.data + 3, SYMBOL_DATA, "with_value");
	expect_name(subject.pid, subject.bss, SYMBOL_DATA, "without_value");
}

static void check_flags(const char *flags)
{
	_cleanup_(symbol_done) struct symbol symbol;

	subject_build(path, flags);
	subject = subject_start(path, NULL, NULL);
	expect_names();
	symbol = look_up(subject.pid, subject.data + 3, SYMBOL_DATA);
	cr_assert_eq(symbol.n_frames, 1);
	cr_expect_eq(symbol.frames[0].offset, 7);
	cr_expect_str_eq(symbol.module, path);
	cr_expect_not(symbol.deleted);
	cr_expect_eq(symbol.build_id_size, 20);
	symbol_done(&symbol);
	symbol = look_up(subject.pid, subject.bss, SYMBOL_DATA);
	cr_assert_eq(symbol.n_frames, 1);
	cr_expect_eq(symbol.frames[0].offset, 128000);
}

Test(resolver, a_position_independent_program_has_names)
{
	check_flags("-pie -fPIE");
}

Test(resolver, a_program_at_fixed_addresses_has_names)
{
	check_flags("-no-pie -fno-pie");
}

Test(resolver, a_static_program_at_fixed_addresses_has_names)
{
	check_flags("-static");
}

Test(resolver, segments_that_share_pages_are_mapped_right)
{
	check_flags("-Wl,-z,noseparate-code");
}

/*
 * Expects the three positions that frames have: that of the inlined function, that of its call, and the
 * offset in the function.
 */
static void check_inlined(const char *flags)
{
	_cleanup_(symbol_done) struct symbol symbol;

	subject_build(path, flags);
	subject = subject_start(path, NULL, NULL);
	symbol = look_up(subject.pid, subject.inlined, SYMBOL_CODE);
	cr_assert_eq(symbol.n_frames, 2, "%s", flags);
	cr_expect_str_eq(symbol.frames[0].name, "stands_in");
	cr_expect(symbol.frames[0].inlined);
	cr_expect_eq(symbol.frames[0].line, SUBJECT_INLINED_LINE);
	cr_expect_str_eq(strrchr(symbol.frames[0].file, '/'), "/subject.c");
	cr_expect_str_eq(symbol.frames[1].name, "looked_at");
	cr_expect_not(symbol.frames[1].inlined);
	cr_expect_eq(symbol.frames[1].line, SUBJECT_CALL_LINE);
	cr_expect_eq(symbol.frames[1].offset, subject.inlined - subject.function);
}

Test(resolver, inlined_functions_and_lines_are_found)
{
	check_inlined("-g");
}

Test(resolver, inlined_functions_and_lines_of_dwarf_4_are_found)
{
	check_inlined("-gdwarf-4");
}

Test(resolver, inlined_functions_and_lines_of_compressed_sections_are_found)
{
	check_inlined("-g -gz");
}

/* A stripped file has no names, but the result has the virtual address in the file. */
Test(resolver, a_stripped_program_has_only_module_and_address)
{
	_cleanup_free_ char *expected = NULL;
	struct symbol symbol;

	subject_build(path, "-no-pie -fno-pie");
	subject_run("strip '%s'", path);
	subject = subject_start(path, NULL, NULL);
	symbol = look_up(subject.pid, subject.function, SYMBOL_CODE);
	cr_expect_eq(symbol.region, SYMBOL_FILE);
	cr_expect_eq(symbol.address, subject.function);
	cr_assert_geq(asprintf(&expected, "[unknown] %s+0x%lx", path, (unsigned long)subject.function), 0);
	expect_text(&symbol, expected);
}

/* If `other` is set, the debug file at that place belongs to another program. */
static void check_linked_debug_file(const char *id_flags, bool other)
{
	struct symbol symbol;

	subject_build(path, id_flags);
	subject_run(
		"cd '%s' && mkdir .debug && objcopy --only-keep-debug subject .debug/subject.debug && objcopy --strip-all --add-gnu-debuglink=.debug/subject.debug subject",
		directory);
	if (other) {
		_cleanup_free_ char *second = in_directory("other");

		subject_build(second, "-g -DOTHER -O2 -Wl,--build-id=none");
		subject_run("cd '%s' && objcopy --only-keep-debug other .debug/subject.debug", directory);
	}
	subject = subject_start(path, NULL, NULL);
	symbol = look_up(subject.pid, subject.inlined, SYMBOL_CODE);
	cr_expect_eq(symbol.n_frames, other ? 0 : 2, "%s", id_flags);
	symbol_done(&symbol);
	if (!other)
		expect_names();
}

Test(resolver, a_debug_file_is_found_by_link_and_build_id)
{
	check_linked_debug_file("-g", false);
}

Test(resolver, a_debug_file_is_found_by_link_and_checksum)
{
	check_linked_debug_file("-g -Wl,--build-id=none", false);
}

Test(resolver, a_debug_file_of_another_program_is_ignored)
{
	check_linked_debug_file("-g -Wl,--build-id=none", true);
}

Test(resolver, a_deleted_program_still_has_names)
{
	_cleanup_(symbol_done) struct symbol symbol;

	subject_build(path, "");
	subject = subject_start(path, NULL, NULL);
	subject_run("rm '%s'", path);
	expect_names();
	symbol = look_up(subject.pid, subject.function, SYMBOL_CODE);
	cr_expect(symbol.deleted);
	cr_expect_str_eq(symbol.module, path);
}

/* The file that now has this name contains other functions at these addresses. */
Test(resolver, a_replaced_program_keeps_its_old_names)
{
	_cleanup_free_ char *newer = in_directory("newer");
	_cleanup_(symbol_done) struct symbol symbol;

	subject_build(path, "-no-pie -fno-pie");
	subject_build(newer, "-no-pie -fno-pie -Dlooked_at=renamed -Dwith_value=other -Dwithout_value=third");
	subject = subject_start(path, NULL, NULL);
	subject_run("mv '%s' '%s'", newer, path);
	expect_names();
	symbol = look_up(subject.pid, subject.function, SYMBOL_CODE);
	cr_expect(symbol.deleted);
}

/* The process was read and has ended since. Its file is removed as well. */
Test(resolver, a_process_that_ended_later_still_has_names)
{
	struct symbol symbol;

	subject_build(path, "-g");
	subject = subject_start(path, NULL, NULL);
	cr_assert_eq(resolver_process(resolver, (u32)subject.pid), 0);
	subject_stop(&subject);
	subject_run("rm -r '%s'", directory);
	expect_names();
	symbol = look_up(subject.pid, subject.inlined, SYMBOL_CODE);
	cr_expect_eq(symbol.n_frames, 2);
	symbol_done(&symbol);
	cr_expect_eq(resolver_process(resolver, (u32)subject.pid), -ESRCH);
	expect_names();
	subject.pid = 0; /* it is stopped */
}

Test(resolver, a_process_never_seen_is_unknown)
{
	pid_t pid = fork();
	struct symbol symbol;

	if (pid == 0)
		_exit(0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	symbol = look_up(pid, 0x1000, SYMBOL_CODE);
	cr_expect_eq(symbol.region, SYMBOL_UNKNOWN);
	expect_text(&symbol, "[unknown]");
	cr_expect_eq(resolver_process(resolver, (u32)pid), -ESRCH);
}

Test(resolver, a_forked_and_executed_process_has_its_own_names)
{
	/* No process has this number. The resolver knows only what the test passes to it. */
	const u32 child = 4194304 + 7;
	struct symbol symbol;

	subject_build(path, "-no-pie -fno-pie");
	subject = subject_start(path, NULL, NULL);
	cr_assert_eq(resolver_process(resolver, (u32)subject.pid), 0);
	cr_assert_eq(resolver_forked(resolver, child, (u32)subject.pid), 0);
	expect_name((pid_t)child, subject.function, SYMBOL_CODE, "looked_at");
	resolver_executed(resolver, child);
	symbol = look_up((pid_t)child, subject.function, SYMBOL_CODE);
	cr_expect_eq(symbol.region, SYMBOL_UNKNOWN);
	symbol_done(&symbol);
	expect_names();
}

/*
 * Only an event reports this mapping. The file is opened by its name, and only used if it is still the mapped
 * one.
 */
Test(resolver, a_mapping_known_from_an_event_has_names)
{
	struct symbol_mapping mapping = {.size = 0x1000, .protection = PROT_READ | PROT_EXEC, .path = path};
	struct stat found;
	_cleanup_(symbol_done) struct symbol symbol;

	subject_build(path, "-no-pie -fno-pie");
	subject = subject_start(path, NULL, NULL);
	cr_assert_eq(stat(path, &found), 0);
	mapping.pid = (u32)subject.pid;
	/* Nothing is mapped at this address. The mapping can only be known from the event. */
	mapping.start = 0x10000000;
	mapping.offset = subject.function % 0x1000000 & ~0xfffULL;
	mapping.offset -= 0x400000;
	mapping.inode = found.st_ino;
	mapping.major = (u32)(found.st_dev >> 8 & 0xfff);
	mapping.minor = (u32)(found.st_dev & 0xff);
	cr_assert_eq(resolver_mapped(resolver, &mapping), 0);
	expect_name(subject.pid, mapping.start + (subject.function & 0xfff), SYMBOL_CODE, "looked_at");

	mapping.start = 0x20000000;
	mapping.inode++;
	cr_assert_eq(resolver_mapped(resolver, &mapping), 0);
	symbol = look_up(subject.pid, mapping.start + (subject.function & 0xfff), SYMBOL_CODE);
	cr_expect_eq(symbol.region, SYMBOL_FILE);
	cr_expect_eq(symbol.n_frames, 0);
	cr_expect_eq(symbol.address, mapping.offset + (subject.function & 0xfff));
}

static bool enter_container(const char *root)
{
	return unshare(CLONE_NEWNS) == 0 && chroot(root) == 0 && chdir("/") == 0;
}

/* Both the path and the debug file are those of the container. */
Test(resolver, a_program_in_another_mount_namespace_has_names)
{
	_cleanup_(symbol_done) struct symbol symbol;

	subject_build(path, "-static -g");
	subject_run(
		"cd '%s' && mkdir -p usr/lib/debug && objcopy --only-keep-debug subject usr/lib/debug/subject.d && objcopy --strip-all --add-gnu-debuglink=usr/lib/debug/subject.d subject",
		directory);
	subject = subject_start("/subject", enter_container, directory);
	expect_names();
	symbol = look_up(subject.pid, subject.inlined, SYMBOL_CODE);
	cr_expect_eq(symbol.n_frames, 2);
	cr_expect_str_eq(symbol.module, "/subject");
}

static bool copy_to_memory(const char *program)
{
	char *const arguments[] = {(char *)"subject", NULL};
	int from = open(program, O_RDONLY | O_CLOEXEC);
	int to = memfd_create("subject", MFD_CLOEXEC);
	char piece[65536];
	ssize_t size;

	while ((size = read(from, piece, sizeof(piece))) > 0) {
		if (write(to, piece, (size_t)size) != size)
			return false;
	}
	(void)fexecve(to, arguments, environ);
	return false;
}

Test(resolver, a_program_in_a_memfd_has_names)
{
	_cleanup_(symbol_done) struct symbol symbol;

	subject_build(path, "");
	subject = subject_start(path, copy_to_memory, path);
	expect_names();
	symbol = look_up(subject.pid, subject.function, SYMBOL_CODE);
	cr_expect_str_eq(symbol.module, "/memfd:subject");
	cr_expect(symbol.deleted);
}

/* This process has memory of each kind. */
Test(resolver, memory_without_a_file_has_its_region)
{
	char *anonymous = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *shared = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *heap = sbrk(4096);
	struct symbol symbol;
	int on_stack;

	cr_assert(anonymous != MAP_FAILED && shared != MAP_FAILED && heap != MAP_FAILED);
	symbol = look_up(getpid(), (u64)anonymous + 5, SYMBOL_DATA);
	cr_expect_eq(symbol.region, SYMBOL_ANONYMOUS);
	cr_expect_leq(symbol.start, (u64)anonymous);
	expect_text(&symbol, "[anon]");
	symbol = look_up(getpid(), (u64)shared, SYMBOL_DATA);
	cr_expect_eq(symbol.region, SYMBOL_SHARED);
	expect_text(&symbol, "[shared] /dev/zero");
	symbol = look_up(getpid(), (u64)heap, SYMBOL_DATA);
	cr_expect_eq(symbol.region, SYMBOL_HEAP);
	expect_text(&symbol, "[heap]");
	symbol = look_up(getpid(), (u64)&on_stack, SYMBOL_DATA);
	cr_expect_eq(symbol.region, SYMBOL_STACK);
	expect_text(&symbol, "[stack]");
}

static u64 vdso_of(pid_t pid)
{
	_cleanup_free_ char *place = NULL;
	_cleanup_fclose_ FILE *file = NULL;
	char line[512];

	cr_assert_geq(asprintf(&place, "/proc/%d/maps", pid), 0);
	file = fopen(place, "re");
	cr_assert_not_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (strstr(line, "[vdso]"))
			return strtoull(line, NULL, 16);
	}
	return 0;
}

/* At some multiple of 16 in the first page, there is a known function. */
Test(resolver, the_vdso_has_names)
{
	u64 start = vdso_of(getppid());
	bool named = false;

	if (!start)
		cr_skip_test("no vdso here");
	for (u64 at = 0; at < 4096; at += 16) {
		struct symbol symbol = look_up(getppid(), start + at, SYMBOL_CODE);

		cr_expect_eq(symbol.region, SYMBOL_VDSO);
		cr_expect_eq(symbol.address, at);
		named |= symbol.n_frames && strstr(symbol.frames[0].name, "clock_gettime");
		symbol_done(&symbol);
	}
	cr_expect(named);
}

/* A made-up /proc with a process that has more mappings than are read. */
Test(resolver, a_process_with_a_hundred_thousand_mappings_is_read)
{
	struct symbol symbol;
	FILE *file;
	_cleanup_free_ char *maps = in_directory("7/maps");

	subject_run("mkdir '%s/7'", directory);
	file = fopen(maps, "we");
	cr_assert_not_null(file);
	for (unsigned long i = 1; i <= 100000; i++)
		(void)fprintf(file, "%lx-%lx r-xp 00000000 fe:00 %lu /f%lu\n", i << 12, (i + 1) << 12, i, i);
	(void)fclose(file);
	begin_in(directory);
	cr_assert_eq(resolver_process(resolver, 7), 0);
	symbol = look_up(7, (65536UL << 12) + 1, SYMBOL_CODE);
	cr_expect_eq(symbol.region, SYMBOL_FILE);
	expect_text(&symbol, "[unknown] /f65536+0x1");
	symbol = look_up(7, (65537UL << 12) + 1, SYMBOL_CODE);
	cr_expect_eq(symbol.region, SYMBOL_UNKNOWN);
	symbol_done(&symbol);
	cr_expect_leq(resolver_bytes(resolver), 16UL << 20);
}

/* Older processes are forgotten, and the most recent ones stay known. */
Test(resolver, the_number_of_remembered_processes_is_bounded)
{
	struct symbol_mapping mapping = {.start = 0x1000, .size = 0x1000, .path = "[heap]"};
	_cleanup_(symbol_done) struct symbol symbol;

	for (u32 i = 0; i < 3 * SYMBOL_PROCESSES_MAX; i++) {
		mapping.pid = 4194304 + i;
		cr_assert_eq(resolver_mapped(resolver, &mapping), 0);
	}
	symbol = look_up(4194304 + 3 * SYMBOL_PROCESSES_MAX - 1, 0x1000, SYMBOL_DATA);
	cr_expect_eq(symbol.region, SYMBOL_HEAP);
	symbol_done(&symbol);
	symbol = look_up(4194304 + 2 * SYMBOL_PROCESSES_MAX - 1, 0x1000, SYMBOL_DATA);
	cr_expect_eq(symbol.region, SYMBOL_UNKNOWN);
}

/* Returns whether the watched file has been opened since the last call. */
static bool was_opened(int watch)
{
	char events[4096];

	return read(watch, events, sizeof(events)) > 0;
}

/* A read takes some time, by the clock that moves at each look. At most 2% of the time is spent on reading. */
Test(resolver, slowly_read_mappings_are_not_read_for_each_request)
{
	const u64 look_ns = 10 * NSEC_PER_MSEC, pause_ns = 110 * NSEC_PER_MSEC;
	_cleanup_free_ char *process = in_directory("4711"), *maps = in_directory("4711/maps");
	_cleanup_close_ int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	unsigned int again = 0;
	FILE *file;

	cr_assert_eq(mkdir(process, 0755), 0);
	cr_assert_not_null(file = fopen(maps, "we"));
	(void)fputs("10000-20000 rw-p 00000000 00:00 0 \n", file);
	(void)fclose(file);
	cr_assert_geq(inotify_add_watch(watch, maps, IN_OPEN), 0);
	fake_clock_stop();
	fake_clock_tick(look_ns);
	begin_in(directory);
	cr_assert_eq(resolver_process(resolver, 4711), 0);
	cr_assert(was_opened(watch));
	/* The read took at least two looks, so it is not repeated for 50 times as long. */
	for (u64 begun = monotonic_ns(); monotonic_ns() - begun < 100 * look_ns - pause_ns; again++) {
		struct symbol symbol = look_up(4711, 0x30000 + again, SYMBOL_DATA);

		cr_expect_eq(symbol.region, SYMBOL_UNKNOWN);
		symbol_done(&symbol);
		fake_clock_advance(pause_ns);
		cr_expect_not(was_opened(watch), "read again for request %u", again);
	}
	cr_expect_geq(again, 4);
	fake_clock_advance(500 * look_ns);
	{
		struct symbol symbol = look_up(4711, 0x40000, SYMBOL_DATA);

		symbol_done(&symbol);
	}
	cr_expect(was_opened(watch), "it is read again later");
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The symbolizer itself, run by this program as pebsd runs it: its answers, and the rights that it gives up
 * before it answers.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "base/failure.h"
#include "base/log.h"
#include "symbols/resolver/symbols_confine.h"
#include "symbols/resolver/symbols_worker.h"
#include "symbols/symbols.h"

__attribute__((constructor)) static void work(int argc, char *argv[])
{
	const char *debuginfod = getenv("DEBUGINFOD_URLS");

	if (argc == 2 && strcmp(argv[1], "--symbolizer") == 0)
		_exit(symbols_worker(STDIN_FILENO, debuginfod && *debuginfod));
}

static sd_event *event;
static struct symbols *symbols;

static void begin_with(const char *debuginfod)
{
	struct symbols_settings settings = {.program = "/proc/self/exe", .debuginfod = debuginfod};

	cr_assert_geq(sd_event_new(&event), 0);
	settings.event = event;
	cr_assert_eq(symbols_new(&settings, &symbols), 0);
}

static void begin(void)
{
	begin_with(NULL);
}

static void end(void)
{
	symbols = symbols_free(symbols);
	event = sd_event_unref(event);
}

TestSuite(symbols_worker, .init = begin, .fini = end);

static const struct symbol *answer_of(u32 pid, u64 address, enum symbol_kind kind)
{
	const struct symbol_query query = {.address = address, .pid = pid, .kind = kind};
	const struct symbol *symbol;

	while (!(symbol = symbols_find(symbols, &query)))
		cr_assert_geq(sd_event_run(event, 20 * 1000000ULL), 1, "nothing comes");
	return symbol;
}

static int data_of_this_test = 1;

/* The tests ask for this function, so it must not be inlined. */
__attribute__((noinline)) static int a_function_of_this_test(int n)
{
	return n * 3 + data_of_this_test++;
}

static const struct symbol *own_function(void)
{
	return answer_of((u32)getpid(), (u64)(uintptr_t)a_function_of_this_test, SYMBOL_CODE);
}

/* Returns the pid of the symbolizer, which is the only child. */
static pid_t worker_pid(void)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;

	while (directory && (entry = readdir(directory))) {
		char path[64];
		int parent = 0;
		FILE *file;

		(void)snprintf(path, sizeof(path), "/proc/%.20s/stat", entry->d_name);
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !(file = fopen(path, "re")))
			continue;
		if (fscanf(file, "%*d (%*[^)]) %*c %d", &parent) == 1 && parent == getpid())
			found = (pid_t)strtol(entry->d_name, NULL, 10);
		(void)fclose(file);
	}
	if (directory)
		(void)closedir(directory);
	cr_assert_gt(found, 0);
	return found;
}

/* Returns the text after `key` in /proc/PID/NAME, up to the end of the line. */
static const char *says(pid_t pid, const char *name, const char *key)
{
	static char line[512];
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "re");
	cr_assert(file, "%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0) {
			(void)fclose(file);
			line[strcspn(line, "\n")] = '\0';
			return line + strlen(key) + strspn(line + strlen(key), " \t:");
		}
	(void)fclose(file);
	return "";
}

static u64 mask_of(pid_t pid, const char *key)
{
	return strtoull(says(pid, "status", key), NULL, 16);
}

Test(symbols_worker, a_function_has_a_name_and_data_have_a_region)
{
	const struct symbol *symbol = own_function();

	cr_expect_eq(symbol->region, SYMBOL_FILE);
	cr_assert_geq(symbol->n_frames, 1);
	cr_expect_str_eq(symbol->frames[symbol->n_frames - 1].name, "a_function_of_this_test");
	cr_expect_eq(symbol->frames[symbol->n_frames - 1].offset, 0);
	symbol = answer_of((u32)getpid(), (u64)(uintptr_t)&data_of_this_test, SYMBOL_DATA);
	cr_assert_eq(symbol->n_frames, 1);
	cr_expect_str_eq(symbol->frames[0].name, "data_of_this_test");
	symbol = answer_of((u32)getpid(), (u64)(uintptr_t)&symbol, SYMBOL_DATA);
	cr_expect_eq(symbol->region, SYMBOL_STACK);
	cr_expect_eq(symbols_counts(symbols).unknown, 1, "the stack has no name of its own");
}

Test(symbols_worker, a_reported_process_is_known_after_its_end)
{
	pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	cr_assert_eq(symbols_process(symbols, (u32)pid), 0);
	/* When this answer comes, the process has been read. */
	(void)own_function();
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_expect_str_eq(
		answer_of((u32)pid, (u64)(uintptr_t)a_function_of_this_test, SYMBOL_CODE)->frames[0].name,
		"a_function_of_this_test");
}

Test(symbols_worker, an_ended_process_is_unknown)
{
	/* This pid is above pid_max. */
	cr_expect_eq(answer_of(0x7fffffff, 0x1000, SYMBOL_CODE)->region, SYMBOL_UNKNOWN);
	cr_expect_eq(symbols_counts(symbols).starts, 1);
}

Test(symbols_worker, kernel_names_are_read_after_dropping_privileges)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/kallsyms", "re");
	const struct symbol *symbol;
	char name[128] = "", type;
	unsigned long address = 0;

	while (file && fscanf(file, "%lx %c %127s%*[^\n]", &address, &type, name) == 3)
		if (address && (type == 't' || type == 'T') && strcmp(name, "vfs_read") == 0)
			break;
	if (!address || strcmp(name, "vfs_read") != 0)
		cr_skip_test("the kernel shows no addresses here");
	symbol = answer_of(1, address + 4, SYMBOL_CODE);
	cr_expect_eq(symbol->region, SYMBOL_KERNEL);
	cr_assert_geq(symbol->n_frames, 1);
	cr_expect_str_eq(symbol->frames[0].name, "vfs_read");
	cr_expect_eq(symbol->frames[0].offset, 4);
	/* The address is relative to the kernel, so that it does not reveal where the kernel is. */
	cr_expect_lt(symbol->address, 1ULL << 32);
	cr_expect_eq(symbol->start, 0);
	cr_expect_eq(symbol->end, 0);
}

/*
 * An attacker in control of pebsd may invent mappings. The symbolizer must reveal nothing about a file that
 * is not a program.
 */
Test(symbols_worker, a_file_that_is_not_a_program_reveals_nothing)
{
	char path[] = "/tmp/secret.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	struct symbol_mapping mapping = {.pid = (u32)getpid(),
					 .start = 0x10000,
					 .size = 0x1000,
					 .protection = PROT_READ | PROT_EXEC,
					 .path = path};
	const struct symbol *symbol;
	struct stat st;

	cr_assert_geq(fd, 0);
	cr_assert_eq(dprintf(fd, "00000000 T secret_word\n"), 23);
	cr_assert_eq(fstat(fd, &st), 0);
	mapping.major = major(st.st_dev);
	mapping.minor = minor(st.st_dev);
	mapping.inode = st.st_ino;
	/* The symbolizer must run before it can receive mappings. */
	cr_expect_str_eq(own_function()->frames[0].name, "a_function_of_this_test");
	cr_assert_eq(symbols_mapped(symbols, &mapping), 0);
	symbol = answer_of((u32)getpid(), 0x10008, SYMBOL_CODE);
	cr_expect_eq(symbol->n_frames, 0);
	if (symbol->module)
		cr_expect_str_eq(symbol->module, path);
	(void)unlink(path);
	(void)close(fd);
}

Test(symbols_worker, unneeded_capabilities_are_dropped)
{
	const u64 kept = 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH |
			 1ULL << CAP_CHECKPOINT_RESTORE | 1ULL << CAP_SYSLOG;
	pid_t pid;

	(void)own_function();
	pid = worker_pid();
	cr_expect_eq(mask_of(pid, "CapEff"), mask_of(getpid(), "CapEff") & kept);
	cr_expect_eq(mask_of(pid, "CapPrm"), mask_of(getpid(), "CapPrm") & kept);
	cr_expect_eq(mask_of(pid, "CapInh"), 0);
	cr_expect_eq(mask_of(pid, "CapAmb"), 0);
	if (mask_of(getpid(), "CapEff") & 1ULL << CAP_SETPCAP)
		cr_expect_eq(mask_of(pid, "CapBnd") & ~kept, 0);
	cr_expect_str_eq(says(pid, "status", "NoNewPrivs"), "1");
	cr_expect_str_eq(says(pid, "status", "Seccomp:"), "2");
	cr_expect_str_eq(says(pid, "oom_score_adj", ""), "500");
	if (mask_of(getpid(), "CapEff") & 1ULL << CAP_SETUID)
		cr_expect_str_eq(strrchr(says(pid, "status", "Uid"), '\t'), "\t65534");
	cr_expect_eq(getpriority(PRIO_PROCESS, (id_t)pid), 10);
	cr_expect(strstr(says(pid, "limits", "Max file size"), "0                    0 "));
	cr_expect(strstr(says(pid, "limits", "Max core file size"), "0                    0 "));
#ifndef __SANITIZE_ADDRESS__
	cr_expect(strstr(says(pid, "limits", "Max data size"), "1073741824           1073741824"));
	cr_expect(strstr(says(pid, "limits", "Max address space"), "4294967296           4294967296"));
#endif
}

static ino_t network_of(pid_t pid)
{
	char path[64];
	struct stat found;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	cr_assert_eq(stat(path, &found), 0);
	return found.st_ino;
}

Test(symbols_worker, it_has_no_network_unless_debuginfod_is_configured)
{
	if (!(mask_of(getpid(), "CapEff") & 1ULL << CAP_SYS_ADMIN))
		cr_skip_test("needs root");
	(void)own_function();
	cr_expect_neq(network_of(worker_pid()), network_of(getpid()));
	end();
	/* Nothing listens at this address, and the symbolizer works without an answer. */
	begin_with("http://127.0.0.1:9");
	cr_expect_str_eq(own_function()->frames[0].name, "a_function_of_this_test");
	cr_expect_eq(network_of(worker_pid()), network_of(getpid()));
	cr_expect_str_eq(says(worker_pid(), "status", "Seccomp:"), "2");
}

/* The symbolizer has its socket, standard error, and files that are open for reading only. */
Test(symbols_worker, no_descriptor_of_pebsd_is_inherited)
{
	char path[64], target[64];
	DIR *directory;
	const struct dirent *entry;
	pid_t pid;

	cr_assert_geq(dup(STDERR_FILENO), 0);
	(void)own_function();
	pid = worker_pid();
	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	directory = opendir(path);
	cr_assert(directory);
	while ((entry = readdir(directory))) {
		char info[64];
		ssize_t n = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
		u64 flags;

		if (n < 0)
			continue;
		target[n] = '\0';
		if (strcmp(entry->d_name, "0") == 0)
			cr_expect_eq(strncmp(target, "socket:", 7), 0, "%s", target);
		if (strtol(entry->d_name, NULL, 10) <= STDERR_FILENO)
			continue;
		cr_expect_eq(target[0], '/', "descriptor %s is %s", entry->d_name, target);
		(void)snprintf(info, sizeof(info), "fdinfo/%.20s", entry->d_name);
		flags = strtoull(says(pid, info, "flags"), NULL, 8);
		cr_expect_eq(flags & O_ACCMODE, O_RDONLY, "%s", target);
	}
	(void)closedir(directory);
}

#ifndef __SANITIZE_ADDRESS__
/* Returns the number of the first forbidden call that succeeds. */
#define IMPOSSIBLE(n, call)       \
	do {                      \
		errno = 0;        \
		if ((call) != -1) \
			return n; \
	} while (0)

static int try_what_is_forbidden(const char *file, const char *directory, int writable)
{
	struct open_how write_it = {.flags = O_WRONLY}, empty_it = {.flags = O_RDONLY | O_TRUNC},
			make_it = {.flags = O_WRONLY | O_CREAT, .mode = 0600};
	char byte = 'x';
	struct rlimit limit;
	char made[128];

	(void)snprintf(made, sizeof(made), "%s/made", directory);
	IMPOSSIBLE(1, open(file, O_WRONLY));
	IMPOSSIBLE(2, open(file, O_RDWR));
	IMPOSSIBLE(3, open(file, O_RDONLY | O_TRUNC));
	IMPOSSIBLE(4, syscall(SYS_openat2, AT_FDCWD, file, &write_it, sizeof(write_it)));
	IMPOSSIBLE(5, syscall(SYS_openat2, AT_FDCWD, file, &empty_it, sizeof(empty_it)));
	IMPOSSIBLE(6, syscall(SYS_openat2, AT_FDCWD, made, &make_it, sizeof(make_it)));
	IMPOSSIBLE(7, write(writable, &byte, 1));
	IMPOSSIBLE(8, pwrite(writable, &byte, 1, 0));
	IMPOSSIBLE(9, ftruncate(writable, 0));
	IMPOSSIBLE(10, (intptr_t)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writable, 0));
	IMPOSSIBLE(11, (intptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	IMPOSSIBLE(12, dup2(writable, STDERR_FILENO));
	IMPOSSIBLE(13, close(STDERR_FILENO));
	IMPOSSIBLE(14, unlink(file));
	IMPOSSIBLE(15, rename(file, made));
	IMPOSSIBLE(16, chmod(file, 0777));
	IMPOSSIBLE(17, mkdir(made, 0700));
	IMPOSSIBLE(18, symlink("x", made));
	IMPOSSIBLE(19, socket(AF_UNIX, SOCK_STREAM, 0));
	IMPOSSIBLE(20, socket(AF_INET, SOCK_STREAM, 0));
	IMPOSSIBLE(21, fork());
	IMPOSSIBLE(22, execl("/bin/true", "true", NULL));
	IMPOSSIBLE(23, kill(getppid(), 0));
	IMPOSSIBLE(24, ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
	IMPOSSIBLE(25, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	IMPOSSIBLE(26, syscall(SYS_setfsuid, 0));
	IMPOSSIBLE(27, setuid(0));
	IMPOSSIBLE(28, syscall(SYS_capset, NULL, NULL));
	IMPOSSIBLE(29, syscall(SYS_mount, "x", "/", "tmpfs", 0, NULL));
	IMPOSSIBLE(30, syscall(SYS_bpf, 0, NULL, 0));
	IMPOSSIBLE(31, syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0));
	IMPOSSIBLE(32, syscall(SYS_process_vm_writev, getppid(), NULL, 0, NULL, 0, 0));
	IMPOSSIBLE(33, syscall(SYS_io_uring_setup, 1, NULL));
	IMPOSSIBLE(34, setpriority(PRIO_PROCESS, 0, 0));
	limit = (struct rlimit){0};
	IMPOSSIBLE(35, prlimit(0, RLIMIT_NOFILE, &limit, NULL));
	IMPOSSIBLE(36, unshare(CLONE_NEWUSER));
	IMPOSSIBLE(37, syscall(SYS_setns, writable, 0));
	IMPOSSIBLE(38, fcntl(writable, F_SETOWN, getppid()));
	IMPOSSIBLE(39, ioctl(writable, 0));
	IMPOSSIBLE(40, mprotect(made - ((uintptr_t)made & 4095), 4096, PROT_READ | PROT_EXEC));
	return 0;
}

/* Tries the calls that the symbolizer needs. */
static int try_what_is_permitted(const char *file, const char *directory)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	int root = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat found;
	char byte;

	if (root < 0 || fd < 0 || fstat(fd, &found) < 0 || read(fd, &byte, 1) != 1)
		return 101;
	if (syscall(SYS_openat2, root, "file", &how, sizeof(how)) < 0)
		return 102;
	if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED || close(fd) < 0)
		return 103;
	/* A block of this size does not come from the heap: malloc() maps it. */
	free(malloc(1 << 20));
	if (write(STDERR_FILENO, "", 0) < 0 || open("/proc/self/maps", O_RDONLY | O_CLOEXEC) < 0)
		return 104;
	return 0;
}

/*
 * Tries the forbidden and the permitted calls in a confined child that runs as `uid`, on a file in a directory.
 * Only root may read these two, so for another user they are made readable.
 */
static int in_confinement(uid_t uid)
{
	char directory[] = "/tmp/pebsd-confined-XXXXXX";
	char file[64];
	int status, fd;
	pid_t pid;

	cr_assert(mkdtemp(directory));
	(void)snprintf(file, sizeof(file), "%s/file", directory);
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "secret", 6), 6);
	if (uid) {
		cr_assert_eq(chmod(file, 0644), 0);
		cr_assert_eq(chmod(directory, 0755), 0);
	}
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		int r = uid && setresuid(uid, uid, uid) < 0 ? 201 : symbols_confine(false) < 0 ? 202 : 0;

		if (r == 0)
			r = try_what_is_forbidden(file, directory, fd);
		_exit(r ? r : try_what_is_permitted(file, directory));
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	(void)close(fd);
	cr_expect_eq(unlink(file), 0);
	cr_expect_eq(rmdir(directory), 0);
	cr_assert(WIFEXITED(status), "signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

Test(symbols_worker, a_compromised_symbolizer_can_only_read_and_answer)
{
	if (geteuid() != 0)
		cr_skip_test("needs root");
	cr_expect_eq(in_confinement(0), 0);
}

Test(symbols_worker, without_privileges_it_drops_the_rest)
{
	if (geteuid() != 0)
		cr_skip_test("needs root");
	cr_expect_eq(in_confinement(65533), 0);
}
#endif

/* Starts a worker, and closes its socket; with `ready` only after it said that it is ready. Returns how it ended. */
static int status_without_pebsd(bool ready)
{
	struct pollfd said = {.events = POLLIN};
	int pair[2], status;
	pid_t pid;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		(void)close(pair[0]);
		_exit(symbols_worker(pair[1], false));
	}
	(void)close(pair[1]);
	said.fd = pair[0];
	if (ready)
		cr_assert_eq(poll(&said, 1, -1), 1);
	(void)close(pair[0]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status));
	return WEXITSTATUS(status);
}

Test(symbols_worker, the_symbolizer_ends_with_pebsd)
{
	cr_expect_eq(status_without_pebsd(false), EXIT_DONE);
}

/* pebsd ends after the worker said that it is ready, and before that is read. */
Test(symbols_worker, the_symbolizer_ends_with_a_pebsd_that_read_nothing)
{
	cr_expect_eq(status_without_pebsd(true), EXIT_DONE);
}

Test(symbols_worker, invalid_requests_are_refused)
{
	int pair[2], status;
	pid_t pid;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		(void)close(pair[0]);
		log_set_level(LOG_EMERG);
		_exit(symbols_worker(pair[1], false));
	}
	(void)close(pair[1]);
	cr_assert_eq(send(pair[0], "no request", 10, 0), 10);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status));
	cr_expect_eq(WEXITSTATUS(status), EXIT_FAILED);
	(void)close(pair[0]);
}

Test(symbols_worker, started_by_hand_it_reads_nothing)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	u64 before = mask_of(getpid(), "CapBnd");
	int pair[2];

	log_set_level(LOG_EMERG);
	cr_assert_geq(fd, 0);
	cr_expect_eq(symbols_worker(fd, false), EXIT_INPUT);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	cr_expect_eq(symbols_worker(pair[1], false), EXIT_INPUT);
	cr_expect_eq(mask_of(getpid(), "CapBnd"), before, "and has given up nothing");
	cr_expect_neq(mask_of(getpid(), "Seccomp:"), 2);
}

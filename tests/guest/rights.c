// SPDX-License-Identifier: GPL-2.0
/*
 * Tries actions that a service may have no right to, each in a process of its own, and prints the names of
 * those that succeed:
 *   rights DIRECTORY VICTIM   DIRECTORY has files of the test; VICTIM is the id of a process of root
 *   rights --share            creates memory that everybody in the same IPC namespace may share
 *   rights --count            prints the number of actions
 *
 * An action that succeeds does no harm to a guest. Mounts change only in this program's mount namespace. The clock
 * and the host name are set to their present values. Files and cgroups that remain are named rights-made or
 * rights-node.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/fanotify.h>
#include <linux/perf_event.h>
#include <linux/reboot.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define SHARED_KEY 0x72696768

static const char *directory;
static pid_t victim;

/* Returns the path of a file in the directory. */
static const char *laid(const char *name)
{
	static char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static long open_to(const char *path, int flags)
{
	return open(path, flags | O_CLOEXEC, 0600);
}

/* Reads one byte, because a hidden file may be readable but empty. */
static long read_from(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;
	char byte;

	if (fd < 0)
		return -1;
	n = read(fd, &byte, 1);
	if (n == 0)
		errno = ENOENT;
	return n == 1 || (n < 0 && errno == EAGAIN) ? 0 : -1;
}

static long socket_of(int family, int type)
{
	return socket(family, type | SOCK_CLOEXEC, 0);
}

/* Binds a socket to any port of the loopback address. */
static long listen_tcp(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -1 : bind(fd, (const struct sockaddr *)&address, sizeof(address));
}

static long enter(const char *name, int kind)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", victim, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -1 : setns(fd, kind);
}

static long set_id_bit(void)
{
	const char *path = "/dev/shm/rights";
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	long r;

	if (fd < 0)
		return -1;
	r = fchmod(fd, 04700);
	(void)unlink(path);
	return r;
}

static long set_clock(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return clock_settime(CLOCK_REALTIME, &now);
}

static long adjust_clock(void)
{
	struct timex adjustment = {.modes = ADJ_OFFSET_SINGLESHOT};

	return adjtimex(&adjustment);
}

static long set_hostname(void)
{
	char name[256];

	return gethostname(name, sizeof(name)) < 0 ? -1 : sethostname(name, strlen(name));
}

static long read_memory_of(void)
{
	char byte;
	struct iovec to = {.iov_base = &byte, .iov_len = 1};
	struct iovec from = {.iov_base = (void *)1, .iov_len = 1};

	return process_vm_readv(victim, &to, 1, &from, 1, 0);
}

static long load_bpf(int type)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = (unsigned)type,
		.insn_cnt = 2,
		.insns = (unsigned long)code,
		.license = (unsigned long)"GPL",
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* Requires CAP_SYS_ADMIN. */
static long list_bpf(void)
{
	union bpf_attr attr = {.start_id = 0};

	return syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr));
}

static long open_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};

	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

static long map_writable_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static long make_code(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? -1 : mprotect(memory, 4096, PROT_READ | PROT_EXEC);
}

static long run_realtime(void)
{
	const struct sched_param param = {.sched_priority = 1};

	return sched_setscheduler(0, SCHED_FIFO, &param);
}

static long raise_limit(void)
{
	const struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	return setrlimit(RLIMIT_CORE, &limit);
}

static long ring_setup(void)
{
	char params[120] = {0};

	return syscall(SYS_io_uring_setup, 1, params);
}

static long take_descriptor(void)
{
	int fd = (int)syscall(SYS_pidfd_open, victim, 0);

	return fd < 0 ? -1 : syscall(SYS_pidfd_getfd, fd, 0, 0);
}

static long open_by_handle(void)
{
	struct {
		struct file_handle handle;
		char bytes[128];
	} handle = {.handle.handle_bytes = 128};
	int mount_id, fd = open("/", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || name_to_handle_at(AT_FDCWD, laid("handle"), &handle.handle, &mount_id, 0) < 0)
		return -1;
	return open_by_handle_at(fd, &handle.handle, O_RDONLY);
}

static long set_trusted(void)
{
	return setxattr(laid("open"), "trusted.rights", "", 0, 0);
}

#define TRY(name, expression)        \
	static long try_##name(void) \
	{                            \
		return (expression); \
	}
#define TRIES(X)                                                                                      \
	X(socket_inet, listen_tcp())                                                                  \
	X(socket_raw, socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP))                         \
	X(socket_packet, socket_of(AF_PACKET, SOCK_RAW))                                              \
	X(socket_netlink, socket_of(AF_NETLINK, SOCK_RAW))                                            \
	X(mount, mount("none", "/tmp", "tmpfs", 0, NULL))                                             \
	X(remount, mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL))                                \
	X(umount, umount2("/tmp", MNT_DETACH))                                                        \
	X(fsopen, syscall(SYS_fsopen, "tmpfs", 0))                                                    \
	X(chroot, chroot("/"))                                                                        \
	X(pivot_root, syscall(SYS_pivot_root, "/nonexistent", "/nonexistent"))                        \
	X(unshare_user, unshare(CLONE_NEWUSER))                                                       \
	X(unshare_mount, unshare(CLONE_NEWNS))                                                        \
	X(unshare_network, unshare(CLONE_NEWNET))                                                     \
	X(unshare_pid, unshare(CLONE_NEWPID))                                                         \
	X(unshare_ipc, unshare(CLONE_NEWIPC))                                                         \
	X(unshare_uts, unshare(CLONE_NEWUTS))                                                         \
	X(unshare_cgroup, unshare(CLONE_NEWCGROUP))                                                   \
	X(enter_mount, enter("mnt", CLONE_NEWNS))                                                     \
	X(enter_network, enter("net", CLONE_NEWNET))                                                  \
	X(setuid, syscall(SYS_setuid, 0))                                                             \
	X(setgid, syscall(SYS_setgid, 0))                                                             \
	X(setgroups, setgroups(0, NULL))                                                              \
	X(chown, chown(laid("open"), 0, 0))                                                           \
	X(set_user_id_bit, set_id_bit())                                                              \
	X(device_node, mknod("/dev/shm/rights-node", S_IFCHR | 0600, makedev(1, 3)))                  \
	X(load_module, syscall(SYS_init_module, "none", 4, ""))                                       \
	X(load_module_file, syscall(SYS_finit_module, -1, "", 0))                                     \
	X(unload_module, syscall(SYS_delete_module, "nonexistent", O_NONBLOCK))                       \
	X(kexec, syscall(SYS_kexec_load, 0, 0, NULL, 1UL << 40))                                      \
	X(reboot,                                                                                     \
	  syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_CAD_OFF, 0)) \
	X(swap_on, swapon("/nonexistent", 0))                                                         \
	X(swap_off, swapoff("/nonexistent"))                                                          \
	X(set_clock, set_clock())                                                                     \
	X(adjust_clock, adjust_clock())                                                               \
	X(set_hostname, set_hostname())                                                               \
	X(accounting, syscall(SYS_acct, NULL))                                                        \
	X(quota, syscall(SYS_quotactl, 0x80000100, NULL, 0, NULL))                                    \
	X(hang_up, syscall(SYS_vhangup))                                                              \
	X(io_ports, ioperm(0x80, 1, 1))                                                               \
	X(io_level, iopl(3))                                                                          \
	X(trace_another, ptrace(PTRACE_SEIZE, victim, NULL, NULL))                                    \
	X(read_memory_of_another, read_memory_of())                                                   \
	X(take_descriptor_of_another, take_descriptor())                                              \
	X(signal_another, kill(victim, 0))                                                            \
	X(see_another, open_to("/proc/1/status", O_RDONLY))                                           \
	X(kernel_log, klogctl(3, laid("open") ? (char[16]){0} : NULL, 16))                            \
	X(kernel_log_file, read_from("/proc/kmsg"))                                                   \
	X(kernel_log_device, read_from("/dev/kmsg"))                                                  \
	X(kernel_memory, read_from("/proc/kcore"))                                                    \
	X(physical_memory, open_to("/dev/mem", O_RDONLY))                                             \
	X(write_sysctl, open_to("/proc/sys/kernel/core_pattern", O_WRONLY))                           \
	X(write_sysrq, open_to("/proc/sysrq-trigger", O_WRONLY))                                      \
	X(write_sys, open_to("/sys/kernel/mm/ksm/run", O_WRONLY))                                     \
	X(make_cgroup, mkdir("/sys/fs/cgroup/rights-made", 0755))                                     \
	X(write_etc, open_to("/etc/rights-made", O_WRONLY | O_CREAT))                                 \
	X(write_usr, open_to("/usr/rights-made", O_WRONLY | O_CREAT))                                 \
	X(write_var, open_to("/var/lib/rights-made", O_WRONLY | O_CREAT))                             \
	X(read_home, read_from("/home/rights"))                                                       \
	X(read_root_home, read_from("/root/rights"))                                                  \
	X(read_tmp_of_others, read_from("/tmp/rights"))                                               \
	X(read_closed, read_from(laid("closed")))                                                     \
	X(write_closed, open_to(laid("closed"), O_WRONLY))                                            \
	X(open_by_handle, open_by_handle())                                                           \
	X(trusted_attributes, set_trusted())                                                          \
	X(realtime, run_realtime())                                                                   \
	X(priority, setpriority(PRIO_PROCESS, 0, -20))                                                \
	X(raise_limit, raise_limit())                                                                 \
	X(keys, syscall(SYS_keyctl, 0, -3, 0))                                                        \
	X(shared_memory, shmget(SHARED_KEY, 4096, 0))                                                 \
	X(personality, personality(ADDR_NO_RANDOMIZE))                                                \
	X(writable_code, map_writable_code())                                                         \
	X(make_code, make_code())                                                                     \
	X(userfaults, syscall(SYS_userfaultfd, O_CLOEXEC))                                            \
	X(io_uring, ring_setup())                                                                     \
	X(watch_all_files, syscall(SYS_fanotify_init, FAN_CLASS_CONTENT, O_RDONLY))                   \
	X(new_privileges, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? (errno = EPERM, -1) : 0)      \
	X(perf_event, open_event())                                                                   \
	X(bpf_tracing, load_bpf(BPF_PROG_TYPE_PERF_EVENT))                                            \
	X(bpf_network, load_bpf(BPF_PROG_TYPE_SCHED_CLS))                                             \
	X(bpf_list, list_bpf())

TRIES(TRY)

#define ROW(name, expression) {#name, try_##name},

static const struct {
	const char *name;
	long (*attempt)(void);
} tries[] = {TRIES(ROW)};

/* Any other error shows that the action was allowed, except ENOENT for actions that are hidden(). */
static int refused(int error)
{
	return error == EPERM || error == EACCES || error == EROFS || error == ENOSYS ||
	       error == EAFNOSUPPORT || error == ENXIO;
}

/*
 * Returns true for actions on a path or object that certainly exists. If it is not found, it is hidden from this
 * process, and the action is refused.
 */
static int hidden(const char *name)
{
	return strncmp(name, "read_", 5) == 0 || strncmp(name, "see_", 4) == 0 ||
	       strncmp(name, "kernel_", 7) == 0 || strncmp(name, "physical_", 9) == 0 ||
	       strncmp(name, "enter_", 6) == 0 || strcmp(name, "keys") == 0 ||
	       strcmp(name, "shared_memory") == 0 || strncmp(name, "write_", 6) == 0 ||
	       strcmp(name, "chown") == 0 || strcmp(name, "open_by_handle") == 0 ||
	       strcmp(name, "trusted_attributes") == 0 || strcmp(name, "set_user_id_bit") == 0 ||
	       strcmp(name, "device_node") == 0;
}

static int could(size_t i)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		long r;

		/* Leave the terminal's session: otherwise `hang_up` (vhangup(2)) would hang up the terminal. */
		(void)setsid();
		errno = 0;
		r = tries[i].attempt();
		_exit(r >= 0 || !(refused(errno) || (errno == ENOENT && hidden(tries[i].name))));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	/* An action for which the process is killed counts as refused, too. */
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

int main(int argc, char *argv[])
{
	if (argc == 2 && strcmp(argv[1], "--share") == 0)
		return shmget(SHARED_KEY, 4096, IPC_CREAT | 0666) < 0;
	if (argc == 2 && strcmp(argv[1], "--count") == 0)
		return printf("%zu\n", sizeof(tries) / sizeof(tries[0])) < 0;
	if (argc != 3) {
		(void)fprintf(stderr, "usage: rights DIRECTORY VICTIM\n");
		return 2;
	}
	directory = argv[1];
	victim = atoi(argv[2]);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		int r = could(i);

		if (r < 0) {
			perror("fork");
			return 1;
		}
		if (r)
			(void)puts(tries[i].name);
	}
	(void)puts("end");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/counter_users.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/directory.h"
#include "base/text_file.h"

#define PERF_EVENT "anon_inode:[perf_event]"
#define KVM        "anon_inode:kvm-vm"

/* The initial namespace of processes (include/linux/proc_ns.h). Any other one shows only its own. */
#define PROC_PID_INIT_INO 0xEFFFFFFCU

/* Returns true if `config` has a line "NAME=y". */
static bool is_set(const char *config, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = strstr(config, name); at; at = strstr(at + 1, name))
		if ((at == config || at[-1] == '\n') && strncmp(at + length, "=y", 2) == 0 &&
		    (at[length + 2] == '\n' || at[length + 2] == '\0'))
			return true;
	return false;
}

/*
 * Finds the last nmi_watchdog=...r<hex> in the kernel's command line, as hardlockup_panic_setup() in
 * kernel/watchdog.c reads it: words separated by commas, of which one that begins with "r" names the event.
 */
static bool find_raw(const char *cmdline, u64 *ret)
{
	static const char key[] = "nmi_watchdog=";
	bool found = false;

	for (const char *at = strstr(cmdline, key); at; at = strstr(at + 1, key)) {
		const char *word = at + strlen(key);

		if (at != cmdline && !isspace((unsigned char)at[-1]))
			continue;
		while (*word && !isspace((unsigned char)*word)) {
			if (word[0] == 'r' && isxdigit((unsigned char)word[1])) {
				char *end;
				u64 config;

				errno = 0;
				config = strtoull(word + 1, &end, 16);
				if (errno == 0 && (!*end || *end == ',' || isspace((unsigned char)*end))) {
					*ret = config;
					found = true;
				}
			}
			word += strcspn(word, ", \t\n");
			word += *word == ',';
		}
	}
	return found;
}

enum counter_watchdog counter_users_watchdog(const char *nmi_watchdog, const char *cmdline,
					     const char *kernel_config, u64 *ret_config)
{
	*ret_config = 0;
	if (!nmi_watchdog || nmi_watchdog[0] != '1' || isdigit((unsigned char)nmi_watchdog[1]))
		return COUNTER_WATCHDOG_OFF;
	if (!kernel_config)
		return COUNTER_WATCHDOG_MAYBE;
	if (!is_set(kernel_config, "CONFIG_HARDLOCKUP_DETECTOR_PERF"))
		return is_set(kernel_config, "CONFIG_HARDLOCKUP_DETECTOR_BUDDY") ? COUNTER_WATCHDOG_OFF
										 : COUNTER_WATCHDOG_MAYBE;
	return cmdline && find_raw(cmdline, ret_config) ? COUNTER_WATCHDOG_RAW : COUNTER_WATCHDOG_CYCLES;
}

const char *counter_watchdog_name(enum counter_watchdog watchdog)
{
	switch (watchdog) {
	case COUNTER_WATCHDOG_MAYBE:
		return "unknown";
	case COUNTER_WATCHDOG_CYCLES:
		return "cycles";
	case COUNTER_WATCHDOG_RAW:
		return "raw";
	case COUNTER_WATCHDOG_OFF:
		break;
	}
	return NULL;
}

static void count_more(struct counter_users *users, const struct counter_user *user)
{
	users->more++;
	users->more_events += user->events;
}

void counter_users_add(struct counter_users *users, const struct counter_user *user)
{
	size_t at = users->n;

	while (at > 0 && users->users[at - 1].events < user->events)
		at--;
	if (at == COUNTER_USERS_MAX) {
		count_more(users, user);
		return;
	}
	if (users->n == COUNTER_USERS_MAX)
		count_more(users, &users->users[--users->n]);
	memmove(&users->users[at + 1], &users->users[at], (users->n - at) * sizeof(users->users[0]));
	users->users[at] = *user;
	users->n++;
}

static char *read_below(const char *root, const char *path)
{
	_cleanup_free_ char *full = NULL;
	char *text;

	if (asprintf(&full, "%s/%s", root, path) < 0) {
		full = NULL;
		return NULL;
	}
	return text_file_read(full, &text) < 0 ? NULL : text;
}

static bool exists_below(const char *root, const char *path)
{
	_cleanup_free_ char *full = NULL;

	if (asprintf(&full, "%s/%s", root, path) < 0) {
		full = NULL;
		return false;
	}
	return access(full, F_OK) == 0;
}

/* Distributions put the configuration of a kernel there. A configuration in another place is not found. */
static char *read_kernel_config(const char *root)
{
	_cleanup_free_ char *release = read_below(root, "proc/sys/kernel/osrelease");
	_cleanup_free_ char *path = NULL;

	if (!release || !*release || strchr(release, '/') || asprintf(&path, "boot/config-%s", release) < 0) {
		path = NULL;
		return NULL;
	}
	return read_below(root, path);
}

void counter_users_gather_watchdog(const char *root, struct counter_users *ret)
{
	_cleanup_free_ char *on = read_below(root, "proc/sys/kernel/nmi_watchdog");
	_cleanup_free_ char *cmdline = read_below(root, "proc/cmdline");
	_cleanup_free_ char *config = read_kernel_config(root);

	*ret = (struct counter_users){0};
	ret->watchdog = counter_users_watchdog(on, cmdline, config, &ret->watchdog_config);
}

/* `enable_pmu` exists since Linux 5.17. Before, KVM always gives guests a virtual PMU if it can. */
static void gather_kvm(const char *root, struct counter_users *users)
{
	_cleanup_free_ char *enabled = read_below(root, "sys/module/kvm/parameters/enable_pmu");
	const bool host = exists_below(root, "dev/kvm") && (exists_below(root, "sys/module/kvm_intel") ||
							    exists_below(root, "sys/module/kvm_amd"));

	users->kvm_pmu = host && (!enabled || enabled[0] == 'Y' || enabled[0] == '1');
}

/* Takes ownership of `fd`. */
static DIR *take_directory(int fd)
{
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !directory)
		(void)close(fd);
	return directory;
}

/* Reads the name of a process, which may contain any byte but NUL. */
static void read_name(int process, char *ret, size_t size)
{
	_cleanup_close_ int fd = openat(process, "comm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

/* Counts the descriptors of one process. Returns how many were looked at. */
static u64 look_at(int proc, const char *pid, u64 most, struct counter_users *users)
{
	_cleanup_close_ int process = openat(proc, pid, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_closedir_ DIR *directory = NULL;
	struct counter_user user = {.pid = (u32)strtoul(pid, NULL, 10)};
	const struct dirent *entry;
	u64 looked = 0;

	if (process < 0)
		return 0;
	directory = take_directory(openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!directory) {
		users->unread += errno == EACCES || errno == EPERM;
		return 0;
	}
	while ((entry = readdir(directory))) {
		char target[64];
		ssize_t length;

		if (entry->d_name[0] == '.')
			continue;
		if (looked == most) {
			users->cut = true;
			break;
		}
		looked++;
		length = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
		if (length < 0 && (errno == EACCES || errno == EPERM)) {
			users->unread++;
			return looked;
		}
		target[length > 0 ? length : 0] = '\0';
		user.events += strcmp(target, PERF_EVENT) == 0;
		users->machines += strcmp(target, KVM) == 0;
	}
	if (user.events == 0)
		return looked;
	read_name(process, user.name, sizeof(user.name));
	counter_users_add(users, &user);
	return looked;
}

static void gather_processes(const char *root, u32 self, u64 most, struct counter_users *users)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_closedir_ DIR *proc = NULL;
	const struct dirent *entry;
	struct stat namespace;
	bool initial = true; /* in the initial namespace of processes */
	u64 looked = 0;

	users->hidden = true;
	if (asprintf(&path, "%s/proc", root) < 0) {
		path = NULL;
		return;
	}
	proc = take_directory(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!proc)
		return;
	if (fstatat(dirfd(proc), "self/ns/pid", &namespace, 0) == 0)
		initial = namespace.st_ino == PROC_PID_INIT_INO;
	while ((entry = readdir(proc))) {
		if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name))
			continue;
		/* Each namespace has a process 1. If /proc does not show it, it does not show others either. */
		if (initial && strcmp(entry->d_name, "1") == 0)
			users->hidden = false;
		if (strtoul(entry->d_name, NULL, 10) == self)
			continue;
		if (looked == most) {
			users->cut = true;
			break;
		}
		/* Opening a process takes time, too, even if it has no descriptor that can be read. */
		looked++;
		looked += look_at(dirfd(proc), entry->d_name, most - looked, users);
	}
}

void counter_users_gather(const char *root, u32 self, u64 look_most, struct counter_users *ret)
{
	counter_users_gather_watchdog(root, ret);
	gather_kvm(root, ret);
	gather_processes(root, self, look_most, ret);
}

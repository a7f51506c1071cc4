// SPDX-License-Identifier: GPL-2.0
#include "kernel/load_failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/log.h"

#define CAUSE_MAX 1024

struct load_log {
	libbpf_print_fn_t before;
	char cause[CAUSE_MAX]; /* libbpf's first warning, and the verifier's objection if it is known */
	bool rejected;
};

/* libbpf's print callback has no user data, so this one global variable is unavoidable. */
static struct load_log *listening;

static bool starts_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

char *load_failure_objection(const char *text)
{
	const char *line = strstr(text, "BEGIN PROG LOAD LOG --\n");
	const char *objection = NULL;
	size_t length = 0;

	if (!line)
		return NULL;
	for (line = strchr(line, '\n') + 1; *line; line += *line == '\n') {
		size_t bytes = strcspn(line, "\n");

		if (starts_with(line, "processed ") || starts_with(line, "-- END PROG LOAD LOG"))
			break;
		if (bytes) {
			objection = line;
			length = bytes;
		}
		line += bytes;
	}
	return objection ? strndup(objection, length) : NULL;
}

/* Keeps the first warning, which is the cause. Of later ones, only the verifier's objection adds information. */
static void keep_cause(struct load_log *log, const char *text)
{
	_cleanup_free_ char *objection = load_failure_objection(text);
	size_t used = strlen(log->cause);

	if (!used)
		(void)snprintf(log->cause, sizeof(log->cause), "%.*s", (int)strcspn(text, "\n"), text);
	else if (objection && !log->rejected)
		(void)snprintf(log->cause + used, sizeof(log->cause) - used, "; %s", objection);
	log->rejected = log->rejected || objection;
}

static int listen_to_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	_cleanup_free_ char *text = NULL;

	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL;
		return 0;
	}
	log_debug("%.*s", (int)strcspn(text, "\n"), text);
	if (level == LIBBPF_WARN && listening)
		keep_cause(listening, text);
	return 0;
}

int load_log_start(struct load_log **ret)
{
	struct load_log *log = calloc(1, sizeof(*log));

	if (!log)
		return -ENOMEM;
	listening = log;
	log->before = libbpf_set_print(listen_to_libbpf);
	*ret = log;
	return 0;
}

struct load_log *load_log_free(struct load_log *log)
{
	if (!log)
		return NULL;
	listening = NULL;
	libbpf_set_print(log->before);
	free(log);
	return NULL;
}

static const char *remedy(int error, const struct load_facts *facts)
{
	if (!facts->has_btf)
		return "this kernel has no BTF (/sys/kernel/btf/vmlinux is missing or not readable), which pebsd needs to find the kernel's fields; run a kernel built with CONFIG_DEBUG_INFO_BTF=y, such as those of Debian, Fedora, Ubuntu and SUSE";
	if ((error == -EACCES || error == -E2BIG) && facts->rejected)
		return "the kernel's verifier rejects the program, whatever the privileges; please report this line, and try another kernel";
	if ((error == -EPERM || error == -EACCES) && facts->lockdown &&
	    strcmp(facts->lockdown, "confidentiality") == 0)
		return "the kernel is locked down in confidentiality mode, which keeps BPF from reading kernel memory; boot with lockdown=integrity, or without lockdown";
	if (error == -EPERM || error == -EACCES)
		return facts->root
			       ? "the privileges are not sufficient; give the process CAP_BPF and CAP_PERFMON (on kernels without them CAP_SYS_ADMIN), and allow bpf(2) in its seccomp filter"
			       : "run pebsd as root, or with CAP_BPF and CAP_PERFMON";
	if (error == -EMFILE)
		return "there are too few file descriptors for maps, programs and sockets; raise LimitNOFILE= of the unit (ulimit -n)";
	if (error == -ENFILE)
		return "the machine is out of file descriptors; raise fs.file-max with sysctl, or find the process that uses them";
	if (error == -ENOMEM)
		return "there is not enough memory for BPF programs and maps; lower max-memory in [cgroups], or max if it is a number, or give pebsd more memory (MemoryMax= of the unit)";
	if (error == -E2BIG)
		return "a BPF map would be too large; lower max-memory, max or hot-max in [cgroups]";
	if (error == -ENOSYS)
		return "this kernel has no bpf(2), or a seccomp filter hides it; pebsd needs Linux 6.1 or later";
	if (error == -ENOENT || error == -ESRCH || error == -EINVAL || error == -EOPNOTSUPP)
		return "the kernel probably lacks a feature that pebsd needs; run Linux 6.1 or later, or, if this is such a kernel, report this line";
	return "please report this line";
}

char *load_failure_message(const char *step, int error, const struct load_facts *facts, const char *cause)
{
	bool quoted = cause && cause[0];
	char *message;

	if (asprintf(&message, "cannot %s on kernel %s: %s%s%s%s; %s", step, facts->kernel, strerror(-error),
		     quoted ? " (" : "", quoted ? cause : "", quoted ? ")" : "", remedy(error, facts)) < 0)
		return NULL;
	return message;
}

/* Returns the mode in brackets of /sys/kernel/security/lockdown: "none [integrity] confidentiality". */
static const char *read_lockdown(char *buffer, size_t bytes)
{
	_cleanup_fclose_ FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char *mode, *end;

	if (!file || !fgets(buffer, (int)bytes, file))
		return NULL;
	mode = strchr(buffer, '[');
	if (!mode || !(end = strchr(mode, ']')))
		return NULL;
	*end = '\0';
	return mode + 1;
}

char *load_failure(const char *step, int error, const struct load_log *log)
{
	struct utsname names = {0};
	char lockdown[64];
	struct load_facts facts = {
		.has_btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0,
		.rejected = log && log->rejected,
		.root = geteuid() == 0,
		.lockdown = read_lockdown(lockdown, sizeof(lockdown)),
	};

	(void)uname(&names);
	facts.kernel = names.release;
	return load_failure_message(step, error, &facts, log ? log->cause : NULL);
}

bool load_failure_refused(int error, const struct load_log *log)
{
	if (error == -EACCES)
		return !log || !log->rejected;
	return error == -EPERM || error == -ENOSYS || error == -ENOENT || error == -ESRCH ||
	       error == -EOPNOTSUPP;
}

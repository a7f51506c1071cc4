// SPDX-License-Identifier: GPL-2.0
#include "load_failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/log.h"

#define LAST_WORDS_MAX 1024

struct load_log {
	libbpf_print_fn_t before;
	char last_words[LAST_WORDS_MAX];
};

/* libbpf's callback has no user data: the one state that it forces on us. */
static struct load_log *listening;

static int listen_to_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char line[LAST_WORDS_MAX];

	if (vsnprintf(line, sizeof(line), format, arguments) < 0)
		return 0;
	line[strcspn(line, "\n")] = '\0';
	log_debug("%s", line);
	/* The first warning is the cause; those after it are its consequences. */
	if (level == LIBBPF_WARN && listening && !listening->last_words[0])
		memcpy(listening->last_words, line, sizeof(line));
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
		return "this kernel carries no BTF (/sys/kernel/btf/vmlinux is missing), which pebsd needs "
		       "to find "
		       "the kernel's fields; run a kernel built with CONFIG_DEBUG_INFO_BTF=y, as Debian's, "
		       "Fedora's, "
		       "Ubuntu's and SUSE's are";
	if ((error == -EPERM || error == -EACCES) && facts->lockdown &&
	    strcmp(facts->lockdown, "confidentiality") == 0)
		return "the kernel is locked down in confidentiality mode, which keeps BPF from reading "
		       "kernel "
		       "memory; boot with lockdown=integrity, or without lockdown";
	if (error == -EPERM || error == -EACCES)
		return facts->root ? "the rights are not enough; give the process CAP_BPF and CAP_PERFMON "
				     "(on kernels "
				     "without them CAP_SYS_ADMIN), and let its seccomp filter pass bpf(2)"
				   : "run it as root, or with CAP_BPF and CAP_PERFMON";
	if (error == -ENOMEM || error == -E2BIG)
		return "there is not enough memory for the slot table; lower [cgroups] max";
	if (error == -ENOSYS)
		return "this kernel has no bpf(2), or a seccomp filter hides it; pebsd needs Linux 6.1 or "
		       "later";
	if (error == -ENOENT || error == -ESRCH || error == -EINVAL || error == -EOPNOTSUPP)
		return "the kernel lacks something that pebsd needs; it is made for Linux 6.1 and later";
	return "please report it together with the line above";
}

char *load_failure_message(const char *step, int error, const struct load_facts *facts,
			   const char *last_words)
{
	bool quoted = last_words && last_words[0];
	char *message;

	if (asprintf(&message, "cannot %s on kernel %s: %s%s%s%s; %s", step, facts->kernel, strerror(-error),
		     quoted ? " (" : "", quoted ? last_words : "", quoted ? ")" : "",
		     remedy(error, facts)) < 0)
		return NULL;
	return message;
}

/* The mode in brackets of /sys/kernel/security/lockdown: "none [integrity] confidentiality". */
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
		.root = geteuid() == 0,
		.lockdown = read_lockdown(lockdown, sizeof(lockdown)),
	};

	(void)uname(&names);
	facts.kernel = names.release;
	return load_failure_message(step, error, &facts, log ? log->last_words : NULL);
}

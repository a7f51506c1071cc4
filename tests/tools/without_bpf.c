// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command under a seccomp filter that kills it if it calls bpf or perf_event_open, or with --refuse answers
 * these calls with EPERM, as the filters of container engines do:
 *   without_bpf [--refuse] COMMAND [ARGUMENT]...
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(const char *what)
{
	(void)fprintf(stderr, "without_bpf: cannot %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char *argv[])
{
	const bool refuse = argc > 1 && strcmp(argv[1], "--refuse") == 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, refuse ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	argv += refuse;
	if (!argv[1]) {
		(void)fprintf(stderr, "usage: without_bpf [--refuse] COMMAND [ARGUMENT]...\n");
		return 2;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fail("give up new privileges");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return fail("set the filter");
	(void)execvp(argv[1], argv + 1);
	return fail("run the command");
}

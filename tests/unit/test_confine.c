// SPDX-License-Identifier: GPL-2.0
/* What a child still has after it gave up privileges. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/confine.h"

/* The steps of container_confine() and symbols_confine(). Returns the exit code of a child. */
static int confine_child(void)
{
	int signal = 0;

	confine_begin();
	confine_files_as_nobody();
	if (prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0) < 0 || signal != SIGKILL)
		return 1;
	return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : 2;
}

/* The kernel resets the signal and the attribute when the user of the file system changes. */
Test(confine, a_child_that_accesses_files_as_nobody_still_ends_with_its_parent)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(confine_child());
	cr_assert_gt(child, 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status));
	cr_expect_eq(WEXITSTATUS(status), 0, "%d", WEXITSTATUS(status));
}

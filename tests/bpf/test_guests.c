// SPDX-License-Identifier: GPL-2.0
/*
 * The walk that finds virtual machines, in the running kernel. No virtual machine is needed if it looks for
 * all threads.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <unistd.h>

#include "cgroup_fixture.h"
#include "kernel/guests.h"

#define THREADS 600 /* the cgroup ids of the threads take more than one page */

static struct guests *guests;

static void teardown(void)
{
	guests = guests_free(guests);
	cgroup_fixture_teardown();
}

TestSuite(guests, .init = cgroup_fixture_setup, .fini = teardown);

static void open_guests(bool every_thread)
{
	char *message = NULL;

	cr_assert_eq(guests_open(every_thread, &guests, &message), 0, "%s", message);
}

static bool finds(u64 id)
{
	_cleanup_free_ u64 *ids = NULL;
	bool found = false;
	size_t n;

	cr_assert_eq(guests_find(guests, &ids, &n), 0);
	for (size_t i = 0; i < n; i++) {
		found = found || ids[i] == id;
		cr_expect(i == 0 || ids[i - 1] < ids[i], "ascending, each once");
	}
	return found;
}

static void *wait_for_end(void *pipe_end)
{
	char byte;

	(void)!read(*(int *)pipe_end, &byte, 1);
	return NULL;
}

/* Looks for the cgroup from a process with many threads. The walk must look at each thread. */
static int look(void *userdata)
{
	u64 id = *(u64 *)userdata;
	pthread_t threads[THREADS];
	pthread_attr_t attributes;
	int ends[2];
	int n = 0;
	bool found;

	if (pipe(ends) < 0 || pthread_attr_init(&attributes) != 0 ||
	    pthread_attr_setstacksize(&attributes, 65536) != 0)
		return 1;
	while (n < THREADS && pthread_create(&threads[n], &attributes, wait_for_end, &ends[0]) == 0)
		n++;
	found = finds(id);
	(void)close(ends[1]);
	for (int i = 0; i < n; i++)
		(void)pthread_join(threads[i], NULL);
	return n == THREADS && found ? 0 : 1;
}

Test(guests, a_guest_thread_marks_its_cgroup)
{
	u64 id = cgroup_fixture_make("a");
	u64 other = cgroup_fixture_make("b");
	struct cgroup_child child;

	open_guests(true);
	cr_expect_not(finds(id), "nobody is in it yet");
	child = cgroup_fixture_child("a", look, &id);
	cr_expect(finds(id));
	cr_expect_not(finds(other));
	cgroup_fixture_go(&child);
	cr_expect_not(finds(id), "nobody is in it any more");
}

Test(guests, a_cgroup_without_a_guest_is_not_marked)
{
	u64 id = cgroup_fixture_make("a");
	struct cgroup_child child;
	unsigned pages = 1;

	open_guests(false);
	child = cgroup_fixture_child("a", touch_pages, &pages);
	cr_expect_not(finds(id));
	cgroup_fixture_go(&child);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The labels of cgroups. They come from the path alone, and from the process that reads names. That process
 * is this program, run as pebsd runs it, in mounts that the test makes.
 */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "containers/container_confine.h"
#include "containers/container_requester.h"
#include "containers/container_wire.h"
#include "containers/container_worker.h"
#include "containers/containers.h"
#include "heap.h"
#include "own_mounts.h"
#include "tree.h"

#define ID     "3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
#define UID    "12fdc709-933e-41d0-917f-cd84de9afa94"
#define DOCKER "/docker/" ID
#define IN_POD "/kubepods/burstable/pod" UID "/" ID

#define SECOND NSEC_PER_SEC

/* The process that reads names. Files in /var/log make it hang, die or send nonsense. */
__attribute__((constructor)) static void work(int argc, char *argv[])
{
	if (argc != 2 || strcmp(argv[1], "--container-names") != 0)
		return;
	if (access("/var/log/hang", F_OK) == 0)
		for (;;)
			(void)pause();
	if (access("/var/log/die", F_OK) == 0)
		_exit(3);
	if (access("/var/log/babble", F_OK) == 0) {
		char question[8192];

		(void)recv(STDIN_FILENO, question, sizeof(question), 0);
		(void)send(STDIN_FILENO, "nothing", 7, MSG_NOSIGNAL);
		for (;;)
			(void)pause();
	}
	_exit(container_worker(STDIN_FILENO));
}

static sd_event *event;
static struct containers *containers;
static u64 now_ns;

static void begin(void)
{
	const struct containers_settings settings = {.event = event, .program = "/proc/self/exe"};

	now_ns = 5000 * SECOND;
	cr_assert_eq(containers_new(&settings, &containers), 0);
	containers_look_for_names(containers, true);
	containers_tick(containers, now_ns);
}

static void end(void)
{
	containers = containers_free(containers);
	event = sd_event_unref(event);
}

/* Begins with an event loop, and with mounts over /var/log and /var/lib. */
static void begin_with_mounts(void)
{
	if (geteuid() != 0)
		cr_skip_test("mounts of its own take root");
	cr_assert_eq(own_mounts(), 0);
	cr_assert_eq(mount("none", "/var/log", "tmpfs", 0, NULL), 0);
	cr_assert_eq(mount("none", "/var/lib", "tmpfs", 0, NULL), 0);
	cr_assert_geq(sd_event_new(&event), 0);
	begin();
}

TestSuite(containers_alone, .init = begin, .fini = end);
TestSuite(containers, .init = begin_with_mounts, .fini = end);

static const char *text_of(const char *path, enum container_label label)
{
	const struct container *container = containers_find(containers, path);

	return container && container->text[label] ? container->text[label] : "";
}

static void tick(u64 later_ns)
{
	now_ns += later_ns;
	containers_tick(containers, now_ns);
}

/* Runs the loop until the label is known, for some seconds of real time at most. */
static bool becomes_known(const char *path, enum container_label label)
{
	for (int i = 0; i < 1000 && !*text_of(path, label); i++)
		(void)sd_event_run(event, 10000);
	return *text_of(path, label);
}

/* Runs the loop until pending work is likely to be done. */
static void settle(void)
{
	for (int i = 0; i < 20; i++)
		(void)sd_event_run(event, 10000);
}

static bool ends(void)
{
	for (int i = 0; i < 1000 && containers_pid(containers) > 0; i++)
		(void)sd_event_run(event, 10000);
	return containers_pid(containers) < 0;
}

Test(containers_alone, names_in_the_path_are_known_at_once)
{
	cr_expect_str_eq(text_of(DOCKER, CONTAINER_LABEL_RUNTIME), "docker");
	cr_expect_str_eq(text_of(DOCKER, CONTAINER_LABEL_ID), ID);
	cr_expect_str_eq(text_of("/system.slice/nginx.service", CONTAINER_LABEL_UNIT), "nginx.service");
	cr_expect_null(containers_find(containers, "/system.slice"));
	cr_expect_null(containers_find(containers, "model:mix"));
	cr_expect_null(containers_find(containers, "other"));
	cr_expect_eq(containers_count(containers), 2);
	/* Names for the cgroups of a recording are not searched for on this machine. */
	tick(SECOND);
	cr_expect_eq(containers_pid(containers), -1);
}

Test(containers_alone, unused_names_are_forgotten)
{
	(void)containers_find(containers, DOCKER);
	(void)containers_find(containers, "/a.service");
	tick(CONTAINERS_KEEP_NS - SECOND);
	(void)containers_find(containers, "/a.service");
	tick(2 * SECOND);
	cr_expect_eq(containers_count(containers), 1);
	cr_expect_str_eq(text_of("/a.service", CONTAINER_LABEL_UNIT), "a.service");
}

Test(containers_alone, memory_is_bounded)
{
	char path[64];

	for (int i = 0; i < CONTAINERS_MAX + 10; i++) {
		(void)snprintf(path, sizeof(path), "/%d.service", i);
		(void)containers_find(containers, path);
	}
	cr_expect_eq(containers_count(containers), CONTAINERS_MAX);
	cr_expect_null(containers_find(containers, "/one-more.service"));
	cr_expect_not_null(containers_find(containers, "/7.service"));
}

/*
 * Paths of 3,999 bytes take much more memory each. Of paths of 399 bytes there are so many that the memory
 * beside the texts matters. Also measured is what malloc() handed out.
 */
static void expect_bound(size_t path_bytes)
{
	char path[4000];
	size_t known = 0, before = heap_bytes();

	for (int i = 0; i < CONTAINERS_MAX; i++) {
		int length = snprintf(path, path_bytes, "/%d", i);

		for (size_t at = (size_t)length; at < path_bytes; at++)
			path[at] = at % 200 == 0 ? '/' : 'x';
		(void)strcpy(path + path_bytes - sizeof("/a.service"), "/a.service");
		known += containers_find(containers, path) != NULL;
		if (known < (size_t)i / 2)
			break;
	}
	/* malloc() keeps some free blocks ready, which it counts as handed out. */
	cr_expect_leq(heap_bytes() - before, CONTAINERS_BYTES_MAX + (64UL << 10), "%zu",
		      heap_bytes() - before);
	cr_expect_leq(containers_bytes(containers), CONTAINERS_BYTES_MAX);
	cr_expect_gt(containers_bytes(containers), CONTAINERS_BYTES_MAX - 8192);
	cr_expect_eq(containers_count(containers), known);
	/* Entries that nobody asks for are removed. */
	tick(CONTAINERS_KEEP_NS + SECOND);
	cr_expect_eq(containers_bytes(containers), 0);
	cr_expect_not_null(containers_find(containers, "/one-more.service"));
}

Test(containers_alone, memory_is_bounded_in_bytes)
{
	expect_bound(4000);
}

Test(containers_alone, memory_besides_the_texts_is_bounded_too)
{
	expect_bound(400);
}

Test(containers, names_are_looked_up_by_another_process)
{
	tree_write("/var/log", "pods/shop_cart-0_" UID "/app/0.log", "");
	tree_write("/var/log", "containers/cart-0_shop_app-" ID ".log", "");
	tree_write("/var/lib", "docker/containers/" ID "/config.v2.json", "{\"Name\":\"/web\"}");
	containers_born(containers, IN_POD);
	containers_born(containers, DOCKER);
	containers_born(containers, "/system.slice/nginx.service");
	cr_expect_eq(containers_count(containers), 2);
	tick(SECOND);
	cr_expect_gt(containers_pid(containers), 0);
	cr_expect(becomes_known(IN_POD, CONTAINER_LABEL_CONTAINER));
	cr_expect(becomes_known(DOCKER, CONTAINER_LABEL_CONTAINER));
	cr_expect_str_eq(text_of(IN_POD, CONTAINER_LABEL_NAMESPACE), "shop");
	cr_expect_str_eq(text_of(IN_POD, CONTAINER_LABEL_POD), "cart-0");
	cr_expect_str_eq(text_of(IN_POD, CONTAINER_LABEL_CONTAINER), "app");
	cr_expect_str_eq(text_of(IN_POD, CONTAINER_LABEL_POD_UID), UID);
	cr_expect_str_eq(text_of(DOCKER, CONTAINER_LABEL_CONTAINER), "web");
	/* Without work, the process ends. */
	tick((CONTAINER_REQUESTER_IDLE_SECONDS + 1) * SECOND);
	cr_expect(ends());
	cr_expect_str_eq(text_of(DOCKER, CONTAINER_LABEL_CONTAINER), "web");
}

Test(containers, a_disabled_lookup_starts_no_process)
{
	containers_look_for_names(containers, false);
	containers_born(containers, DOCKER);
	cr_expect_eq(containers_count(containers), 0);
	(void)containers_find(containers, DOCKER);
	tick(SECOND);
	cr_expect_eq(containers_pid(containers), -1);
	containers_look_for_names(containers, true);
	tick(SECOND);
	cr_expect_gt(containers_pid(containers), 0);
}

Test(containers, a_name_that_comes_late_is_found_and_one_that_never_comes_is_given_up)
{
	(void)containers_find(containers, DOCKER);
	tick(SECOND);
	settle();
	cr_expect_str_eq(text_of(DOCKER, CONTAINER_LABEL_CONTAINER), "");
	tree_write("/var/lib", "docker/containers/" ID "/config.v2.json", "{\"Name\":\"/web\"}");
	tick(SECOND);
	cr_expect(becomes_known(DOCKER, CONTAINER_LABEL_CONTAINER));
	(void)containers_find(containers, IN_POD);
	for (int i = 0; i < CONTAINERS_TRIES; i++) {
		tick(300 * SECOND);
		settle();
	}
	tree_write("/var/log", "containers/cart-0_shop_app-" ID ".log", "");
	tick(300 * SECOND);
	settle();
	cr_expect_str_eq(text_of(IN_POD, CONTAINER_LABEL_CONTAINER), "");
}

Test(containers, renamed_container_has_its_new_name_after_its_next_birth)
{
	tree_write("/var/lib", "docker/containers/" ID "/config.v2.json", "{\"Name\":\"/web\"}");
	containers_born(containers, DOCKER);
	tick(SECOND);
	cr_assert(becomes_known(DOCKER, CONTAINER_LABEL_CONTAINER));
	tree_write("/var/lib", "docker/containers/" ID "/config.v2.json", "{\"Name\":\"/www\"}");
	tick(SECOND);
	settle();
	cr_expect_str_eq(text_of(DOCKER, CONTAINER_LABEL_CONTAINER), "web");
	containers_born(containers, DOCKER);
	cr_expect_str_eq(text_of(DOCKER, CONTAINER_LABEL_CONTAINER), "web");
	tick(SECOND);
	for (int i = 0; i < 1000 && strcmp(text_of(DOCKER, CONTAINER_LABEL_CONTAINER), "www") != 0; i++)
		(void)sd_event_run(event, 10000);
	cr_expect_str_eq(text_of(DOCKER, CONTAINER_LABEL_CONTAINER), "www");
	/* Without a new name the last one stays. */
	cr_assert_eq(unlink("/var/lib/docker/containers/" ID "/config.v2.json"), 0);
	containers_born(containers, DOCKER);
	for (int i = 0; i < CONTAINERS_TRIES; i++) {
		tick(300 * SECOND);
		settle();
		cr_expect_str_eq(text_of(DOCKER, CONTAINER_LABEL_CONTAINER), "www");
	}
}

Test(containers, a_hanging_process_is_killed_and_blocks_nothing)
{
	tree_write("/var/log", "hang", "");
	(void)containers_find(containers, DOCKER);
	tick(SECOND);
	cr_expect_gt(containers_pid(containers), 0);
	settle();
	tick((CONTAINER_REQUESTER_SECONDS + 1) * SECOND);
	cr_expect(ends());
	/* No process is started during the back-off. After it, another process is started. */
	tick(SECOND);
	cr_expect_eq(containers_pid(containers), -1);
	cr_assert_eq(unlink("/var/log/hang"), 0);
	tree_write("/var/lib", "docker/containers/" ID "/config.v2.json", "{\"Name\":\"/web\"}");
	tick((CONTAINER_REQUESTER_REST_SECONDS + 1) * SECOND);
	cr_expect(becomes_known(DOCKER, CONTAINER_LABEL_CONTAINER));
}

Test(containers, a_process_that_dies_or_sends_garbage_harms_nothing)
{
	static const char *const deeds[] = {"die", "babble"};

	for (size_t i = 0; i < ARRAY_SIZE(deeds); i++) {
		tree_write("/var/log", deeds[i], "");
		(void)containers_find(containers, DOCKER);
		tick((CONTAINER_REQUESTER_REST_SECONDS + 1) * SECOND);
		cr_expect(ends(), "%s", deeds[i]);
		cr_expect_str_eq(text_of(DOCKER, CONTAINER_LABEL_RUNTIME), "docker");
		tick(SECOND);
		cr_expect_eq(containers_pid(containers), -1, "%s", deeds[i]);
		cr_assert_eq(chdir("/var/log"), 0);
		cr_assert_eq(unlink(deeds[i]), 0);
	}
}

/*
 * Tries to do harm from inside the confined process. Returns 0 if everything was refused. It must not print
 * anything, because criterion uses a pipe for that.
 */
static int misbehave(void)
{
	char *const nothing[] = {NULL};
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (root < 0 || container_confine() < 0)
		return 1;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
		return 2;
	if (open("/var/log/new", O_WRONLY | O_CREAT, 0600) >= 0 || open("/var/log/old", O_WRONLY) >= 0)
		return 3;
	if (execve("/bin/true", nothing, nothing) == 0 || fork() >= 0)
		return 4;
	if (kill(getppid(), 0) == 0 || unlink("/var/log/old") == 0 || rename("/var/log/old", "/x") == 0)
		return 5;
	if (unshare(CLONE_NEWUSER) == 0 || mount("none", "/var/log", "tmpfs", 0, NULL) == 0)
		return 6;
#ifndef __SANITIZE_ADDRESS__
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		return 7;
#endif
#ifndef __SANITIZE_ADDRESS__
	/* Exceeds the memory limit. */
	if (mmap(NULL, CONTAINER_CONFINE_DATA + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		 0) != MAP_FAILED)
		return 9;
#endif
	fd = openat(root, "var/log/old", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "x", 1) > 0 || write(STDOUT_FILENO, "x", 1) > 0)
		return 8;
	return 0;
}

Test(containers, a_compromised_process_can_only_read_and_answer)
{
	int status;
	pid_t pid;

	tree_write("/var/log", "old", "x");
	/* The file is readable by root alone. The process reads it as nobody, with one capability. */
	cr_assert_eq(chmod("/var/log/old", 0600), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0)
		_exit(misbehave());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status));
	cr_expect_eq(WEXITSTATUS(status), 0, "%d", WEXITSTATUS(status));
}

/* A user started the process by hand, without the socket that pebsd passes. */
Test(containers, started_by_hand_the_process_explains_itself)
{
	cr_assert_eq(dup2(STDERR_FILENO, STDIN_FILENO), STDIN_FILENO);
	cr_expect_eq(container_worker(STDIN_FILENO), 2);
}

Test(containers_alone, messages_of_the_wrong_size_or_form_are_refused)
{
	struct container_message message = {.number = 1};

	cr_expect(container_message_ok(&message, sizeof(message)));
	cr_expect_not(container_message_ok(&message, sizeof(message) - 1));
	memset(message.labels.text[CONTAINER_LABEL_POD], 'a', CONTAINER_TEXT_MAX);
	cr_expect_not(container_message_ok(&message, sizeof(message)));
}

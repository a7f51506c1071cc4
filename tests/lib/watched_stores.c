// SPDX-License-Identifier: GPL-2.0
#include "watched_stores.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096UL
#define TRAP 0x100 /* trap after this instruction */

static struct {
	struct {
		u8 *from;
		size_t bytes;
	} kept[4];
	size_t n_kept;
	u8 *open[2]; /* pages that the current store may write to */
	size_t n_open;
	u64 stores;
	u64 fatal;
} watched;

static bool is_kept(const u8 *address)
{
	for (size_t i = 0; i < watched.n_kept; i++)
		if (address >= watched.kept[i].from && address < watched.kept[i].from + watched.kept[i].bytes)
			return true;
	return false;
}

static void on_store(int number, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
	u8 *page = (u8 *)info->si_addr - (uintptr_t)info->si_addr % PAGE;

	(void)number;
	if (!is_kept(info->si_addr) || watched.n_open == 2)
		_exit(30);
	/* A store that crosses a page faults twice, but counts once. */
	if (watched.n_open == 0 && ++watched.stores == watched.fatal)
		(void)kill(getpid(), SIGKILL);
	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE) < 0)
		_exit(31);
	watched.open[watched.n_open++] = page;
	*flags |= TRAP;
}

static void on_stored(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	while (watched.n_open > 0)
		if (mprotect(watched.open[--watched.n_open], PAGE, PROT_READ) < 0)
			_exit(32);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
}

void watched_stores_begin(u64 fatal)
{
	struct sigaction store = {.sa_sigaction = on_store, .sa_flags = SA_SIGINFO},
			 stored = {.sa_sigaction = on_stored, .sa_flags = SA_SIGINFO};

	(void)sigaction(SIGSEGV, &store, NULL);
	(void)sigaction(SIGTRAP, &stored, NULL);
	watched.fatal = fatal;
}

void watched_stores_add(void *from, size_t bytes)
{
	if (watched.n_kept == sizeof(watched.kept) / sizeof(watched.kept[0]))
		_exit(34);
	watched.kept[watched.n_kept].from = from;
	watched.kept[watched.n_kept++].bytes = bytes;
	if (mprotect(from, bytes, PROT_READ) < 0)
		_exit(33);
}

u64 watched_stores_seen(void)
{
	return watched.stores;
}

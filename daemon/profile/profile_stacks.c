// SPDX-License-Identifier: GPL-2.0
#include "profile/profile_stacks.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * Sources of the names:
 * - glibc: sysdeps/x86_64/start.S, csu/libc-start.c, sysdeps/nptl/libc_start_call_main.h,
 *   nptl/pthread_create.c, clone.S
 * - musl: crt/crt1.c, src/env/__libc_start_main.c, src/thread/pthread_create.c (start, start_c11)
 * - Go: src/runtime/asm_amd64.s, rt0_linux_amd64.s
 * - the start of a dynamic linker itself: sysdeps/x86_64/dl-machine.h
 */
static const char *const names[] = {
	"_start",
	"_start_c",
	"main",
	"start_thread",
	"start",
	"start_c11",
	"clone",
	"clone3",
	"_dl_start",
	"_dl_start_user",
	"_dlstart",
	"_dlstart_c",
	"thread_start",
	"__main_void",
	"runtime.goexit",
	"runtime.mstart",
	"runtime.mcall",
	"runtime.rt0_go",
	"_rt0_amd64_linux",
	"_rt0_amd64",
	"runtime.goexit.abi0",
	"runtime.mstart.abi0",
	"runtime.rt0_go.abi0",
	"libc_start_main_stage2",
};

/*
 * Prefixes. A symbol version ("__libc_start_main@@GLIBC_2.34"), a suffix or the hash of Rust's name mangling
 * may follow.
 */
static const char *const beginnings[] = {
	"__libc_start_main",
	"__libc_start_call_main",
	"__clone",
	"_rt0_",
	"std::rt::lang_start",
	"std::sys::thread::",
	"std::sys::pal::unix::thread::Thread::new::thread_start",
	"std::sys::unix::thread::Thread::new::thread_start",
	"start_thread.",
	"_start.",
	"main.cold",
};

bool profile_is_start(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

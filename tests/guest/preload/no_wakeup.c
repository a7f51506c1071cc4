// SPDX-License-Identifier: GPL-2.0
/*
 * For LD_PRELOAD: clears wakeup_events of every perf event that is opened, as if pebsd did not know that this
 * attribute matters. The kernel then collects PEBS records in a large buffer, and a BPF program sees only the last
 * of them. This library uses only errno of the C library, so that it works with any version.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/syscall.h>

long syscall(long number, ...);

static long call(long number, const long arguments[6])
{
	register long fourth __asm__("r10") = arguments[3];
	register long fifth __asm__("r8") = arguments[4];
	register long sixth __asm__("r9") = arguments[5];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(fourth),
			   "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
	return result;
}

long syscall(long number, ...)
{
	struct perf_event_attr attr;
	long arguments[6];
	long result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open) {
		attr = *(const struct perf_event_attr *)arguments[0]; /* NOLINT(performance-no-int-to-ptr) */
		attr.wakeup_events = 0;
		arguments[0] = (long)&attr;
	}
	result = call(number, arguments);
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

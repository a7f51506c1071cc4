// SPDX-License-Identifier: GPL-2.0
#include "perf_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text_file.h"

bool perf_facts_capable(const struct perf_facts *facts, unsigned capability)
{
	return capability < 64 && (facts->capabilities >> capability & 1);
}

/*
 * /proc/version is the kernel's own, where os-release is that of the root directory, often a container's. The
 * compiler's version in it may say Debian for any kernel, hence the builder's address.
 */
bool perf_facts_debian_kernel(const char *proc_version)
{
	return strstr(proc_version, "debian-kernel@lists.debian.org") != NULL;
}

bool perf_facts_initial_namespace(const char *uid_map)
{
	unsigned long inside, outside, length;

	return sscanf(uid_map, "%lu %lu %lu", &inside, &outside, &length) == 3 && inside == 0 &&
	       outside == 0 && length == 4294967295UL;
}

bool perf_facts_status(const char *status, const char *key, int base, u64 *ret)
{
	size_t length = strlen(key);

	while (status && *status) {
		if (strncmp(status, key, length) == 0 && status[length] == ':') {
			char *end;

			errno = 0;
			*ret = strtoull(status + length + 1, &end, base);
			return errno == 0 && end != status + length + 1;
		}
		status = strchr(status, '\n');
		if (status)
			status++;
	}
	return false;
}

static void gather_status(struct perf_facts *facts)
{
	_cleanup_free_ char *status = NULL;
	u64 seccomp;

	if (text_file_read("/proc/self/status", &status) < 0)
		return;
	facts->capabilities_known = perf_facts_status(status, "CapEff", 16, &facts->capabilities);
	/* 2 is SECCOMP_MODE_FILTER; in mode 1 this would not run. */
	facts->seccomp_filter = perf_facts_status(status, "Seccomp", 10, &seccomp) && seccomp == 2;
}

static void gather_cpu(struct perf_facts *facts)
{
	_cleanup_free_ char *cpuinfo = NULL;
	const char *flags;

	facts->has_core_pmu = access("/sys/bus/event_source/devices/cpu", F_OK) == 0;
	if (text_file_read("/proc/cpuinfo", &cpuinfo) < 0)
		return;
	flags = strstr(cpuinfo, "\nflags");
	if (flags) {
		size_t line = strcspn(flags + 1, "\n") + 1;
		const char *word = strstr(flags, " hypervisor");

		facts->hypervisor = word && word < flags + line;
	}
}

static bool read_number(const char *path, int *ret)
{
	_cleanup_free_ char *text = NULL;
	char *end;
	long value;

	if (text_file_read(path, &text) < 0)
		return false;
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno != 0 || end == text || value < -1000 || value > 1000)
		return false;
	*ret = (int)value;
	return true;
}

void perf_facts_gather(struct perf_facts *ret)
{
	_cleanup_free_ char *lockdown = NULL;
	_cleanup_free_ char *version = NULL;
	_cleanup_free_ char *uid_map = NULL;
	int max_precise;

	*ret = (struct perf_facts){0};
	gather_status(ret);
	gather_cpu(ret);
	ret->paranoid_known = read_number("/proc/sys/kernel/perf_event_paranoid", &ret->paranoid);
	if (read_number("/sys/bus/event_source/devices/cpu/caps/max_precise", &max_precise) &&
	    max_precise >= 0) {
		ret->max_precise_known = true;
		ret->max_precise = (unsigned)max_precise;
	}
	if (text_file_read("/sys/kernel/security/lockdown", &lockdown) >= 0)
		ret->lockdown_confidential = strstr(lockdown, "[confidentiality]") != NULL;
	ret->has_btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0;
	if (text_file_read("/proc/version", &version) >= 0)
		ret->debian_kernel = perf_facts_debian_kernel(version);
	if (text_file_read("/proc/self/uid_map", &uid_map) >= 0)
		ret->user_namespace = !perf_facts_initial_namespace(uid_map);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * vm [--for SECONDS]: runs a KVM virtual machine until SIGTERM or for SECONDS. Its only CPU loops on one
 * instruction. Prints "running" before the CPU runs. The exit code is 77 if there is no KVM. Linked statically, so
 * it runs in any root.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define USAGE   2
#define NO_KVM  77
#define BYTES   4096UL
#define ADDRESS 0x1000UL

static int request(int fd, unsigned long code, void *argument, const char *what)
{
	int r = ioctl(fd, code, argument);

	if (r < 0)
		err(1, "cannot %s", what);
	return r;
}

/* Starts in real mode at ADDRESS. */
static void set_registers(int cpu)
{
	struct kvm_regs registers = {.rip = ADDRESS, .rflags = 2};
	struct kvm_sregs segments;

	(void)request(cpu, KVM_GET_SREGS, &segments, "read the segment registers");
	segments.cs.base = 0;
	segments.cs.selector = 0;
	(void)request(cpu, KVM_SET_SREGS, &segments, "set the segment registers");
	(void)request(cpu, KVM_SET_REGS, &registers, "set the registers");
}

static int make_machine(int kvm)
{
	static const uint8_t jump_in_place[] = {0xeb, 0xfe};
	int machine = request(kvm, KVM_CREATE_VM, NULL, "make a virtual machine");
	void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = ADDRESS,
		.memory_size = BYTES,
		.userspace_addr = (uintptr_t)memory,
	};

	if (memory == MAP_FAILED)
		err(1, "cannot map the machine's memory");
	memcpy(memory, jump_in_place, sizeof(jump_in_place));
	(void)request(machine, KVM_SET_USER_MEMORY_REGION, &region, "give the machine its memory");
	return machine;
}

int main(int argc, char **argv)
{
	int kvm, cpu, bytes;
	void *run;

	if (argc != 1 && (argc != 3 || strcmp(argv[1], "--for") != 0))
		errx(USAGE, "usage: vm [--for SECONDS]");
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0) {
		warn("/dev/kvm");
		return NO_KVM;
	}
	bytes = request(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "ask for a CPU's size");
	cpu = request(make_machine(kvm), KVM_CREATE_VCPU, NULL, "make a CPU");
	run = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
	if (run == MAP_FAILED)
		err(1, "cannot map the CPU");
	set_registers(cpu);
	puts("running");
	(void)fflush(stdout);
	if (argc == 3)
		(void)alarm((unsigned)strtoul(argv[2], NULL, 10));
	while (ioctl(cpu, KVM_RUN, NULL) == 0 || errno == EINTR) {
		const struct kvm_run *result = run;

		if (errno != EINTR && result->exit_reason != KVM_EXIT_INTR)
			errx(1, "the machine came to its end: reason %u", result->exit_reason);
	}
	err(1, "cannot run the machine");
}

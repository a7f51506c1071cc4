// SPDX-License-Identifier: GPL-2.0
#include "page_faults.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <criterion/criterion.h>

#define PAGE 4096UL

int page_faults_program(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "test", "GPL", code, sizeof(code) / sizeof(code[0]),
			     NULL);
}

int page_faults_counting_program(const u64 **ret_runs)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	const int map_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "runs", sizeof(u32), sizeof(u64), 1, &options);
	/* NOLINTBEGIN(misc-redundant-expression): some of these names are 0 */
	const struct bpf_insn code[] = {
		{.code = BPF_LD | BPF_DW | BPF_IMM,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_VALUE,
		 .imm = map_fd},
		{0},
		{.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_1},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = 1},
		{.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_2},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	/* NOLINTEND(misc-redundant-expression) */
	int program_fd = -1;

	if (map_fd < 0)
		return map_fd;
	*ret_runs = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, map_fd, 0);
	if (*ret_runs != MAP_FAILED)
		program_fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "test", "GPL", code,
					   sizeof(code) / sizeof(code[0]), NULL);
	/* The program and the mapping keep the map alive. */
	(void)close(map_fd);
	return program_fd;
}

u64 page_faults_runs(int program_fd)
{
	struct bpf_prog_info info = {0};
	u32 size = sizeof(info);

	cr_assert_eq(bpf_obj_get_info_by_fd(program_fd, &info, &size), 0);
	return info.run_cnt;
}

static int move_to(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Returns false on an error. */
static bool touch(size_t n)
{
	char *pages = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || madvise(pages, n * PAGE, MADV_NOHUGEPAGE) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		((volatile char *)pages)[i * PAGE] = 1;
	return munmap(pages, n * PAGE) == 0;
}

void page_faults_on(int cpu, size_t n)
{
	pid_t child = fork();
	int status;

	cr_assert_geq(child, 0);
	if (child == 0)
		_exit(move_to(cpu) == 0 && touch(n) ? 0 : 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
}

int page_faults_begin(int cpu)
{
	pid_t child = fork();

	cr_assert_geq(child, 0);
	if (child == 0) {
		if (move_to(cpu) == 0)
			while (touch(64))
				;
		_exit(1);
	}
	return child;
}

void page_faults_end(int child)
{
	int status;

	(void)kill(child, SIGKILL);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status), "the child could not touch pages");
}

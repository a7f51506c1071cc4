// SPDX-License-Identifier: GPL-2.0
/* The registers of instructions that access memory, as the emulated PMU (tests/guest/pmu/) decodes them. */
#include <criterion/criterion.h>

/* Include the source: it belongs to a plugin for QEMU, and no program here links it. */
#include "../guest/pmu/operands.c" /* NOLINT(bugprone-suspicious-include) */

enum { RBX = 1, RCX, RSI = 4, RDI, RBP, RSP, R8, R9, R12 = 12, R13, R14, R15, NONE = CORE_NO_REGISTER };

Test(guest_operands, address_and_target_registers_are_decoded)
{
	static const struct {
		u8 bytes[12];
		size_t size;
		u8 base, index, target;
		bool combines;
	} table[] = {
		{{0x48, 0x8b, 0x00}, 3, RAX, NONE, RAX, false},              /* mov rax, [rax] */
		{{0x48, 0x8b, 0x14, 0x11}, 4, RCX, RDX, RDX, false},         /* mov rdx, [rcx+rdx] */
		{{0x4d, 0x8b, 0x3c, 0x24}, 4, R12, NONE, R15, false},        /* mov r15, [r12] */
		{{0x4f, 0x8b, 0x4c, 0x35, 0x08}, 5, R13, R14, R9, false},    /* mov r9, [r13+r14+8] */
		{{0x48, 0x8b, 0x05, 1, 2, 3, 4}, 7, NONE, NONE, RAX, false}, /* mov rax, [rip+...] */
		{{0x8b, 0x04, 0x25, 1, 2, 3, 4}, 7, NONE, NONE, RAX, false}, /* mov eax, [...] */
		{{0x48, 0x03, 0x1e}, 3, RSI, NONE, RBX, true},               /* add rbx, [rsi] */
		{{0x48, 0x3b, 0x1e}, 3, RSI, NONE, NONE, false},             /* cmp rbx, [rsi] */
		{{0x48, 0x01, 0x1e}, 3, RSI, NONE, NONE, false},             /* add [rsi], rbx */
		{{0x0f, 0xb6, 0x07}, 3, RDI, NONE, RAX, false},              /* movzx eax, byte [rdi] */
		{{0x48, 0x63, 0x45, 0xf8}, 4, RBP, NONE, RAX, false},        /* movsxd rax, [rbp-8] */
		{{0x48, 0x0f, 0x44, 0x0f}, 4, RDI, NONE, RCX, true},         /* cmove rcx, [rdi] */
		{{0xf0, 0x48, 0xff, 0x00}, 4, RAX, NONE, NONE, false},       /* lock inc [rax] */
		{{0x41, 0x5f}, 2, RSP, NONE, R15, false},                    /* pop r15 */
		{{0x58}, 1, RSP, NONE, RAX, false},                          /* pop rax */
		{{0x66, 0x0f, 0x6f, 0x03}, 4, RBX, NONE, NONE, false},       /* movdqa xmm0, [rbx] */
		{{0xc5, 0xfd, 0x6f, 0x03}, 4, RBX, NONE, NONE, false},       /* vmovdqa ymm0, [rbx] */
		{{0xc4, 0xc1, 0x7d, 0x6f, 0x00}, 5, R8, NONE, NONE, false},  /* vmovdqa ymm0, [r8] */
		{{0x48, 0x89, 0xc3}, 3, NONE, NONE, NONE, false},            /* mov rbx, rax */
		{{0xf3, 0xa4}, 2, NONE, NONE, NONE, false},                  /* rep movsb */
		{{0x48}, 1, NONE, NONE, NONE, false},                        /* cut off */
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct core_operands found = operands_of(table[i].bytes, table[i].size);
		struct core_operands again = operands_unpack(operands_pack(found));

		cr_expect(found.base == table[i].base && found.index == table[i].index &&
				  found.target == table[i].target && found.combines == table[i].combines,
			  "row %zu: base %u, index %u, target %u, combines %u", i, found.base, found.index,
			  found.target, found.combines);
		cr_expect_eq(again.base, found.base);
		cr_expect_eq(again.index, found.index);
		cr_expect_eq(again.target, found.target);
		cr_expect_eq(again.combines, found.combines);
	}
}

Test(guest_operands, dependent_registers_are_decoded)
{
	static const struct {
		u8 bytes[12];
		size_t size;
		u16 targets, sources; /* no targets: nothing changes */
	} table[] = {
		{{0x48, 0x89, 0xc3}, 3, ONE(RBX), ONE(RAX)},                 /* mov rbx, rax */
		{{0x49, 0x8b, 0xc0}, 3, ONE(RAX), ONE(R8)},                  /* mov rax, r8 */
		{{0x48, 0x01, 0xc8}, 3, ONE(RAX), ONE(RAX) | ONE(RCX)},      /* add rax, rcx */
		{{0x48, 0x03, 0xc1}, 3, ONE(RAX), ONE(RAX) | ONE(RCX)},      /* add rax, rcx */
		{{0x31, 0xd2}, 2, ONE(RDX), 0},                              /* xor edx, edx */
		{{0x48, 0x29, 0xd2}, 3, ONE(RDX), 0},                        /* sub rdx, rdx */
		{{0x48, 0x09, 0xd2}, 3, ONE(RDX), ONE(RDX)},                 /* or rdx, rdx */
		{{0x49, 0x8d, 0x04, 0x10}, 4, ONE(RAX), ONE(R8) | ONE(RDX)}, /* lea rax, [r8+rdx] */
		{{0x48, 0x8d, 0x05, 1, 2, 3, 4}, 7, ONE(RAX), 0},            /* lea rax, [rip+...] */
		{{0xba, 0, 0x10, 0, 0}, 5, ONE(RDX), 0},                     /* mov edx, 0x1000 */
		{{0x49, 0xc7, 0xc4, 1, 0, 0, 0}, 7, ONE(R12), 0},            /* mov r12, 1 */
		{{0x48, 0xf7, 0xf7}, 3, ONE(RAX) | ONE(RDX), ONE(RAX) | ONE(RDX) | ONE(RDI)}, /* div rdi */
		{{0x48, 0x99}, 2, ONE(RDX), ONE(RAX)},                                        /* cqo */
		{{0x48, 0x0f, 0x44, 0xc6}, 4, ONE(RAX), ONE(RAX) | ONE(RSI)}, /* cmove rax, rsi */
		{{0x0f, 0xb6, 0xc1}, 3, ONE(RAX), ONE(RCX)},                  /* movzx eax, cl */
		{{0x48, 0x39, 0xc3}, 3, 0, 0},                                /* cmp rbx, rax */
		{{0x48, 0x83, 0xea, 0x01}, 4, 0, 0},                          /* sub rdx, 1 */
		{{0x48, 0x8b, 0x00}, 3, 0, 0},                                /* mov rax, [rax]: an access */
		{{0x75, 0xf5}, 2, 0, 0},                                      /* jne */
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct core_flow flow = {0};
		bool found = flow_of(table[i].bytes, table[i].size, &flow);

		cr_expect_eq(found, table[i].targets != 0, "row %zu", i);
		cr_expect(flow.targets == table[i].targets && flow.sources == table[i].sources,
			  "row %zu: targets %x, sources %x", i, flow.targets, flow.sources);
	}
}

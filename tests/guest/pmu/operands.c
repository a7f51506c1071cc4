// SPDX-License-Identifier: GPL-2.0
#include "operands.h"

/* The bits of a REX prefix, which a VEX prefix also has. */
#define REX_B 1U
#define REX_X 2U
#define REX_R 4U

#define STACK_POINTER 4

struct instruction {
	u8 map; /* 0: opcodes of one byte; 1: after 0F; 2 and 3: after 0F 38 and 0F 3A */
	u8 opcode;
	u8 rex;
	bool vector; /* has a VEX prefix */
};

/*
 * Returns the order of registers in struct retired_registers for a number in an instruction: AX CX DX BX SP BP SI DI.
 */
static u8 order_of(u32 number)
{
	static const u8 order[] = {0, 2, 3, 1, 7, 6, 4, 5};

	return number < 8 ? order[number] : (u8)number;
}

static bool is_prefix(u8 byte)
{
	return byte == 0x2e || byte == 0x3e || byte == 0x26 || byte == 0x36 ||
	       (byte >= 0x64 && byte <= 0x67) || byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
}

/* Decodes the bytes up to the opcode. Returns the offset of the byte after it, or 0 if the bytes end before. */
static size_t decode_opcode(const u8 *bytes, size_t size, struct instruction *ret)
{
	size_t at = 0;

	*ret = (struct instruction){0};
	while (at < size && is_prefix(bytes[at]))
		at++;
	if (at < size && (bytes[at] & 0xf0) == 0x40)
		ret->rex = bytes[at++] & 15;
	if (at + 2 < size && bytes[at] == 0xc5) {
		*ret = (struct instruction){.map = 1, .opcode = bytes[at + 2], .vector = true};
		return at + 3;
	}
	if (at + 3 < size && bytes[at] == 0xc4) {
		/* R, X and B are inverted. */
		*ret = (struct instruction){.map = bytes[at + 1] & 3,
					    .opcode = bytes[at + 3],
					    .rex = (u8)(~bytes[at + 1] >> 5 & 7),
					    .vector = true};
		return at + 4;
	}
	if (at + 1 < size && bytes[at] == 0x0f) {
		ret->map = bytes[at + 1] == 0x38 ? 2 : bytes[at + 1] == 0x3a ? 3 : 1;
		at += ret->map == 1 ? 1 : 2;
	}
	if (at >= size)
		return 0;
	ret->opcode = bytes[at++];
	return at;
}

static bool has_modrm(const struct instruction *of)
{
	u8 opcode = of->opcode;

	if (of->vector || of->map > 1)
		return true;
	if (of->map == 1)
		return !((opcode >= 0x05 && opcode <= 0x0c) || (opcode >= 0x30 && opcode <= 0x37) ||
			 opcode == 0x77 || (opcode >= 0x80 && opcode <= 0x8f) ||
			 (opcode >= 0xa0 && opcode <= 0xa2) || (opcode >= 0xa8 && opcode <= 0xaa) ||
			 (opcode >= 0xc8 && opcode <= 0xcf));
	return (opcode < 0x40 && (opcode & 7) < 4) || opcode == 0x63 || opcode == 0x69 || opcode == 0x6b ||
	       (opcode >= 0x80 && opcode <= 0x8f) || opcode == 0xc0 || opcode == 0xc1 || opcode == 0xc6 ||
	       opcode == 0xc7 || (opcode >= 0xd0 && opcode <= 0xd3) || (opcode >= 0xd8 && opcode <= 0xdf) ||
	       opcode == 0xf6 || opcode == 0xf7 || opcode == 0xfe || opcode == 0xff;
}

/* MOV, MOVSXD, MOVZX, MOVSX, IMUL with a constant. */
static bool replaces_target(const struct instruction *of)
{
	u8 opcode = of->opcode;

	if (of->vector)
		return false;
	if (of->map == 0)
		return opcode == 0x8b || opcode == 0x63 || opcode == 0x69 || opcode == 0x6b;
	return of->map == 1 && (opcode == 0xb6 || opcode == 0xb7 || opcode == 0xbe || opcode == 0xbf);
}

/* ADD, OR, ADC, SBB, AND, SUB, XOR, CMOV, IMUL. */
static bool combines_target(const struct instruction *of)
{
	if (of->vector)
		return false;
	if (of->map == 0)
		return of->opcode < 0x38 && (of->opcode & 7) == 3;
	return of->map == 1 && ((of->opcode & 0xf0) == 0x40 || of->opcode == 0xaf);
}

/* Sets the registers of the address that ModRM describes, with the byte that follows it, SIB. */
static void set_address(struct core_operands *operands, u8 rex, u8 modrm, u8 sib)
{
	u32 base = modrm & 7, index;
	u8 mode = modrm >> 6;

	if (base != 4) {
		if (mode != 0 || base != 5) /* otherwise relative to the instruction */
			operands->base = order_of(base | (rex & REX_B ? 8 : 0));
		return;
	}
	base = sib & 7;
	index = (sib >> 3 & 7) | (rex & REX_X ? 8 : 0);
	if (mode != 0 || base != 5)
		operands->base = order_of(base | (rex & REX_B ? 8 : 0));
	if (index != STACK_POINTER)
		operands->index = order_of(index);
}

struct core_operands operands_of(const u8 *bytes, size_t size)
{
	struct core_operands operands = {CORE_NO_REGISTER, CORE_NO_REGISTER, CORE_NO_REGISTER, false};
	struct instruction of;
	size_t at = decode_opcode(bytes, size, &of);
	u8 modrm;

	if (!at)
		return operands;
	if (of.map == 0 && (of.opcode & 0xf8) == 0x58 && !of.vector) {
		operands.base = order_of(STACK_POINTER);
		operands.target = order_of((of.opcode & 7U) | (of.rex & REX_B ? 8 : 0));
		return operands;
	}
	if (!has_modrm(&of) || at >= size || bytes[at] >> 6 == 3)
		return operands;
	modrm = bytes[at];
	set_address(&operands, of.rex, modrm, at + 1 < size ? bytes[at + 1] : 0);
	if (replaces_target(&of) || combines_target(&of))
		operands.target = order_of((modrm >> 3 & 7U) | (of.rex & REX_R ? 8 : 0));
	operands.combines = combines_target(&of);
	return operands;
}

#define RAX        0
#define RDX        3
#define ONE(index) ((u16)(1U << (index)))

/* The instruction has a ModRM byte with two registers: `reg`, and `rm` of which mod is 3. */
static bool flow_of_two(const struct instruction *of, u8 reg, u8 rm, struct core_flow *ret)
{
	u8 opcode = of->opcode;
	bool from_reg = (opcode & 7) == 1, same = reg == rm;

	if (replaces_target(of)) {
		*ret = (struct core_flow){ONE(reg), ONE(rm)};
	} else if (combines_target(of) || (of->map == 0 && opcode < 0x38 && from_reg)) {
		/* XOR and SUB of a register with itself make it 0. */
		bool clears = same && of->map == 0 && ((opcode & 0x38) == 0x30 || (opcode & 0x38) == 0x28);

		*ret = (struct core_flow){(u16)(from_reg && of->map == 0 ? ONE(rm) : ONE(reg)),
					  (u16)(clears ? 0 : ONE(reg) | ONE(rm))};
	} else if (of->map == 0 && opcode == 0x89) {
		*ret = (struct core_flow){ONE(rm), ONE(reg)};
	} else if ((of->map == 0 && opcode == 0xc7) || (of->map == 1 && opcode == 0x7e)) {
		*ret = (struct core_flow){ONE(rm), 0}; /* from a constant or a vector */
	} else {
		return false;
	}
	return true;
}

bool flow_of(const u8 *bytes, size_t size, struct core_flow *ret)
{
	struct core_operands address = {CORE_NO_REGISTER, CORE_NO_REGISTER, CORE_NO_REGISTER, false};
	struct instruction of;
	size_t at = decode_opcode(bytes, size, &of);
	u8 modrm, reg, rm;

	if (!at || of.vector)
		return false;
	if (of.map == 0 && (of.opcode & 0xf8) == 0xb8) {
		*ret = (struct core_flow){ONE(order_of((of.opcode & 7U) | (of.rex & REX_B ? 8 : 0))), 0};
		return true;
	}
	if (of.map == 0 && of.opcode == 0x99) {
		*ret = (struct core_flow){ONE(RDX), ONE(RAX)};
		return true;
	}
	if (!has_modrm(&of) || at >= size)
		return false;
	modrm = bytes[at];
	reg = order_of((modrm >> 3 & 7U) | (of.rex & REX_R ? 8 : 0));
	rm = order_of((modrm & 7U) | (of.rex & REX_B ? 8 : 0));
	if (of.map == 0 && of.opcode == 0x8d) {
		set_address(&address, of.rex, modrm, at + 1 < size ? bytes[at + 1] : 0);
		*ret = (struct core_flow){ONE(reg), 0};
		if (address.base < CORE_REGISTERS)
			ret->sources |= ONE(address.base);
		if (address.index < CORE_REGISTERS)
			ret->sources |= ONE(address.index);
		return true;
	}
	if (modrm >> 6 != 3)
		return false;
	/* MUL, IMUL, DIV, IDIV. */
	if (of.map == 0 && of.opcode == 0xf7 && (modrm >> 3 & 7) >= 4) {
		*ret = (struct core_flow){ONE(RAX) | ONE(RDX), (u16)(ONE(RAX) | ONE(RDX) | ONE(rm))};
		return true;
	}
	return flow_of_two(&of, reg, rm, ret);
}

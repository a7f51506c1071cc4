// SPDX-License-Identifier: GPL-2.0
/*
 * The integer types that both sides of the kernel boundary use. They are built from the compiler's own types,
 * so that neither libc's nor the kernel's headers are needed.
 */
#ifndef PEBSD_TYPES_H
#define PEBSD_TYPES_H

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __INT32_TYPE__ s32;
typedef __INT64_TYPE__ s64;

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of QEMU's TCG plugin interface that is used here: version 7 (QEMU 11.1,
 * include/plugins/qemu-plugin.h). Debian does not package this header, so the prototypes are here. The
 * symbols come from the QEMU that loads the plugin. Version 7 passes `userdata` last to each callback,
 * whereas version 6 passed an id first. QEMU refuses a plugin of another version, so a change is noticed when
 * the plugin is loaded.
 */
#ifndef PMU_QEMU_H
#define PMU_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_API 7

/* Types of GLib, with only the fields that are used. */
typedef struct {
	uint8_t *data;
	unsigned int len;
} GByteArray;
typedef struct {
	char *data;
	unsigned int len;
} GArray;

struct qemu_tb;
struct qemu_insn;
struct qemu_register;
struct qemu_hwaddr;
struct qemu_scoreboard;

struct qemu_u64 {
	struct qemu_scoreboard *score;
	size_t offset;
};

struct qemu_register_descriptor {
	struct qemu_register *handle;
	const char *name;
	const char *feature;
	bool is_readonly;
};

/* The access of a callback to registers. QEMU makes registers available accordingly. */
enum qemu_registers {
	QEMU_NO_REGISTERS,
	QEMU_READ_REGISTERS,
	QEMU_WRITE_REGISTERS,
	QEMU_WRITE_REGISTERS_AND_PC
};
enum qemu_accesses { QEMU_LOADS = 1, QEMU_STORES = 2 };
enum qemu_condition { QEMU_GREATER_OR_EQUAL = 7 };
enum qemu_operation { QEMU_ADD = 0 };

typedef void (*qemu_vcpu_callback)(unsigned int vcpu, void *data);
typedef void (*qemu_memory_callback)(unsigned int vcpu, uint32_t info, uint64_t address, void *data);
typedef void (*qemu_callback)(void *data);

void qemu_plugin_reset(uint64_t id, qemu_callback callback, void *data);
void qemu_plugin_register_atexit_cb(uint64_t id, qemu_callback callback, void *data);
void qemu_plugin_register_vcpu_init_cb(uint64_t id, qemu_vcpu_callback callback, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*callback)(struct qemu_tb *, void *),
					   void *data);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_tb *tb, qemu_vcpu_callback callback, int registers,
					  void *data);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_tb *tb, qemu_vcpu_callback callback, int registers,
					       int condition, struct qemu_u64 entry, uint64_t value,
					       void *data);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_tb *tb, int operation,
						       struct qemu_u64 entry, uint64_t value);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_insn *insn, qemu_vcpu_callback callback,
					    int registers, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_insn *insn, qemu_memory_callback callback, int registers,
				      int accesses, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_tb *tb);
struct qemu_insn *qemu_plugin_tb_get_insn(const struct qemu_tb *tb, size_t index);
size_t qemu_plugin_insn_data(const struct qemu_insn *insn, void *bytes, size_t size);
size_t qemu_plugin_insn_size(const struct qemu_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_insn *insn);

bool qemu_plugin_mem_is_store(uint32_t info);
struct qemu_hwaddr *qemu_plugin_get_hwaddr(uint32_t info, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_hwaddr *address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_hwaddr *address);

GArray *qemu_plugin_get_registers(void);
bool qemu_plugin_read_register(struct qemu_register *handle, GByteArray *bytes);
bool qemu_plugin_write_register(struct qemu_register *handle, GByteArray *bytes);
void qemu_plugin_set_pc(uint64_t address) __attribute__((noreturn));
bool qemu_plugin_read_memory_vaddr(uint64_t address, GByteArray *bytes, size_t size);
bool qemu_plugin_write_memory_vaddr(uint64_t address, GByteArray *bytes);
/* Return 0, or an error. */
int qemu_plugin_read_memory_hwaddr(uint64_t address, GByteArray *bytes, size_t size);
int qemu_plugin_write_memory_hwaddr(uint64_t address, GByteArray *bytes);

struct qemu_scoreboard *qemu_plugin_scoreboard_new(size_t size);
void *qemu_plugin_scoreboard_find(struct qemu_scoreboard *score, unsigned int vcpu);

GByteArray *g_byte_array_new(void);
GByteArray *g_byte_array_set_size(GByteArray *bytes, unsigned int size);
GByteArray *g_byte_array_append(GByteArray *bytes, const uint8_t *data, unsigned int size);

/*
 * Not part of the plugin interface:
 * - async_run_on_cpu() defers a write that QEMU refuses within a callback.
 * - cpu_exit() lets another CPU run after this block.
 * - A CPU finds its translations by the flags (windows.h).
 */
struct qemu_cpu;
struct qemu_cpu *qemu_get_cpu(int index);
void async_run_on_cpu(struct qemu_cpu *cpu, void (*function)(struct qemu_cpu *, void *), void *data);
void cpu_exit(struct qemu_cpu *cpu);
uint32_t curr_cflags(struct qemu_cpu *cpu);
bool tcg_cflags_has(struct qemu_cpu *cpu, uint32_t flags);
void tcg_cflags_set(struct qemu_cpu *cpu, uint32_t flags);
extern __thread struct qemu_cpu *current_cpu;

#endif

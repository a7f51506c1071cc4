// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "kernel/load_failure.h"

static const struct load_facts as_root = {
	.has_btf = true, .root = true, .lockdown = "none", .kernel = "6.1.0"};

static void expect_words(int error, const struct load_facts *facts, const char *words)
{
	_cleanup_free_ char *message =
		load_failure_message("load the BPF programs", error, facts, "libbpf: said so");

	cr_assert_not_null(message);
	cr_expect_not_null(strstr(message, "cannot load the BPF programs on kernel 6.1.0"), "%s", message);
	cr_expect_not_null(strstr(message, "libbpf: said so"), "%s", message);
	cr_expect_not_null(strstr(message, words), "\"%s\" is not in: %s", words, message);
}

Test(load_failure, each_cause_has_its_remedy)
{
	const struct load_facts nobody = {.has_btf = true, .kernel = "6.1.0"};
	const struct load_facts confined = {
		.has_btf = true, .root = true, .lockdown = "confidentiality", .kernel = "6.1.0"};
	const struct load_facts rejected = {
		.has_btf = true, .rejected = true, .root = true, .kernel = "6.1.0"};
	const struct load_facts without_btf = {.root = true, .kernel = "6.1.0"};

	expect_words(-EACCES, &rejected, "verifier");
	expect_words(-E2BIG, &rejected, "verifier");
	expect_words(-E2BIG, &as_root, "lower max-memory, max or hot-max in [cgroups]");
	expect_words(-EPERM, &nobody, "as root, or with CAP_BPF and CAP_PERFMON");
	expect_words(-EPERM, &as_root, "seccomp");
	expect_words(-EPERM, &confined, "lockdown=integrity");
	expect_words(-EINVAL, &without_btf, "CONFIG_DEBUG_INFO_BTF");
	expect_words(-EINVAL, &as_root, "Linux 6.1");
	expect_words(-ENOMEM, &as_root, "lower max-memory in [cgroups], or max if it is a number");
	expect_words(-ENOSYS, &as_root, "bpf(2)");
	expect_words(-EMFILE, &as_root, "LimitNOFILE=");
	expect_words(-ENFILE, &as_root, "fs.file-max");
}

Test(load_failure, a_refusal_is_not_a_mistake_or_a_shortage)
{
	static const int refusals[] = {-EPERM, -EACCES, -ENOSYS, -ENOENT, -ESRCH, -EOPNOTSUPP};
	static const int others[] = {0, -EINVAL, -E2BIG, -ENOMEM, -EMFILE, -ENFILE};

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
		cr_expect(load_failure_refused(refusals[i], NULL), "%d", refusals[i]);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		cr_expect_not(load_failure_refused(others[i], NULL), "%d", others[i]);
}

Test(load_failure, the_verifiers_reason_is_the_line_before_the_statistics)
{
	_cleanup_free_ char *objection =
		load_failure_objection("libbpf: prog 'x': -- BEGIN PROG LOAD LOG --\n"
				       "0: R1=ctx(off=0,imm=0) R10=fp0\n"
				       "Sleepable programs can only use array, hash, and ringbuf maps\n"
				       "processed 0 insns (limit 1000000)\n"
				       "-- END PROG LOAD LOG --\n");

	cr_expect_str_eq(objection, "Sleepable programs can only use array, hash, and ringbuf maps");
}

Test(load_failure, a_log_without_statistics_is_read_to_its_end)
{
	_cleanup_free_ char *objection =
		load_failure_objection("libbpf: prog 'x': -- BEGIN PROG LOAD LOG --\n"
				       "btf_vmlinux is malformed\n"
				       "-- END PROG LOAD LOG --\n");

	cr_expect_str_eq(objection, "btf_vmlinux is malformed");
}

Test(load_failure, other_text_has_no_objection)
{
	cr_expect_null(
		load_failure_objection("libbpf: prog 'x': BPF program load failed: Invalid argument\n"));
	cr_expect_null(load_failure_objection("-- BEGIN PROG LOAD LOG --\n-- END PROG LOAD LOG --\n"));
	cr_expect_null(load_failure_objection(""));
}

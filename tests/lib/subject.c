// SPDX-License-Identifier: GPL-2.0
#include "subject.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"

/* Line numbers matter: see SUBJECT_INLINED_LINE and SUBJECT_CALL_LINE. */
static const char source[] =
	"#define _GNU_SOURCE\n"
	"#include <stdio.h>\n"
	"#include <sys/mman.h>\n"
	"#include <unistd.h>\n"
	"static int with_value[64] = {1};\n"
	"static int without_value[32768];\n"
	"static inline __attribute__((always_inline)) void *stands_in(void)\n"
	"{\n"
	"	void *place;\n"
	"	__asm__ volatile(\"nop; lea -1(%%rip), %0; nop\" : \"=r\"(place));\n"
	"	return place; }\n"
	"__attribute__((noinline)) void *looked_at(int a)\n"
	"{\n"
	"	void *place = stands_in();\n"
	"	with_value[a]++;\n"
	"	return place;\n"
	"}\n"
	"int main(void)\n"
	"{\n"
	"	char byte;\n"
	"	void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,\n"
	"			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
	"	without_value[8191] = 1;\n"
	"	printf(\"%p %p %p %p %p\\n\", (void *)looked_at, looked_at(1), (void *)&with_value[1],\n"
	"	       (void *)&without_value[32000], page);\n"
	"	fflush(stdout);\n"
	"	return read(0, &byte, 1) < 0;\n"
	"}\n";

char *subject_directory(void)
{
	char *path = strdup("/tmp/pebsd-subject-XXXXXX");

	cr_assert_not_null(path);
	cr_assert_not_null(mkdtemp(path));
	return path;
}

void subject_run(const char *format, ...)
{
	_cleanup_free_ char *command = NULL;
	va_list arguments;
	int status;

	va_start(arguments, format);
	cr_assert_geq(vasprintf(&command, format, arguments), 0);
	va_end(arguments);
	status = system(command); // NOLINT(cert-env33-c): the tests' own
	cr_assert_eq(status, 0, "%s", command);
}

void subject_remove(char *directory)
{
	subject_run("rm -rf --one-file-system '%s'", directory);
	free(directory);
}

void subject_build(const char *path, const char *flags)
{
	_cleanup_free_ char *written = NULL;
	FILE *file;

	cr_assert_geq(asprintf(&written, "%s.c", path), 0);
	file = fopen(written, "we");
	cr_assert_not_null(file);
	cr_assert_geq(fputs(source, file), 0);
	cr_assert_eq(fclose(file), 0);
	subject_run("cc -O1 -Wl,--build-id -o '%s' '%s' %s", path, written, flags);
}

static void read_places(struct subject *subject)
{
	char line[256];
	size_t size = 0;
	FILE *file;

	while (size < sizeof(line) - 1 && read(subject->from, line + size, 1) == 1 && line[size] != '\n')
		size++;
	line[size] = 0;
	file = fmemopen(line, size + 1, "r");
	cr_assert_not_null(file);
	cr_assert_eq(fscanf(file, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64,
			    (uint64_t *)&subject->function, (uint64_t *)&subject->inlined,
			    (uint64_t *)&subject->data, (uint64_t *)&subject->bss, (uint64_t *)&subject->jit),
		     5, "\"%s\"", line);
	(void)fclose(file);
}

struct subject subject_start(const char *path, bool (*prepare)(const char *), const char *argument)
{
	struct subject subject = {};
	int in[2], out[2];

	cr_assert_eq(pipe2(in, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(out, O_CLOEXEC), 0);
	subject.pid = fork();
	cr_assert_geq(subject.pid, 0);
	if (subject.pid == 0) {
		char *const arguments[] = {(char *)path, NULL};

		if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || (prepare && !prepare(argument)))
			_exit(2);
		(void)execv(path, arguments);
		_exit(3);
	}
	(void)close(in[0]);
	(void)close(out[1]);
	subject.to = in[1];
	subject.from = out[0];
	read_places(&subject);
	return subject;
}

void subject_stop(struct subject *subject)
{
	(void)kill(subject->pid, SIGKILL);
	(void)waitpid(subject->pid, NULL, 0);
	(void)close(subject->to);
	(void)close(subject->from);
}

# Builds tests, tools, benchmarks, fuzzers and the programs of guests from tests/. Each C file in these folders is a
# program of its own: tests/unit/test_config.c becomes build/tests/unit/test_config.
programs = $(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/$(1)))
libraries = $(patsubst tests/$(1)/preload/%.c,$(OUT)/tests/$(1)/%.so,$(wildcard tests/$(1)/preload/*.c))
UNIT_TESTS = $(call programs,unit/test_*.c)
BPF_TESTS = $(call programs,bpf/test_*.c)
E2E_PROGRAMS = $(call programs,e2e/test_*.c)
CORPUS_PROGRAMS = $(call programs,corpus/test_*.c)
PICTURE_TOOL = $(OUT)/tests/tools/draw_top
TOOLS = $(filter-out $(PICTURE_TOOL),$(call programs,tools/*.c)) $(call libraries,tools)
BENCHES = $(call programs,bench/*.c)
# The emulated PMU, a plug-in for QEMU.
PMU_PLUGIN = $(OUT)/tests/guest/pmu_plugin.so
HARDWARE_PROGRAMS = $(call programs,hardware/*.c)
GUEST_PROGRAMS = $(call programs,guest/*.c) $(call libraries,guest) $(PMU_PLUGIN) $(HARDWARE_PROGRAMS)
FUZZERS = $(call programs,fuzz/fuzz_*.c)
SEED_PROGRAMS = $(FUZZERS:$(OUT)/tests/fuzz/%=$(OUT)/tests/seeds/%)
# The unit tests of what the fuzzers fuzz.
PARSER_TESTS = $(filter $(FUZZERS:$(OUT)/tests/fuzz/fuzz_%=$(OUT)/tests/unit/test_%),$(UNIT_TESTS))

unit-tests: $(UNIT_TESTS)
bpf-tests: $(BPF_TESTS)
e2e-tests: all $(E2E_PROGRAMS) $(TOOLS) $(PICTURE_TOOL) $(SEED_PROGRAMS) \
	$(addprefix $(OUT)/tests/bench/,bench_report events_cost yardstick)
parser-tests: $(PARSER_TESTS) $(SEED_PROGRAMS)
corpus-tests: all $(CORPUS_PROGRAMS) $(TOOLS)
outside-tests: all $(TOOLS) $(PICTURE_TOOL)
guest-programs: all $(GUEST_PROGRAMS)
hardware-programs: all $(HARDWARE_PROGRAMS)
fuzzers: $(FUZZERS)
tools: $(TOOLS)
benches: $(BENCHES)

# These replace functions of the daemon or of the C library, in the tests that tests/flags.mk names.
FAKE_SOURCES = $(addprefix tests/lib/,counted_strcmp.c fake_clock.c fake_kernel.c fake_zooms.c)
# Every test, and no other program, has these time limits.
TIME_LIMIT = tests/lib/time_limit.c
TEST_LIBRARY_SOURCES = $(filter-out $(TIME_LIMIT) $(FAKE_SOURCES),$(wildcard tests/lib/*.c))
# Tools, benchmarks and fuzzers are also built on systems that have neither Criterion nor libvterm.
TOOL_LIBRARY_SOURCES = $(filter $(TEST_LIBRARY_SOURCES),$(shell \
	grep -LE '<criterion/|<vterm|history_folder' tests/lib/*.c))

$(OUT)/libtests.a: $(call objects,$(TEST_LIBRARY_SOURCES))
	$(archive)

$(OUT)/libtools.a: $(call objects,$(TOOL_LIBRARY_SOURCES))
	$(archive)

# Tests are Criterion programs. Tools, benchmarks and fuzzers have their own main().
$(OUT)/tests/%: $(OUT)/obj/tests/%.o $(call objects,$(TIME_LIMIT)) $(OUT)/libtests.a $(OUT)/libpebsd.a
	$(call link,-lcriterion)

$(OUT)/tests/tools/%: $(OUT)/obj/tests/tools/%.o $(OUT)/libtools.a $(OUT)/libpebsd.a
	$(link)

$(OUT)/tests/bench/%: $(OUT)/obj/tests/bench/%.o $(OUT)/libtools.a $(OUT)/libpebsd.a
	$(link)

$(OUT)/tests/fuzz/%: $(OUT)/obj/tests/fuzz/%.o $(OUT)/libtools.a $(OUT)/libpebsd.a
	$(call link,-fsanitize=fuzzer)

# The fuzzers without libFuzzer: they run on files.
$(OUT)/tests/seeds/%: $(OUT)/obj/tests/fuzz/%.o $(OUT)/obj/tests/fuzz/run_seeds.o $(OUT)/libtools.a $(OUT)/libpebsd.a
	$(link)

$(OUT)/tests/tools/%.so: $(OUT)/obj/tests/tools/preload/%.o
	$(call link_bare,-shared)

$(OUT)/tests/hardware/%: $(OUT)/obj/tests/hardware/%.o
	$(call link_bare,-static)

# The root of a guest may lack this system's libraries.
$(OUT)/tests/guest/%: $(OUT)/obj/tests/guest/%.o
	$(call link_bare,-static -pthread)

$(OUT)/tests/guest/sharing: $(OUT)/obj/tests/guest/sharing.o
	$(call link_bare,-pie -pthread)

# This program uses the daemon's own code. The guest has the libraries for it.
$(OUT)/tests/guest/keep_many: $(OUT)/obj/tests/guest/keep_many.o $(OUT)/libpebsd.a
	$(link)

$(OUT)/tests/guest/%.so: $(OUT)/obj/tests/guest/preload/%.o
	$(call link_bare,-shared -nostdlib)

$(PMU_PLUGIN): $(patsubst %.c,$(OUT)/obj/plugin/%.o,$(wildcard tests/guest/pmu/*.c daemon/model/*.c))
	$(call link_bare,$(CFLAGS) -flto -shared)

$(OUT)/obj/plugin/%.o: %.c $(OUT)/flags
	$(compile)

$(OUT)/bpf/%.bpf.o: tests/bpf/%.bpf.c $(wildcard bpf/*.h include/pebsd/*.h) $(OUT)/flags
	$(compile_bpf)

$(OUT)/bpf/%.bpf.o: tests/bench/peers/%.bpf.c $(OUT)/flags \
		$(wildcard bpf/*.[ch] include/pebsd/*.h tests/bench/peers/*.h)
	$(compile_bpf)

# pebsd's own loader, compiled with another skeleton: its BPF programs have synthetic samples.
SYNTHETIC_KERNEL = $(patsubst %,$(OUT)/obj/synthetic/%.o,kernel kernel_inherit kernel_open kernel_offcore skeleton)
SYNTHETIC_SKELETONS = $(OUT)/synthetic/pebsd.skel.h $(OUT)/synthetic/older_pebsd.skel.h

$(SYNTHETIC_SKELETONS): $(OUT)/synthetic/%.skel.h: $(OUT)/bpf/synthetic_pebsd.bpf.o
	$(call skeleton,$*)

$(OUT)/obj/synthetic/%.o: daemon/kernel/%.c $(OUT)/flags | $(SYNTHETIC_SKELETONS) $(SKELETON_HEADERS)
	$(compile)

# How tests are run: $(RUN_TESTS) OPTION... TEST...
RUN_TESTS = PEBSD=$(abspath $(OUT)/pebsd) PEBSCTL=$(abspath $(OUT)/pebsctl) TOOLS=$(abspath $(OUT)/tests/tools) \
	tests/run.sh -o $(OUT)/test-results
# Two tests per CPU run at once, because tests wait as often as they work. Tests run alone if they follow all cgroups
# of this machine, if map system calls of other tests would cost them samples, or if they sample thousands of cgroups,
# which take memory in the daemons of other tests, too.
AT_ONCE = -j $$((2 * $$(nproc))) -a 'tests/bpf/*' -a tests/e2e/test_bench.sh -a tests/e2e/test_faults_replies.sh
# $(call tests,PATTERN...[,FILTER]), with patterns of sources below tests/. The shell finds the tests, because a command
# with all their names would have 20 kB.
tests = $$(printf '%s\n' $(addprefix tests/,$(1)) | sed 's,^\(.*\)\.c$$,$(OUT)/\1,'$(2))
E2E = e2e/test_*.c e2e/test_*.sh

# Scripts of tests/guest, which report several tests each: $(IN_GUESTS) -t SECONDS -p COMMAND
IN_GUESTS = BUILD=$(BUILD) $(RUN_TESTS)

SANITIZER_OPTIONS = ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1
# These need the plain build, or a model that keeps up with the clock, or take away descriptors or /proc, which
# sanitizers need themselves.
NOT_SANITIZED = runner install hardening readme faults_descriptors faults_mounts

run-sanitized:
	@$(SANITIZER_OPTIONS) $(RUN_TESTS) $(AT_ONCE) $(call tests,$(E2E) bpf/test_*.c unit/test_*.c, | \
		grep -v -x $(NOT_SANITIZED:%=-e tests/e2e/test_%.sh))

run-sanitized-parsers:
	@$(SANITIZER_OPTIONS) $(RUN_TESTS) $(AT_ONCE) tests/e2e/test_fuzz_seeds.sh $(PARSER_TESTS)

# clang builds the fuzzers next to the plain build, and they run there: $(call fuzz,GOAL)
define fuzz
	$(call build,FUZZ=1 fuzzers)
	+@$(SUBMAKE) FUZZ=1 $(1)
endef
FUZZ_EACH = printf '%s\n' $(FUZZERS) | xargs -P $$(nproc) -I FUZZER tests/tools/fuzz.sh

run-fuzzers:
	@$(RUN_TESTS) -j $$(nproc) -t $$(($(FUZZ_SECONDS) + 60)) -c $(FUZZERS:%='tests/tools/fuzz.sh % $(FUZZ_SECONDS)')

run-fuzzers-long:
	@$(FUZZ_EACH) -s FUZZER $(FUZZ_LONG_SECONDS)

minimize-found:
	@$(FUZZ_EACH) -m FUZZER $(OUT)/found

# pebsd: build, test, install. `make help` lists the targets.
VERSION = 0.1.0
BUILD ?= build
PREFIX ?= /usr
DESTDIR ?=
CC ?= cc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
FUZZ_SECONDS ?= 20
FUZZ_LONG_SECONDS ?= 600

BUILD_PACKAGES = bpftool clang gcc libbpf-dev libc6-dev libdw-dev libelf-dev libiberty-dev libinih-dev \
	libjson-c-dev libmicrohttpd-dev libncurses-dev libprotobuf-c-dev libsqlite3-dev libsystemd-dev libzstd-dev make pkg-config \
	protobuf-c-compiler r-mathlib zlib1g-dev
RUN_PACKAGES = curl
TEST_PACKAGES = binutils dbus-daemon fish jq libdebuginfod1 libcriterion-dev libvterm-dev mount netcat-openbsd procps prometheus \
	python3-yaml socat systemd zsh $(DOC_PACKAGES) groff-base
DOC_PACKAGES = cmark-gfm mandoc python3
DEVELOP_PACKAGES = clang-format clang-tidy cppcheck faketime git libclang-rt-14-dev mmdebstrap shellcheck
GUEST_PACKAGES = apt cpio debian-archive-keyring lz4 mmdebstrap python3-yaml xz-utils zstd
PACKAGE_PACKAGES = debhelper dpkg-dev fakeroot lintian
IMAGE_PACKAGES = curl debian-archive-keyring jq mmdebstrap python3-yaml umoci
HARDWARE_PACKAGES = jq linux-perf
PICTURE_PACKAGES = chromium fonts-dejavu-core jq
OUTSIDE_PACKAGES = chromium curl fonts-dejavu-core golang-go jq linux-perf nginx-light openssl prometheus python3-yaml victoria-metrics
# The tools that `make bench` compares with pebsd, and those that read pebsd's own results.
BENCH_PACKAGES = bpftrace curl git jq linux-perf prometheus-node-exporter python3-prometheus-client

# Under sudo, give build/ to the caller at the end, also if the build failed.
HAND_OVER = if [ -n "$$SUDO_UID" ] && [ -e $(BUILD) ] && [ "$$(id -u)" = 0 ]; then \
	chown -Rh "$$SUDO_UID:$${SUDO_GID:-$$SUDO_UID}" $(BUILD); fi
ifeq ($(if $(SUDO_UID),$(if $(HANDED_OVER),,$(shell id -u))),0)
.PHONY: $(MAKECMDGOALS) hand-over
$(or $(MAKECMDGOALS),all): hand-over ;

hand-over:
	@trap : INT; HANDED_OVER=yes $(MAKE) --no-print-directory $(MAKECMDGOALS); status=$$?; $(HAND_OVER); exit $$status
else

LIBRARIES = libbpf libsystemd libmicrohttpd sqlite3 json-c inih libprotobuf-c libzstd zlib libRmath libdw libelf ncursesw
# date-time: programs must not contain the time of the build.
WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wformat-security -Wdate-time \
	$(WERROR)
OPTIMIZE = -O2
CFLAGS ?= $(OPTIMIZE) -g

# Hardening against exploits of mistakes. tests/tools/hardening.sh checks it in the programs. A packager's
# CPPFLAGS, CFLAGS and LDFLAGS come after these flags and override them.
ARCHITECTURE := $(shell uname -m)
CONTROL_FLOW_x86_64 = -fcf-protection=full
CONTROL_FLOW_aarch64 = -mbranch-protection=standard
HARDEN_CFLAGS = -fPIE -fstack-protector-strong -fstack-clash-protection $(CONTROL_FLOW_$(ARCHITECTURE)) -Werror=format-security
HARDEN_LDFLAGS = -pie -Wl,-z,relro,-z,now,-z,noexecstack
# _FORTIFY_SOURCE is left out with sanitizers, which do not know the checked variants of functions, and without
# optimization, which these variants need.
optimizes = $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))
fortify_given = $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS))
FORTIFY = $(if $(and $(optimizes),$(if $(SANITIZE_FLAGS)$(fortify_given),,yes)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)

# The same sources give the same bytes in any directory (see tests/tools/reproducible.sh).
SAME_ANYWHERE = -ffile-prefix-map=$(CURDIR)=.

PEBSD_CPPFLAGS = -D_GNU_SOURCE -DPEBSD_VERSION='"$(VERSION)"' -Iinclude -Idaemon -Ibpf -isystem $(OUT)
PEBSD_CFLAGS = -std=gnu17 $(WARNINGS) $(SAME_ANYWHERE) -fno-strict-aliasing $(HARDEN_CFLAGS) $(FORTIFY) $(SANITIZE_FLAGS) $(PKG_CFLAGS)
PEBSD_LDFLAGS = $(SANITIZE_FLAGS) $(HARDEN_LDFLAGS) -Wl,--build-id
COMPILE = $(CC) $(SKELETONS) $(PEBSD_CPPFLAGS) $(PEBSD_CFLAGS) $(CPPFLAGS) $(CFLAGS)
LINK = $(CC) $(PEBSD_LDFLAGS) $(LDFLAGS)
# libiberty, which demangles, has no pkg-config file.
LIBS = -Wl,--as-needed $(PKG_LIBS) -liberty -lm

# Calls pkg-config once, and only when something is compiled: `make deps` must work without it.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(call pkg_config,--cflags))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(call pkg_config,--libs))$(PKG_LIBS)
pkg_config = $(if $(filter FAILED,$(shell pkg-config --exists $(LIBRARIES) 2>/dev/null || echo FAILED)),$(error \
	not all of these libraries are here: $(LIBRARIES). "make deps" installs them),$(subst -I,-isystem ,$(shell pkg-config $(1) $(LIBRARIES))))
need = $(if $(shell command -v $(1) 2>/dev/null),,$(error $(1) is not here. "make $(or $(2),deps)" installs it))

# SANITIZE=1 builds everything with address and undefined behaviour checks, and FUZZ=1 builds the fuzzers. Both have
# directories of their own next to the plain build.
ifdef SANITIZE
OUT = $(BUILD)/sanitize
# Compiles in half the time.
OPTIMIZE = -O1
# The checks for NULL make gcc report writes through NULL that cannot happen.
SANITIZE_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -Wno-stringop-overflow
else ifdef FUZZ
OUT = $(BUILD)/fuzz
CC = $(CLANG)
override WERROR = # clang warns about other things than gcc, and fuzzers are not built to find those
SANITIZE_FLAGS = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
else
OUT = $(BUILD)
endif

BPF_ARCH = $(shell echo $(ARCHITECTURE) | sed 's/x86_64/x86/; s/aarch64/arm64/')
BPF_CFLAGS = -g -O2 $(SAME_ANYWHERE) -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Wshadow -Werror \
	-Wno-unused-parameter -Iinclude -Ibpf -I/usr/include/$(ARCHITECTURE)-linux-gnu

MAINS = daemon/main.c daemon/ctl/main.c daemon/opener/main.c
# Sorted, because make may list them in the order of the locale.
LIBRARY_SOURCES = $(sort $(filter-out $(MAINS),$(wildcard daemon/*.c daemon/*/*.c daemon/*/*/*.c)))
# The part of the tests' library that tools and fuzzers use. It does not need Criterion.
TOOL_LIBRARY_SOURCES = $(addprefix tests/lib/,active.c cgroup_turn.c churn.c coverage.c example_policy.c example_rules.c example_snapshot.c \
	example_zoom.c history_fixture.c http_crowd.c neighbour_world.c perf_data_writer.c profile_fixture.c slot_blocks.c some_stripes.c world.c)
# These files replace functions of the daemon or of the C library, only in the tests named below.
FAKE_SOURCES = tests/lib/counted_strcmp.c tests/lib/fake_clock.c tests/lib/fake_kernel.c tests/lib/fake_zooms.c
TEST_LIBRARY_SOURCES = $(filter-out tests/lib/time_limit.c $(FAKE_SOURCES),$(wildcard tests/lib/*.c))

programs = $(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/$(1)))
UNIT_TESTS = $(call programs,unit/test_*.c)
BPF_TESTS = $(call programs,bpf/test_*.c)
E2E_PROGRAMS = $(call programs,e2e/test_*.c)
E2E_TESTS = $(E2E_PROGRAMS) $(wildcard tests/e2e/test_*.sh)
OUTSIDE_TESTS = $(wildcard tests/outside/test_*.sh)
CORPUS_PROGRAMS = $(call programs,corpus/test_*.c)
CORPUS_TESTS = $(CORPUS_PROGRAMS) $(wildcard tests/corpus/test_*.sh)
# Needs libvterm, which only tests and pictures use.
PICTURE_TOOL = $(OUT)/tests/tools/draw_top
TOOLS = $(filter-out $(PICTURE_TOOL),$(call programs,tools/*.c)) \
	$(patsubst tests/tools/preload/%.c,$(OUT)/tests/tools/%.so,$(wildcard tests/tools/preload/*.c))
GUEST_PROGRAMS = $(call programs,guest/*.c) $(patsubst tests/guest/preload/%.c,$(OUT)/tests/guest/%.so,\
	$(wildcard tests/guest/preload/*.c))
HARDWARE_PROGRAMS = $(call programs,hardware/*.c)
FUZZERS = $(call programs,fuzz/fuzz_*.c)
SEED_PROGRAMS = $(FUZZERS:$(OUT)/tests/fuzz/%=$(OUT)/tests/seeds/%)
BENCHES = $(call programs,bench/*.c)
TOOL_LIBRARY_SOURCES += $(wildcard tests/lib/bench_*.c)

objects = $(patsubst %.c,$(OUT)/obj/%.o,$(1))

# Prints one line per file. V=1 shows the commands.
ifndef V
say = @printf '  %-5s %s\n' $(1) $(@:$(BUILD)/%=%);
else
say =
endif

.DEFAULT_GOAL = all

$(OUT)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h include/pebsd/*.h)
	$(call need,$(CLANG))
	@mkdir -p $(@D)
	$(call say,BPF)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(OUT)/bpf/%.bpf.o: tests/bpf/%.bpf.c $(wildcard bpf/*.h include/pebsd/*.h)
	@mkdir -p $(@D)
	$(call say,BPF)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(OUT)/bpf/%.bpf.o: tests/bench/peers/%.bpf.c $(wildcard bpf/*.[ch] include/pebsd/*.h tests/bench/peers/*.h)
	@mkdir -p $(@D)
	$(call say,BPF)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

# Replaces pebsd's own skeleton in the kernel side of a benchmark.
$(OUT)/synthetic/pebsd.skel.h: $(OUT)/bpf/synthetic_pebsd.bpf.o
	@mkdir -p $(@D)
	$(call say,SKEL)$(BPFTOOL) gen skeleton $< name pebsd_bpf > $@.new
	@mv $@.new $@

# The sources of these objects include the daemon's BPF programs.
$(OUT)/bpf/older_pebsd.bpf.o: bpf/pebsd.bpf.c
$(OUT)/bpf/older_zoom.bpf.o: bpf/zoom.bpf.c

$(OUT)/synthetic/older_pebsd.skel.h: $(OUT)/bpf/synthetic_pebsd.bpf.o
	@mkdir -p $(@D)
	$(call say,SKEL)$(BPFTOOL) gen skeleton $< name older_pebsd_bpf > $@.new
	@mv $@.new $@

$(OUT)/%.skel.h: $(OUT)/bpf/%.bpf.o
	$(call need,$(BPFTOOL))
	$(call say,SKEL)$(BPFTOOL) gen skeleton $< name $*_bpf > $@.new
	@mv $@.new $@

# Checksums that pebsd reports about itself (--version --json).
BPF_OBJECTS = $(sort $(patsubst bpf/%.bpf.c,$(OUT)/bpf/%.bpf.o,$(wildcard bpf/*.bpf.c)))
$(OUT)/bpf_digests.h: $(BPF_OBJECTS)
	$(call say,SUMS)sha256sum $^ | sed 's/^\([0-9a-f]*\) .*\/\([a-z_]*\)\.bpf\.o$$/{"\2", "\1"},/' > $@.new
	@mv $@.new $@

$(OUT)/obj/daemon/main.o: $(OUT)/bpf_digests.h
$(OUT)/obj/daemon/base/build_info.o: PEBSD_CPPFLAGS += -DPEBSD_LIBRARIES='"$(foreach library,$(LIBRARIES),$(library) $(shell pkg-config \
	--modversion $(library)))"'

# Makes C from the description of pprof's format.
$(OUT)/%.pb-c.c $(OUT)/%.pb-c.h: daemon/profile/%.proto
	$(call need,protoc-c)
	@mkdir -p $(@D)
	$(call say,PROTO)protoc-c --c_out=$(OUT) --proto_path=$(<D) $<

$(OUT)/obj/%.pb-c.o: $(OUT)/%.pb-c.c $(OUT)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) -Wno-conversion -MD -MP -c $< -o $@

# The page at /, without most comments, empty lines and the tabs at the start of lines, so that a browser loads less.
# With the sums of its script and style, which its Content-Security-Policy allows. A sum covers the text between the
# start tag and the end tag.
sum_of = sed -n '/^<$(1)>$$/,/^<.$(1)>$$/{s/^<$(1)>$$//;/^<.$(1)>$$/!p}' $@.text | sha256sum | cut -c1-64 | tr a-f A-F | \
	basenc --base16 -d | base64
$(OUT)/page.h: daemon/http/server/page.html Makefile
	@mkdir -p $(@D)
	$(call say,PAGE)sed "s/^\t*//; /^\/\//d; /^\/\*.*\*\/\$$/d; /^\$$/d; s,; // [^'\"]*\$$,;," $< > $@.text && \
		{ printf '#define PAGE_SCRIPT_SHA256 "%s"\n#define PAGE_STYLE_SHA256 "%s"\n#define PAGE_TEXT \\\n' \
		"$$($(call sum_of,script))" "$$($(call sum_of,style))" && \
		sed 's/@VERSION@/$(VERSION)/; s/[\\"]/\\&/g; s/.*/"&\\n" \\/' $@.text && echo; } > $@.new
	@mv $@.new $@

$(OUT)/obj/daemon/http/server/http_page.o: $(OUT)/page.h

# The interface description that the control socket serves.
$(OUT)/interface.h: daemon/export/control/io.pebsd.varlink Makefile
	@mkdir -p $(@D)
	$(call say,TEXT){ printf '#define INTERFACE_TEXT \\\n' && sed 's/[\\"]/\\&/g; s/.*/"&\\n" \\/' $< && echo; } > $@.new
	@mv $@.new $@

$(OUT)/obj/daemon/export/control/control_interface.o: $(OUT)/interface.h

SKELETON_HEADERS = $(patsubst %,$(OUT)/%.skel.h,pebsd older_pebsd zoom older_zoom guests)

# Objects are compiled again when a line of this file that sets flags changes, and not with each edit of it.
FLAG_LINES = FLAGS|WARNINGS|OPTIMIZE|CONTROL_FLOW|FORTIFY|SAME_ANYWHERE|SKELETONS|VERSION|LIBRARIES|LIBS|pkg_config|link_test
$(OUT)/flags: Makefile
	@mkdir -p $(@D)
	@grep -E '$(FLAG_LINES)' Makefile >$@.$$$$ && if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

$(OUT)/obj/%.o: %.c $(OUT)/flags | $(SKELETON_HEADERS) $(OUT)/pprof.pb-c.h
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) -MD -MP -c $< -o $@

$(OUT)/libpebsd.a: $(call objects,$(LIBRARY_SOURCES)) $(OUT)/obj/pprof.pb-c.o
	@rm -f $@
	$(call say,AR)$(AR) rcsD $@ $^

$(OUT)/pebsd: $(call objects,daemon/main.c) $(OUT)/libpebsd.a
	$(call say,LINK)$(LINK) -o $@ $^ $(LIBS)

$(OUT)/pebsctl: $(call objects,daemon/ctl/main.c) $(OUT)/libpebsd.a
	$(call say,LINK)$(LINK) -o $@ $^ $(LIBS)

# pebsd-opener uses the fewest libraries, because it has privileges that the other programs do not have.
$(OUT)/pebsd-opener: $(call objects,daemon/opener/main.c) $(OUT)/libpebsd.a
	$(call say,LINK)$(LINK) -o $@ $^ $(LIBS)

$(OUT)/libtools.a: $(call objects,$(TOOL_LIBRARY_SOURCES))
	@rm -f $@
	$(call say,AR)$(AR) rcsD $@ $^

$(OUT)/libtests.a: $(call objects,$(TEST_LIBRARY_SOURCES))
	@rm -f $@
	$(call say,AR)$(AR) rcsD $@ $^

# Tests are Criterion programs. Tools and fuzzers have their own main() and no time limit.
TEST_OBJECTS = $(OUT)/libtests.a $(OUT)/libpebsd.a
TIME_LIMIT = $(OUT)/obj/tests/lib/time_limit.o
# Objects come first, so that the linker does not take their symbols from the archives.
link_test = $(LINK) -o $@ $(filter %.o,$^) $(filter-out %.o,$^) $(LIBS)

$(OUT)/tests/%: $(OUT)/obj/tests/%.o $(TIME_LIMIT) $(TEST_OBJECTS)
	@mkdir -p $(@D)
	$(call say,LINK)$(link_test) -lcriterion

$(OUT)/tests/tools/%: $(OUT)/obj/tests/tools/%.o $(OUT)/libtools.a $(OUT)/libpebsd.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link_test)

$(OUT)/tests/bench/%: $(OUT)/obj/tests/bench/%.o $(OUT)/libtools.a $(OUT)/libpebsd.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link_test)

# pebsd's own loader, compiled with another skeleton: its BPF programs have synthetic samples.
SYNTHETIC_KERNEL = $(patsubst %,$(OUT)/obj/synthetic/%.o,kernel kernel_keep kernel_open kernel_offcore skeleton)

$(OUT)/obj/synthetic/%.o: SKELETONS = -isystem $(OUT)/synthetic
$(OUT)/obj/synthetic/%.o: daemon/kernel/%.c $(OUT)/flags | $(OUT)/synthetic/pebsd.skel.h \
		$(OUT)/synthetic/older_pebsd.skel.h $(SKELETON_HEADERS)
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) -MD -MP -c $< -o $@

$(OUT)/tests/bench/events_cost $(OUT)/tests/bench/sparse_sample: $(SYNTHETIC_KERNEL)
$(OUT)/obj/tests/bench/events_cost.o $(OUT)/obj/tests/bench/sparse_sample.o: | $(OUT)/peers.skel.h
$(OUT)/obj/tests/bench/%.o: PEBSD_CPPFLAGS += -Itests/bench

# These libraries are loaded into a program before its own libraries. They are never built with sanitizers.
$(OUT)/tests/tools/%.so: $(OUT)/obj/tests/tools/preload/%.o
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS) -shared -o $@ $^

$(OUT)/obj/tests/tools/preload/%.o: CFLAGS += -fPIC -fno-builtin
$(OUT)/obj/tests/tools/preload/%.o: SANITIZE_FLAGS =

# These programs run in a guest, whose root may lack this system's libraries.
$(OUT)/tests/guest/%: $(OUT)/obj/tests/guest/%.o
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS) -static -pthread -o $@ $^

# This program is built like a service: position independent, with a shared C library, and with stacks that can be
# unwound.
$(OUT)/tests/guest/sharing: $(OUT)/obj/tests/guest/sharing.o
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS) -pie -pthread -o $@ $^

# The emulated PMU, a plugin for QEMU.
PMU_PLUGIN = $(OUT)/tests/guest/pmu_plugin.so
PMU_OBJECTS = $(patsubst %.c,$(OUT)/obj/plugin/%.o,$(wildcard tests/guest/pmu/*.c daemon/model/*.c))
$(PMU_PLUGIN): $(PMU_OBJECTS)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) -flto $(LDFLAGS) -shared -o $@ $^

$(OUT)/obj/plugin/%.o: HARDEN_CFLAGS = -fPIC -fvisibility=hidden -flto
$(OUT)/obj/plugin/%.o: %.c $(OUT)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) -MD -MP -c $< -o $@

# This program uses the daemon's own code. The guest has the libraries for it.
$(OUT)/tests/guest/keep_many: $(OUT)/obj/tests/guest/keep_many.o $(OUT)/libpebsd.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link_test)

$(OUT)/obj/tests/guest/sharing.o: override CFLAGS += -O1 -g -fPIE -fno-omit-frame-pointer

$(OUT)/tests/hardware/%: $(OUT)/obj/tests/hardware/%.o
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS) -static -o $@ $^

# These libraries are loaded into a program in the guest before the C library, of which they use only errno.
$(OUT)/tests/guest/%.so: $(OUT)/obj/tests/guest/preload/%.o
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS) -shared -nostdlib -o $@ $^

$(OUT)/obj/tests/guest/preload/%.o: override CFLAGS += -fPIC -fno-stack-protector -U_FORTIFY_SOURCE

$(OUT)/tests/fuzz/%: $(OUT)/obj/tests/fuzz/%.o $(OUT)/libtools.a $(OUT)/libpebsd.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link_test) -fsanitize=fuzzer

# The fuzzers without libFuzzer: they run on files.
$(OUT)/tests/seeds/%: $(OUT)/obj/tests/fuzz/%.o $(OUT)/obj/tests/fuzz/run_seeds.o $(OUT)/libtools.a $(OUT)/libpebsd.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link_test)

$(PICTURE_TOOL): $(OUT)/obj/tests/lib/terminal.o
$(PICTURE_TOOL) $(OUT)/tests/e2e/test_top_screen: LIBS += -lvterm

$(OUT)/tests/unit/test_collect $(addprefix $(OUT)/tests/,fuzz/fuzz_state seeds/fuzz_state): $(OUT)/obj/tests/lib/fake_kernel.o
$(OUT)/tests/unit/test_json_public $(OUT)/tests/unit/test_short_name: $(OUT)/obj/tests/lib/counted_strcmp.o
$(OUT)/tests/unit/test_control_detail $(OUT)/tests/unit/test_http_zooms: $(OUT)/obj/tests/lib/fake_zooms.o
$(addprefix $(OUT)/tests/unit/test_,history http http_broker http_cache http_clients http_crowd http_profile http_worker listen \
	resolver symbols varlink varlink_wait): $(OUT)/obj/tests/lib/fake_clock.o

# Tests that let an allocation fail: tests/lib/scarce_memory.h.
$(OUT)/tests/bpf/test_growth $(addprefix $(OUT)/tests/unit/,test_act_store test_collect test_differences test_flame test_held test_history_archive test_ledger test_panes test_sampling_kept test_symbols_cache): PEBSD_LDFLAGS += \
	$(foreach name,malloc calloc reallocarray strdup,-Xlinker --wrap=$(name))
$(OUT)/tests/unit/test_series: PEBSD_LDFLAGS += -Xlinker --wrap=siphash_key_new -Xlinker --wrap=siphash_bytes

$(OUT)/obj/tests/%.o: PEBSD_CPPFLAGS += -Itests/lib
$(OUT)/obj/tests/bpf/test_read_sample.o: | $(OUT)/last_sample.skel.h
$(OUT)/obj/tests/bench/sample_body.o $(OUT)/obj/tests/bpf/test_sample_path.o: | $(OUT)/made_up_samples.skel.h
# These programs unwind their own stacks.
$(OUT)/obj/tests/bpf/test_zoom_events.o $(OUT)/obj/tests/bench/zoom_cost.o: override CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls

# Parts of the goals for users. Such a goal installs packages, builds, and runs programs, one after the other. Each
# step is a make of its own, which checks again which files exist. The + in recipes tells make that they call
# make, so that it passes its jobs on.
DEPS = tests/tools/install_deps.sh
SUBMAKE = $(MAKE) --no-print-directory
PARALLEL = $(SUBMAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
RUN_TESTS = PEBSD=$(abspath $(OUT)/pebsd) PEBSCTL=$(abspath $(OUT)/pebsctl) TOOLS=$(abspath $(OUT)/tests/tools) \
	tests/run.sh -o $(OUT)/test-results
# Two tests per CPU run at once, because tests wait as often as they work. The longest tests come first. Tests run
# alone if they follow all cgroups of this machine, if map system calls of other tests would cost them samples, or if
# they sample thousands of cgroups, which take memory in the daemons of other tests, too.
AT_ONCE = -j $$((2 * $$(nproc))) -a 'tests/bpf/*' -a tests/e2e/test_bench.sh -a tests/e2e/test_faults_replies.sh
# Installs Debian packages if this is Debian: $(call with,PACKAGES...)
with = @$(DEPS) --if-debian $(BUILD_PACKAGES) $(1)

##@ Use

all: $(OUT)/pebsd $(OUT)/pebsctl $(OUT)/pebsd-opener ## build pebsd, pebsctl and pebsd-opener (the default)

run: ## build, then profile this machine, or show a model if it cannot be profiled or you are not root
	$(call with,$(RUN_PACKAGES))
	+@$(PARALLEL) all
	@$(HAND_OVER)
	@tests/tools/run.sh $(BUILD)

# FILE:PLACE below PREFIX. Files below sbin, bin and lib/pebsd are programs. The units contain the programs' paths.
SHARE_DOC = share/doc/pebsd
SYSTEM = lib/systemd/system
# Debian 12's own tools look for units elsewhere: units/packaging/debian/rules.
UNIT_DIRECTORY = $(DESTDIR)$(PREFIX)/$(SYSTEM)
# The directory for completions of other packages. Debian's zsh has a different one.
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions
NAMES_PROGRAMS = units/pebsd.service:$(SYSTEM)/pebsd.service units/pebsd-opener.service:$(SYSTEM)/pebsd-opener.service \
	units/pebsd-symbols.service:$(SYSTEM)/pebsd-symbols.service units/pebsd-alert@.service:$(SYSTEM)/pebsd-alert@.service \
	units/mixed-fleet.conf:$(SHARE_DOC)/mixed-fleet.conf units/symbols-debuginfod.conf:$(SHARE_DOC)/symbols-debuginfod.conf
INSTALLED = $(OUT)/pebsd:sbin/pebsd $(OUT)/pebsctl:bin/pebsctl $(OUT)/pebsd-opener:lib/pebsd/pebsd-opener $(NAMES_PROGRAMS) \
	$(foreach unit,pebsd pebsd-opener pebsd-symbols,units/$(unit).socket:$(SYSTEM)/$(unit).socket) \
	units/pebsd.polkit.rules:share/polkit-1/rules.d/pebsd.rules units/pebsd.catalog:lib/systemd/catalog/pebsd.catalog \
	units/pebsd.sysusers.conf:lib/sysusers.d/pebsd.conf LICENSE:$(SHARE_DOC)/LICENSE \
	$(foreach file,$(wildcard config/grafana/* config/kubernetes/*.* config/kubernetes/*/* config/opentelemetry/* config/prometheus/*),\
		$(file):$(SHARE_DOC)/$(file:config/%=%)) \
	$(foreach page,$(MANUALS),$(page):share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page))) \
	$(foreach program,pebsd pebsctl,config/completion/$(program).bash:share/bash-completion/completions/$(program) \
		config/completion/$(program).fish:share/fish/vendor_completions.d/$(program).fish)
file_of = $(firstword $(subst :, ,$(1)))
below_prefix = $(lastword $(subst :, ,$(1)))
place_of = $(patsubst $(DESTDIR)$(PREFIX)/$(SYSTEM)/%,$(UNIT_DIRECTORY)/%,$(DESTDIR)$(PREFIX)/$(below_prefix))
mode_of = $(if $(filter sbin/% bin/% lib/pebsd/%,$(below_prefix)),755,644)
CONFIG_FILE = $(DESTDIR)/etc/pebsd/pebsd.conf
# A packager may set another INSTALL, without -D.
INSTALL = install
define install_one
$(INSTALL) -D -m $(call mode_of,$(1)) $(call file_of,$(1)) $(call place_of,$(1))

endef
# journalctl reads the catalog from a database. Without a database nothing is updated.
UPDATE_CATALOG = @[ -n "$(DESTDIR)" ] || ! [ -e /var/lib/systemd/catalog/database ] || journalctl --update-catalog

install: all ## install below DESTDIR= with PREFIX=/usr; keeps an existing configuration
	$(foreach one,$(INSTALLED),$(call install_one,$(one)))
	@sed -i 's,/usr/\(s\?bin\|lib/pebsd\)/pebs,$(PREFIX)/\1/pebs,; s,/usr/share/,$(PREFIX)/share/,' \
		$(foreach one,$(NAMES_PROGRAMS),$(call place_of,$(one)))
	$(foreach program,pebsd pebsctl,$(INSTALL) -D -m 644 config/completion/_$(program) $(DESTDIR)$(ZSH_COMPLETIONS)/_$(program) &&) true
	[ -e $(CONFIG_FILE) ] || $(INSTALL) -D -m 644 config/pebsd.conf $(CONFIG_FILE)
	$(UPDATE_CATALOG)

uninstall: ## remove what install put there, except the configuration
	@rm -f $(foreach one,$(INSTALLED),$(call place_of,$(one))) $(DESTDIR)$(ZSH_COMPLETIONS)/_pebsd $(DESTDIR)$(ZSH_COMPLETIONS)/_pebsctl
	rm -rf $(DESTDIR)$(PREFIX)/$(SHARE_DOC)
	@rmdir $(DESTDIR)$(PREFIX)/lib/pebsd 2>/dev/null || :
	$(UPDATE_CATALOG)
	@! [ -e $(CONFIG_FILE) ] || echo "kept: $(CONFIG_FILE)"

# Manual pages and Markdown.
DOCUMENTS = $(sort $(wildcard daemon/man/*.[1-8])) $(sort $(wildcard README.md .github/*.md config/*/README.md daemon/README.md \
	daemon/*/README.md daemon/*/*/README.md tests/README.md tests/*/README.md))

docs: ## render all manual pages and READMEs as HTML, with links, into build/docs (make deps-docs installs what it needs)
	$(call need,mandoc,deps-docs)
	$(call need,cmark-gfm,deps-docs)
	@tests/tools/docs.py --write $(BUILD)/docs $(DOCUMENTS)
	@tests/tools/docs.py --check $(BUILD)/docs
	@echo 'Open $(abspath $(BUILD))/docs/index.html'

clean: ## remove build/
	rm -rf $(BUILD)

help: ## show this list
	@sed -n 's/^##@ \(.*\)/\n\1/p; s/^\([a-z0-9-]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile | expand -t 22

##@ Test

test: ## run all tests that one machine can run by itself in some minutes (needs root)
	$(call with,$(RUN_PACKAGES) $(TEST_PACKAGES))
	+@$(PARALLEL) unit-tests bpf-tests e2e-tests
	@$(RUN_TESTS) $(AT_ONCE) $(E2E_TESTS) $(BPF_TESTS) $(UNIT_TESTS)

test-all: ## check everything that can be checked here, including guests with every kernel (needs root, takes hours)
	@.ci/run all

test-unit: ## test pure functions and modules
	+@$(PARALLEL) unit-tests
	@$(RUN_TESTS) $(AT_ONCE) $(UNIT_TESTS)

test-bpf: ## test the BPF programs in the running kernel (needs root)
	+@$(PARALLEL) bpf-tests
	@$(RUN_TESTS) $(AT_ONCE) $(BPF_TESTS)

test-e2e: ## test the daemon, command line and endpoint from outside (needs root)
	+@$(PARALLEL) e2e-tests
	@$(RUN_TESTS) $(AT_ONCE) $(E2E_TESTS)

test-sanitize: ## run the same tests built with address and undefined behaviour checks
	+@$(PARALLEL) SANITIZE=1 unit-tests bpf-tests e2e-tests
	+@$(SUBMAKE) SANITIZE=1 run-sanitized

# Leaves out tests that need the plain build, and tests that take away descriptors or /proc, which sanitizers need
# themselves.
run-sanitized:
	@ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1 $(RUN_TESTS) $(AT_ONCE) \
		$(filter-out $(addprefix tests/e2e/test_,runner.sh install.sh hardening.sh faults_descriptors.sh faults_mounts.sh),$(E2E_TESTS)) $(BPF_TESTS) $(UNIT_TESTS)

test-sanitize-parsers: ## run each fuzzer's seeds, and the unit tests of what it fuzzes, built with these checks
	+@$(PARALLEL) SANITIZE=1 OPTIMIZE=-O0 WERROR= parser-tests
	+@$(SUBMAKE) SANITIZE=1 run-sanitized-parsers

run-sanitized-parsers:
	@ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1 $(RUN_TESTS) $(AT_ONCE) tests/e2e/test_fuzz_seeds.sh $(PARSER_TESTS)

test-corpus: ## test with real recordings and tables: CORPUS=DIR
	$(if $(CORPUS),,$(error say where the recordings are: make test-corpus CORPUS=DIR))
	+@$(PARALLEL) corpus-tests
	@CORPUS=$(abspath $(CORPUS)) $(RUN_TESTS) $(AT_ONCE) $(CORPUS_TESTS)

test-outside: ## open pebsd's files in perf and pprof and its page in Chromium, use a proxy, compare fleet servers, run the demo
	$(call with)
	@$(DEPS) --if-debian $(OUTSIDE_PACKAGES) || echo "what is not here is skipped"
	+@$(PARALLEL) outside-tests
	@$(RUN_TESTS) -s -t 900 $(OUTSIDE_TESTS)

test-fresh: ## run the README's two commands in a new, minimal Debian 12 root (needs root, mmdebstrap, some minutes)
	@$(RUN_TESTS) -t 1800 tests/tools/fresh_root.sh

# Kernels, and names of the tests in tests/guest/inside/test_*.sh. Without names or `all`, each kernel runs the tests
# that are meant for it.
KERNELS ?= 7 6.12 6.1
GUEST_TESTS ?=
KERNEL ?= 6.12
SOAK_SECONDS ?= 3600

test-guest: ## test pebsd in virtual machines: KERNELS="6.1 6.12 7" GUEST_TESTS=, "long" or names (needs root, some minutes)
	$(call with,$(GUEST_PACKAGES))
	+@$(PARALLEL) guest-programs
	@BUILD=$(BUILD) $(RUN_TESTS) -t 21600 -p 'tests/guest/run.sh "$(KERNELS)" $(GUEST_TESTS)'

# Parts of kernels' names. Without them, all run.
RELEASES ?=

test-kernels: ## load, attach and run each BPF program with each kernel of Debian's archive: RELEASES="6.12 7.3" (needs root, 40 minutes)
	$(call with,$(GUEST_PACKAGES))
	+@$(PARALLEL) guest-programs
	@BUILD=$(BUILD) $(RUN_TESTS) -t 21600 -p 'tests/guest/kernels.sh $(RELEASES)'

test-repeat: ## run virtual machines with one CPU twice, and compare what they leave to the byte (needs root)
	$(call with,$(GUEST_PACKAGES))
	+@$(PARALLEL) guest-programs
	@BUILD=$(BUILD) $(RUN_TESTS) -t 2400 -p tests/guest/repeat.sh

machine-table: ## write what each machine measures on KERNELS into the table of tests/guest/README.md (needs root, takes hours)
	$(call with,$(GUEST_PACKAGES))
	+@$(PARALLEL) guest-programs
	@BUILD=$(BUILD) $(RUN_TESTS) -t 21600 -p 'tests/guest/run.sh "$(KERNELS)" machine' | tee $(BUILD)/machine-table.log
	@tests/tools/machine_table.py tests/guest/README.md $(BUILD)/machine-table.log

soak: ## run an hour of a host's life in a virtual machine: SOAK_SECONDS=3600 KERNEL=6.12 (needs root)
	$(call with,$(GUEST_PACKAGES))
	+@$(PARALLEL) guest-programs
	@BUILD=$(BUILD) SOAK_SECONDS=$(SOAK_SECONDS) $(RUN_TESTS) -t $$(($(SOAK_SECONDS) * 2 + 1200)) -p 'tests/guest/run.sh $(KERNEL) soak'

guest-shell: ## open a root shell in such a virtual machine: KERNEL=6.12
	+@$(PARALLEL) guest-programs
	@BUILD=$(BUILD) tests/guest/guest.sh --shell $(KERNEL)

# How long each chase is sampled at first. If that is too short, it takes up to six times as long.
HARDWARE_SECONDS ?= 10

test-hardware: ## compare pebsd with perf mem on this machine's PEBS or IBS (needs root and the hardware, some minutes)
	$(call with,$(HARDWARE_PACKAGES))
	+@$(PARALLEL) hardware-programs
	@status=0; CHASE=$(abspath $(OUT)/tests/hardware/chase) REPORT=$(abspath $(BUILD)/hardware-report.txt) $(RUN_TESTS) -s \
		-t $$((600 + 200 * $(HARDWARE_SECONDS))) -p 'tests/hardware/run.sh $(HARDWARE_SECONDS)' || status=$$?; \
		echo 'The report, one file to mail: $(abspath $(BUILD)/hardware-report.txt)'; exit $$status

##@ Measure

# The commands of each round, BENCH_ROUNDS times. The number of the round changes the order within some of them.
BENCH_ROUNDS ?= 7
BENCH_RESULTS = $(BUILD)/bench
BENCH_CASES = yardstick 'events_cost ROUND' switch_cost 'tools_cost ROUND' 'as_lines.sh sample_body' 'as_lines.sh tick_cost' \
	'drain_cost 5' 'scrape_cost --json' 'as_lines.sh start_time' \
	'daemon_cost $(abspath $(OUT)/pebsd)' \
	'daemon_cost $(abspath $(OUT)/pebsd) loads cycles instructions stalls misses' \
	'scrape_peers tests/bench/peers/client.py'
BENCH_REPORT = $(OUT)/tests/bench/bench_report

bench: ## measure what pebsd and its peers cost: a table, and build/bench/COMMIT.json (needs root, deps-bench, 5 minutes)
	+@$(PARALLEL) all benches
	@PEBSD=$(abspath $(OUT)/pebsd) PEBSCTL=$(abspath $(OUT)/pebsctl) tests/bench/run.sh -r $(BENCH_ROUNDS) \
		-b $(OUT)/tests/bench -o $(BENCH_RESULTS) $(BENCH_CASES)

# A result: the name of its file, or a commit in any form that git accepts.
bench_result = $(firstword $(wildcard $(BENCH_RESULTS)/$(1).json \
	$(BENCH_RESULTS)/$(shell git rev-parse --short=12 '$(1)^{commit}' 2>/dev/null).json) $(BENCH_RESULTS)/$(1).json)

# `make bench-compare A B` means the same as with A=A B=B: the two words are not goals then.
ifeq ($(firstword $(MAKECMDGOALS)),bench-compare)
BENCH_WORDS = $(wordlist 2,3,$(MAKECMDGOALS))
A ?= $(word 1,$(BENCH_WORDS))
B ?= $(word 2,$(BENCH_WORDS))
.PHONY: $(BENCH_WORDS)
$(BENCH_WORDS): ; @:
endif

bench-compare: ## show what changed between two runs: make bench-compare A=COMMIT B=COMMIT; fails if something is worse
	+@$(PARALLEL) $(BENCH_REPORT)
	@$(if $(and $(A),$(B)),,$(error say which runs: make bench-compare A=COMMIT B=COMMIT, of those in $(BENCH_RESULTS)))
	@$(BENCH_REPORT) compare $(call bench_result,$(A)) $(call bench_result,$(B))

bench-table: ## print the tables of tests/bench/README.md from a run: C=COMMIT, by default this one
	+@$(PARALLEL) $(BENCH_REPORT)
	@$(BENCH_REPORT) markdown $(call bench_result,$(or $(C),HEAD))

# Single measurements: programs of tests/bench, run one after the other, with the words after the colons as arguments.
bench-alarms: RUNS = policy_figures bursts:alarms bursts:away bursts:services bursts:steps
bench-alarms: ## how often rules fire without a cause, also with bursts, and find a step, over simulated weeks (about 40 minutes)
# A week has too few false alarms to compare with one a month if bursts take 30 s: two such bursts may meet.
bench-alarms-short: RUNS = policy_figures:1:100 bursts:alarms:7:20
bench-alarms-short: ## the same with a simulated week and bursts of up to 20 s (about 2 minutes)
bench-churn: RUNS = churn
bench-churn: ## a minute with 2,000 births and removals of cgroups per second, none lost (needs root)
bench-coverage: RUNS = coverage bursts:coverage
bench-coverage: ## how often the bounds of each metric hold, also with bursts (some minutes)
bench-drain: RUNS = drain_cost
bench-drain: ## what reading new counts costs, compared with a memcpy of the records (needs root)
bench-history: RUNS = history_cost
bench-history: ## what the history on disk costs with 1,000 cgroups, and the time of questions; fails if it is too much
bench-history-peer: ## the history's answers about a day beside those of a Prometheus (Debian: prometheus; needs root; 3 minutes)
	+@$(PARALLEL) all $(OUT)/tests/bench/history_cost
	@tests/bench/history_peer.py $(OUT)/tests/bench/history_cost $(OUT)/pebsd
bench-fleet: ## what a series costs in Prometheus and in VictoriaMetrics: memory, CPU time, disk (deps-outside; 8 minutes)
	+@$(PARALLEL) tools
	@tests/bench/fleet_cost.py $(OUT)/tests/tools/example_scrape config/prometheus
	@tests/bench/fleet_cost.py $(OUT)/tests/tools/example_scrape config/prometheus 40 15 10
bench-hot: RUNS = hot_sample
bench-hot: ## what hot tables cost per sample (needs root)
bench-memory: RUNS = memory
bench-memory: ## the engine's memory with up to 10,000 cgroups, against its budget (needs root)
bench-neighbours: RUNS = neighbours_rates
bench-neighbours: ## how often the right neighbour is named, and a wrong one
bench-offcore: RUNS = offcore_read
bench-offcore: ## what reading off-core counts of 5,000 cgroups on 256 CPUs costs; fails if it is too much (needs root)
bench-panes: RUNS = history_panes
bench-panes: ## what the daemon's side of the history costs with 1,000 cgroups; fails if it is too much
bench-policy: RUNS = policy_tick
bench-policy: ## what a collection of 10,000 cgroups costs with 50 rules
bench-scrape: RUNS = scrape_cost
bench-scrape: ## what a scrape of 1,000 cgroups costs, and collections during 50 scrapes
bench-scrape-crowd: RUNS = scrape_crowd
bench-scrape-crowd: ## how long scrapes take next to 1,000 slow clients of each kind (needs root, some minutes)
bench-sparse: RUNS = sparse_sample
bench-sparse: ## what a sample costs among many others, and alone with other work before it (needs root, a minute)
bench-start: RUNS = start_time
bench-start: ## the time to the first accounted sample, with 1,000 cgroups (needs root)
bench-symbols: RUNS = symbols_questions
bench-symbols: ## what names of addresses cost: requests per second, CPU time, memory
bench-tick: RUNS = tick_cost
bench-tick: ## what a collection costs the daemon, stage by stage (needs root)
bench-window: RUNS = window_reach
bench-window: ## how far back the window reaches in its memory, and what that costs per collection
bench-zoom: RUNS = zoom_cost
bench-zoom: ## what a zoom of 1,000 samples per second costs (needs root, a minute)

$(addprefix bench-,alarms alarms-short churn coverage drain history hot memory neighbours offcore panes policy scrape scrape-crowd sparse start symbols tick window zoom):
	+@$(PARALLEL) $(sort $(foreach run,$(RUNS),$(OUT)/tests/bench/$(call file_of,$(run))))
	@$(foreach run,$(RUNS),$(OUT)/tests/bench/$(subst :, ,$(run)) &&) true

##@ Package

deb: ## make a Debian package in build/deb, checked by lintian (needs Debian's packaging tools: make deps-package)
	$(call with,$(PACKAGE_PACKAGES))
	@tests/tools/package.sh $(abspath $(BUILD))/deb $(VERSION)

# The name of the image without its version, as in config/kubernetes/daemonset.yaml.
IMAGE_NAME ?= registry.example/pebsd
PACKAGE_FILE = $(BUILD)/deb/pebsd_$(VERSION)_*.deb
IMAGE_FILE = $(BUILD)/image/pebsd-$(VERSION).oci.tar

image: deb ## make an OCI image of the package in build/image, with only what pebsd and pebsctl need: IMAGE_NAME= (deps-image)
	@$(DEPS) --if-debian $(IMAGE_PACKAGES)
	@tests/tools/image.sh $(PACKAGE_FILE) $(BUILD)/image $(IMAGE_NAME)

test-package: deb image ## install, upgrade and purge the package in a new, minimal Debian 12 root, and test the image (needs root, some minutes)
	+@$(PARALLEL) $(OUT)/tests/tools/fault_in_cgroups
	@$(RUN_TESTS) -t 1200 -c 'tests/tools/package_root.sh $(PACKAGE_FILE)' \
		'tests/tools/image_root.sh $(PACKAGE_FILE) $(IMAGE_FILE) $(IMAGE_NAME)' \
		'tests/tools/image_memory.sh $(IMAGE_FILE) $(OUT)/tests/tools/fault_in_cgroups'

reproducible: ## build twice, in different places and environments, and compare the bytes (some minutes)
	@BUILD=$(BUILD) tests/tools/reproducible.sh

##@ Develop

deps: PACKAGES = $(RUN_PACKAGES)
deps: ## install what building and running needs (Debian packages; needs root)
deps-test: PACKAGES = $(RUN_PACKAGES) $(TEST_PACKAGES)
deps-test: ## install what the tests need
deps-develop: PACKAGES = $(RUN_PACKAGES) $(TEST_PACKAGES) $(DEVELOP_PACKAGES)
deps-develop: ## install what lint, the fuzzers, reproducible and test-fresh need
deps-outside: PACKAGES = $(OUTSIDE_PACKAGES)
deps-outside: ## install what test-outside needs
deps-guest: PACKAGES = $(GUEST_PACKAGES)
deps-guest: ## install what test-guest needs
deps-package: PACKAGES = $(PACKAGE_PACKAGES)
deps-package: ## install what deb needs
deps-image: PACKAGES = $(PACKAGE_PACKAGES) $(IMAGE_PACKAGES)
deps-image: ## install what image and test-package need
deps-bench: PACKAGES = $(BENCH_PACKAGES)
deps-bench: ## install the tools that bench compares with pebsd
deps-docs: ## install what docs needs
	@$(DEPS) $(DOC_PACKAGES)

deps deps-test deps-develop deps-outside deps-guest deps-package deps-image deps-bench:
	@$(DEPS) $(BUILD_PACKAGES) $(PACKAGES)

# clang builds the fuzzers next to the plain build, and they run there: $(call fuzz,GOAL)
define fuzz
	+@$(PARALLEL) FUZZ=1 fuzzers
	+@$(SUBMAKE) FUZZ=1 $(1)
endef

fuzz: ## run each fuzzer for FUZZ_SECONDS=20
	$(call fuzz,run-fuzzers)

fuzz-long: ## run each for FUZZ_LONG_SECONDS=600 and print executions, coverage, corpus and findings (hours)
	$(call fuzz,run-fuzzers-long)

fuzz-minimize: ## put the smallest set of inputs that adds to the seeds into build/fuzz/found, to take seeds from
	$(call fuzz,minimize-found)

run-fuzzers:
	@$(RUN_TESTS) -j $$(nproc) -t $$(($(FUZZ_SECONDS) + 60)) -c $(FUZZERS:%='tests/tools/fuzz.sh % $(FUZZ_SECONDS)')

run-fuzzers-long:
	@printf '%s\n' $(FUZZERS) | xargs -P $(shell nproc) -I FUZZER tests/tools/fuzz.sh -s FUZZER $(FUZZ_LONG_SECONDS)

minimize-found:
	@printf '%s\n' $(FUZZERS) | xargs -P $(shell nproc) -I FUZZER tests/tools/fuzz.sh -m FUZZER $(OUT)/found

SOURCES = $(wildcard bpf/*.[ch] daemon/*.[ch] daemon/*/*.[ch] daemon/*/*/*.[ch] include/pebsd/*.h tests/*/*.[ch] \
	tests/guest/pmu/*.[ch] tests/bench/peers/*.[ch])
SCRIPTS = $(wildcard tests/*.sh tests/*/*.sh tests/guest/inside/*.sh config/completion/*.bash .ci/run)
MANUALS = $(wildcard daemon/man/*.[1-8])
TIDY_SOURCES = $(filter-out bpf/% tests/bpf/%.bpf.c tests/bench/peers/%,$(filter %.c,$(SOURCES)))

lint: ## check formatting, static analysis, scripts, manual pages and language
	+@$(RUN_TESTS) -t 2400 -c '$(SUBMAKE) lint-format' '$(PARALLEL) lint-tidy' '$(SUBMAKE) lint-scripts' \
		'$(SUBMAKE) lint-cppcheck' '$(SUBMAKE) lint-manuals' '$(SUBMAKE) lint-language'

lint-format:
	@clang-format --dry-run -Werror $(SOURCES)

lint-tidy: lint-tidy-bpf lint-tidy-daemon

lint-tidy-bpf:
	@printf '%s\n' $(wildcard bpf/*.bpf.c tests/bpf/*.bpf.c) | xargs -I FILE tests/tools/tidy.sh FILE $(BPF_CFLAGS)

GENERATED_HEADERS = $(OUT)/bpf_digests.h $(OUT)/interface.h $(OUT)/page.h $(SKELETON_HEADERS) $(OUT)/last_sample.skel.h \
	$(OUT)/peers.skel.h $(OUT)/made_up_samples.skel.h $(OUT)/pprof.pb-c.h
TIDY = xargs -P $(shell nproc) -I FILE \
	tests/tools/tidy.sh FILE -std=gnu17 $(PEBSD_CPPFLAGS) -Itests/lib -Itests/bench $(PKG_CFLAGS)

lint-tidy-daemon: $(GENERATED_HEADERS)
	@printf '%s\n' $(TIDY_SOURCES) | $(TIDY)

# At most CHANGED_MAX files, so that it ends within minutes. Files that changed themselves come first.
SINCE ?= HEAD~1
CHANGED_MAX ?= 60

lint-changed: $(GENERATED_HEADERS) ## clang-tidy for what changed since SINCE=HEAD~1 and what includes it, CHANGED_MAX=60 files
	@tests/tools/changed.sh $(SINCE) $(OUT)/obj >$(OUT)/changed.all
	@grep -F -x $(TIDY_SOURCES:%=-e %) $(OUT)/changed.all >$(OUT)/changed || :
	@grep '\.bpf\.c$$' $(OUT)/changed.all | xargs -r -I FILE tests/tools/tidy.sh FILE $(BPF_CFLAGS)
	@echo "clang-tidy: the first $(CHANGED_MAX) of $$(wc -l <$(OUT)/changed) files that changed since $(SINCE)"
	@head -n $(CHANGED_MAX) $(OUT)/changed | $(TIDY)

# Only clang-tidy checks the tests: cppcheck cannot parse Criterion's macros.
lint-cppcheck:
	@mkdir -p $(OUT)/cppcheck
	@cppcheck --quiet --std=c11 --enable=warning,portability,performance --error-exitcode=1 --suppressions-list=.cppcheck \
		--inline-suppr --library=posix --library=gnu -D_GNU_SOURCE -D__$(ARCHITECTURE)__ -Iinclude -Idaemon -Ibpf -Itests/lib \
		--include=/usr/include/$(ARCHITECTURE)-linux-gnu/sys/queue.h --include=tests/lib/analysed_macros.h \
		--template='{file}:{line}: {severity}: {message} [{id}]' --cppcheck-build-dir=$(OUT)/cppcheck -j $(shell nproc) \
		daemon tests/lib tests/tools tests/fuzz

# jq 1.6 -e ends with 0 if it has no input, so a test of a command that failed would pass.
lint-scripts:
	@shellcheck $(SCRIPTS)
	@! grep -nE 'jq ([^|]* )?(-e|--exit-status|-[a-mo-z]*e) ' $(SCRIPTS) || { echo "jq -e: write jq -ne 'input | FILTER', which fails without input" >&2; exit 1; }

lint-manuals:
	@tests/tools/manual.py $(MANUALS)

lint-language:
	@tests/tools/language.py

folders: ## draw the picture of the folders in .github/CONTRIBUTING.md again
	@tests/tools/folders.py --write .github/CONTRIBUTING.md

interface: ## write the descriptions in io.pebsd(7) into the comments of the Varlink interface again
	@tests/tools/interface_comments.py --write

pictures: ## draw the pictures of the README again, from the model (needs root and chromium, three minutes)
	$(call with,$(TEST_PACKAGES) $(PICTURE_PACKAGES))
	+@$(PARALLEL) all $(PICTURE_TOOL)
	@tests/tools/pictures.sh $(abspath $(BUILD)) .github

# Parts of other goals.
unit-tests: $(UNIT_TESTS)
PARSER_TESTS = $(filter $(FUZZERS:$(OUT)/tests/fuzz/fuzz_%=$(OUT)/tests/unit/test_%),$(UNIT_TESTS))
parser-tests: $(PARSER_TESTS) $(SEED_PROGRAMS)
bpf-tests: $(BPF_TESTS)
e2e-tests: all $(E2E_PROGRAMS) $(TOOLS) $(PICTURE_TOOL) $(SEED_PROGRAMS) $(addprefix $(OUT)/tests/bench/,bench_report events_cost yardstick)
outside-tests: all $(TOOLS)
corpus-tests: all $(CORPUS_PROGRAMS) $(TOOLS)
guest-programs: all $(GUEST_PROGRAMS) $(HARDWARE_PROGRAMS) $(PMU_PLUGIN)
hardware-programs: all $(HARDWARE_PROGRAMS)
fuzzers: $(FUZZERS)
tools: $(TOOLS)
benches: $(BENCHES)

# No goal for users is a file.
.PHONY: $(shell sed -n 's/^\([a-z][a-z0-9-]*\):.*/\1/p' Makefile)
.PRECIOUS: $(OUT)/obj/%.o $(OUT)/bpf/%.bpf.o $(OUT)/%.skel.h $(OUT)/%.pb-c.c $(OUT)/%.pb-c.h
-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)
endif

# pebsd: build, test, install. `make help` lists the targets.
BUILD ?= build
CC ?= cc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)

LIBRARIES = libbpf libsystemd libmicrohttpd json-c inih libzstd zlib
WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes -Wmissing-prototypes $(WERROR)
CPPFLAGS += -D_GNU_SOURCE -Iinclude -Idaemon -Ibpf -I$(OUT)
CFLAGS ?= -O2 -g
PEBSD_CFLAGS = -std=gnu17 $(WARNINGS) -fno-strict-aliasing -fstack-protector-strong $(SANITIZE_FLAGS) \
	$(shell pkg-config --cflags $(LIBRARIES))
LIBS = $(shell pkg-config --libs $(LIBRARIES)) -lm

# SANITIZE=1 builds all of it with address and undefined behaviour checks, beside the plain build.
ifdef SANITIZE
OUT = $(BUILD)/sanitize
SANITIZE_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
else
OUT = $(BUILD)
endif

BPF_ARCH = $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
BPF_CFLAGS = -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Wshadow -Werror \
	-Wno-unused-parameter -Iinclude -Ibpf -I/usr/include/$(shell uname -m)-linux-gnu

DAEMON_MAINS = daemon/main.c
CTL_SOURCES = $(wildcard daemon/ctl/*.c)
LIBRARY_SOURCES = $(filter-out $(DAEMON_MAINS) $(CTL_SOURCES),$(wildcard daemon/*.c daemon/*/*.c))
# pebsctl's parts are no part of the library; tests get them, too.
TEST_LIBRARY_SOURCES = $(wildcard tests/lib/*.c) $(filter-out daemon/ctl/main.c,$(CTL_SOURCES))
UNIT_TESTS = $(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/unit/test_*.c))
BPF_TESTS = $(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/bpf/test_*.c))

objects = $(patsubst %.c,$(OUT)/obj/%.o,$(1))

all: $(OUT)/pebsd $(OUT)/pebsctl

$(OUT)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h include/pebsd/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(OUT)/%.skel.h: $(OUT)/bpf/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $*_bpf > $@.new
	mv $@.new $@

$(OUT)/obj/%.o: %.c | $(OUT)/pebsd.skel.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PEBSD_CFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(OUT)/libpebsd.a: $(call objects,$(LIBRARY_SOURCES))
	@rm -f $@
	$(AR) rcs $@ $^

$(OUT)/pebsd: $(call objects,$(DAEMON_MAINS)) $(OUT)/libpebsd.a
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(OUT)/pebsctl: $(call objects,$(CTL_SOURCES)) $(OUT)/libpebsd.a
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(OUT)/tests/%: $(OUT)/obj/tests/%.o $(call objects,$(TEST_LIBRARY_SOURCES)) $(OUT)/libpebsd.a
	@mkdir -p $(@D)
	$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lcriterion

$(OUT)/obj/tests/%.o: CPPFLAGS += -Itests/lib

unit-tests: $(UNIT_TESTS)
bpf-tests: $(BPF_TESTS)

clean:
	rm -rf $(BUILD)

.PHONY: all clean unit-tests bpf-tests
.SECONDARY:
-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)

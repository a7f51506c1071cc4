# How sources are compiled and programs are linked. tests/flags.mk has what single programs of the tests need. A change
# of the text of either file compiles everything again.
LIBRARIES = libbpf libsystemd libmicrohttpd sqlite3 json-c inih libprotobuf-c libzstd zlib libRmath libdw libelf \
	ncursesw
# date-time: programs must not contain the time of the build.
WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wformat-security \
	-Wdate-time $(WERROR)
OPTIMIZE = -O2
CFLAGS ?= $(OPTIMIZE) -g

# SANITIZE=1 builds everything with address and undefined behaviour checks, and FUZZ=1 builds the fuzzers. Both have
# directories of their own next to the plain build.
ifdef SANITIZE
OUT = $(BUILD)/sanitize
# Compiles in half the time.
OPTIMIZE = -O1
# The checks for NULL make gcc report writes through NULL that cannot happen.
SANITIZE_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
	-Wno-stringop-overflow
else ifdef FUZZ
OUT = $(BUILD)/fuzz
CC = $(CLANG)
override WERROR = # clang warns about other things than gcc, and fuzzers are not built to find those
SANITIZE_FLAGS = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
else
OUT = $(BUILD)
endif

# Hardening against exploits of mistakes. tests/tools/hardening.sh checks it in the programs. A packager's
# CPPFLAGS, CFLAGS and LDFLAGS come after these flags and override them.
ARCHITECTURE := $(shell uname -m)
CONTROL_FLOW_x86_64 = -fcf-protection=full
CONTROL_FLOW_aarch64 = -mbranch-protection=standard
HARDEN_CFLAGS = -fPIE -fstack-protector-strong -fstack-clash-protection $(CONTROL_FLOW_$(ARCHITECTURE)) \
	-Werror=format-security
HARDEN_LDFLAGS = -pie -Wl,-z,relro,-z,now,-z,noexecstack
# _FORTIFY_SOURCE is left out with sanitizers, which do not know the checked variants of functions, and without
# optimization, which these variants need.
optimizes = $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))
fortify_given = $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS))
FORTIFY = $(if $(and $(optimizes),$(if $(SANITIZE_FLAGS)$(fortify_given),,yes)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)

# The same sources give the same bytes in any directory (see tests/tools/reproducible.sh).
SAME_ANYWHERE = -ffile-prefix-map=$(CURDIR)=.

# The first use calls pkg-config and replaces the variable by the result. Later uses, and goals that compile nothing,
# such as `make deps`, do not call it.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(call pkg_config,--cflags))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(call pkg_config,--libs))$(PKG_LIBS)
pkg_config = $(if $(filter FAILED,$(shell pkg-config --exists $(LIBRARIES) 2>/dev/null || echo FAILED)),$(error \
	not all of these libraries are here: $(LIBRARIES). "make deps" installs them),$(subst -I,-isystem ,$(shell \
	pkg-config $(1) $(LIBRARIES))))

PEBSD_CPPFLAGS = -D_GNU_SOURCE -DPEBSD_VERSION='"$(VERSION)"' -Iinclude -Idaemon -Ibpf -isystem $(OUT)
PEBSD_CFLAGS = -std=gnu17 $(WARNINGS) $(SAME_ANYWHERE) -fno-strict-aliasing $(HARDEN_CFLAGS) $(FORTIFY) \
	$(SANITIZE_FLAGS) $(PKG_CFLAGS)
PEBSD_LDFLAGS = $(SANITIZE_FLAGS) $(HARDEN_LDFLAGS) -Wl,--build-id
COMPILE = $(CC) $(SKELETONS) $(PEBSD_CPPFLAGS) $(PEBSD_CFLAGS) $(CPPFLAGS) $(CFLAGS) -MD -MP
# libiberty, which demangles, has no pkg-config file.
LIBS = -Wl,--as-needed $(PKG_LIBS) -liberty -lm
# Objects come first, so that the linker does not take their symbols from the archives.
LINK = $(CC) $(PEBSD_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter-out %.o,$^) $(LIBS)

BPF_ARCH = $(shell echo $(ARCHITECTURE) | sed 's/x86_64/x86/; s/aarch64/arm64/')
BPF_CFLAGS = -g -O2 $(SAME_ANYWHERE) -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Wshadow -Werror \
	-Wno-unused-parameter -Iinclude -Ibpf -I/usr/include/$(ARCHITECTURE)-linux-gnu

# Builds pebsd, pebsctl and pebsd-opener from bpf/ and daemon/.
MAINS = daemon/main.c daemon/ctl/main.c daemon/opener/main.c
# Sorted, because make may list them in the order of the locale.
LIBRARY_SOURCES = $(sort $(filter-out $(MAINS),$(wildcard daemon/*.c daemon/*/*.c daemon/*/*/*.c)))
objects = $(patsubst %.c,$(OUT)/obj/%.o,$(1))

# Prints one line per file. V=1 shows the commands.
ifndef V
say = @printf '  %-5s %s\n' $(1) $(@:$(BUILD)/%=%);
quiet = @
endif

# Recipes for one file. Each may have flags as an argument.
define compile
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) $(1) -c $< -o $@
endef

define compile_bpf
	@mkdir -p $(@D)
	$(call say,BPF)$(CLANG) $(BPF_CFLAGS) -c $< -o $@
endef

define link
	@mkdir -p $(@D)
	$(call say,LINK)$(LINK) $(1)
endef

# For programs and libraries that do not run on this system, or without its libraries.
define link_bare
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LDFLAGS) $(1) -o $@ $^
endef

# The names of the objects stand in a file, because they would make a command of 20 kB.
define archive
	@rm -f $@
	$(call say,AR)$(AR) rcsD $@ @$@.objects$(shell mkdir -p $(@D))$(file >$@.objects,$^)
endef

# The skeleton of a BPF object: $(call skeleton,NAME)
define skeleton
	@mkdir -p $(@D)
	$(call say,SKEL)$(BPFTOOL) gen skeleton $< name $(1)_bpf > $@.new
	@mv $@.new $@
endef

# Changes only if the text of the flags or the version changes, and not if make alone is newer.
$(OUT)/flags: units/flags.mk tests/flags.mk Makefile
	@mkdir -p $(@D)
	@{ grep '^VERSION' Makefile; grep -hv '^#' units/flags.mk tests/flags.mk; } >$@.$$$$ && \
		if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

$(OUT)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h include/pebsd/*.h) $(OUT)/flags
	$(call need,$(CLANG))
	$(compile_bpf)

# The sources of these objects include the sources of the others.
$(OUT)/bpf/older_pebsd.bpf.o: bpf/pebsd.bpf.c
$(OUT)/bpf/older_zoom.bpf.o: bpf/zoom.bpf.c

$(OUT)/%.skel.h: $(OUT)/bpf/%.bpf.o
	$(call need,$(BPFTOOL))
	$(call skeleton,$*)

SKELETON_HEADERS = $(patsubst %,$(OUT)/%.skel.h,pebsd older_pebsd zoom older_zoom guests)

# Checksums that pebsd reports about itself (--version --json).
BPF_OBJECTS = $(sort $(patsubst bpf/%.bpf.c,$(OUT)/bpf/%.bpf.o,$(wildcard bpf/*.bpf.c)))
$(OUT)/bpf_digests.h: $(BPF_OBJECTS)
	$(call say,SUMS)sha256sum $^ | sed 's/^\([0-9a-f]*\) .*\/\([a-z_]*\)\.bpf\.o$$/{"\2", "\1"},/' > $@.new
	@mv $@.new $@

$(OUT)/obj/daemon/main.o: $(OUT)/bpf_digests.h
$(OUT)/obj/daemon/base/build_info.o: PEBSD_CPPFLAGS += -DPEBSD_LIBRARIES='"$(foreach library,$(LIBRARIES),$(library) \
	$(shell pkg-config --modversion $(library)))"'

# Makes C from the description of pprof's format.
$(OUT)/%.pb-c.c $(OUT)/%.pb-c.h: daemon/profile/%.proto
	$(call need,protoc-c)
	@mkdir -p $(@D)
	$(call say,PROTO)protoc-c --c_out=$(OUT) --proto_path=$(<D) $<

$(OUT)/obj/%.pb-c.o: $(OUT)/%.pb-c.c $(OUT)/flags
	$(call compile,-Wno-conversion)

# The page at /, without most comments, empty lines and the tabs at the start of lines, so that a browser loads less.
# With the sums of its script and style, which its Content-Security-Policy allows. A sum covers the text between the
# start tag and the end tag.
sum_of = sed -n '/^<$(1)>$$/,/^<.$(1)>$$/{s/^<$(1)>$$//;/^<.$(1)>$$/!p}' $@.text | sha256sum | cut -c1-64 | \
	tr a-f A-F | basenc --base16 -d | base64
$(OUT)/page.h: daemon/http/server/page.html units/build.mk $(OUT)/flags
	@mkdir -p $(@D)
	$(call say,PAGE)sed "s/^\t*//; /^\/\//d; /^\/\*.*\*\/\$$/d; /^\$$/d; s,; // [^'\"]*\$$,;," $< > $@.text && \
		{ printf '#define PAGE_SCRIPT_SHA256 "%s"\n#define PAGE_STYLE_SHA256 "%s"\n#define PAGE_TEXT \\\n' \
		"$$($(call sum_of,script))" "$$($(call sum_of,style))" && \
		sed 's/@VERSION@/$(VERSION)/; s/[\\"]/\\&/g; s/.*/"&\\n" \\/' $@.text && echo; } > $@.new
	@mv $@.new $@

$(OUT)/obj/daemon/http/server/http_page.o: $(OUT)/page.h

# The interface description that the control socket serves.
$(OUT)/interface.h: daemon/export/control/io.pebsd.varlink units/build.mk
	@mkdir -p $(@D)
	$(call say,TEXT){ printf '#define INTERFACE_TEXT \\\n' && sed 's/[\\"]/\\&/g; s/.*/"&\\n" \\/' $< && echo; } > $@.new
	@mv $@.new $@

$(OUT)/obj/daemon/export/control/control_interface.o: $(OUT)/interface.h

$(OUT)/obj/%.o: %.c $(OUT)/flags | $(SKELETON_HEADERS) $(OUT)/pprof.pb-c.h
	$(compile)

$(OUT)/libpebsd.a: $(call objects,$(LIBRARY_SOURCES)) $(OUT)/obj/pprof.pb-c.o
	$(archive)

$(OUT)/pebsd: $(call objects,daemon/main.c) $(OUT)/libpebsd.a
	$(link)

$(OUT)/pebsctl: $(call objects,daemon/ctl/main.c) $(OUT)/libpebsd.a
	$(link)

# pebsd-opener uses the fewest libraries, because it has privileges that the other programs do not have.
$(OUT)/pebsd-opener: $(call objects,daemon/opener/main.c) $(OUT)/libpebsd.a
	$(link)

.PRECIOUS: $(OUT)/obj/%.o $(OUT)/bpf/%.bpf.o $(OUT)/%.skel.h $(OUT)/%.pb-c.c $(OUT)/%.pb-c.h
# The headers that each object was made of, as the compiler wrote them down.
-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)

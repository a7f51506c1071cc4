# What single programs of the tests need: flags, objects and generated headers.
$(OUT)/obj/tests/%.o: PEBSD_CPPFLAGS += -Itests/lib
$(OUT)/obj/tests/bench/%.o: PEBSD_CPPFLAGS += -Itests/bench

# Generated headers.
$(OUT)/obj/tests/bench/events_cost.o $(OUT)/obj/tests/bench/sparse_sample.o: | $(OUT)/peers.skel.h
$(OUT)/obj/tests/bench/sample_body.o $(OUT)/obj/tests/bpf/test_sample_path.o: | $(OUT)/made_up_samples.skel.h
$(OUT)/obj/tests/bpf/test_read_sample.o: | $(OUT)/last_sample.skel.h

# These replace functions of the daemon or of the C library.
$(addprefix $(OUT)/tests/,unit/test_collect fuzz/fuzz_state seeds/fuzz_state): $(OUT)/obj/tests/lib/fake_kernel.o
$(addprefix $(OUT)/tests/unit/,test_control_detail test_http_zooms): $(OUT)/obj/tests/lib/fake_zooms.o
$(addprefix $(OUT)/tests/unit/,test_json_public test_short_name): $(OUT)/obj/tests/lib/counted_strcmp.o
$(addprefix $(OUT)/tests/bpf/test_,engine neighbours_report) \
	$(addprefix $(OUT)/tests/unit/test_,history http http_broker http_cache http_clients http_crowd http_profile \
	http_views http_worker listen resolver resolver_maps symbols varlink varlink_wait): \
	$(OUT)/obj/tests/lib/fake_clock.o
$(OUT)/tests/bench/events_cost $(OUT)/tests/bench/sparse_sample: $(SYNTHETIC_KERNEL)

# Tests that let an allocation fail: tests/lib/scarce_memory.h.
$(OUT)/tests/bpf/test_growth $(addprefix $(OUT)/tests/unit/test_,act_store collect deltas flame last_reading \
	history_archive totals panes sampling_saved snapshot_view symbols_cache): \
	PEBSD_LDFLAGS += $(foreach name,malloc calloc reallocarray strdup,-Xlinker --wrap=$(name))

$(OUT)/tests/unit/test_series: PEBSD_LDFLAGS += -Xlinker --wrap=siphash_key_new -Xlinker --wrap=siphash_bytes

# libvterm is a terminal, which only tests and pictures use.
$(PICTURE_TOOL): $(OUT)/obj/tests/lib/terminal.o
$(PICTURE_TOOL) $(OUT)/tests/e2e/test_top_screen: LIBS += -lvterm

# These programs unwind their own stacks.
$(OUT)/obj/tests/bpf/test_zoom_events.o $(OUT)/obj/tests/bench/zoom_cost.o: override CFLAGS += \
	-fno-omit-frame-pointer -fno-optimize-sibling-calls
# This program is built like a service: position independent, with a shared C library, and with stacks that can be
# unwound.
$(OUT)/obj/tests/guest/sharing.o: override CFLAGS += -O1 -g -fPIE -fno-omit-frame-pointer

# Libraries that are loaded into a program before its own. They are never built with sanitizers.
$(OUT)/obj/tests/tools/preload/%.o: CFLAGS += -fPIC -fno-builtin
$(OUT)/obj/tests/tools/preload/%.o: SANITIZE_FLAGS =
# Libraries that are loaded into a program in a guest before the C library, of which they use only errno.
$(OUT)/obj/tests/guest/preload/%.o: override CFLAGS += -fPIC -fno-stack-protector -U_FORTIFY_SOURCE
# The plug-in for QEMU.
$(OUT)/obj/plugin/%.o: HARDEN_CFLAGS = -fPIC -fvisibility=hidden -flto
# pebsd's own loader with another skeleton.
$(OUT)/obj/synthetic/%.o: SKELETONS = -isystem $(OUT)/synthetic

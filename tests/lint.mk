# Parts of `make lint` and `make lint-changed`. Files are found by the shell and passed through xargs, because as words
# of a command they would make it 50 kB long.
C_FILES = find bpf daemon include tests -name '*.[ch]'
BPF_SOURCES = find bpf tests/bpf -name '*.bpf.c'
# The sources that are compiled for this machine, without libraries that replace functions of the C library.
TIDY_SOURCES = find daemon tests -name '*.c' ! -name '*.bpf.c' ! -path '*/preload/*'
SCRIPTS = .ci/run $(wildcard tests/*.sh tests/*/*.sh tests/guest/inside/*.sh config/completion/*.bash)
TIDY = xargs -r -P $$(nproc) -I FILE tests/tools/tidy.sh FILE -std=gnu17 $(PEBSD_CPPFLAGS) -Itests/lib -Itests/bench \
	$(PKG_CFLAGS)
TIDY_BPF = xargs -r -I FILE tests/tools/tidy.sh FILE $(BPF_CFLAGS)
# Generated, and included by sources that are analysed.
GENERATED_HEADERS = $(addprefix $(OUT)/,bpf_digests.h interface.h page.h pprof.pb-c.h) $(SKELETON_HEADERS) \
	$(patsubst %,$(OUT)/%.skel.h,last_sample made_up_samples peers)

lint-format:
	@$(C_FILES) | sort | xargs -n 200 -P $$(nproc) clang-format --dry-run -Werror

lint-tidy: $(GENERATED_HEADERS)
	@$(BPF_SOURCES) | $(TIDY_BPF)
	@$(TIDY_SOURCES) | $(TIDY)

# Only clang-tidy checks the tests: cppcheck cannot parse Criterion's macros.
lint-cppcheck:
	@mkdir -p $(OUT)/cppcheck
	@cppcheck --quiet --std=c11 --enable=warning,portability,performance --error-exitcode=1 --inline-suppr \
		--suppressions-list=.cppcheck --library=posix --library=gnu -D_GNU_SOURCE -D__$(ARCHITECTURE)__ \
		-Iinclude -Idaemon -Ibpf -Itests/lib \
		--include=/usr/include/$(ARCHITECTURE)-linux-gnu/sys/queue.h --include=tests/lib/analysed_macros.h \
		--template='{file}:{line}: {severity}: {message} [{id}]' --cppcheck-build-dir=$(OUT)/cppcheck -j $$(nproc) \
		daemon tests/lib tests/tools tests/fuzz

# jq 1.6 -e ends with 0 if it has no input, so a test of a command that failed would pass.
lint-scripts:
	@shellcheck $(SCRIPTS)
	@! grep -nE 'jq ([^|]* )?(-e|--exit-status|-[a-mo-z]*e) ' $(SCRIPTS) || \
		{ echo "jq -e: write jq -ne 'input | FILTER', which fails without input" >&2; exit 1; }

lint-manuals:
	@tests/tools/manual.py $(MANUALS)

lint-language:
	@tests/tools/language.py

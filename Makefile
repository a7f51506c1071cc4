# pebsd: build, test, install. This file has every goal for users, in the groups of `make help`, and the variables that
# they can set for it. The included files say how a goal is reached.
VERSION = 0.1.0
BUILD ?= build
PREFIX ?= /usr
DESTDIR ?=
CC ?= cc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)

.DEFAULT_GOAL = all
# Under sudo, make only calls itself, and then gives build/ to the caller.
include tests/sudo.mk
ifndef CALLS_ITSELF

# Flags, also those of SANITIZE=1 and FUZZ=1, and OUT, which is build/ or a directory below it.
include units/flags.mk
# The three programs.
include units/build.mk
include units/install.mk
# Debian's packages: `with` installs what a goal needs, `need` says which program is missing.
include units/packages.mk
# Tests, tools, benchmarks and fuzzers, and then what single ones of them need.
include tests/build.mk
include tests/flags.mk
include tests/bench.mk
include tests/lint.mk

# No goal is a file.
.PHONY: $(shell sed -n 's/^\([a-z][a-z0-9-]*\):.*/\1/p' Makefile tests/build.mk tests/bench.mk tests/lint.mk)

# A goal for users installs packages, builds, and runs programs, one after the other. Each step is a make of its own,
# which checks again which files exist. The + tells make that a recipe calls make, so that it passes its jobs on.
SUBMAKE = $(MAKE) --no-print-directory
PARALLEL = $(SUBMAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
# Because of the +, such a line also runs with `make -n`, so it must only call make.
build = +@$(PARALLEL) $(1)

##@ Use

all: $(OUT)/pebsd $(OUT)/pebsctl $(OUT)/pebsd-opener ## build pebsd, pebsctl and pebsd-opener (the default)

run: ## build, then profile this machine, or show a model if that is impossible
	$(call with,$(RUN_PACKAGES))
	$(call build,all)
	@$(HAND_OVER)
	@tests/tools/run.sh $(BUILD)

install: all ## install below DESTDIR= with PREFIX=/usr; keeps an existing configuration
	$(foreach one,$(INSTALLED),$(call install_one,$(one)))
	$(quiet)sed -i 's,/usr/\(s\?bin\|lib/pebsd\)/pebs,$(PREFIX)/\1/pebs,; s,/usr/share/,$(PREFIX)/share/,' \
		$(foreach one,$(NAMES_PROGRAMS),$(call place_of,$(one)))
	$(quiet)for file in $(ZSH_INSTALLED); do $(INSTALL) -D -m 644 config/completion/$${file##*/} $$file || exit 1; done
	$(quiet)[ -e $(CONFIG_FILE) ] || $(INSTALL) -D -m 644 config/pebsd.conf $(CONFIG_FILE)
	$(UPDATE_CATALOG)

uninstall: ## remove what install put there, except the configuration
	$(quiet)rm -f $(foreach one,$(INSTALLED),$(call place_of,$(one))) $(ZSH_INSTALLED)
	$(quiet)rm -rf $(DESTDIR)$(PREFIX)/$(SHARE_DOC)
	@rmdir $(DESTDIR)$(PREFIX)/lib/pebsd 2>/dev/null || :
	$(UPDATE_CATALOG)
	@! [ -e $(CONFIG_FILE) ] || echo "kept: $(CONFIG_FILE)"

docs: ## render manual pages and READMEs as HTML into build/docs (deps-docs)
	$(call need,mandoc,deps-docs)
	$(call need,cmark-gfm,deps-docs)
	@tests/tools/docs.py --write $(BUILD)/docs $(sort $(MANUALS)) README.md .github/*.md \
		$$(find config daemon tests -name README.md | LC_ALL=C sort)
	@tests/tools/docs.py --check $(BUILD)/docs
	@echo 'Open $(abspath $(BUILD))/docs/index.html'

clean: ## remove build/
	rm -rf $(BUILD)

# Lists the goals of a file, and the text after \#\# of each.
list = sed -n 's/^\#\#@ \(.*\)/\n\1/p; s/^\(RUNS_\|\)\([a-z0-9%-]*\)\(:\| =\).*\#\# \(.*\)/  \2\t\4/p' $(1)

help: ## show this list
	@$(call list,Makefile) | sed 's/%/NAME/' | expand -t 24

##@ Test

test: ## run all tests that one machine can run by itself in some minutes (root)
	$(call with,$(RUN_PACKAGES) $(TEST_PACKAGES))
	$(call build,unit-tests bpf-tests e2e-tests)
	@$(RUN_TESTS) $(AT_ONCE) $(call tests,$(E2E) bpf/test_*.c unit/test_*.c)

test-all: ## test everything, with virtual machines and every kernel (root, hours)
	@.ci/run all

test-unit: ## test pure functions and modules
	$(call build,unit-tests)
	@$(RUN_TESTS) $(AT_ONCE) $(call tests,unit/test_*.c)

test-bpf: ## test the BPF programs in the running kernel (root)
	$(call build,bpf-tests)
	@$(RUN_TESTS) $(AT_ONCE) $(call tests,bpf/test_*.c)

test-e2e: ## test the daemon, command line and endpoint from outside (root)
	$(call build,e2e-tests)
	@$(RUN_TESTS) $(AT_ONCE) $(call tests,$(E2E))

test-sanitize: ## the same tests, built with address and undefined behaviour checks
	$(call build,SANITIZE=1 unit-tests bpf-tests e2e-tests)
	+@$(SUBMAKE) SANITIZE=1 run-sanitized

test-sanitize-parsers: ## with these checks, each fuzzer's seeds and the unit tests of what it fuzzes
	$(call build,SANITIZE=1 OPTIMIZE=-O0 WERROR= parser-tests)
	+@$(SUBMAKE) SANITIZE=1 run-sanitized-parsers

test-corpus: ## test with real recordings and tables: CORPUS=DIR
	$(if $(CORPUS),,$(error say where the recordings are: make test-corpus CORPUS=DIR))
	$(call build,corpus-tests)
	@CORPUS=$(abspath $(CORPUS)) $(RUN_TESTS) $(AT_ONCE) $(call tests,corpus/test_*.c corpus/test_*.sh)

test-outside: ## the demo in real time; perf, pprof, Chromium, a proxy, servers of fleets
	$(call with,libvterm-dev)
	@$(DEPS) --if-debian $(OUTSIDE_PACKAGES) || echo "what is not here is skipped"
	$(call build,outside-tests)
	@$(RUN_TESTS) -s -t 900 $(call tests,outside/test_*.sh)

test-fresh: ## the README's two commands in a new, minimal Debian 12 (root, some minutes)
	@$(RUN_TESTS) -t 3600 tests/tools/fresh_root.sh

# Kernels, and names of the tests in tests/guest/inside/test_*.sh. Without names or `all`, each kernel runs the tests
# that are meant for it.
KERNELS ?= 7 6.12 6.1
GUEST_TESTS ?=
KERNEL ?= 6.12
SOAK_SECONDS ?= 3600
# Parts of kernels' names. Without them, all run.
RELEASES ?=

test-guest: ## test in virtual machines: KERNELS="6.1 6.12 7" GUEST_TESTS=NAMES (root)
	$(call with,$(GUEST_PACKAGES))
	$(call build,guest-programs)
	@$(IN_GUESTS) -t 21600 -p 'tests/guest/run.sh "$(KERNELS)" $(GUEST_TESTS)'

test-kernels: ## each BPF program with each Debian kernel: RELEASES="6.12 7.3" (root)
	$(call with,$(GUEST_PACKAGES))
	$(call build,guest-programs)
	@$(IN_GUESTS) -t 21600 -p 'tests/guest/kernels.sh $(RELEASES)'

test-repeat: ## run virtual machines with one CPU twice: they leave the same bytes (root)
	$(call with,$(GUEST_PACKAGES))
	$(call build,guest-programs)
	@$(IN_GUESTS) -t 2400 -p 'tests/guest/repeat.sh'

soak: ## an hour in a virtual machine: SOAK_SECONDS=3600 KERNEL=6.12 (root)
	$(call with,$(GUEST_PACKAGES))
	$(call build,guest-programs)
	@SOAK_SECONDS=$(SOAK_SECONDS) $(IN_GUESTS) -t $$(($(SOAK_SECONDS) * 4 + 1200)) \
		-p 'tests/guest/run.sh $(KERNEL) soak'

# How long each chase is sampled at first. If that is too short, it takes up to six times as long.
HARDWARE_SECONDS ?= 10

test-hardware: ## compare pebsd with perf mem on this machine (root, PEBS or IBS)
	$(call with,$(HARDWARE_PACKAGES))
	$(call build,hardware-programs)
	@status=0; CHASE=$(abspath $(OUT)/tests/hardware/chase) REPORT=$(abspath $(BUILD)/hardware-report.txt) \
		$(RUN_TESTS) -s -t $$((600 + 200 * $(HARDWARE_SECONDS))) -p 'tests/hardware/run.sh $(HARDWARE_SECONDS)' || \
		status=$$?; \
		echo 'The report, one file to mail: $(abspath $(BUILD)/hardware-report.txt)'; exit $$status

##@ Measure

bench: ## what pebsd and its peers cost: build/bench/COMMIT.json (root, deps-bench)
	$(call build,all benches)
	@PEBSD=$(abspath $(OUT)/pebsd) PEBSCTL=$(abspath $(OUT)/pebsctl) tests/bench/run.sh -r $(BENCH_ROUNDS) \
		-b $(OUT)/tests/bench -o $(BENCH_RESULTS) $(BENCH_CASES)

bench-compare: ## what changed from A=COMMIT to B=COMMIT; fails if something is worse
	$(call build,$(BENCH_REPORT))
	@$(if $(and $(A),$(B)),,$(error say which runs: make bench-compare A=COMMIT B=COMMIT, of those in $(BENCH_RESULTS)))
	@$(BENCH_REPORT) compare $(call bench_result,$(A)) $(call bench_result,$(B))

bench-table: ## print the tables of tests/bench/README.md from a run: C=COMMIT
	$(call build,$(BENCH_REPORT))
	@$(BENCH_REPORT) markdown $(call bench_result,$(or $(C),HEAD))

bench-list: ## list the single measurements
	@$(call list,tests/bench.mk) | sed 's/^  \(bench-\)\?/  bench-/' | expand -t 24

bench-%: ## run one of them
	$(if $(RUNS_$*),,$(error there is no bench-$*: see make bench-list))
	$(call build,$(sort $(foreach run,$(RUNS_$*),$(OUT)/tests/bench/$(call file_of,$(run)))))
	@$(foreach run,$(RUNS_$*),$(OUT)/tests/bench/$(subst :, ,$(run)) &&) true

##@ Package

deb: ## make a Debian package in build/deb, checked by lintian (deps-package)
	$(call with,$(PACKAGE_PACKAGES))
	@tests/tools/package.sh $(abspath $(BUILD))/deb $(VERSION)

# The name of the image without its version, as in config/kubernetes/daemonset.yaml.
IMAGE_NAME ?= registry.example/pebsd
PACKAGE_FILE = $(BUILD)/deb/pebsd_$(VERSION)_*.deb
IMAGE_FILE = $(BUILD)/image/pebsd-$(VERSION).oci.tar

image: deb ## make an OCI image of the package in build/image: IMAGE_NAME= (deps-image)
	@$(DEPS) --if-debian $(IMAGE_PACKAGES)
	@tests/tools/image.sh $(PACKAGE_FILE) $(BUILD)/image $(IMAGE_NAME)

test-package: deb image ## install, upgrade and purge the package in a new root; test the image (root)
	$(call build,$(OUT)/tests/tools/fault_in_cgroups)
	@$(RUN_TESTS) -t 1200 -c 'tests/tools/package_root.sh $(PACKAGE_FILE)' \
		'tests/tools/image_root.sh $(PACKAGE_FILE) $(IMAGE_FILE) $(IMAGE_NAME)' \
		'tests/tools/image_memory.sh $(IMAGE_FILE) $(OUT)/tests/tools/fault_in_cgroups'

reproducible: ## build twice, in different places and environments, and compare the bytes
	@BUILD=$(BUILD) tests/tools/reproducible.sh

##@ Develop

deps: ## install what building and running needs (Debian packages; root)
	@$(DEPS) $(BUILD_PACKAGES) $(RUN_PACKAGES)

deps-docs:
	@$(DEPS) $(DOC_PACKAGES)

deps-%: ## the same for goals: test develop outside guest package image bench docs
	$(if $(DEPS_$*),,$(error there is no deps-$*: see make help))
	@$(DEPS) $(BUILD_PACKAGES) $(DEPS_$*)

FUZZ_SECONDS ?= 20
FUZZ_LONG_SECONDS ?= 600

fuzz: ## run each fuzzer for FUZZ_SECONDS=20
	$(call fuzz,run-fuzzers)

fuzz-long: ## the same for FUZZ_LONG_SECONDS=600, and print coverage (hours)
	$(call fuzz,run-fuzzers-long)

fuzz-minimize: ## put inputs that add to the seeds into build/fuzz/found
	$(call fuzz,minimize-found)

lint: ## check formatting, static analysis, scripts, manual pages and language
	+@$(RUN_TESTS) -t 2400 -c '$(SUBMAKE) lint-format' '$(PARALLEL) lint-tidy' '$(SUBMAKE) lint-scripts' \
		'$(SUBMAKE) lint-cppcheck' '$(SUBMAKE) lint-manuals' '$(SUBMAKE) lint-language'

SINCE ?= HEAD~1
CHANGED_MAX ?= 60

lint-changed: $(GENERATED_HEADERS) ## clang-tidy for what changed since SINCE=HEAD~1, CHANGED_MAX=60 files
	@tests/tools/changed.sh $(SINCE) >$(OUT)/changed.all
	@$(TIDY_SOURCES) | grep -F -x -f - $(OUT)/changed.all >$(OUT)/changed || :
	@grep '\.bpf\.c$$' $(OUT)/changed.all | $(TIDY_BPF)
	@echo "clang-tidy: at most $(CHANGED_MAX) of $$(wc -l <$(OUT)/changed) files that changed since $(SINCE)"
	@head -n $(CHANGED_MAX) $(OUT)/changed | $(TIDY)

folders: ## draw the picture of the folders in .github/CONTRIBUTING.md again
	@tests/tools/folders.py --write .github/CONTRIBUTING.md

interface: ## copy descriptions from io.pebsd(7) into the Varlink interface
	@tests/tools/interface_comments.py --write

pictures: ## draw the pictures of the README, from the model (root, chromium)
	$(call with,$(TEST_PACKAGES) $(PICTURE_PACKAGES))
	$(call build,all $(PICTURE_TOOL))
	@tests/tools/pictures.sh $(abspath $(BUILD)) .github

machine-table: ## write the table of machines in tests/guest/README.md (root, hours)
	$(call with,$(GUEST_PACKAGES))
	$(call build,guest-programs)
	@$(IN_GUESTS) -t 21600 -p 'tests/guest/run.sh "$(KERNELS)" machine' | tee $(BUILD)/machine-table.log
	@tests/tools/machine_table.py tests/guest/README.md $(BUILD)/machine-table.log

guest-shell: ## open a root shell in a virtual machine: KERNEL=6.12
	$(call build,guest-programs)
	@BUILD=$(BUILD) tests/guest/guest.sh --shell $(KERNEL)

endif

# The Debian packages that goals need. `make deps` installs those for building and running, `make deps-NAME` those of
# DEPS_NAME, too.
BUILD_PACKAGES = bpftool clang gcc libbpf-dev libc6-dev libdw-dev libelf-dev libiberty-dev libinih-dev libjson-c-dev \
	libmicrohttpd-dev libncurses-dev libprotobuf-c-dev libsqlite3-dev libsystemd-dev libzstd-dev make pkg-config \
	protobuf-c-compiler r-mathlib zlib1g-dev
RUN_PACKAGES = curl
DOC_PACKAGES = cmark-gfm mandoc python3
TEST_PACKAGES = binutils dbus-daemon fish jq libdebuginfod1 libcriterion-dev libvterm-dev mount netcat-openbsd procps \
	prometheus python3-yaml socat systemd zsh $(DOC_PACKAGES) groff-base
DEVELOP_PACKAGES = clang-format clang-tidy cppcheck faketime git libclang-rt-14-dev mmdebstrap shellcheck
GUEST_PACKAGES = apt cpio debian-archive-keyring lz4 mmdebstrap python3-yaml xz-utils zstd
PACKAGE_PACKAGES = debhelper dpkg-dev fakeroot lintian
IMAGE_PACKAGES = curl debian-archive-keyring jq mmdebstrap python3-yaml umoci
HARDWARE_PACKAGES = jq linux-perf
PICTURE_PACKAGES = chromium fonts-dejavu-core jq
OUTSIDE_PACKAGES = chromium curl fonts-dejavu-core golang-go jq libvterm-dev linux-perf nginx-light openssl prometheus \
	python3-yaml victoria-metrics
# The tools that `make bench` compares with pebsd, and those that read pebsd's own results.
BENCH_PACKAGES = bpftrace curl git jq linux-perf prometheus-node-exporter python3-prometheus-client

DEPS_test = $(RUN_PACKAGES) $(TEST_PACKAGES)
DEPS_develop = $(DEPS_test) $(DEVELOP_PACKAGES)
DEPS_outside = $(OUTSIDE_PACKAGES)
DEPS_guest = $(GUEST_PACKAGES)
DEPS_package = $(PACKAGE_PACKAGES)
DEPS_image = $(PACKAGE_PACKAGES) $(IMAGE_PACKAGES)
DEPS_bench = $(BENCH_PACKAGES)

DEPS = tests/tools/install_deps.sh
# Installs packages for building, and these, if this is Debian: $(call with,PACKAGES)
with = @$(DEPS) --if-debian $(BUILD_PACKAGES) $(1)
# Ends make if a program is missing: $(call need,PROGRAM[,GOAL that installs it])
need = $(if $(shell command -v $(1) 2>/dev/null),,$(error $(1) is not here. "make $(or $(2),deps)" installs it))

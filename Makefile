# The commands of the README; each prints its steps, and a second call repeats no finished step.
#
#   make demo            installs missing packages, builds, runs the main job on synthetic data
#   make demo-can        the same with vehicle logs, in seconds
#   make demo-images     portraits, and a small DCGAN trained on them, in two minutes
#   make demo-crowd      a DCGAN trained by four workers that come and go, over a private PostgreSQL
#                        server; its weights are those of one machine
#   make demo-class      a class of four volunteers on this machine, in two lessons: tickets, workers
#                        that come and go, a page that follows the run; below five minutes
#   make check           installs missing packages, builds, runs lint and the tests
#   make gate            what .ci/run runs before a change lands: make check, fault sweeps, sanitizers,
#                        comparisons with Python, in 20 minutes on 2 cores
#   make check-all       everything, by hand before an issue is closed: also slow tests, fuzzing,
#                        PyTorch, MaxText; one to two hours on 2 cores (scripts/check --help)
#   make check-wide      by hand before an issue is closed, because it fits into no other run: the
#                        commands above in a minimal Debian 12 and 13, training over PostgreSQL 13 and
#                        17, and builds with gcc 12 to 15 and clang 14 to 19, all of the last commit,
#                        and the kernels on an emulated arm64 (root; more than two hours); the result goes into
#                        docs/checks.md
#   make check-functions every float of every function of the kernels, on every instruction set that
#                        this machine has: half an hour of one core
#   make check-maxtext   the real MaxText trains on leat's batches (part of check-all)
#   make build           build/leat and build/libleat.so
#   make lint            the house rules (scripts/lint --list)
#   make bench           the programs of bench/
#   make wheel           the Python package and the command for any x86-64 Linux with glibc 2.28, with
#                        all that they need, into build/wheel, and leat-worker, which needs none of
#                        them; the first time builds the libraries, too. With TARGET=aarch64 the same
#                        for arm64, checked in qemu-user, into build/wheel-aarch64
#   make release         source archive, wheels, SBOM, notes and hashes of the last commit, or of
#                        REVISION=TAG, into build/release (docs/release.md)
#   make install         into PREFIX (/usr/local), below DESTDIR if set
#   make format          clang-format over all sources
#   make clean           removes build outputs; .deps/ (downloads) stays
#
# WERROR=1 (make check WERROR=1) treats compiler warnings as errors until the next make clean: for
# developers and CI. Sanitizer builds always do so.
PREFIX ?= /usr/local
# zsh, fish and dash leave the ~ of PREFIX=~/.local to the program.
prefix := $(patsubst ~,$(HOME),$(patsubst ~/%,$(HOME)/%,$(PREFIX)))
ifneq ($(filter install,$(MAKECMDGOALS)),)
ifneq ($(filter ~%,$(prefix)),)
$(error PREFIX=$(PREFIX): the home folder of another user is not looked up; write its full path)
endif
endif
JOBS ?= $(shell nproc)
# Where make wheel keeps tools and libraries, and the processor that it builds for.
WHEEL_CACHE ?= .deps/wheel
TARGET ?= x86_64

.NOTPARALLEL:
.PHONY: build all demo demo-can demo-images demo-crowd demo-class check gate check-all check-wide check-functions check-maxtext
.PHONY: lint bench wheel release install format clean

# The preset's build folder, configured again after something was installed, or for WERROR=1.
configure = if [ ! -f $(1)/build.ninja ] || [ .deps/changed -nt $(1)/build.ninja ] || \
	{ [ '$(WERROR)' = 1 ] && ! grep -q 'LEAT_WERROR:BOOL=ON' $(1)/CMakeCache.txt; }; then \
	command -v cmake >/dev/null && command -v ninja >/dev/null || \
	  { echo "make: cmake or ninja is missing: run scripts/install.sh" >&2; exit 1; }; \
	echo "== configure $(1)"; mkdir -p $(1) && \
	cmake --preset $(2) $(if $(filter 1,$(WERROR)),-D LEAT_WERROR=ON) >$(1)/configure.log 2>&1 || { tail -n 20 $(1)/configure.log; exit 1; }; \
	grep 'leat: ' $(1)/configure.log || true; touch $(1)/build.ninja; fi

# The last word of every build without DuckDB: make demo and make check install it, make does not.
without = if grep -qs 'DuckDB not found' $(1)/configure.log; then \
	echo "make: built without DuckDB, so leat cannot read Parquet; to add it, run scripts/install.sh," \
	  "then make again" >&2; fi

build:
	@$(call configure,build,release)
	@echo "== build: build/leat, build/libleat.so"
	@cmake --build build --parallel $(JOBS) --target leat leat_shared -- --quiet
	@$(call without,build)

all:
	@$(call configure,build,release)
	@echo "== build: everything, including tests"
	@cmake --build build --parallel $(JOBS) -- --quiet
	@$(call without,build)

demo:
	@echo "== install missing packages"
	@scripts/install.sh
	@$(MAKE) -s build
	@scripts/demo.sh

demo-can:
	@echo "== install missing packages"
	@scripts/install.sh
	@$(MAKE) -s build
	@scripts/demo.sh --can

demo-images:
	@echo "== install missing packages"
	@scripts/install.sh
	@$(MAKE) -s build
	@scripts/demo.sh --images

demo-crowd:
	@echo "== install missing packages"
	@scripts/install.sh --crowd
	@$(MAKE) -s build
	@scripts/demo.sh --crowd

demo-class:
	@echo "== install missing packages"
	@scripts/install.sh --crowd
	@$(MAKE) -s build
	@scripts/demo-class.sh

check:
	@echo "== install missing packages"
	@scripts/install.sh
	@$(MAKE) -s all
	@scripts/check

gate:
	@echo "== install missing packages"
	@scripts/install.sh --gate
	@scripts/check --gate

check-all:
	@echo "== install missing packages"
	@scripts/install.sh --all
	@$(MAKE) -s all
	@scripts/check --all

check-wide:
	@echo "== install missing packages"
	@scripts/install.sh --all
	@scripts/check --wide

check-functions: all
	@build/tests/nn_tool_kernels 1 $(JOBS)

check-maxtext:
	@echo "== install missing packages"
	@scripts/install.sh --all
	@$(MAKE) -s all
	@scripts/check --stage maxtext

# Some rules read the library: one that is there must be that of the sources.
lint:
	@[ ! -e build/libleat.so ] || $(MAKE) -s build
	@scripts/lint

bench: all
	@scripts/bench.sh

wheel:
	@echo "== install missing packages"
	@scripts/install.sh
	@[ "$(TARGET)" = x86_64 ] || scripts/install.sh --duckdb "$(TARGET)"
	@echo "== build the wheel"
	@JOBS=$(JOBS) scripts/wheel/build.sh "$(WHEEL_CACHE)" "$(TARGET)"

release:
	@WHEEL_CACHE="$(WHEEL_CACHE)" JOBS=$(JOBS) scripts/release/release.sh $(REVISION)

install: build
	@cmake --install build --prefix "$(abspath $(prefix))"

format:
	@formatter=$$(scripts/lint --formatter) && "$$formatter" -i $$(git ls-files '*.c' '*.h')

clean:
	@rm -rf build build-debug build-asan build-tsan build-fuzz build-arm64 build-wheel build-portable build-portable-aarch64

# The commands of the README; each prints its steps, and a second call does nothing twice.
#
#   make demo            installs what is missing, builds, runs the main job on synthetic data
#   make demo-can        the same with vehicle logs: seconds
#   make check           installs what is missing, builds, runs lint and the tests
#   make check-all       and the sanitizers, fault sweeps, fuzz corpora, comparisons with Python
#   make check-maxtext   the real MaxText trains on leat's batches (part of check-all)
#   make build           build/leat and build/libleat.so
#   make lint            the house rules (scripts/lint --list)
#   make bench           the programs of bench/
#   make wheel           the Python package with its own libleat, into build/wheel
#   make install         into PREFIX (/usr/local), below DESTDIR if set
#   make format          clang-format over all sources
#   make clean           removes what was built; .deps/ (downloads) stays
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.NOTPARALLEL:
.PHONY: build all demo demo-can check check-all check-rest check-maxtext lint bench wheel install
.PHONY: format clean

# The preset's build folder, configured anew when something was installed since.
configure = if [ ! -f $(1)/build.ninja ] || [ .deps/changed -nt $(1)/build.ninja ]; then \
	command -v cmake >/dev/null && command -v ninja >/dev/null || \
	  { echo "make: cmake or ninja is missing: run scripts/install.sh" >&2; exit 1; }; \
	echo "== configure $(1)"; mkdir -p $(1) && \
	cmake --preset $(2) >$(1)/configure.log 2>&1 || { tail -n 20 $(1)/configure.log; exit 1; }; \
	grep 'leat: ' $(1)/configure.log || true; touch $(1)/build.ninja; fi

build:
	@$(call configure,build,release)
	@echo "== build: build/leat, build/libleat.so"
	@cmake --build build --parallel $(JOBS) --target leat leat_shared -- --quiet

all:
	@$(call configure,build,release)
	@echo "== build: everything, tests as well"
	@cmake --build build --parallel $(JOBS) -- --quiet

demo:
	@echo "== install what is missing"
	@scripts/install.sh
	@$(MAKE) -s build
	@scripts/demo.sh

demo-can:
	@echo "== install what is missing"
	@scripts/install.sh
	@$(MAKE) -s build
	@scripts/demo.sh --can

check:
	@echo "== install what is missing"
	@scripts/install.sh
	@$(MAKE) -s all
	@scripts/check

check-all:
	@echo "== install what is missing"
	@scripts/install.sh --all
	@$(MAKE) -s all
	@scripts/check --all

# what make check-all does after make check; CHECK_FLAGS as for scripts/check
check-rest:
	@echo "== install what is missing"
	@scripts/install.sh --all
	@$(MAKE) -s all
	@scripts/check --rest $(CHECK_FLAGS)

check-maxtext:
	@echo "== install what is missing"
	@scripts/install.sh --all
	@$(MAKE) -s all
	@scripts/check --stage maxtext

lint:
	@scripts/lint

bench: all
	@scripts/bench.sh

wheel:
	@echo "== install what is missing"
	@scripts/install.sh
	@scripts/python-env.sh train
	@echo "== build the wheel"
	@.deps/venv-train/bin/python3 -m pip --disable-pip-version-check wheel -q \
	  --no-build-isolation --no-deps --wheel-dir build/wheel ./python
	@ls build/wheel/*.whl

install: build
	@cmake --install build --prefix "$(abspath $(PREFIX))"

format:
	@clang-format-14 -i $$(git ls-files -co --exclude-standard '*.c' '*.h')

clean:
	@rm -rf build build-debug build-asan build-tsan build-fuzz build-wheel

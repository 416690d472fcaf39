# SPDX-License-Identifier: Apache-2.0
# A thin front of CMake: every target first sees to its Debian packages
# (tools/install-deps, which does nothing when they are there), then builds
# into $(BUILD).  SKIP_DEPS=1 leaves the packages alone, V=1 shows commands.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
PRESET ?= release

ifdef SKIP_DEPS
deps = @:
else
deps = @tools/install-deps
endif

override BUILD := $(abspath $(BUILD))
export BUILD JOBS

all: build

deps-%:
	$(deps) $*

build: deps-build
	@mkdir -p $(BUILD)
	@echo "building in $(BUILD)"
	@cmake --preset $(PRESET) -B $(BUILD) >$(BUILD)/configure.log 2>&1 || \
		{ cat $(BUILD)/configure.log; exit 1; }
	@cmake --build $(BUILD) -j $(JOBS) -- $(if $(V),-v,--quiet)

demo: deps-demo build
	@tools/demo

check: deps-check build
	@tools/check $(SUITES)

proof record-proof proof-identity proof-hostile battery bench-edges bench-paths \
bench-placement bench-trace bench-compact bench-record bench-overlap bench-segments bench-pgo bench-merge \
fuzz: deps-bench build
	@tools/run-target $@

fmt: deps-check
	@tools/sources | xargs clang-format -i

install: build
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

clean:
	rm -rf $(BUILD)

.NOTPARALLEL:
.PHONY: all build demo check proof record-proof proof-identity proof-hostile battery \
	bench-edges bench-paths bench-placement bench-trace bench-compact bench-record \
	bench-overlap bench-segments bench-pgo bench-merge fuzz fmt install clean

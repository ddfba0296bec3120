# Makefile - builds, checks and installs adaptra-bench. `make help` lists what can be asked for.

VARIANT   ?= release
PREFIX    ?= /usr/local
DESTDIR   ?=
TEST_JOBS ?= 2
PKG_CONFIG ?= pkg-config
ifeq ($(origin CC),default)
CC := gcc
endif

# --- What is used: kind | name | Debian package | for | purpose -----------------------------------
# `make deps` installs the rows for DEPS; `make features` shows all of them. Without an option the
# program is built all the same, and says where it is missed; without a browser or what a virtual
# machine takes (vm) tests are skipped.
DEPS ?= build test option
define FEATURES
program|$(CC)|gcc|build|compiles everything
header|stdio.h|libc6-dev|build|the C library's headers
program|make|make|build|runs this file
program|$(PKG_CONFIG)|pkg-config|build|finds libraries
library|lua5.4|liblua5.4-dev|build|scenarios are Lua scripts
library|sqlite3|libsqlite3-dev|build|results are kept in SQLite
library|openblas|libopenblas-dev|build|matrix products of the model
library|libxxhash|libxxhash-dev|build|checksums of messages, checkpoints
library|zlib|zlib1g-dev|build|compressed files are imported
library|libnl-3.0|libnl-3-dev|option|faults in the kernel, over netlink
toolkit|cuda.h|nvidia-cuda-toolkit|gpu|the model on an NVIDIA GPU
toolkit|nccl.h|libnccl-dev|gpu|stages on GPUs of their own
library|libibverbs|libibverbs-dev ibverbs-providers|option|transport verbs, over RDMA
program|prove|perl|test|runs the tests
program|sqlite3|sqlite3|test|tests look into databases with it
program|chromium|chromium|browser|tests look at report pages with it
program|qemu-system-x86_64|qemu-system-x86|vm|tests have a kernel of their own
program|xz|xz-utils|vm|unpacks that kernel
program|ip|iproute2|vm|makes RDMA devices there
program|ibv_devinfo|ibverbs-utils|vm|looks at those
program|clang-format|clang-format|develop|make format, make format-check
program|clang-tidy|clang-tidy|develop|make lint
program|valgrind|valgrind|develop|memory and cache profiles by hand
endef
export FEATURES

# Shell functions over that table. Presence is probed for, never looked up in a list of packages.
define PROBE
is_found() {
	case $$1 in
	program) command -v "$$2" ;;
	library) $(PKG_CONFIG) --exists "$$2" ;;
	header) echo "#include <$$2>" | $(CC) -E - ;;
	toolkit) [ -n '$(CUDA)' ] && { [ -e '$(CUDA)'/include/"$$2" ] || [ -e /usr/include/"$$2" ]; } ;;
	esac >/dev/null 2>&1
}
# Print the column asked for of every row that is missing and is for one of the uses given.
missing() {
	column=$$1; shift
	echo "$$FEATURES" | while IFS='|' read -r kind name package use purpose; do
		case " $$* " in *" $$use "*) is_found $$kind "$$name" && continue ;; *) continue ;; esac
		eval "echo \$$$$column"
	done | sort -u | tr '\n' ' '
}
endef
export PROBE

# --- Flags ----------------------------------------------------------------------------------------
VARIANT_CFLAGS_release := -O2 -g
VARIANT_CFLAGS_debug   := -O0 -g3 -Werror
VARIANT_CFLAGS_asan    := -O1 -g -Werror -Wno-maybe-uninitialized -fno-omit-frame-pointer \
                          -fsanitize=address,undefined -fno-sanitize-recover=all
VARIANT_CFLAGS_tsan    := -O1 -g -Werror -Wno-maybe-uninitialized -fno-omit-frame-pointer \
                          -fsanitize=thread
ifeq ($(VARIANT_CFLAGS_$(VARIANT)),)
$(error VARIANT=$(VARIANT) is not known; use release, debug, asan or tsan)
endif

# Options that are here and not left out by WITHOUT="netlink …". $(1): the option, $(2): its library.
WITHOUT ?=
has = $(if $(filter $(1),$(WITHOUT)),,$(shell $(PKG_CONFIG) --exists $(2) && echo 1))
HAS_NETLINK := $(call has,netlink,libnl-3.0)
HAS_VERBS   := $(call has,verbs,libibverbs)

# The CUDA toolkit, by its headers: where a variable says, beside its compiler, where it is by
# custom. Debian's own lies beside its compiler, too.
NVCC_FOUND := $(shell command -v nvcc 2>/dev/null)
CUDA       := $(if $(filter cuda,$(WITHOUT)),,$(firstword $(foreach folder,$(CUDA_HOME) $(CUDA_PATH) \
                $(patsubst %/bin/nvcc,%,$(NVCC_FOUND)) /usr/local/cuda,\
                $(if $(wildcard $(folder)/include/cuda_runtime_api.h),$(folder)))))
NVCC       := $(firstword $(wildcard $(CUDA)/bin/nvcc) $(NVCC_FOUND))
HAS_CUDA   := $(if $(and $(CUDA),$(NVCC),$(wildcard $(CUDA)/include/cublas_v2.h),\
                $(shell command -v $(CXX) 2>/dev/null)),1)
HAS_NCCL   := $(if $(filter nccl,$(WITHOUT)),,$(if $(and $(HAS_CUDA),\
                $(wildcard $(CUDA)/include/nccl.h /usr/include/nccl.h)),1))
CUDA_LIB   := $(firstword $(wildcard $(addprefix $(CUDA)/,lib64 targets/$(shell uname -m)-linux/lib lib)))

# The runtime is linked in. cuBLAS is 0.6 GB and NCCL 0.2, so they are opened when they are needed:
# the path to them travels in the program, which starts without them and without a driver.
ifneq ($(HAS_CUDA),)
CUDA_FLAGS := -isystem $(CUDA)/include
# Machine code for the A100's and the H100's kind, which others of the same generation run, and for
# what is newer its assembler. A sum of products keeps the bits of the host's: each is rounded.
NVCC_TARGETS ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
                -gencode arch=compute_90,code=compute_90
NVCC_FLAGS   := -std=c++17 -O3 -fmad=false -I. -ccbin $(CXX) \
                -Xcompiler -Wall,-Wextra,-fno-threadsafe-statics $(NVCC_TARGETS)
CUDA_LIBS  := -L$(CUDA_LIB) -lcudart_static -ldl -lrt -Wl,-rpath,$(realpath $(CUDA_LIB))
endif

LIBRARIES     := lua5.4 sqlite3 openblas libxxhash zlib $(if $(HAS_NETLINK),libnl-3.0) \
                 $(if $(HAS_VERBS),libibverbs)
LIBRARY_FLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBRARIES) 2>/dev/null)
LIBRARY_LIBS  := $(shell $(PKG_CONFIG) --libs $(LIBRARIES) 2>/dev/null)
WARNINGS      := -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes
FEATURE_FLAGS := $(if $(HAS_NETLINK),-DHAVE_NETLINK) $(if $(HAS_CUDA),-DHAVE_CUDA) \
                 $(if $(HAS_NCCL),-DHAVE_NCCL) $(if $(HAS_VERBS),-DHAVE_VERBS)
SOURCE_FLAGS  := -std=gnu17 -D_GNU_SOURCE= $(WARNINGS) -I. $(LIBRARY_FLAGS) $(CUDA_FLAGS) \
                 $(FEATURE_FLAGS)
ALL_CFLAGS     = $(SOURCE_FLAGS) -pthread $(VARIANT_CFLAGS_$(VARIANT)) $(CPPFLAGS) $(CFLAGS)
ALL_LIBS       = $(LIBRARY_LIBS) $(CUDA_LIBS) -lm -lpthread $(LDLIBS)

# --- Files ----------------------------------------------------------------------------------------
BUILD   := build/$(VARIANT)
OBJ     := $(BUILD)/obj
LIBRARY := $(BUILD)/libadaptra.a
ifeq ($(VARIANT),release)
PROGRAM := adaptra-bench
else
PROGRAM := $(BUILD)/adaptra-bench
endif

# What stands on libnl; tests/net as well.
NETLINK_SOURCES := $(addprefix engine/cli/,doctor_faults.c doctor_undo.c) \
                   $(addprefix engine/replay/,machine.c netns.c site_faults.c site_injectors.c) \
                   $(addprefix injectors/,egress.c egress_lane.c interface.c interface_messages.c \
                     journal.c journal_text.c lab.c lab_ports.c link.c machine_ports.c netem.c \
                     netlink.c qdisc.c qdisc_messages.c qdisc_parse.c rate.c relay.c shaping.c \
                     sorter_messages.c undo.c)
VERBS_SOURCES   := $(addprefix engine/transport/verbs,.c _connect.c _memory.c _port.c _queue.c \
                     _silence.c)
LEFT_OUT        := $(if $(HAS_NETLINK),,$(NETLINK_SOURCES) tests/net/%.c) \
                   $(if $(HAS_CUDA),,engine/device/cuda%) \
                   $(if $(HAS_NCCL),,engine/transport/nccl% tests/cuda_double/double_nccl% \
                     tests/double/nccl%) \
                   $(if $(HAS_VERBS),,$(VERBS_SOURCES))

SOURCES         := $(filter-out $(LEFT_OUT),$(wildcard engine/*/*.c injectors/*.c reports/*.c))
# These are the program's alone; what its version says changes with every commit.
PROGRAM_SOURCES := engine/cli/main.c engine/cli/version.c
PROGRAM_OBJECTS := $(PROGRAM_SOURCES:%.c=$(OBJ)/%.o)
LIBRARY_SOURCES := $(filter-out $(PROGRAM_SOURCES),$(SOURCES))
KERNEL_SOURCES  := $(filter-out $(LEFT_OUT),$(wildcard engine/*/*.cu))
LIBRARY_OBJECTS := $(LIBRARY_SOURCES:%.c=$(OBJ)/%.o) $(KERNEL_SOURCES:%.cu=$(OBJ)/%.o) \
                   $(OBJ)/engine/base/embedded.o

SUPPORT_OBJECTS := $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/*.c))
UNIT_TESTS      := $(patsubst %.c,$(BUILD)/%,$(filter-out $(LEFT_OUT),$(wildcard tests/unit/*.c \
                     tests/net/*.c)))
# The CUDA code against a double of CUDA on CPU threads, which takes the place of its libraries. What
# tests every device is linked a second time.
CONTRACTS       := arithmetic_contract dataplane_copies dataplane_known device_contract \
                     exchange_contract
ifneq ($(HAS_CUDA),)
DOUBLE_OBJECTS  := $(patsubst %.c,$(OBJ)/%.o,$(filter-out $(LEFT_OUT),\
                     $(wildcard tests/cuda_double/*.c)))
DOUBLE_TESTS    := $(patsubst %.c,$(BUILD)/%,$(filter-out $(LEFT_OUT),$(wildcard tests/double/*.c))) \
                   $(addprefix $(BUILD)/tests/double/,$(CONTRACTS))
DOUBLE_PROGRAM  := $(BUILD)/double/adaptra-bench
GPU_MEASURE     := $(addprefix $(BUILD)/tests/gpu/,measure $(if $(HAS_NCCL),measure_exchange))
DOUBLE_MEASURE  := $(GPU_MEASURE:$(BUILD)/tests/gpu/%=$(BUILD)/double/%)
endif
SCRIPT_TESTS    := $(wildcard tests/*/*.t)
LINT_TESTS      := $(filter tests/lint/%,$(SCRIPT_TESTS))
VM_TESTS        := $(filter tests/vm/%,$(SCRIPT_TESTS))
GPU_SCRIPTS     := $(filter tests/double/%,$(SCRIPT_TESTS))
GPU_CHECKED     := $(addprefix $(BUILD)/tests/unit/,$(CONTRACTS)) $(GPU_MEASURE)
DOUBLE_CHECKED  := $(addprefix $(BUILD)/tests/double/,$(CONTRACTS)) $(DOUBLE_MEASURE) \
                   $(DOUBLE_PROGRAM)
BENCHMARKS      := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/benchmark/*.c))
FORMATTED        = $(wildcard $(foreach ext,c h cu,engine/*/*.$(ext) injectors/*.$(ext) \
                     reports/*.$(ext) tests/*.$(ext) tests/*/*.$(ext)))

# What is not about this variant is checked once, in the release build; a virtual machine's processor
# is slow enough as it is.
ifeq ($(VARIANT),release)
ALL_TESTS := $(UNIT_TESTS) $(DOUBLE_TESTS) $(SCRIPT_TESTS)
else
ALL_TESTS := $(UNIT_TESTS) $(DOUBLE_TESTS) $(filter-out $(LINT_TESTS) $(VM_TESTS),$(SCRIPT_TESTS))
endif
ifdef T
TESTS := $(strip $(foreach test,$(ALL_TESTS),$(if $(findstring $(T),$(test)),$(test))))
else
TESTS := $(ALL_TESTS)
endif
TEST_PROGRAM := $(if $(filter-out $(UNIT_TESTS) $(DOUBLE_TESTS) $(LINT_TESTS),$(TESTS)),$(PROGRAM))
# Those in the virtual machine run others there.
GUEST_TESTS  := $(if $(filter $(VM_TESTS),$(TESTS)),$(filter $(BUILD)/tests/net/% \
                  $(BUILD)/tests/unit/transport_% $(BUILD)/tests/unit/replay_verbs%,$(UNIT_TESTS)))

.PHONY: all lib deps features bench figures check check-asan check-without check-gpu test soak golden \
        benchmark lint format format-check install uninstall clean help tools-present FORCE
.DELETE_ON_ERROR:
.SECONDARY:

# --- Build ----------------------------------------------------------------------------------------
# V=1 shows the commands; without it, what is made.
RUN = @$(if $(V),set -x;,echo '  $@';)

all: $(PROGRAM)
lib: $(LIBRARY)

$(PROGRAM): $(PROGRAM_OBJECTS) $(LIBRARY)
	$(RUN) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

$(LIBRARY): $(LIBRARY_OBJECTS)
	@rm -f $@
	$(RUN) $(AR) rcs $@ $^

$(OBJ)/%.o: %.c $(BUILD)/flags | tools-present
	@mkdir -p $(@D)
	$(RUN) $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(OBJ)/%.o: %.cu $(BUILD)/nvcc_flags | tools-present
	@mkdir -p $(@D)
	$(RUN) $(NVCC) $(NVCC_FLAGS) -MD -MP -c -o $@ $<

# Text that travels inside the program; the assembler reads the files, so they are named here.
EMBEDDED := lua/adaptra.lua engine/store/schema.sql engine/model/corpus.txt reports/page.css
$(OBJ)/engine/base/embedded.o: engine/base/embedded.S $(wildcard $(EMBEDDED)) | tools-present
	@mkdir -p $(@D)
	$(RUN) $(CC) $(foreach file,$(wildcard $(EMBEDDED)),\
		-DEMBEDDED_$(basename $(notdir $(file)))='"$(file)"') -c -o $@ $<

# The model's arithmetic is plain loops over floats. With these the compiler makes vector instructions
# of them, three times faster; none of them changes the value of a sum.
ifeq ($(VARIANT),release)
$(OBJ)/engine/model/%.o: CPPFLAGS += -O3 -fno-math-errno -fno-trapping-math
endif

# Only this file knows where the program was installed.
$(OBJ)/engine/cli/paths.o: CPPFLAGS += -DADAPTRA_DATA_FOLDER='"$(PREFIX)/share/adaptra-bench"'
$(OBJ)/engine/cli/paths.o: $(BUILD)/prefix

# Nights are told apart by the commit that ran. An archive of the source has none.
COMMIT := $(shell git --git-dir=.git describe --always --dirty --exclude='*' 2>/dev/null)
$(OBJ)/engine/cli/version.o: CPPFLAGS += -DADAPTRA_COMMIT='"$(COMMIT:%=+%)"'
$(OBJ)/engine/cli/version.o: $(BUILD)/commit

# These change only when what they hold changes, so that what was built otherwise is built again.
$(BUILD)/flags: HELD = $(CC) $(SOURCE_FLAGS) $(VARIANT_CFLAGS_$(VARIANT)) $(CFLAGS)
$(BUILD)/prefix: HELD = $(PREFIX)
$(BUILD)/commit: HELD = $(COMMIT)
$(BUILD)/nvcc_flags: HELD = $(NVCC) $(NVCC_FLAGS)
$(BUILD)/flags $(BUILD)/prefix $(BUILD)/commit $(BUILD)/nvcc_flags: FORCE
	@mkdir -p $(@D)
	@echo '$(HELD)' | cmp -s - $@ || echo '$(HELD)' >$@

$(UNIT_TESTS) $(BENCHMARKS) $(GPU_MEASURE): $(BUILD)/%: $(OBJ)/%.o $(SUPPORT_OBJECTS) $(LIBRARY)
	@mkdir -p $(@D)
	$(RUN) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

# The double's objects come first, so that nothing of what they stand for is taken from elsewhere.
define LINK_DOUBLE
	@mkdir -p $(@D)
	$(RUN) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,--export-dynamic-symbol='cublas*' \
		-Wl,--export-dynamic-symbol='nccl[A-Z]*' -o $@ $^ $(LIBRARY_LIBS) -ldl -lm -lpthread $(LDLIBS)
endef
$(DOUBLE_MEASURE): $(BUILD)/double/%: $(OBJ)/tests/gpu/%.o $(SUPPORT_OBJECTS) $(DOUBLE_OBJECTS) \
                   $(LIBRARY)
	$(LINK_DOUBLE)
$(DOUBLE_PROGRAM): $(PROGRAM_OBJECTS) $(DOUBLE_OBJECTS) $(LIBRARY)
	$(LINK_DOUBLE)
$(BUILD)/tests/double/%: $(OBJ)/tests/double/%.o $(SUPPORT_OBJECTS) $(DOUBLE_OBJECTS) $(LIBRARY)
	$(LINK_DOUBLE)
$(BUILD)/tests/double/%: $(OBJ)/tests/unit/%.o $(SUPPORT_OBJECTS) $(DOUBLE_OBJECTS) $(LIBRARY)
	$(LINK_DOUBLE)

-include $(patsubst %.o,%.d,$(LIBRARY_OBJECTS) $(PROGRAM_OBJECTS) $(SUPPORT_OBJECTS) \
           $(DOUBLE_OBJECTS) $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/double/*.c)) \
           $(UNIT_TESTS:$(BUILD)/%=$(OBJ)/%.o) $(BENCHMARKS:$(BUILD)/%=$(OBJ)/%.o))

# --- Dependencies ---------------------------------------------------------------------------------
tools-present:
	@eval "$$PROBE"; names=$$(missing name build); \
	if [ -n "$$names" ]; then \
		echo "cannot build: missing $$names- run 'make deps', or as root:" \
		     "apt-get install $$(missing package build)" >&2; exit 1; \
	fi

deps:
	@eval "$$PROBE"; packages=$$(missing package $(DEPS)); \
	[ -n "$$packages" ] || exit 0; \
	as_root=; \
	if ! command -v apt-get >/dev/null; then \
		echo "make deps: no apt-get here; install what Debian calls: $$packages" >&2; exit 1; \
	elif [ "$$(id -u)" != 0 ]; then \
		as_root='sudo env DEBIAN_FRONTEND=noninteractive'; \
		command -v sudo >/dev/null || { echo "make deps: neither root nor sudo;" \
			"ask an administrator for: apt-get install $$packages" >&2; exit 1; }; \
	fi; \
	export DEBIAN_FRONTEND=noninteractive; set -x; \
	$$as_root apt-get update -q; \
	$$as_root apt-get install -qy --no-install-recommends $$packages

features:
	@eval "$$PROBE"; \
	version_of() { case $$1 in \
		library) $(PKG_CONFIG) --modversion "$$2" ;; \
		header) echo present ;; \
		toolkit) [ -e '$(CUDA)'/include/"$$2" ] && echo 'in $(CUDA)' || echo in /usr ;; \
		program) "$$2" --version </dev/null 2>&1 | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 ;; \
	esac; }; \
	printf '%-18s %-8s %-10s %-8s %-36s %s\n' \
		FEATURE KIND FOUND FOR PURPOSE 'DEBIAN PACKAGE'; \
	echo "$$FEATURES" | while IFS='|' read -r kind name package use purpose; do \
		found=missing; is_found $$kind "$$name" && found=$$(version_of $$kind "$$name"); \
		found=$${found:-present}; \
		printf '%-18s %-8s %-10s %-8s %-36s %s\n' \
			"$$name" "$$kind" "$$found" "$$use" "$$purpose" "$$package"; \
	done

# --- Use and checks -------------------------------------------------------------------------------
PARALLEL := -j$(shell nproc 2>/dev/null || echo 2)

# Where the program keeps its results.
RESULTS := $${XDG_DATA_HOME:-$$HOME/.local/share}/adaptra-bench

# A page of whatever was recorded, also when a check did not hold (1) or a run failed (4).
bench: deps
	@$(MAKE) --no-print-directory $(PARALLEL) all
	./adaptra-bench scenarios/trace1200.lua; code=$$?; \
	case $$code in \
	0|1|4) ./adaptra-bench report --html "$(RESULTS)/report.html" || exit ;; \
	esac; \
	exit $$code

# The published studies, in virtual time.
figures: deps
	@$(MAKE) --no-print-directory $(PARALLEL) all
	./adaptra-bench figures

check: deps
	@$(MAKE) --no-print-directory $(PARALLEL) test
	@$(MAKE) --no-print-directory check-asan
	@$(MAKE) --no-print-directory check-without

check-asan:
	@$(MAKE) --no-print-directory $(PARALLEL) VARIANT=asan test

# All that can be left out is; not optimised, for this is about what is in it.
check-without:
	@$(MAKE) --no-print-directory $(PARALLEL) VARIANT=debug BUILD=build/without \
		WITHOUT='cuda nccl netlink' test T=absent

TEST_ENVIRONMENT = ADAPTRA_BENCH='$(CURDIR)/$(PROGRAM)' ADAPTRA_SOURCE='$(CURDIR)' \
                   ADAPTRA_BUILD='$(CURDIR)/$(BUILD)' ADAPTRA_VARIANT='$(VARIANT)' \
                   ADAPTRA_CC='$(CC)' \
                   ADAPTRA_CFLAGS='$(SOURCE_FLAGS)'

# On a GPU, with machine code for exactly that one; DOUBLE=1: over the double, to try the flow.
check-gpu:
	@[ -n '$(HAS_CUDA)' ] || { echo "the CUDA toolkit is not here, or left out" >&2; exit 3; }
	@$(MAKE) --no-print-directory $(PARALLEL) $(if $(DOUBLE),,NVCC_TARGETS=-arch=native) \
		all $(if $(DOUBLE),$(DOUBLE_CHECKED),$(GPU_CHECKED))
	@$(TEST_ENVIRONMENT) PATH='$(CUDA)/bin':"$$PATH" ./tests/gpu/check.sh $(if $(DOUBLE),--double)

# Seconds that one test may take before it is stopped.
TEST_LIMIT_S ?= $(if $(filter tsan,$(VARIANT)),3600,600)

# $(1): the tests. Runs them with a data folder of their own.
define run_tests
	@command -v prove >/dev/null || { echo "prove is missing; run 'make deps'" >&2; exit 1; }
	@[ -n '$(1)' ] || { echo "no test's path contains '$(T)'" >&2; exit 1; }
	@home=$$(mktemp -d) && chmod 711 "$$home" || exit 1; \
	trap 'rm -rf "$$home"' EXIT; trap 'exit 130' INT TERM; \
	XDG_DATA_HOME="$$home" TMPDIR="$$home" ADAPTRA_TEST_LIMIT_S='$(TEST_LIMIT_S)' \
	$(TEST_ENVIRONMENT) prove -e tests/one_test.sh -j$(TEST_JOBS) $(if $(V),-v) $(1)
endef

test: $(filter $(UNIT_TESTS) $(DOUBLE_TESTS),$(TESTS)) $(GUEST_TESTS) $(TEST_PROGRAM) \
      $(if $(HAS_CUDA),$(if $(filter $(GPU_SCRIPTS),$(TESTS)),$(DOUBLE_CHECKED)))
	$(call run_tests,$(TESTS))

# How often a process is killed, and how often the tests of running workers are repeated.
SOAK_KILLS  ?= 100
SOAK_ROUNDS ?= 20

soak: $(PROGRAM) $(UNIT_TESTS) $(DOUBLE_TESTS)
	@for soak in $(wildcard tests/soak/*.sh); do \
		echo "== $$soak"; $(TEST_ENVIRONMENT) SOAK_KILLS='$(SOAK_KILLS)' \
			SOAK_ROUNDS='$(SOAK_ROUNDS)' ./$$soak || exit 1; \
	done; echo "== all of it held"

golden: export ADAPTRA_GOLDEN = write
golden: test
	@git status --short -- tests 2>/dev/null || true

BENCHMARK_RUNS := $(foreach run,$(wildcard tests/benchmark/*.sh) $(BENCHMARKS),\
                    $(if $(if $(T),$(findstring $(T),$(run)),all),$(run)))

# All of them are run, and what has failed is named at the end.
benchmark: $(PROGRAM) $(BENCHMARKS)
	@[ -n '$(strip $(BENCHMARK_RUNS))' ] || { \
		echo "no benchmark's path contains '$(T)'" >&2; exit 1; }
	@failed=; for benchmark in $(BENCHMARK_RUNS); do \
		echo "== $$benchmark"; \
		$(TEST_ENVIRONMENT) ./$$benchmark || failed="$$failed $$benchmark"; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }

lint:
	@command -v clang-tidy >/dev/null || { \
		echo "clang-tidy is missing; apt-get install clang-tidy" >&2; exit 1; }
	@echo $(SOURCES) | xargs -n 4 -P $(TEST_JOBS) sh -c \
		'exec clang-tidy --quiet "$$@" -- $(SOURCE_FLAGS) \
		-DADAPTRA_DATA_FOLDER=\"\" -DADAPTRA_COMMIT=\"\" 2>/dev/null' sh
	$(call run_tests,$(LINT_TESTS))

format:
	@command -v clang-format >/dev/null || { \
		echo "clang-format is missing; apt-get install clang-format" >&2; exit 1; }
	clang-format -i $(FORMATTED)

format-check:
	@command -v clang-format >/dev/null || { \
		echo "clang-format is missing; apt-get install clang-format" >&2; exit 1; }
	@clang-format --dry-run -Werror $(FORMATTED)

# --- Installation ---------------------------------------------------------------------------------
SHARED := $(DESTDIR)$(PREFIX)/share/adaptra-bench

install: $(PROGRAM)
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(SHARED)'
	install -m 755 $(PROGRAM) '$(DESTDIR)$(PREFIX)/bin/adaptra-bench'
	@find scenarios -type f | while read -r file; do \
		install -D -m 644 "$$file" '$(SHARED)'/"$$file" || exit 1; \
	done
	install -d '$(SHARED)/pipemorph'
	install -m 644 tests/data/pipemorph/* '$(SHARED)/pipemorph'

uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/adaptra-bench'
	rm -rf '$(SHARED)'

clean:
	rm -rf build adaptra-bench

help:
	@echo 'make               build ./adaptra-bench; VARIANT=debug, asan, tsan: in build/'
	@echo 'make bench         install what is missing, build, run, draw the main scenario'
	@echo 'make figures       install what is missing, build, draw the studies of the paper'
	@echo 'make check         install what is missing, build, run all tests and check-asan'
	@echo 'make test          run the tests; T=word: whose path has it; V=1: every line'
	@echo 'make check-asan    the tests under address and undefined-behaviour sanitizers'
	@echo 'make check-without a build with nothing that can be left out, and its tests'
	@echo 'make check-gpu     the CUDA device on a GPU, 8 minutes; DOUBLE=1: without one'
	@echo 'make benchmark     measure the program itself; T=word: those whose path has it'
	@echo 'make soak          SOAK_KILLS=100 kills, SOAK_ROUNDS=20 times the live tests'
	@echo 'make golden        rewrite the golden files; review the diff'
	@echo 'make lint          clang-tidy and the lint tests'
	@echo 'make format        format the sources; format-check only looks'
	@echo 'make WITHOUT=...   leave options out: netlink (faults in the kernel), cuda (GPUs), nccl, verbs'
	@echo 'make features      what this machine has and which package brings the rest'
	@echo 'make deps          install what build and tests need from Debian packages'
	@echo 'make install       PREFIX=/usr/local DESTDIR=; make uninstall takes it away'
	@echo 'make clean         remove what was built'

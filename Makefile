# The front door. Meson and Ninja do the work in build/ (release) and build/NAME (other set-ups).

SETUPS := tools/setups

.PHONY: all run install test bench bench-server docs test-long model-long crash-long kill-long fuzz format lint clean help packages-build packages-run packages-test tests-enabled

all: packages-build build/build.ninja ## build what users run, into build/
	@ninja --quiet -C build

run: packages-run all ## install what is missing, build, and start sluiced (ARGS="--data DIR ...")
	@exec build/sluiced $(ARGS)

DESTDIR ?=
install: all ## install sluiced, sluice and libsluice below /usr/local (DESTDIR=/tmp/root)
	@meson install -C build --no-rebuild --quiet --destdir "$(abspath $(DESTDIR))"

test: packages-test ## install what is missing, build, and run every test and check
	@tools/run-tests

bench: all ## measure; figures for this machine
	@ninja --quiet -C build bench-programs
	@build/bench/bench_base
	@build/bench/bench_cron
	@build/bench/bench_engine
	@build/bench/bench_lanes
	@build/bench/bench_load
	@build/bench/bench_look
	@build/bench/bench_store --folder build

BENCH_SERVER ?=
bench-server: all ## measure sluiced beside Redis, where that is installed (BENCH_SERVER='--connections 64')
	@ninja --quiet -C build bench/bench_server
	@build/bench/bench_server --folder build $(BENCH_SERVER)

SIZE ?= 1
test-long: packages-test ## all of model-long, crash-long, kill-long and fuzz, of this size (SIZE=1)
	@tools/test-long --size $(SIZE)

model-long: packages-test ## two million steps of the model test, each time other ones (SIZE=1)
	@tools/test-long --size $(SIZE) model

crash-long: packages-test ## power losses, a million states, each time other ones (SIZE=1)
	@tools/test-long --size $(SIZE) crash

kill-long: packages-test ## a server killed ten thousand times under load, each time otherwise (SIZE=1)
	@tools/test-long --size $(SIZE) kill

FUZZ_SECONDS ?= 60
fuzz: packages-test build/fuzz/build.ninja ## search for new inputs that break a decoder (FUZZ_SECONDS=60 each)
	@ninja --quiet -C build/fuzz
	@tools/fuzz $(FUZZ_SECONDS)

docs: tests-enabled ## write the documents that come from tables: commands, settings, HTTP, the tool
	@ninja --quiet -C build sluice tests/unit/server/test_commands_page tests/unit/server/test_openapi_page tests/unit/server/test_settings_text
	@build/sluice man --markdown >docs/sluice.md
	@for page in commands_page openapi_page settings_text; do \
		TEST_UPDATE=1 TEST_SOURCE=. build/tests/unit/server/test_$$page >/dev/null 2>&1; done

format: packages-test ## bring all C files into the project's form
	@tools/check-format --fix

lint: tests-enabled ## clang-tidy and cppcheck
	@tools/lint

clean: ## remove everything that was built
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

packages-build:
	@tools/install-packages build

packages-run:
	@tools/install-packages build run

packages-test:
	@tools/install-packages build test

tests-enabled: packages-test
	@tools/setup release build -Dtests=true

build/build.ninja:
	@tools/setup release build

# Other set-ups (debug, asan, tsan, fuzz): make build/asan/build.ninja && ninja -C build/asan
build/%/build.ninja:
	@tools/setup $* build/$*

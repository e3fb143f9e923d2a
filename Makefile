# Thin names over CMake presets; `make` lists them. `make demo` and `make test` do all the set-up themselves.
.DEFAULT_GOAL := help
.PHONY: help deps build demo test test-real test-onnx test-web test-browser faults asan tsan bench toy fuzz cuda python install format tidy hooks

help:      ## list targets
	@sed -n 's/^\([a-z-]*\): *## /\1\t/p; s/^\([a-z-]*\):[a-z -]* ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12
deps:      ## install the Debian packages that building needs (as root, or through sudo)
	@tools/install_deps.sh
build: deps ## compile the program: build/release/partwise
	@cmake --preset release $(CMAKE_OPTIONS) > /dev/null && cmake --build --preset release --target partwise
demo: build ## the main job on built-in data: four networks, their measures, one HTML page
	@build/release/partwise demo
	@echo "program  $(CURDIR)/build/release/partwise ('make install', as root, puts it on the PATH; docs/tutorial.md goes on with your own photographs)"
test: deps ## build everything and run every test
	@tools/install_deps.sh python3-torch
	@cmake --preset release $(CMAKE_OPTIONS) > /dev/null && cmake --build --preset release && ctest --preset release -LE real
test-real: deps ## the tests on real photographs and weights (PARTWISE_REAL_DATA, PARTWISE_REAL_WEIGHTS), skipped where they are missing
	@cmake --preset release $(CMAKE_OPTIONS) > /dev/null && cmake --build --preset release && tools/test_real.sh
test-onnx: deps ## exported networks in onnxruntime (from npm) against LibTorch, skipped where npm's registry is out of reach
	@cmake --preset release $(CMAKE_OPTIONS) > /dev/null && cmake --build --preset release --target write_onnx_cases && tools/test_onnx.sh build/release
test-web:  ## the explorer's page: types, and that a fresh build equals web/dist, skipped where npm's registry is out of reach
	@tools/test_web.sh build/release
test-browser: deps ## report and explorer in chromium (playwright-core, axe-core), skipped where npm's registry is out of reach
	@cmake --preset release $(CMAKE_OPTIONS) > /dev/null && cmake --build --preset release --target partwise && tools/test_browser.sh build/release
faults: build ## kills, damaged files, full disks, company, clock jumps (docs/reliability.md); FAULTS='--kills 200 --seed 1'
	@python3 tests/faults/faults.py build/release/partwise $(FAULTS)
asan: deps ## the tests under address and undefined-behaviour sanitizers
	@cmake --preset asan $(CMAKE_OPTIONS) > /dev/null && cmake --build --preset asan && ctest --preset asan -LE real
tsan: deps ## loader, cache, ranks and server under the thread sanitizer
	@cmake --preset tsan $(CMAKE_OPTIONS) > /dev/null && cmake --build --preset tsan && ctest --preset tsan -LE real
bench: deps ## speed, ours beside the composed operators and the floor: build/release/bench/*, read by bench/RESULTS.md
	@cmake --preset release $(CMAKE_OPTIONS) > /dev/null && cmake --build --preset release --target bench
toy: deps ## the toy table of docs/notebook.md: every rule on free maps
	@cmake --preset release $(CMAKE_OPTIONS) > /dev/null && cmake --build --preset release --target toy_table && build/release/bench/toy_table
fuzz: deps ## every reader of strangers' bytes under libFuzzer, FUZZ_SECONDS (60) each; needs clang-14 and libclang-rt-14-dev
	@cmake --preset fuzz > /dev/null && cmake --build --preset fuzz && tests/fuzz/run.sh build/fuzz/tests/fuzz $(or $(FUZZ_SECONDS),60)
cuda:      ## compile against the LibTorch inside python3's torch, with CUDA
	@cmake --preset cuda -DCMAKE_PREFIX_PATH=$$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)') \
	  && cmake --build --preset cuda
python: deps ## the layer for Python's torch: build/release/python (docs/api.md)
	@tools/install_deps.sh python3-torch
	@cmake --preset release $(CMAKE_OPTIONS) > /dev/null && cmake --build --preset release --target partwise_python
install: build ## install the program, the headers, the CMake package and the Python module (PREFIX, default /usr/local)
	@cmake --build --preset release && cmake --install build/release --prefix $(or $(PREFIX),/usr/local)
format:    ## rewrite the sources with clang-format 14
	@git ls-files '*.h' '*.cpp' '*.inc' '*.cu' | xargs clang-format-14 -i
tidy:      ## clang-tidy 14 on the sources changed since main's last commit
	@git diff --name-only --diff-filter=d HEAD~1 -- '*.cpp' | xargs -r -P2 -n1 clang-tidy-14 -p build/release --quiet
hooks:     ## run the pre-commit checks on every commit
	@git config core.hooksPath tools/hooks

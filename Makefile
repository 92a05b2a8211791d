# Every target sets up what it needs in .venv, on a machine with Python >= 3.11; where cargo is missing
# or too old, a private one is fetched. A second run finds the stamps and is instant; the extension is
# rebuilt when its sources change.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# One thing after the other, but for what `beside` runs (ASKED is the target that asked for it).
ifndef ASKED
.NOTPARALLEL:
endif

VENV := $(CURDIR)/.venv
PY := $(VENV)/bin/python
PECOS := $(CURDIR)/.venv-pecos
CORE := src/separatrix/_core.abi3.so
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

# The interpreter to build .venv from: PYTHON where given, else the first of these that is >= 3.11.
PYTHONS := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python)

# Debian packages that the tests need beyond Python and cargo: installed as root, named otherwise.
# (python3.x-venv and gcc are added below on machines whose Python or Rust comes without them.)
DEBIAN_PACKAGES := chromium fonts-dejavu-core fonts-liberation fonts-noto-core

# One interpreter for maturin and cargo alike, so that neither rebuilds what the other built.
export VIRTUAL_ENV := $(VENV)
export PYO3_PYTHON := $(PY)
export MATURIN_NO_MISSING_BUILD_BACKEND_WARNING := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What Python compiled is kept: the tests start hundreds of processes that import the same modules.
unexport CONDA_PREFIX PYTHONHOME PYTHONDONTWRITEBYTECODE

# Starters of a private Rust lie in .venv/bin (tools/tool_chain.py).
export PATH := $(VENV)/bin:$(PATH)

# Idle threads of BLAS and OpenMP sleep instead of spinning: the tests run in as many processes as
# there are cores, and would wait for threads that do nothing.
SLEEPING := OMP_WAIT_POLICY=passive OPENBLAS_THREAD_TIMEOUT=4

# $(call step,name,command): say what runs, run it, and stop with its name if it fails.
define step
@printf '\n== %s\n' '$(1)'; \
$(2) || { printf '\n*** make $(or $(ASKED),$@) stopped at: %s\n*** The command was: %s\n' '$(1)' '$(2)' >&2; exit 1; }
endef

# $(call beside,targets): chains of steps at a time, as one core is idle in most steps, and apt-get waits
# for the network and the disk; what a step says is printed as a whole.
beside = @$(MAKE) --no-print-directory -j3 --output-sync=line ASKED=$@ $(1)

# $(call packages,names): install missing Debian packages, or name them and stop.
define packages
missing=; \
for name in $(1); do \
	dpkg-query -W -f='$${Status}' $$name 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$name"; \
done; \
if [ -n "$$missing" ]; then \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		printf '\n== apt-get install%s\n' "$$missing"; \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; \
	else \
		printf '\n*** System packages are missing:%s; install them (sudo apt-get install%s), and run make again.\n' "$$missing" "$$missing" >&2; \
		exit 1; \
	fi; \
fi
endef

.PHONY: help build demo test system-packages lint lint-rust lint-python test-rust test-stubs docs wheel bench pecos soak clean rust-tools FORCE

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: $(VENV)/.dev  ## Release build into .venv, with all extras but those of the benchmarks

demo: $(VENV)/.built  ## Compare all learners on the digits; champion and report in build/
	@mkdir -p build
	$(VENV)/bin/separatrix compare digits --save build/digits.sx --report build/digits.html

test: $(VENV)/.built rust-tools  ## Everything CI runs: lint, cargo test, stub check, pytest with doctests
	@[ "$$(id -u)" = 0 ] || { $(call packages,$(DEBIAN_PACKAGES)); }
	$(call beside,system-packages test-rust test-stubs)
	$(call step,pytest with doctests,$(SLEEPING) $(PY) -m pytest -n auto --dist worksteal)
	@printf '\n== all checks passed\n'

lint: $(VENV)/.built rust-tools  ## Format, clippy, ruff, mypy, layers, README table; changes nothing
	$(call beside,lint-rust lint-python)

system-packages:
	@$(call packages,$(DEBIAN_PACKAGES))

lint-rust:
	$(call step,cargo fmt,cargo fmt --all --check)
	$(call step,clippy,cargo clippy --locked --workspace --all-targets -- -D warnings)

test-rust: lint-rust
	$(call step,cargo test,cargo test --locked --workspace)

lint-python: $(VENV)/.dev
	$(call step,ruff check,$(VENV)/bin/ruff check .)
	$(call step,ruff format,$(VENV)/bin/ruff format --check .)
	$(call step,mypy (strict),$(VENV)/bin/mypy)
	$(call step,layers (import-linter),$(VENV)/bin/lint-imports --no-logo)
	$(call step,README table against benchmarks/RESULTS.md,$(PY) tools/update_readme.py --check)

test-stubs: lint-python
	$(call step,stubs against the built module (stubtest),$(PY) -m mypy.stubtest --allowlist tools/stubtest.allow separatrix._core)

docs: $(VENV)/.docs  ## The site in build/site: guide, gallery, reference; every link checked
	$(call step,sphinx,$(SLEEPING) $(PY) -m sphinx -W --keep-going -q -b html -j auto docs build/site)
	$(call step,links of the site,$(PY) tools/check_site.py build/site)
	@printf '\n== build/site/index.html\n'

wheel: $(VENV)/.maturin  ## Wheel and source distribution in dist/, tried in an empty environment without Rust
	@$(PY) tools/tool_chain.py
	@rm -rf dist
	@printf '\n== source distribution, and the wheel that is built from it\n'
	@CARGO_TARGET_DIR=$(CURDIR)/target tools/attempt.sh 'building the wheel' $(VENV)/bin/maturin build --profile dist --sdist --out dist
	$(call step,the wheel in an empty environment,$(PY) tools/check_wheel.py dist/*)

bench: $(VENV)/.bench  ## Ratios to the peers: all cases, or one with CASE=f1; fills README's table
	$(PY) -m benchmarks $(CASE)
	$(PY) tools/update_readme.py

pecos: $(PECOS)/.made  ## The peer PECOS, which needs numpy below 2, in .venv-pecos; `make bench` finds it there

soak: $(VENV)/.dev docs  ## The tests marked slow and data, in full; all tests with the oldest and the newest packages
	$(call step,pytest of slow and data,$(SLEEPING) $(PY) -m pytest --runslow -m "slow or data")
	$(call step,the oldest and the newest packages,$(PY) tools/environments.py)

clean:  ## Remove .venv, build output and caches
	rm -rf $(VENV) $(PECOS) target build dist .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -f src/separatrix/_core.*.so src/separatrix/_core.*.pyd
	rm -rf docs/generated
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# -- what the targets stand on ----------------------------------------------------------------

# A private Rust gets them; the user's own is not ours to change.
rust-tools:
	@cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 || \
	if [ -x $(VENV)/bin/rustup ]; then \
		tools/attempt.sh 'fetching rustfmt and clippy' rustup component add rustfmt clippy; \
	else \
		printf '\n*** cargo fmt or cargo clippy is missing: rustup component add rustfmt clippy\n' >&2; exit 1; \
	fi

$(PY):
	@python=; for name in $(PYTHONS); do \
		if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$name; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
		printf '\n*** Python 3.11 or newer was not found (tried: %s): install it, or name it (make PYTHON=/path/to/python).\n' '$(PYTHONS)' >&2; \
		exit 1; \
	fi; \
	needed=; \
	$$python -c 'import ensurepip, venv' 2>/dev/null || \
		needed="$$($$python -c 'import sys; print("python3.%d-venv" % sys.version_info[1])')"; \
	command -v cc >/dev/null || needed="$$needed gcc libc6-dev"; \
	$(call packages,$$needed) && \
	printf '\n== virtual environment in .venv, from %s\n' "$$($$python -VV)" && \
	tools/attempt.sh 'making .venv' $$python -m venv --clear $(VENV)

$(VENV)/.maturin: | $(PY)
	@tools/attempt.sh 'installing maturin' $(PY) -m pip install --quiet 'maturin>=1.9'
	@touch $@

# What the demo runs with, and no more: the extension, the core and the extra report. The packages come
# while the extension compiles, which leaves a core idle most of the time.
# The extension is part of the stamp: built by someone else, or gone, it is built again.
$(VENV)/.built: $(VENV)/.maturin $(RUST) pyproject.toml $(wildcard $(CORE)) $(if $(wildcard $(CORE)),,FORCE)
	@$(PY) tools/tool_chain.py
	@printf '\n== release build of the extension, and beside it the packages of the core and the report\n'
	@$(PY) tools/requirements.py report > $(VENV)/requirements.txt
	@$(PY) -m pip install --quiet -r $(VENV)/requirements.txt > $(VENV)/packages.log 2>&1 & packages=$$!; \
	trap "kill $$packages 2>/dev/null" EXIT; \
	tools/attempt.sh 'compiling the extension' $(VENV)/bin/maturin develop --release --skip-install || exit 1; \
	wait $$packages || { tools/attempt.sh 'installing packages' sh -c 'cat $(VENV)/packages.log; exit 1'; exit 1; }; \
	trap - EXIT
	@PIP_QUIET=1 tools/attempt.sh 'installing separatrix' $(VENV)/bin/maturin develop --release --extras report
	@touch $@

# The package is installed already, so that only what the tests need beyond it is fetched.
$(VENV)/.dev: pyproject.toml | $(VENV)/.built
	@printf '\n== packages of the tests (extras plots, onnx, serve, dask and dev)\n'
	@tools/attempt.sh 'installing packages' $(PY) -m pip install --quiet 'separatrix[plots,onnx,report,serve,dask,dev]'
	@touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/.built
	@printf '\n== peers of the benchmarks (extra bench)\n'
	@tools/attempt.sh 'installing packages' $(PY) -m pip install --quiet 'separatrix[bench]'
	@touch $@

# numpy below 2 has wheels for Python 3.9 to 3.12. Without --no-deps torch would come along.
$(PECOS)/.made: | $(PY)
	@$(PY) -c 'import sys; sys.exit(sys.version_info >= (3, 13))' || { \
		printf '\n*** libpecos needs a Python from 3.9 to 3.12: make one with venv, and name it by PECOS_PYTHON\n' >&2; exit 1; }
	@printf '\n== libpecos in .venv-pecos\n'
	$(PY) -m venv --clear $(PECOS)
	$(PECOS)/bin/python -m pip install --quiet 'numpy<2' 'scipy<1.14' scikit-learn
	$(PECOS)/bin/python -m pip install --quiet --no-deps 'libpecos>=1.2,<2'
	@touch $@

# The site needs fewer packages than the tests: from a fresh clone it does not wait for those.
$(VENV)/.docs: pyproject.toml | $(VENV)/.built
	@printf '\n== packages that build the site (extra docs)\n'
	@tools/attempt.sh 'installing packages' $(PY) -m pip install --quiet 'separatrix[docs]'
	@touch $@

FORCE:

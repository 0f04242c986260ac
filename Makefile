# Everything a clone needs is python3 >= 3.11, make and a C compiler; the rest is set up in .venv.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SAMPLE := examples

.DEFAULT_GOAL := help
.PHONY: help setup run test check bench golden fuzz lock clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## Create .venv and install the locked dependencies

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "no python3 of version 3.11 or newer found; write make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

run: setup  ## Diagnose the bundled sample
	$(BIN)/causestream replay $(SAMPLE)

test: setup  ## Run all tests that need no broker
	$(BIN)/python -m pytest

check: setup  ## Lint, format, types, layers and catalogs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/causestream catalog lint

bench: setup  ## Measure replay; BENCH_MB=200 and FORMAT=text|jsonl set what
	$(BIN)/python -m bench.harness

golden: setup  ## Write the golden files anew; review them as a diff
	$(BIN)/python -m tests.golden.write

fuzz: setup  ## Fuzz for longer: FUZZ_RECORDS=200000 and FUZZ_EXAMPLES=2000 set how long
	FUZZ_RECORDS=$${FUZZ_RECORDS:-200000} FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-2000} \
		$(BIN)/python -m pytest tests/fuzz tests/property

lock: setup  ## Resolve the dependencies anew into requirements.lock
	$(BIN)/python -m venv $(VENV)/lock
	$(VENV)/lock/bin/pip install --quiet --disable-pip-version-check pip-tools
	env -u PIP_FIND_LINKS CUSTOM_COMPILE_COMMAND="make lock" $(VENV)/lock/bin/pip-compile --quiet \
		--generate-hashes --strip-extras --allow-unsafe --extra test --extra check --all-build-deps \
		--no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options \
		--output-file requirements.lock pyproject.toml

clean:  ## Remove the environment and everything built
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Every target makes .venv and installs what it needs; a stamp file says that it is there.
MAKEFLAGS += --no-print-directory
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
OUT := build/demo
# Test processes; each stays on one thread, so that cores are not shared twice.
JOBS ?= 2

.PHONY: demo test test-full fuzz lint bench clean

demo: .venv/.run
	@$(BIN)/python examples/digits.py --output $(OUT)

lint: .venv/.dev
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/pyright

test: lint
	@$(BIN)/pytest -n $(JOBS) -m "not full" --durations=5

test-full: lint
	@PYPTO_STATUS=docs/status.md $(BIN)/pytest -n $(JOBS) --durations=10

fuzz: .venv/.dev
	@$(BIN)/python -m tests.fuzz

bench: .venv/.dev
	@$(BIN)/pyptoc bench

clean:
	@rm -rf build .venv .pytest_cache .ruff_cache .hypothesis

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "pypto needs Python 3.11 or newer on the PATH" >&2; exit 1; }
	@echo "making .venv with $(PYTHON)" >&2
	@$(PYTHON) -m venv .venv

.venv/.run: pyproject.toml | .venv/bin/python
	@echo "installing pypto into .venv" >&2
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable .
	@touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	@echo "installing pypto and its development tools into .venv" >&2
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/.run

# Everything runs in .venv, which the first command sets up; later ones need no network.
#   make bench   run every built-in agent on a suite and write the report
#   make test    all tests, with the extras rl, llm and finetune where torch comes as a CPU build
#   make test-integrations   step and train through RLlib, TorchRL, Stable-Baselines3, PufferLib,
#                EPyMARL's and verifiers' faces, in environments of their own (.venvs); CPU builds only
#   make check   the contributor's one command: format, lint, types, import contracts, fast tests
#   make clean   remove .venv, caches and results of `make bench`

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help bench test test-integrations check clean

SUITE ?= main
OUT ?= results/bench
AGENTS ?= oracle norm_blind bayesian bayesian_passive bayesian_grammar cautious imitator random wait
WORKERS ?= 2
# An index to install torch from, e.g. one that offers CPU builds; empty for pip's own.
TORCH_INDEX ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet -c constraints.txt
SOURCES := pyproject.toml constraints.txt

# libgomp's spinning threads are many times slower than one thread when several processes share cores.
export OMP_NUM_THREADS ?= 1
export OMP_WAIT_POLICY ?= PASSIVE

PYTHON ?= $(shell for name in python3 python3.11 python3.12 python3.13 python3.14 python; do \
	"$$name" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' \
	2>/dev/null && command -v "$$name" && break; done)

help:
	@sed -n 's/^#   //p' Makefile

bench: $(VENV)/.core
	$(BIN)/python -m normgym_envs bench run $(AGENTS:%=--agent %) --suite $(SUITE) --out $(OUT) --anew

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) tests

# One environment per set of consumers whose pins agree. The stamp is newer than what it came from.
CONSUMERS := rl rllib verifiers
test-integrations: $(CONSUMERS:%=.venvs/%/.stamp)
	for consumer in $(CONSUMERS); do \
		.venvs/$$consumer/bin/python -m pytest -q tests/integrations/$$consumer || exit 1; done

.venvs/%/.stamp: tests/integrations/%/requirements.txt tests/integrations/%/constraints.txt \
		tests/integrations/install.sh $(SOURCES) | $(BIN)/python
	@tests/integrations/install.sh .venvs/$* $* $(BIN)/python $(TORCH_INDEX)
	@touch $@

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow" tests

clean:
	rm -rf $(VENV) .venvs build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	rm -rf .hypothesis results/bench

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "No usable Python found: normgym needs Python 3.11 to 3.14 with venv and pip."; \
		echo "Install one (Debian: apt install python3 python3-venv), or name it: make PYTHON=/path/to/python"; \
		exit 1; fi
	@echo "Creating $(VENV) with $(PYTHON)"
	@"$(PYTHON)" -m venv $(VENV)

# A stamp is newer than what it was installed from, so a second run installs nothing.
$(VENV)/.core: $(SOURCES) | $(BIN)/python
	@echo "Installing normgym (once)"
	@$(INSTALL) -e .
	@touch $@

$(VENV)/.dev: $(SOURCES) tests/requirements-without-dependencies.txt | $(VENV)/.torch
	@echo "Installing normgym, its development tools and extras (once)"
	@if $(BIN)/python -c "import torch" 2>/dev/null; then \
		$(INSTALL) -e ".[dev,rl,llm,finetune]" gguf && \
		$(INSTALL) --no-deps -r tests/requirements-without-dependencies.txt; \
	else $(INSTALL) -e ".[dev,llm]"; fi
	@touch $(VENV)/.core $@

# Keeps an installed torch. CUDA (several GB) is never downloaded: where pip would, torch is left out,
# and the tests that need it say so.
$(VENV)/.torch: constraints.txt | $(BIN)/python
	@$(BIN)/python -c "import torch" 2>/dev/null || { \
		plan=$$($(PIP) install --dry-run -c constraints.txt $(TORCH_INDEX:%=--index-url %) "torch<2.14") || exit 1; \
		if grep -Eqi ' (nvidia|cuda)-' <<< "$$plan"; then \
			echo "Left out: torch, as pip would install it with CUDA (several GB). Tests of training are skipped."; \
			echo "To run them, name an index that has CPU builds: rm $(VENV)/.torch $(VENV)/.dev; make test TORCH_INDEX=<address>"; \
		else $(INSTALL) $(TORCH_INDEX:%=--index-url %) "torch<2.14"; fi; }
	@touch $@

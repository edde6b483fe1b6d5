from __future__ import annotations

import os
import subprocess
import sys

import pytest

HIDE = """
import sys
for name in ('torch', 'transformers', 'trl', 'datasets', 'peft', 'tokenizers'):
    sys.modules[name] = None
"""
"""What a process does that has not installed the training stack."""

HIDE_ALL = (
    HIDE
    + """
for name in ('httpx', 'jinja2', 'markdown_it', 'matplotlib', 'rich', 'yaml'):
    sys.modules[name] = None
"""
)
"""What one does that has installed no extra."""

REMEDY = 'pip install "agentgym-envs[train]"'


def last_line(code: str, *, hide: str = HIDE) -> str:
    result = subprocess.run(
        [sys.executable, "-c", hide + code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    return result.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("name", ["AgentGRPOTrainer", "AgentSFTConfig", "HFBackend", "ChatFormat"])
def test_without_the_training_stack_a_public_name_says_what_to_install(name: str) -> None:
    message = last_line(f"from trainers import {name}")
    assert message.startswith("agentgym_envs.errors.MissingExtra: ")
    assert message.endswith(REMEDY)


@pytest.mark.parametrize(
    "command",
    ["train grpo", "train sft", "eval --env TextCraft", "quickstart"],
)
def test_without_it_a_command_says_so_in_one_line(command: str) -> None:
    code = f"from benchmarks.cli.main import main; sys.exit(main({command.split()}))"
    message = last_line(code)
    assert message.startswith("agentgym: ")
    assert message.endswith(REMEDY)


@pytest.mark.parametrize(
    "command",
    [
        "eval --env TextCraft --policy random",
        "eval --env TextCraft --policy http://127.0.0.1:9/v1",
        "collect --env TextCraft --out /dev/null",
        "sweep --suite textcraft --policy random",
        "report runs",
    ],
)
def test_without_any_extra_a_command_names_the_smaller_one(command: str) -> None:
    code = f"from benchmarks.cli.main import main; sys.exit(main({command.split()}))"
    message = last_line(code, hide=HIDE_ALL)
    assert message.startswith("agentgym: an evaluation needs the eval extra (")
    assert message.endswith('pip install "agentgym-envs[eval]"')


@pytest.mark.parametrize("command", ["envs BabyAI", "play --help", "eval --help", "train ppo -h"])
def test_what_needs_no_extra_does_without(command: str) -> None:
    code = f"from benchmarks.cli.main import main; sys.exit(main({command.split()}))"
    subprocess.run([sys.executable, "-c", HIDE_ALL + code], check=True, capture_output=True)


def test_playing_without_a_model_needs_none_of_it() -> None:
    code = HIDE + "from trainers import play; import trainers.policies.open"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_another_missing_module_is_named_as_it_is() -> None:
    code = """
from trainers.options.errors import run_command
sys.exit(run_command(lambda: __import__('no_such_module')))
"""
    assert last_line(code) == "ModuleNotFoundError: No module named 'no_such_module'"


def test_torch_is_told_how_to_wait_and_to_keep_memory_before_it_starts() -> None:
    chosen, earlier_name = "max_split_size_mb:64", "PYTORCH_CUDA_ALLOC_CONF"
    names = ("OMP_WAIT_POLICY", "PYTORCH_ALLOC_CONF")
    told = f"*map(os.environ.get, {names})"
    code = f"import sys, trainers, os; print({told}, 'torch' in sys.modules)"
    set_here = (*names, earlier_name)
    clean = {name: value for name, value in os.environ.items() if name not in set_here}
    cases = (
        (clean, "expandable_segments:True"),
        (clean | {names[1]: chosen}, chosen),
        (clean | {earlier_name: chosen}, "None"),
    )
    for environ, memory in cases:
        result = subprocess.run(
            [sys.executable, "-c", code],
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.split() == ["PASSIVE", memory, "False"]

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["grpo", "sft", "evaluate"])
def test_without_the_training_stack_the_install_command_is_named(module: str) -> None:
    code = (
        "import sys\n"
        "for name in ('torch', 'transformers', 'trl', 'datasets', 'peft', 'tokenizers'):\n"
        "    sys.modules[name] = None\n"
        f"import trainers.{module}"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert last.endswith('pip install "agentgym-envs[train]"')


def test_torch_is_told_to_wait_passively_before_it_starts() -> None:
    code = "import sys, trainers, os; print(os.environ['OMP_WAIT_POLICY'], 'torch' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split()[1] == "False"

"""Playing and measuring where the training stack is not installed, as with the eval extra alone.

A `sitecustomize.py` hides it from the command and from every process that the command starts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from agentgym_envs import read_jsonl
from tests.serving import serving
from tests.trainers.policies.chat_server import message, models

ROOT = Path(__file__).parents[3]
TRAINING_STACK = (
    *("torch", "transformers", "trl", "peft", "accelerate", "datasets", "tokenizers"),
    *("filelock", "safetensors"),
)
HIDE = f"import sys\nfor name in {TRAINING_STACK}:\n    sys.modules[name] = None\n"

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def agentgym(tmp_path: Path) -> Command:
    """Return a function that runs a command where nothing of the training stack can be imported."""
    (tmp_path / "hide").mkdir()
    (tmp_path / "hide" / "sitecustomize.py").write_text(HIDE)
    path = os.pathsep.join([str(tmp_path / "hide"), str(ROOT)])

    def run(*words: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "agentgym_envs", *words],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, input=typed,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    return run


def test_a_person_plays(agentgym: Command) -> None:
    played = agentgym("play", "TextCraft", "--task-id", "textcraft_1", typed=":expert\n:quit\n")
    assert played.returncode == 0, played.stderr
    assert "> " in played.stdout


@pytest.mark.parametrize("policy", ["expert", "random"])
def test_a_policy_without_weights_is_measured(policy: str, agentgym: Command) -> None:
    words = ("--env", "TextCraft", "--policy", policy, "--num_tasks", "4", "--out", "result.json")
    ended = agentgym("eval", *words)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(f"{policy}: success")


@pytest.mark.full
def test_a_servers_model_is_measured_and_swept(agentgym: Command, tmp_path: Path) -> None:
    answers = {
        "/v1/models": models("letters"),
        "/v1/chat/completions": lambda body: message("Action: inventory"),
    }
    with serving(answers) as server:
        policy = ("--policy", f"{server.url}/v1")
        words = ("--env", "TextCraft", "--num_tasks", "3", "--max_turns", "2")
        ended = agentgym("eval", *words, *policy, "--trajectories", "episodes.jsonl")
        assert ended.returncode == 0, ended.stderr
        ended = agentgym("sweep", "--suite", "textcraft", *policy, "--turns", "1", "--workers", "1")
    assert ended.returncode == 0, ended.stderr
    assert "100 episodes played, 0 of them failed" in ended.stdout
    episodes = list(read_jsonl(tmp_path / "episodes.jsonl"))
    assert [len(episode.turns) for episode in episodes] == [2, 2, 2]
    assert all(turn.is_valid_action for episode in episodes for turn in episode.turns)


@pytest.mark.full
def test_a_function_plays(agentgym: Command, tmp_path: Path) -> None:
    code = """
import gymnasium as gym
from trainers import play
from wrappers import TextVectorEnv
import agentgym_envs
env = TextVectorEnv("agentgym/TextCraft-v0", num_envs=2)
(episode,) = play(env, ["textcraft_1"], lambda observations: "inventory")
print(len(episode.turns), episode.policy)
"""
    path = os.pathsep.join([str(tmp_path / "hide"), str(ROOT)])
    ended = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.stdout == "30 <lambda>\n", ended.stderr


@pytest.mark.full
def test_episodes_are_collected_swept_reported_compared_and_exported(
    agentgym: Command, tmp_path: Path
) -> None:
    """The evaluator's way from the first episode to the page, with no model of one's own."""

    def do(*words: str) -> str:
        ended = agentgym(*words)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    do("collect", "--env", "TextCraft", "--num_episodes", "3", "--out", "episodes.jsonl")
    assert len(list(read_jsonl(tmp_path / "episodes.jsonl"))) == 3
    sweep = ("--suite", "textcraft", "--policy", "expert", "--policy", "random")
    do("sweep", *sweep, "--turns", "4", "--workers", "1", "--out", "sweep")
    do("report", "sweep")
    assert "<svg" in (tmp_path / "sweep" / "report.html").read_text()  # a plot
    cells = sorted(path.name for path in (tmp_path / "sweep" / "cells").iterdir())
    told = do("compare", *(f"sweep/cells/{cell}" for cell in cells))
    assert "TextCraft: depth 4" in told
    assert ": 203 equal, 0 different" in do("rescore", "sweep", "episodes.jsonl")
    do("view", "sweep", "--export", "sweep.html", "--scenes")
    assert (tmp_path / "sweep.html").stat().st_size > 10_000
    assert "agentgym/TextCraft-v0" in do("envs")


@pytest.mark.full
def test_the_doctor_tells_what_cannot_be_imported(agentgym: Command) -> None:
    """Here pip's records of the hidden packages are there; where none are, nothing is broken."""
    ended = agentgym("doctor", "--json")
    assert "Traceback" not in ended.stderr
    checks = {check["name"]: check["status"] for check in json.loads(ended.stdout)["checks"]}
    is_recorded = bool({"torch", "trl"} & {name.lower() for name in installed_packages()})
    assert checks["[eval]"] == "works"
    assert checks["[train]"] == checks["TRL"] == ("broken" if is_recorded else "missing")
    assert checks["CUDA"] == "missing"
    assert ended.returncode == (1 if is_recorded else 0)


def installed_packages() -> set[str]:
    return {package.name for package in metadata.distributions()}


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["eval", "--env", "TextCraft", "--policy", "tiny"], "No module named"),
        (["train", "grpo", "--env", "TextCraft"], "No module named"),
        (["sweep", "--policy", "tiny", "--suite", "textcraft"], "No module named"),
        (["quickstart"], "No module named"),
    ],
)
def test_what_needs_a_model_says_what_to_install(
    words: list[str], what: str, agentgym: Command
) -> None:
    ended = agentgym(*words)
    assert ended.returncode == 1
    (line,) = ended.stderr.strip().splitlines()
    assert line.startswith("agentgym: ") and line.endswith('pip install "agentgym-envs[train]"')


HELP = """
import json, sys
from benchmarks.cli import main as cli
from trainers import ALGORITHMS

pages = [[name] for name in cli.COMMANDS]
pages += [["train", name] for name in ALGORITHMS]
for words in pages:
    try:
        assert cli.main([*words, "--help"]) == 0, words
    except SystemExit as left:
        assert not left.code, words
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""
HEAVY = {
    *TRAINING_STACK[:7],
    "matplotlib",
    "httpx",
    "pandas",
    "scipy",
    "starlette",
    "bm25s",
    "py4j",
}


def test_no_help_page_imports_what_it_does_not_show() -> None:
    """All of them in one process: a help page takes the time of its imports."""
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(json.loads(done.stderr.splitlines()[-1])) == set()

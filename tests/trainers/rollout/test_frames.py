"""From a trainer's batch to the environment, a reader passes few functions and files."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import Outcome
from tests.trainers.toys import LettersEnv
from trainers.grpo import AgentGRPOTrainer

ROOT = Path(__file__).parents[3]
MOST_FRAMES, MOST_FILES = 9, 8


def test_a_training_step_passes_few_frames_on_its_way_to_the_environment(
    trainer_in: Callable[..., AgentGRPOTrainer], monkeypatch: pytest.MonkeyPatch
) -> None:
    frames: list[tuple[str, str]] = []
    play = LettersEnv.apply

    def apply(self: LettersEnv, action: str) -> Outcome:
        if not frames:
            stack = [(frame.filename, frame.name) for frame in traceback.extract_stack()]
            first = next(i for i, (_, name) in enumerate(stack) if name == "_play")
            frames.extend(frame for frame in stack[first:] if is_ours(frame[0]))
        return play(self, action)

    monkeypatch.setattr(LettersEnv, "apply", apply)
    options: dict[str, Any] = {"max_steps": 1, "rollout": {"horizon": "fixed:2"}}
    trainer_in(**options).train()
    assert 0 < len(frames) <= MOST_FRAMES
    assert len({file for file, _ in frames}) <= MOST_FILES


def is_ours(file: str) -> bool:
    path = Path(file)
    if not path.is_relative_to(ROOT) or "site-packages" in path.parts:
        return False
    # This file stands for the environment's own `apply`.
    return path.relative_to(ROOT).parts[0] != "tests" or path == Path(__file__)

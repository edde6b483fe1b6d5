"""What experiment trackers are given of a run's options."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import TrainerCallback
from trl import GRPOConfig

from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.configs import AgentGRPOConfig
from trainers.options.offline import AgentSFTConfig
from trainers.runs.records import add_options_for_trackers


class Tracker(TrainerCallback):
    """Reads what transformers' integrations read, when they do."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        self.config = args.to_dict()
        self.text = args.to_json_string()


def test_a_tracker_gets_the_options_of_environments_and_rollouts(
    trainer_in: Callable[..., Any],
) -> None:
    tracker = Tracker()
    trainer = trainer_in(
        max_steps=1, rollout={"horizon": "fixed:2"}, trainer={"callbacks": [tracker]}
    )
    trainer.train()
    expected = {
        "env": ["toy/Letters-v0"],
        "horizon": "fixed:2",
        "eval_samples": 2,
        "num_generations": 4,
        "turn_discount": 0.95,
    }
    assert {name: tracker.config[name] for name in expected} == expected
    assert json.loads(tracker.text)["horizon"] == "fixed:2"
    record = json.loads((Path(trainer.args.output_dir) / "run.json").read_text())
    assert "horizon" not in record["AgentGRPOConfig"]


def test_trls_own_config_is_told_too_and_can_be_saved(tmp_path: Path) -> None:
    args = GRPOConfig(str(tmp_path), use_cpu=True, bf16=False)
    add_options_for_trackers(args, [args, EnvArguments(env=["TextCraft"])])
    add_options_for_trackers(args, [RolloutArguments(horizon="fixed:3")])
    told = args.to_dict()
    assert (told["env"], told["horizon"]) == (["agentgym/TextCraft-v0"], "fixed:3")
    torch.save(args, tmp_path / "training_args.bin")
    again = torch.load(tmp_path / "training_args.bin", weights_only=False)
    assert again.to_dict()["horizon"] == "fixed:3"


def test_secrets_are_not_told(tmp_path: Path) -> None:
    args = AgentSFTConfig(str(tmp_path))
    add_options_for_trackers(
        args, [EnvArguments(env_kwargs='{"retriever": "http://ada:s3cret@host/"}')]
    )
    assert "s3cret" not in str(args.to_dict())
    assert "***" in str(args.to_dict()["env_kwargs"])


@pytest.mark.parametrize("config", [AgentGRPOConfig, AgentSFTConfig])
def test_no_option_of_ours_goes_by_the_name_of_one_of_trls(config: Any) -> None:
    ours = (EnvArguments, RolloutArguments, EvaluationArguments)
    names = {field.name for group in ours for field in fields(group)}
    assert names & {field.name for field in fields(config)} == set()


def test_tensorboard_shows_them(trainer_in: Callable[..., Any], tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    trainer = trainer_in(max_steps=1, report_to=["tensorboard"], rollout={"horizon": "fixed:2"})
    trainer.train()
    folders = {path.parent for path in Path(trainer.args.output_dir).rglob("events.out.*")}
    events = accumulator.EventAccumulator(str(folders.pop())).Reload()
    shown = events.Tensors("args/text_summary")[0].tensor_proto.string_val[0].decode()
    assert json.loads(shown)["horizon"] == "fixed:2"
    assert "train/episodes/success" in events.Tags()["scalars"]

"""The model card of runs that were really trained, and of what it quotes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ModelCard

from agentgym_envs import Trajectory
from tests.trainers.command import EPISODES
from tests.trainers.toys import ENV_ID, make_folder
from trainers.credit.rewards import agent_reward
from trainers.grpo import main
from trainers.runs.card import BaseModel, public, write_card
from trainers.runs.folder import model_step, read_run, write_json, write_metrics

LICENCE = {"license": "other", "license_name": "house", "license_link": "LICENSE"}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return the folder of a random model, whose own card names a licence."""
    folder = tmp_path / "machine" / "base"
    make_folder(folder)
    fields = "\n".join(f"{name}: {value}" for name, value in LICENCE.items())
    (folder / "README.md").write_text(f"---\n{fields}\n---\n# Base 1M: a random model\n")
    return folder


def played(task_ids: list[str], *, won: bool) -> list[Trajectory]:
    return [Trajectory(ENV_ID, one, status="terminated", success=won) for one in task_ids]


def card_of(folder: Path) -> ModelCard:
    card = ModelCard.load(folder / "README.md")
    assert card.data.to_dict()["library_name"] == "transformers"
    return card


@pytest.mark.full
@pytest.mark.usefixtures("curves")
def test_a_command_leaves_a_card_with_its_model_and_with_each_checkpoint(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "machine" / "letters"
    words = [
        *("--model", str(base), "--output_dir", str(folder), "--max_steps", "2", *EPISODES),
        *("--eval_strategy", "steps", "--eval_steps", "1", "--eval_on_start", "true"),
        *("--num_eval_tasks", "2", "--eval_split", "test", "--horizon", "scaling:1,2@1"),
        *("--load_best_model_at_end", "false"),
    ]
    monkeypatch.setattr("sys.argv", ["/machine/bin/agentgym", "train", "grpo", *words])
    assert main(words) == 0
    card = card_of(folder)
    text = card.content
    assert card.data.license == "other"
    assert card.data.license_name == "house"
    assert card.data.base_model is None
    assert {"agentgym-envs", "grpo", "letters"} <= set(card.data.tags)
    result = card.data.eval_results[0]
    assert (result.dataset_type, result.dataset_split) == (ENV_ID, "test")
    assert result.metric_type == "success_rate"
    assert "trained by GRPO on Letters" in text
    for row in (
        "| base model | Base 1M |",
        "| environments | Letters |",
        "| horizon | scaling:1,2@1 |",
        "| optimizer steps | 2 |",
        "| before training | Letters, test | ",
        "| step 2 | Letters, test | ",
        "| `learning_rate` | 0.01 |",
        "| steps | success | turns | horizon |",
    ):
        assert row in text
    assert "![Success over training](learning_curve.png)" in text
    assert "agentgym train grpo --model base --output_dir letters --max_steps 2" in text
    assert f"agentgym eval --env {ENV_ID} --action_format plain" in text
    assert 'from_pretrained("letters")' in text
    assert "trl" in text and read_run(folder)["versions"]["trl"] in text
    assert str(tmp_path) not in text
    assert "/machine" not in text
    for step in (1, 2):
        checkpoint = folder / f"checkpoint-{step}"
        own = card_of(checkpoint).content
        assert own.startswith("---")
        assert f"# letters-checkpoint-{step}\n" in own
        assert f"| optimizer steps | {step} |" in own
        assert ("| step 2 | Letters" in own) == (step == 2)
        assert "learning_curve.png" not in own
        assert "README.md" in json.loads((checkpoint / "checksums.json").read_text())
    assert [model_step(folder / name) for name in ("checkpoint-1", ".")] == [1, 2]


def test_a_trainer_used_from_python_saves_a_card_of_its_own(
    trainer_in: Callable[..., Any],
) -> None:
    trainer = trainer_in(max_steps=1)
    trainer.train()
    folder = Path(trainer.args.output_dir)
    trainer.save_model(str(folder / "kept"))
    card = card_of(folder / "kept")
    assert "# run-kept\n" in card.content
    assert "trained by AgentGRPOTrainer on Letters" in card.content
    assert "| base model | a model made in memory |" in card.content
    assert "No licence is named" in card.content
    assert card.data.license is None
    assert model_step(folder / "kept") == 1
    assert read_run(folder)["ended"]["weights_step"] == 1
    assert read_run(folder)["RewardFunctions"] == {"reward_funcs": ["agent_reward"]}
    assert "| `reward_funcs` | agent_reward |" in card.content


def test_a_card_says_what_was_paid_and_which_tasks_were_played(
    trainer_in: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    def brevity(trajectories: list[Trajectory], **_columns: Any) -> list[float]:
        return [-float(len(episode.turns)) for episode in trajectories]

    options: dict[str, Any] = {
        "env": {"tasks": ["letters_0", "letters_1"]},
        "trainer": {"reward_funcs": [agent_reward, brevity]},
        "reward_weights": [1.0, 0.5],
    }
    trainer_in(max_steps=1, save_strategy="steps", save_steps=1, **options).train()
    assert "  reward  agent_reward + 0.5 brevity\n" in capsys.readouterr().out
    trainer = trainer_in(max_steps=2, **options)
    trainer.train(resume_from_checkpoint=True)
    trainer.save_model()
    text = card_of(Path(trainer.args.output_dir)).content
    assert "| `reward_funcs` | agent_reward, brevity |" in text
    assert "| `reward_weights` | 1.0, 0.5 |" in text
    assert "| tasks | letters_0, letters_1 |" in text
    assert "| training time |" not in text  # known of the last part alone


def test_the_end_names_the_step_whose_weights_were_kept(trainer_in: Callable[..., Any]) -> None:
    trainer = trainer_in(
        max_steps=2, eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1,
        load_best_model_at_end=True, metric_for_best_model="eval_success",
    )  # fmt: skip
    trainer.validation.play = lambda ids, step, _share: played(ids, won=step == 1)
    trainer.train()
    folder = Path(trainer.args.output_dir)
    ended = read_run(folder)["ended"]
    assert (ended["global_step"], ended["weights_step"]) == (2, 1)
    trainer.save_model()
    text = card_of(folder).content
    assert "| optimizer steps | 1 |" in text
    assert "not measured, which `--eval_on_start true` does; afterwards `agentgym eval" in text


def written(run: Path, **record: Any) -> str:
    """Write a run of three environments that was not played, and return its card."""
    env_ids = ["agentgym/BabyAI-v0", "agentgym/TextCraft-v0", "agentgym/SearchQA-v0"]
    options = {"env": env_ids, "split": "train", "action_format": "react", **record}
    write_json(run / "run.json", {"command": "train ppo", "seed": 3, "EnvArguments": options})
    for_one = {"eval_success/TextCraft": 0.5, "eval_success/BabyAI": 0.25}
    write_metrics(run, [{"global_step": 4, "eval_success": 0.375, **for_one}])
    write_card(run, run, algorithm="ppo", base=BaseModel("a", "org/a"), global_step=4)
    return card_of(run).content


def test_environments_have_their_shares_and_their_own_success(tmp_path: Path) -> None:
    text = written(tmp_path / "mixed", mix="2,1,1")
    assert "| environments | BabyAI 50%, TextCraft 25%, SearchQA 25% |" in text
    assert "| step 4 | TextCraft, validation | 50.0% |" in text
    assert "| step 4 | all environments, validation | 37.5% |" in text
    assert "| base model | a, made from org/a |" in text
    assert "base_model: org/a" in text
    by_name = {"TextCraft": 6, "default": 20}
    text = written(tmp_path / "by_name", max_turns=by_name)
    assert "| turn limit | TextCraft 6, default 20 |" in text
    assert "--max_turns TextCraft=6 --max_turns 20 " in text
    assert "BabyAI 33%, TextCraft 33%, SearchQA 33%" in written(tmp_path / "equal")


def test_a_run_that_starts_from_a_run_descends_from_its_base(tmp_path: Path) -> None:
    written(tmp_path / "first")
    base = BaseModel.from_name(str(tmp_path / "first"))
    assert (base.title, base.hub_id) == ("first", "org/a")
    assert BaseModel.from_name("org/not-on-this-machine").hub_id == "org/not-on-this-machine"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/ada/runs/mine", "mine"),
        ("~/runs/mine/", "mine"),
        ("--output_dir=/home/ada/runs/mine", "--output_dir=mine"),
        ('{"data_dir": "/srv/ada/wiki", "k": 3}', '{"data_dir": "wiki", "k": 3}'),
        ("C:\\Users\\ada\\mine", "mine"),
        ("http://10.0.0.7:8000/v1", "http://..."),
        ("runs/mine", "runs/mine"),
        ("scaling:6,13@100", "scaling:6,13@100"),
        ("org/model", "org/model"),
    ],
)
def test_machine_paths_and_addresses_are_not_published(text: str, shown: str) -> None:
    assert public(text) == shown

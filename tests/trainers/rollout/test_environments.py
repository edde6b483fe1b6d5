from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.row_files import write_rows
from trainers.evaluate import main as evaluate
from trainers.grpo import main as train_grpo
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.errors import UsageError
from trainers.policies.open import open_environments
from trainers.rollout.environments import Environments
from trainers.rollout.mixtures import repeated


def open_mixed(env_kwargs: str | None = None, max_turns: int | None = None) -> Environments:
    args = EnvArguments(
        env=["TextCraft", "BabyAI"], num_envs=1, env_kwargs=env_kwargs, max_turns=max_turns
    )
    return open_environments(args)


def test_arguments_under_an_environments_name_are_its_own() -> None:
    mixed = open_mixed(
        '{"compat": "agentgym", "textcraft": {"split": "test"}, "BabyAI": {"compat": null}}'
    )
    (craft,), (grid,) = (mixed.vectors[name].get("unwrapped") for name in ("textcraft", "babyai"))
    assert (craft.compat, craft.split) == ("agentgym", "test")
    assert (grid.compat, grid.split) == (None, "train")
    mixed.close()
    with pytest.raises(UsageError, match="recipes_dir"):
        open_mixed('{"recipes_dir": null}')


def test_each_environment_of_several_is_narrowed_by_the_entries_it_knows() -> None:
    mixed = open_mixed()
    ids = mixed.task_ids("test", tasks=["depth 4", "GoTo"])
    assert len([i for i in ids if i.startswith("textcraft_")]) == 3
    assert 0 < len([i for i in ids if i.startswith("babyai_")]) < 90
    with pytest.raises(ValueError, match=r"\['depth 4'\].*match nothing in split 'test' of babyai"):
        mixed.task_ids("test", tasks=["depth 4"])
    with pytest.raises(ValueError, match=r"\['depth 44'\] match nothing in split 'test' of \('age"):
        mixed.task_ids("test", tasks=["depth 4", "GoTo", "depth 44"])
    mixed.close()


def test_files_of_item_ids_go_to_the_environment_that_they_are_of(tmp_path: Path) -> None:
    files = []
    for item in ("babyai_41", "textcraft_3"):
        files.append(str(tmp_path / f"{item}.json"))
        Path(files[-1]).write_text(json.dumps([{"item_id": item}]))
    mixed = open_mixed()
    assert mixed.task_ids("test", tasks=files) == ["textcraft_3", "babyai_41"]
    with pytest.raises(ValueError, match="unknown task_id 'babyai_41'"):
        mixed.task_ids("test", tasks=files[:1])
    mixed.close()


def test_some_tasks_of_a_split_are_of_all_levels_in_their_shares() -> None:
    """Every ninth training task of BabyAI is of the same nine levels' one subtask."""
    mixed = open_mixed()
    ids = mixed.task_ids("train")
    tasks = mixed.vectors["babyai"].get("unwrapped")[0].task_set
    own = [task_id for task_id in ids if task_id.startswith("babyai_")]
    of_all = Counter(tasks.spec(task_id).subtask for task_id in own)
    for chosen in (
        [task_id for task_id in mixed.spread(ids, 180) if task_id in own],
        repeated(own, 90 + len(own), task_kind=mixed.task_kind)[len(own) :],
    ):
        of_some = Counter(tasks.spec(task_id).subtask for task_id in chosen)
        assert len(chosen) == 90
        assert all(abs(of_some[subtask] - number / 9) < 1 for subtask, number in of_all.items())
    mixed.close()


@pytest.fixture
def train_alone(tmp_path: Path) -> str:
    """Return the `--env_kwargs` of questions that have a training split and no other."""
    write_rows(tmp_path / "nq/train.jsonl", *[{"question": "who?", "answer": "one"}] * 8)
    return json.dumps({"data_dir": str(tmp_path), "retriever": "http://127.0.0.1:9"})


def test_a_split_without_tasks_is_refused_with_what_helps(train_alone: str, tmp_path: Path) -> None:
    options = ["--env", "SearchQA", "--env_kwargs", train_alone, "--model", "tiny"]
    lacks = "SearchQA has no tasks in {} ({} lacks nq/dev.jsonl, triviaqa/dev.jsonl); it has "
    sizes = "train 8, validation 0, test 0: choose another {}"
    out = ["--output_dir", str(tmp_path / "run")]
    with pytest.raises(UsageError) as raised:
        train_grpo([*options, *out])
    expected = lacks.format("`eval_split=validation`", tmp_path) + sizes.format("`eval_split`")
    assert str(raised.value) == f"{expected}, or pass `eval_strategy=no` to train without"
    with pytest.raises(UsageError, match=r"has no tasks in `split=test` .* choose another `split`"):
        evaluate(options)


def test_splits_may_be_empty_where_nobody_chose_one(train_alone: str) -> None:
    args = EnvArguments(env=["SearchQA"], num_envs=1, env_kwargs=train_alone)
    environments = open_environments(args)
    assert environments.task_ids("validation") == []
    environments.close()


@pytest.mark.parametrize(
    ("max_turns", "horizon", "message"),
    [
        (5, "50", "`horizon=50` goes up to 50 turns, and TextCraft, BabyAI ends after 5; lower"),
        (None, "scaling:6,12,40@9", "up to 40 turns, and TextCraft, BabyAI ends after 30; .*40"),
        (None, {"BabyAI": "adaptive:6,21@9"}, "up to 21 turns, and BabyAI ends after 20; .*21"),
    ],
)
def test_a_horizon_that_no_environment_reaches_is_refused(
    max_turns: int | None, horizon: Any, message: str
) -> None:
    mixed = open_mixed(max_turns=max_turns)
    with pytest.raises(UsageError, match=message):
        mixed.schedule(RolloutArguments(horizon=horizon))
    mixed.close()


def test_a_horizon_of_several_environments_is_reached_in_one_of_them() -> None:
    mixed = open_mixed()
    assert mixed.schedule(RolloutArguments(horizon="scaling:6,12,30@20")) is not None
    mixed.close()

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentgym_envs.babyai.tasks import BabyAITasks
from agentgym_envs.trajectory import Trajectory
from lab.studies.grounds import GROUNDS, ITEMS, write_items
from lab.studies.horizons import (
    EPISODES_PER_STEP,
    PLACES,
    SAVE_EVERY,
    SCHEDULES,
    STEPS,
    draw_curves,
    horizon_table,
    main,
    points_of,
    run_of,
    schedule,
    subtask_table,
)
from lab.studies.runs import making_of, start_of
from lab.studies.table import results_by_seed
from lab.warm_start import continuing
from trainers.command import parse_training
from trainers.evaluation.summary import summarize
from trainers.options.algorithms import ALGORITHMS
from trainers.options.configs import AgentGRPOConfig
from wrappers.schedules import parse_schedule


@pytest.mark.parametrize("ground", PLACES)
def test_every_schedule_is_one_that_the_command_reads(ground: str) -> None:
    short, _, long = GROUNDS[ground].horizons
    assert {name: parse_schedule(schedule(ground, name))(0) for name in SCHEDULES} == {
        "fixed_short": short, "fixed_long": long, "staged": short, "adaptive": short,
    }  # fmt: skip
    assert parse_schedule(schedule(ground, "staged"))(STEPS - 1) == long


@pytest.mark.parametrize("ground", PLACES)
def test_the_schedules_differ_in_nothing_but_the_horizon(ground: str, tmp_path: Path) -> None:
    def words(name: str) -> list[str]:
        training = list(run_of(ground, name, 0, tmp_path).commands[0])
        training[training.index("--horizon") + 1] = ""
        return [word.replace(name, "") for word in training]

    assert len({tuple(words(name)) for name in SCHEDULES}) == 1


@pytest.mark.parametrize("ground", PLACES)
def test_the_checkpoints_between_are_measured_at_the_long_horizon_too(
    ground: str, tmp_path: Path
) -> None:
    _, *measured = run_of(ground, "staged", 0, tmp_path).commands
    models = [words[words.index("--model") + 1] for words in measured]
    assert [Path(model).name for model in models] == ["checkpoint-6", "checkpoint-12", "model"]
    training = run_of(ground, "staged", 0, tmp_path).commands[0]
    kept = int(training[training.index("--save_total_limit") + 1])
    assert kept * SAVE_EVERY >= STEPS, "none of them is deleted before it is measured"
    turns = {words[words.index("--max_turns") + 1] for words in measured}
    assert turns == {str(GROUNDS[ground].horizons[-1])}


@pytest.mark.parametrize("ground", PLACES)
def test_a_start_is_made_by_a_command_or_is_shipped(ground: str, tmp_path: Path) -> None:
    making = making_of(GROUNDS[ground].start, tmp_path)
    training = run_of(ground, "staged", 0, tmp_path).commands[0]
    assert training[training.index("--model") + 1] == start_of(GROUNDS[ground].start, tmp_path)
    assert (making is None) == (start_of(GROUNDS[ground].start, tmp_path) == "tiny")
    if making is not None:
        assert making.commands[0][1] in continuing.GROUNDS


@pytest.mark.parametrize("ground", PLACES)
def test_the_training_command_is_one_that_is_read(ground: str, tmp_path: Path) -> None:
    _, algorithm, *words = run_of(ground, "staged", 2, tmp_path).commands[0]
    parsed = parse_training(
        words,
        algorithm=algorithm,
        config=AgentGRPOConfig,
        description="Train.",
        further=ALGORITHMS[algorithm].further,
    )
    read = {name: value for part in parsed for name, value in vars(part).items()}
    assert (read["seed"], read["max_steps"], read["resume"]) == (2, STEPS, True)
    assert read["max_turns"] == GROUNDS[ground].horizons[-1]
    size = read["per_device_train_batch_size"] * read["gradient_accumulation_steps"]
    assert size == EPISODES_PER_STEP


def test_babyai_is_trained_in_layouts_that_no_split_has(tmp_path: Path) -> None:
    write_items("BabyAI-long", tmp_path)
    numbers = [
        int(i["item_id"].removeprefix("babyai_"))
        for i in json.loads((tmp_path / ITEMS).read_text())
    ]
    tasks = BabyAITasks()
    assert {tasks.spec(number).split for number in numbers} == {"unlisted"}
    assert len(set(numbers)) == len(numbers) == 1200
    assert not list(tmp_path.parent.glob("*.json"))


def test_what_is_left_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["--out", str(tmp_path), "--env", "ALFWorld", "--seeds", "0", "--table_only"]
    done = run_of("ALFWorld", "staged", 0, tmp_path / "ALFWorld")
    done.folder.mkdir(parents=True)
    (done.folder / "done").touch()
    assert main(argv) == 0
    assert capsys.readouterr().out.split("\n")[0] == (
        "ALFWorld: 1 of 4 runs are done; left: fixed_short/seed_0, fixed_long/seed_0, "
        "adaptive/seed_0"
    )


def write(folder: Path, name: str, won: int, *, between: int, tokens: float) -> None:
    """Write a run of two goals: `between` are won at checkpoint 6, `won` at the end."""
    own = folder / name / "seed_0"
    (own / "model").mkdir(parents=True)
    for result, wins in (("after_6.json", between), ("after.json", won)):
        played = [
            Trajectory("e", f"a_{i}", status="terminated", success=i < wins) for i in range(2)
        ]
        summarize(played).save(own / result)
    entries: list[dict[str, float]] = [{"global_step": 1, "eval_success": 0.5}]
    for step in (6, STEPS):
        entries.append(
            {"global_step": step, "episodes/success": 0.25, "episodes/sampled_tokens": tokens,
             "horizon": step, "step_time": 2.5}
        )  # fmt: skip
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    (own / "model" / "metrics.jsonl").write_text(text)


def test_schedules_are_compared_at_equal_steps_and_at_equal_tokens(tmp_path: Path) -> None:
    write(tmp_path, "start", 0, between=0, tokens=1.0)
    write(tmp_path, "fixed_short", 1, between=0, tokens=100.0)
    write(tmp_path, "staged", 2, between=1, tokens=200.0)
    start = results_by_seed(tmp_path / "start")
    points = points_of(tmp_path / "staged", start)[0]
    assert [(p.step, p.tokens, p.horizon, p.success) for p in points] == [
        (0, 0.0, 0.0, 0.0),
        (6, 200.0 * EPISODES_PER_STEP, 6, 0.5),
        (STEPS, 400.0 * EPISODES_PER_STEP, STEPS, 1.0),
    ]
    header, _, _, short, staged = (
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in horizon_table(tmp_path).splitlines()
    )
    assert header[3] == "at 13k tokens"
    assert short == [
        "fixed short", "50.0% (50.0% to 50.0%)", "+50.0 (+0.0 to +100.0)", "50.0%", "13k", "5 s",
        "18",
    ]  # fmt: skip
    assert staged[3] == "50.0%", "its checkpoint of as many tokens"
    _, _, _, short, staged = subtask_table(tmp_path).splitlines()
    assert short.split("|")[2].strip() == "50.0%"
    assert staged.split("|")[-2].strip() == "", "there is no run at the long horizon"
    write(tmp_path, "fixed_long", 1, between=1, tokens=300.0)
    rows = [row.split("|") for row in subtask_table(tmp_path).splitlines()]
    against = {row[1].strip(): row[-2].strip() for row in rows}
    assert against["staged"] == "+50.0 (+0.0 to +100.0)"
    assert against["fixed long"] == ""
    assert draw_curves(tmp_path).stat().st_size > 1000


def test_a_study_without_its_start_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no measurement of the start"):
        horizon_table(tmp_path)

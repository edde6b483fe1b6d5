from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from trainers import AgentGRPOConfig, AgentPPOConfig, AgentReinforcePPConfig, AgentRLOOConfig
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.errors import UsageError
from trainers.runs import provenance
from trainers.runs.curve import draw_run_curve, frame, series, shade_horizons
from trainers.runs.folder import read_metrics, read_run
from trainers.runs.health import SYMPTOMS, HealthWarnings
from trainers.runs.progress import short_line
from trainers.runs.provenance import write_run
from trainers.runs.records import LearningCurve, MetricsFile, weights_step

PNG = b"\x89PNG"


def at(step: int, history: Sequence[dict[str, Any]] = ()) -> Any:
    return SimpleNamespace(global_step=step, is_world_process_zero=True, log_history=[*history])


def log(callback: Any, step: int, *, before: Sequence[dict[str, Any]] = (), **logs: Any) -> None:
    callback.on_log(None, at(step, [*before, logs]), None, logs=logs)


def test_a_best_step_whose_checkpoint_is_gone_leaves_the_last_weights() -> None:
    args = SimpleNamespace(load_best_model_at_end=True)
    control = SimpleNamespace(should_training_stop=True)
    state = SimpleNamespace(global_step=9, max_steps=9, best_global_step=4)
    for checkpoint, step in (("run/checkpoint-4", 4), (None, 9)):
        state.best_model_checkpoint = checkpoint
        assert weights_step(args, state, control) == step


# run.json ---------------------------------------------------------------------------------------


def test_a_run_file_tells_options_versions_commit_device_and_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["agentgym", "train", "grpo", "--env_kwargs", '{"a": 1}'])
    write_run(tmp_path, command="train grpo", seed=7, configs=[RolloutArguments()])
    run = read_run(tmp_path)
    assert (run["command"], run["seed"]) == ("train grpo", 7)
    assert run["command_line"] == """agentgym train grpo --env_kwargs '{"a": 1}'"""
    assert run["argv"] == ["train", "grpo", "--env_kwargs", '{"a": 1}']
    assert run["RolloutArguments"]["max_tokens_per_turn"] == 256
    assert {"python", "torch", "trl", "agentgym-envs"} <= set(run["versions"])
    assert run["device"]["cpus"] >= 1
    assert run["git"] is None or len(run["git"].split()[0]) == 40
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("before", "now", "goes_on"),
    [
        ("train ppo", "train grpo", False),
        ("quickstart", "train grpo", False),
        ("study.py", "train grpo", True),
        ("study.py", "other.py", True),
    ],
)
def test_a_script_s_run_is_gone_on_with_whatever_its_name(
    before: str, now: str, goes_on: bool, tmp_path: Path
) -> None:
    write_run(tmp_path, command=before, seed=0, configs=[])
    with nullcontext() if goes_on else pytest.raises(UsageError, match="cannot resume"):
        assert provenance.resumption(tmp_path, 3, command=now, configs=[])["resumed"]


def test_another_algorithm_s_run_is_refused_whatever_the_script(tmp_path: Path) -> None:
    write_run(tmp_path, command="one.py", seed=0, configs=[AgentRLOOConfig()])
    with pytest.raises(UsageError, match="a run of 'AgentRLOOConfig', which 'AgentGRPOConfig'"):
        provenance.resumption(tmp_path, 3, command="one.py", configs=[AgentGRPOConfig()])


def test_a_run_file_holds_no_password_of_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kwargs = '{"retriever": "http://ada:s3cret@host:80/retrieve"}'
    monkeypatch.setattr(sys, "argv", ["agentgym", "train", "grpo", "--env_kwargs", kwargs])
    write_run(tmp_path, command="train", seed=7, configs=[EnvArguments(env_kwargs=kwargs)])
    assert "s3cret" not in (tmp_path / "run.json").read_text()
    assert json.loads(read_run(tmp_path)["argv"][-1])["retriever"] == "http://***@host:80/retrieve"


def test_a_copy_outside_a_checkout_names_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "provenance.py"))
    assert provenance.checkout_commit.__wrapped__() is None


@pytest.mark.usefixtures("curves")
def test_a_trainer_used_from_python_leaves_everything(trainer_in: Callable[..., Any]) -> None:
    trainer = trainer_in(
        max_steps=2, save_strategy="steps", save_steps=1, rollout={"horizon": "scaling:1,2@1"}
    )
    trainer.train()
    folder = Path(trainer.args.output_dir)
    run = read_run(folder)
    assert run["AgentGRPOConfig"]["max_steps"] == 2
    assert run["RolloutArguments"]["horizon"] == "scaling:1,2@1"
    assert run["EnvArguments"]["env"] == ["toy/Letters-v0"]
    assert (folder / "learning_curve.png").read_bytes().startswith(PNG)
    logged = read_metrics(folder)[0]
    assert logged["episodes/failed_share"] == 0
    assert 0 <= logged["frac_reward_zero_std"] <= 1
    assert logged["skipped_steps"] == 0


# metrics.jsonl ----------------------------------------------------------------------------------


def test_a_resumed_metrics_file_drops_later_steps_and_a_line_cut_short(tmp_path: Path) -> None:
    file = MetricsFile(tmp_path)
    file.on_train_begin(None, at(0), None)
    for step in (1, 2, 3):
        log(file, step, loss=float(step))
    with (tmp_path / "metrics.jsonl").open("a") as torn:
        torn.write('{"global_step": 2, "lo')
    assert [entry["global_step"] for entry in read_metrics(tmp_path)] == [1, 2, 3]
    file.on_train_begin(None, at(2), None)
    log(file, 3, loss=9.0)
    assert [entry["loss"] for entry in read_metrics(tmp_path)] == [1.0, 2.0, 9.0]


def test_numbers_that_are_not_finite_are_null(tmp_path: Path) -> None:
    file = MetricsFile(tmp_path)
    file.on_train_begin(None, at(0), None)
    log(file, 1, loss=float("nan"), grad_norm=float("inf"), reward=1)
    line = json.loads((tmp_path / "metrics.jsonl").read_text(), parse_constant=pytest.fail)
    assert line == {"global_step": 1, "loss": None, "grad_norm": None, "reward": 1}


# The picture ------------------------------------------------------------------------------------


def write_metrics(folder: Path, entries: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    (folder / "metrics.jsonl").write_text(text)


def test_a_curve_is_drawn_of_played_and_of_imitated_runs(tmp_path: Path) -> None:
    assert draw_run_curve(tmp_path) is None
    validation = {"eval_success": 0.5, "eval_success_low": 0.4, "eval_success_high": 0.6}
    write_metrics(tmp_path, [{"global_step": 5, "loss": 1.0}, {"global_step": 5, **validation}])
    picture = draw_run_curve(tmp_path)
    assert picture == tmp_path / "learning_curve.png"
    imitated = picture.read_bytes()
    played = {"episodes/success": 0.3, "loss": 0.1}
    write_metrics(
        tmp_path,
        [{"global_step": n, "horizon": 6 + n // 3, **played} for n in range(1, 6)],
    )
    assert draw_run_curve(tmp_path) == picture
    assert picture.read_bytes().startswith(PNG)
    assert picture.read_bytes() != imitated


def test_the_stages_of_the_horizon_are_named_above_the_axes_and_apart() -> None:
    steps = np.arange(1, 121)
    for horizons, names in (
        (np.where(steps <= 60, 6, 12), ["horizon 6", "horizon 12"]),
        (4 + (steps - 1) // 10, ["horizon ", *map(str, range(4, 16))]),
    ):
        axes = Figure(figsize=(8, 4)).add_subplot()
        frame(axes, 120, title="a run")
        shade_horizons(axes, steps, horizons)
        FigureCanvasAgg(axes.figure).draw()
        shown = [text for text in axes.texts if text.get_text()]
        assert sorted(text.get_text() for text in shown) == sorted(names)
        boxes = sorted((text.get_window_extent() for text in shown), key=lambda box: box.x0)
        assert all(box.y0 >= axes.get_window_extent().y1 for box in boxes)
        assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))
        assert all(float(tick).is_integer() for tick in axes.get_xticks())


def test_series_pass_over_entries_without_a_number() -> None:
    entries = [{"global_step": 1, "a": 2.0}, {"global_step": 2, "a": None}, {"global_step": 3}]
    steps, values = series(entries, "a")
    assert (steps.tolist(), values.tolist()) == ([1], [2.0])


@pytest.mark.usefixtures("curves")
def test_without_matplotlib_there_is_a_word_and_no_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    curve = LearningCurve(tmp_path)
    assert "pip install matplotlib" in caplog.text
    write_metrics(tmp_path, [{"global_step": 1, "loss": 1.0}])
    curve.on_train_end(None, at(1), None)
    assert not (tmp_path / "learning_curve.png").exists()


# Warnings in words ------------------------------------------------------------------------------


@pytest.mark.parametrize("symptom", SYMPTOMS, ids=lambda symptom: symptom.metric)
def test_a_symptom_is_told_when_first_seen_and_when_it_passes_a_threshold(
    symptom: Any, caplog: pytest.LogCaptureFixture
) -> None:
    watch = HealthWarnings()
    told = []
    values = [0.0] + [value for bound in symptom.above for value in [bound + 0.01] * 2] + [0.0]
    for step, value in enumerate(values):
        log(watch, step, before=[{symptom.metric: 1.0}] * 9, **{symptom.metric: value})
        told.append(len(caplog.records))
        caplog.clear()
    assert told == [0, *[1, 0] * len(symptom.above), 0]


@pytest.mark.parametrize(
    ("args", "is_told"),
    [
        (AgentGRPOConfig(), True),
        (AgentRLOOConfig(), True),
        (AgentReinforcePPConfig(baseline="group"), True),
        (AgentReinforcePPConfig(), False),
        (AgentPPOConfig(), False),
    ],
    ids=["grpo", "rloo", "reinforce_pp with a group's mean", "reinforce_pp", "ppo"],
)
def test_groups_paid_alike_are_told_of_where_episodes_are_compared_with_their_group(
    args: Any, is_told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    HealthWarnings().on_log(args, at(1), None, logs={"frac_reward_zero_std": 1.0})
    assert ("taught nothing" in caplog.text) is is_told


def test_a_warning_says_what_it_means_and_which_option_helps(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log(HealthWarnings(), 12, **{"truncated/token_budget": 0.25})
    assert "step 12: 25.0% of the episodes ended because the next turn had no room" in caplog.text
    assert "--keep_last_turns" in caplog.text


def test_the_end_repeats_what_is_still_out_of_range(caplog: pytest.LogCaptureFixture) -> None:
    watch = HealthWarnings()
    for step, cut in enumerate((0.8, 0.2, 0.3)):
        log(watch, step, **{"episodes/cut_turns": cut, "frac_reward_zero_std": cut})
    caplog.clear()
    watch.on_train_end(None, at(2), None)
    (record,) = caplog.records
    assert record.getMessage().startswith("step 2, the last: 30% of the turns were cut off")


def warned_at(metric: str, values: Sequence[float], caplog: pytest.LogCaptureFixture) -> list[int]:
    """Return the steps at which a metric's values are warned of, with the log history so far."""
    watch, history = HealthWarnings(), [{"eval_success": 0.5}]
    told = []
    for step, value in enumerate(values):
        log(watch, step, before=history, **{metric: value})
        history.append({metric: value})
        told += [step] * len(caplog.records)
        caplog.clear()
    return told


@pytest.mark.parametrize(
    ("metric", "values", "expected"),
    [
        # Norms with and without one token of log-ratio 15: see trl_bridge/test_kl_clip.py.
        ("grad_norm", [0.8] * 9 + [240.0, 0.8, 240.0], [9]),
        ("grad_norm", [0.8] * 9 + [9.0, 240.0, 240.0], [9, 10]),
        ("grad_norm", [0.8] * 4 + [240.0], []),  # too early to know what is usual
        ("grad_norm", [0.0] * 30 + [0.5, 9.0], []),  # groups of equal rewards have no gradient
        ("grad_norm", [0.001] * 9 + [1.4], []),  # nor has the KL much, beside a reward
        ("grad_norm", [0.8] * 9 + [math.nan, math.inf], []),  # `skipped_steps`
        ("grad_norm", [0.1 * 1.2**n for n in range(40)], []),  # grows, and does not jump
        ("kl", [0.0] + [0.015] * 9 + [24494.0], [10]),
        ("kl", [1e-4 * n**2 for n in range(150)], []),
        ("kl", [-0.01, 0.02] * 9 + [3.0], [18]),  # k1 has either sign
        # `lab.studies protection` with --entropy_coef 0.01, seed 0, which ended in noise.
        ("entropy", [0.08, 0.08, 0.11, 0.25, 0.61, 1.28, 3.89, 6.03], [5]),
        ("entropy", [0.05] * 9 + [0.6], []),
    ],
)
def test_a_jump_is_told_against_the_median_of_the_steps_before(
    metric: str, values: list[float], expected: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    assert warned_at(metric, values, caplog) == expected


def test_a_jump_is_told_behind_a_resume_and_with_what_was_usual(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log(HealthWarnings(), 12, before=[{"kl": 0.015}] * 9, kl=24494.0)
    assert "step 12: kl jumped to 2.45e+04 nats per token, from a median of 0.015" in caplog.text
    assert "--kl_clip 10" in caplog.text


def test_options_that_warnings_name_exist(capsys: pytest.CaptureFixture[str]) -> None:
    from trainers.grpo import main

    with pytest.raises(SystemExit):
        main(["--help_all"])
    known = set(capsys.readouterr().out.split())
    named = {option for symptom in SYMPTOMS for option in re.findall(r"--\w+", symptom.remedy)}
    assert named - known == set()


def test_a_run_whose_episodes_have_no_room_is_told_so(
    trainer_in: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    trainer_in(max_steps=1, rollout={"max_tokens_per_episode": 60}).train()
    assert "had no room in the context" in caplog.text


def test_the_line_of_a_step_names_the_environments_behind_a_mean() -> None:
    logs = {
        "episodes/success": 0.5, "success/Easy": 1.0, "success/Hard": 0.0, "success_other": 1.0,
        "episodes/turns": 3.0, "turns/Easy": 2.0, "horizon": 5.0, "horizon/Easy": 4.0,
    }  # fmt: skip
    assert short_line(7, logs) == (
        "step 7: success 50.0% (Easy 100.0%, Hard 0.0%), turns 3.0, horizon 5 (Easy 4)"
    )
    validated = {"eval_success": 0.25, "eval_success/Easy": 0.5, "eval_success_low/Easy": 0.1}
    assert short_line(7, validated) == "step 7: evaluation success 25.0% (Easy 50.0%)"
    # After training the weights of the best step play, and the curve has its number.
    assert short_line(20, {"global_step": 5, "eval_success": 0.25}) == (
        "step 5: evaluation success 25.0%"
    )


def test_a_mixtures_curve_has_a_line_for_each_environment(tmp_path: Path) -> None:
    lines: list[list[str]] = []

    def labels(entries: list[dict[str, float]]) -> list[str]:
        write_metrics(tmp_path, entries)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "matplotlib.axes.Axes.legend",
                lambda self, handles, names, **options: lines.append(list(names)),
            )
            assert draw_run_curve(tmp_path) is not None
        return lines.pop()

    steps = [
        {"global_step": n, "episodes/success": 0.5, "success/Easy": 1.0, "success/Hard": 0.0,
         "horizon": 3.0, "horizon/Easy": 2.0, "horizon/Hard": 4.0}
        for n in range(1, 4)
    ]  # fmt: skip
    assert {"Easy", "Hard", "moving average"} <= set(labels(steps))
    validated = {"global_step": 3, "eval_success": 0.5, "eval_success/Easy": 1.0, "loss": 0.3}
    assert "Easy" in labels([validated])

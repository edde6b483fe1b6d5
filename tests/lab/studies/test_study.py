from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.babyai.tasks import BabyAITasks
from lab.studies import study
from lab.studies.pictures import DRAWINGS
from lab.studies.study import HERE, Plan, load_study, study_names, words_of
from lab.studies.table import CELLS
from lab.warm_start import continuing
from trainers.agentevol import AgentEvolConfig
from trainers.command import parse_training
from trainers.dpo import AgentDPOConfig
from trainers.options.configs import AgentDistillConfig, AgentGRPOConfig
from trainers.options.offline import (
    AgentEvolArguments,
    AgentSFTConfig,
    DataArguments,
    PairArguments,
)
from trainers.ppo import AgentPPOConfig
from trainers.reinforce_pp import AgentReinforcePPConfig
from trainers.rloo import AgentRLOOConfig
from wrappers.schedules import MixedStarts, parse_schedule, parse_start, start_at

FURTHER: dict[str, tuple[type, ...]] = {
    "agentevol": (AgentEvolArguments,),
    "dpo": (PairArguments,),
    "sft": (DataArguments,),
}
CONFIGS: dict[str, type[Any]] = {
    "sft": AgentSFTConfig,
    "agentevol": AgentEvolConfig,
    "dpo": AgentDPOConfig,
    "grpo": AgentGRPOConfig,
    "rloo": AgentRLOOConfig,
    "reinforce_pp": AgentReinforcePPConfig,
    "ppo": AgentPPOConfig,
    "distill": AgentDistillConfig,
}
VARIANTS = [
    (name, ground, variant)
    for name in study_names()
    for ground in load_study(name).grounds
    for variant in load_study(name).variants_on(ground)
]
COMPARED = [
    (name, ground) for name in ("credit", "horizons") for ground in load_study(name).grounds
]


def plan(name: str, out: Path) -> Plan:
    own = load_study(name)
    return Plan(own, out, model="some/model" if own.is_given_its_start else "")


def value(words: tuple[str, ...], option: str) -> str:
    return words[words.index(option) + 1]


def trained_by(words: tuple[str, ...]) -> dict[str, Any]:
    """Read the options of a training command as the command does."""
    _, algorithm, *options = words[words.index("train") :]
    if "lab.studies.served" in words:
        options += ["--server_url", "http://127.0.0.1:1"]
    further = FURTHER.get(algorithm, ())
    config = CONFIGS[algorithm]
    parsed = parse_training(
        options, algorithm=algorithm, config=config, description="Train.", further=further
    )
    return {key: value for part in parsed for key, value in vars(part).items()}


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the studies believe that they run on a kind of device."""
    monkeypatch.setattr(study, "device", lambda: request.param)
    kind: str = request.param
    return kind


def test_a_name_in_a_command_stands_for_its_words() -> None:
    values = {"env": "--env TextCraft $tasks", "tasks": "--tasks 'depth 1'", "seed": 3, "x": ""}
    assert words_of("run $env $x --seed=$seed", values) == (
        *("run", "--env", "TextCraft", "--tasks", "depth 1", "--seed=3"),
    )
    assert words_of("""'{"a": "${seed}0"}'""", values) == ('{"a": "30"}',)
    with pytest.raises(ValueError, match=r"\$horizon in 'fixed:\$horizon' has no value"):
        words_of("fixed:$horizon", values)


@pytest.mark.parametrize("name", study_names())
def test_a_study_names_columns_and_curves_that_there_are(name: str) -> None:
    own = load_study(name)
    assert all(set(table.values()) <= set(CELLS) for table in own.tables)
    assert not own.curves or own.curves in DRAWINGS
    assert own.question.endswith("?")
    assert not own.reference or own.reference in own.variants


@pytest.mark.parametrize(("name", "ground", "variant"), VARIANTS)
def test_a_run_trains_from_the_start_and_ends_with_the_measurement_of_its_model(
    name: str, ground: str, variant: str, device: str, tmp_path: Path
) -> None:
    ours = plan(name, tmp_path / name)
    (start, *_) = ours.measurements(ground, [3])
    run = ours.run(ground, variant, 3)
    (training,) = (words for words in run.commands if "train" in words)
    options = trained_by(training)
    assert options["model_name_or_path"] == value(start.commands[0], "--model")
    assert options["seed"] == 3 and options["resume"]
    assert Path(options["output_dir"]) == run.folder / "model"
    # Start and model play the same tasks alike.
    paths = {
        options["output_dir"]: options["model_name_or_path"],
        str(run.folder / "after"): str(start.folder / "after"),
    }
    words = run.commands[-1]
    for own, of_start in paths.items():
        words = tuple(word.replace(own, of_start) for word in words)
    assert words == start.commands[0]


def test_algorithms_that_play_get_equally_many_episodes(tmp_path: Path) -> None:
    for name in ("learning", "credit", "distill", "divisor"):
        ours = plan(name, tmp_path)
        for ground in ours.study.grounds:
            episodes = set()
            for variant in set(ours.study.variants_on(ground)) - {"agentevol", "dpo", "sft"}:
                options = trained_by(ours.run(ground, variant, 0).commands[0])
                batch = options["per_device_train_batch_size"] * options["steps_per_generation"]
                uses = options["steps_per_generation"] / options["gradient_accumulation_steps"]
                assert batch == 64 or name == "distill"
                episodes.add(batch * options["max_steps"] / uses / options["num_iterations"])
            assert len(episodes) == 1, (name, ground)


@pytest.mark.parametrize(("name", "ground"), COMPARED)
def test_the_start_of_a_ground_is_made_by_a_command_or_is_shipped(
    name: str, ground: str, tmp_path: Path
) -> None:
    plans = [plan(study, tmp_path / f"study_{study}") for study in ("credit", "horizons", name)]
    makings = {own.making(ground) for own in plans if ground in own.study.grounds}
    (making,) = makings  # studies share it
    (measured, *_) = plans[-1].measurements(ground, [0])
    start = value(measured.commands[0], "--model")
    assert (making is None) == (start == "tiny")
    if making is not None:
        (words,) = making.commands
        assert Path(start).is_relative_to(tmp_path / "starts")
        if "lab.warm_start" in words:
            assert value(words, "--continue") in continuing.GROUNDS
            assert value(words, "--out") == start
        else:
            assert trained_by(words)["output_dir"] == start


def test_each_method_is_what_its_row_says(tmp_path: Path) -> None:
    ours = plan("credit", tmp_path)
    for ground in ours.study.grounds:
        credits = {
            name: trained_by(ours.run(ground, name, 0).commands[0]).get("turn_credit")
            for name in ours.study.variants
        }
        assert credits.pop("grpo") == "none"
        assert credits.pop("ppo") is None
        assert all(name == credit for name, credit in credits.items())


@pytest.mark.parametrize("ground", load_study("horizons").grounds)
def test_the_schedules_differ_in_nothing_but_the_horizon(ground: str, tmp_path: Path) -> None:
    ours = plan("horizons", tmp_path)
    short, long = (ours.study.grounds[ground][name] for name in ("short", "long"))
    runs = {name: ours.run(ground, name, 0).commands for name in ours.study.variants}
    first = {name: value(words, "--horizon") for name, (words, *_) in runs.items()}
    assert {name: parse_schedule(text)(0) for name, text in first.items()} == {
        "fixed_short": short, "fixed_long": long, "staged": short, "adaptive": short,
        "backward": long, "mixed": long, "backward_staged": short,
        "expert_episodes": long,
    }  # fmt: skip
    trainings = {name: [*words] for name, (words, *_) in runs.items()}
    steps = int(value(runs["staged"][0], "--max_steps"))
    assert parse_schedule(first["staged"])(steps - 1) == long
    values = {**ours.study.values, **ours.study.grounds[ground]}
    earliest, last = int(str(values["from_end"])[0]), steps - int(values["end_stage"])
    for name in ("backward", "mixed", "backward_staged"):
        words = trainings[name]
        place = words.index("--start")
        start = parse_start(words[place + 1])
        del words[place : place + 2]
        if isinstance(start, MixedStarts):
            assert start.turns[0] == earliest
        else:
            assert (start_at(start, 0), start_at(start, last)) == (earliest, None)
    words = trainings["expert_episodes"]
    place = words.index("--expert_episodes")
    assert words[place + 1 : place + 4] == ["1", "--expert_episodes_when", "unsolved"]
    del words[place : place + 4]
    rest = {
        tuple(word.replace(first[name], "").replace(name, "") for word in words)
        for name, words in trainings.items()
    }
    assert len(rest) == 1


@pytest.mark.parametrize("ground", load_study("horizons").grounds)
def test_the_checkpoints_between_are_measured_at_the_long_horizon_too(
    ground: str, tmp_path: Path
) -> None:
    ours = plan("horizons", tmp_path)
    training, *measured = ours.run(ground, "staged", 0).commands
    stage, steps = (int(value(training, name)) for name in ("--save_steps", "--max_steps"))
    assert steps == 3 * stage
    models = [Path(value(words, "--model")).name for words in measured]
    assert models == [f"checkpoint-{stage}", f"checkpoint-{2 * stage}", "model"]
    results = [Path(value(words, "--out")).name for words in measured]
    assert results == [f"after_{stage}.json", f"after_{2 * stage}.json", "after.json"]
    kept = int(value(training, "--save_total_limit"))
    assert kept * stage >= steps, "none of them is deleted before"
    turns = {value(words, "--max_turns") for words in measured}
    assert turns == {str(ours.study.grounds[ground]["long"])}


@pytest.mark.parametrize(
    ("ground", "name", "count"), [("BabyAI-long", "long", 1200), ("BabyAI-locked", "locked", 300)]
)
def test_babyai_is_trained_in_layouts_that_no_split_has(
    ground: str, name: str, count: int, tmp_path: Path
) -> None:
    ours = plan("horizons", tmp_path)
    training, *_ = ours.run(ground, "staged", 0).commands
    path = Path(value(training, "--tasks"))
    assert path == HERE / f"babyai_{name}.json"
    levels = levels_of_unlisted(path, count)
    held_out = str(load_study("horizons").grounds[ground]["held_out"])
    assert levels == {word for word in held_out.split() if word.startswith("BabyAI-")}
    making = ours.making(ground)
    assert making is not None
    if name == "locked":  # no level of the start's is one that is measured
        easier = Path(value(making.commands[0], "--tasks"))
        assert levels.isdisjoint(levels_of_unlisted(easier, 1200))


def levels_of_unlisted(path: Path, count: int) -> set[str]:
    numbers = [int(item.removeprefix("babyai_")) for item in json.loads(path.read_text())]
    tasks = BabyAITasks()
    assert {tasks.spec(number).split for number in numbers} == {"unlisted"}
    assert len(set(numbers)) == len(numbers) == count
    return {tasks.spec(number).subtask for number in numbers}


@pytest.mark.parametrize("ground", load_study("language_model").grounds)
def test_smollm2_imitates_what_the_expert_was_collected_for(
    ground: str, device: str, tmp_path: Path
) -> None:
    ours = plan("language_model", tmp_path)
    making = ours.making(ground)
    assert making is not None
    collect, train = making.commands
    options = trained_by(train)
    assert options["data"] == [value(collect, "--out")]
    assert options["action_format"] == "plain"
    assert options["model_name_or_path"] == "smollm2"
    assert options["per_device_train_batch_size"] * options["gradient_accumulation_steps"] == 8
    assert bool(options["use_peft"]) == (device == "cpu" and ground != "SciWorld")
    assert options["learning_rate"] == (5e-4 if options["use_peft"] else 1e-4)
    env = words_of(ours.study.grounds[ground]["env"], {})
    assert collect[2 : 2 + len(env)] == train[3 : 3 + len(env)] == env


@pytest.mark.parametrize("ground", load_study("language_model").grounds)
def test_on_a_gpu_a_step_of_smollm2_has_four_times_the_episodes(
    ground: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    steps, samples = {}, {}
    for kind in ("cpu", "cuda"):
        monkeypatch.setattr(study, "device", lambda kind=kind: kind)
        training, measured = plan("language_model", tmp_path).run(ground, "grpo", 0).commands
        options = trained_by(training)
        step = options["per_device_train_batch_size"] * options["gradient_accumulation_steps"]
        assert step == options["num_envs"]
        assert bool(options["use_peft"]) == (kind == "cpu")
        assert str(options["horizon"]).startswith("scaling:")
        # Three stages, a third of the steps each.
        assert int(str(options["horizon"]).partition("@")[2]) == options["max_steps"] // 3
        steps[kind], samples[kind] = step, int(value(measured, "--samples"))
    assert steps["cuda"] == 4 * steps["cpu"] and samples["cuda"] == 2 * samples["cpu"]


def test_the_longest_episodes_are_also_trained_under_a_fixed_horizon(tmp_path: Path) -> None:
    ours = plan("language_model", tmp_path)
    grounds = [name for name in ours.study.grounds if len(ours.study.variants_on(name)) > 1]
    (ground,) = grounds
    staged, fixed = (ours.run(ground, name, 3).commands[0] for name in ours.study.variants)
    differing = [pair for pair in zip(staged, fixed, strict=True) if pair[0] != pair[1]]
    (horizon, all_turns), (_, folder) = differing
    assert all_turns == f"fixed:{horizon.partition('@')[0].rpartition(',')[2]}"
    assert "grpo_fixed" in folder


def test_together_each_environment_has_its_own_scale(tmp_path: Path) -> None:
    training, _ = plan("language_model", tmp_path).run("all", "grpo", 0).commands
    options = trained_by(training)
    assert len(options["env"]) >= 3
    assert options["scale_rewards"] == "environment"


@pytest.mark.parametrize("small", [False, True])
def test_rl_alone_trains_the_model_that_is_given_and_is_rehearsed_in_less(
    small: bool, tmp_path: Path
) -> None:
    ours = Plan(load_study("rl_alone"), tmp_path, small=small, model="some/model")
    for ground, variant in (("listed", "growing"), ("listed", "fixed"), ("unlisted", "fixed")):
        training, measured = ours.run(ground, variant, 3).commands
        options = trained_by(training)
        assert options["model_name_or_path"] == "some/model"
        step = options["per_device_train_batch_size"] * options["gradient_accumulation_steps"]
        episodes = 8 if small else {"cpu": 48, "cuda": 128}[study.device()]
        assert step == options["num_envs"] == episodes
        assert value(measured, "--num_tasks") == ("4" if small else "90")
        assert ("--env_kwargs" in training) == (ground == "unlisted")


def test_runs_of_staleness_differ_in_nothing_but_it_and_the_correction(tmp_path: Path) -> None:
    ours = plan("staleness", tmp_path)
    rest, cases = set(), set()
    for name in ours.study.variants:
        training, _ = ours.run("", name, 0).commands
        assert training[:3] == ("python", "-m", "lab.studies.served")
        options = trained_by(training)
        staleness = options["max_staleness"]
        low = options["vllm_importance_sampling_clip_min"]
        cases.add((staleness, low))
        text = " ".join(training).replace(name, "").replace(f"--max_staleness {staleness}", "")
        clips = (f"--vllm_importance_sampling_clip_{end}" for end in ("min 0.999", "max 1.001"))
        for clip in clips:
            text = text.replace(f" {clip}", "")
        rest.add(text)
    assert len(cases) == 7
    assert len(rest) == 1

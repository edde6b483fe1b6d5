"""`agentgym headroom`: what it plays, prints and writes, and the commands that it advises."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import ListedTasks, TaskSpec, TextEnv, Trajectory, read_jsonl, register_env
from agentgym_envs.trajectories.trajectory import Turn, write_jsonl
from benchmarks.cli import main as cli
from tests.trainers.evaluation.test_headroom import ROW, SILENT, part_of, row
from tests.trainers.toys import EASY_ID, ENV_ID, LettersEnv
from trainers.evaluation.advice import advise
from trainers.evaluation.headroom import Headroom, TurnQuantiles
from trainers.evaluation.intervals import Estimate
from trainers.headroom import NOT_OF_TRAINING, commands_of, main, own_episodes
from trainers.options.errors import UsageError
from trainers.options.parser import CommandParser

WORDS = f"--env {ENV_ID} --policy random --num-generations 4 --num_tasks=4 --action_format plain"
ALONE = "toy/Alone-v0"


class AloneEnv(TextEnv):
    """Wins by an even character at once, and has no expert."""

    instructions = "Say anything."
    verbs = LettersEnv.verbs
    default_max_turns = 2
    source = "alone-1"
    apply = LettersEnv.apply

    def __init__(self, **kwargs: Any) -> None:
        tasks = {"train": {"any": range(4)}, "validation": {"any": [4]}, "test": {"any": [5]}}
        super().__init__(ListedTasks("alone", tasks), **kwargs)
        self._broken = ()

    def begin(self, task: TaskSpec) -> str:
        self.goal = "b"
        return "Say b."


register_env(ALONE, AloneEnv)


def test_groups_of_training_episodes_are_played_under_the_first_horizon(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = f"--out {tmp_path / 'h.json'} --trajectories {tmp_path / 't.jsonl'}"
    assert main(f"{WORDS} --horizon scaling:1,2@5 {files}".split()) == 0
    episodes = list(read_jsonl(tmp_path / "t.jsonl"))
    assert {one.split for one in episodes} == {"train"}
    assert [one.task_id for one in episodes[::4]] == [f"letters_{n}" for n in (0, 2, 4, 6)]
    assert {one.truncated_by for one in episodes} - {None} == {"horizon"}
    assert {len(one.turns) for one in episodes} == {1}
    saved = json.loads((tmp_path / "h.json").read_text("utf-8"))
    total = saved["environments"]["Letters"]["total"]
    assert total["success"]["value"] == sum(one.success for one in episodes) / 16
    assert total["expert"] == {"median": 1, "p90": 1}
    limits = saved["environments"]["Letters"]["limits"]
    assert (limits["horizon"], limits["longest"], limits["max_turns"]) == (1, 2, 3)
    assert saved["run"]["command"] == "headroom"
    printed = capsys.readouterr().out
    assert "random in Letters: 4 tasks x 4 episodes, horizon 1" in printed
    assert saved["commands"] and all(command in printed for command in saved["commands"])


def test_episodes_of_a_file_have_the_numbers_of_those_that_are_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(f"{WORDS} --trajectories {tmp_path / 't.jsonl'}".split()) == 0
    played = capsys.readouterr().out
    assert main(f"{WORDS} --data {tmp_path / 't.jsonl'} --out {tmp_path / 'h.json'}".split()) == 0
    assert capsys.readouterr().out == played
    assert json.loads((tmp_path / "h.json").read_text("utf-8"))["policy"] == "random"


def test_the_expert_has_mastered_its_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(f"{WORDS} --policy expert".split()) == 0
    printed = capsys.readouterr().out
    assert "1. Success is 100%: choose harder tasks." in printed
    assert "agentgym train" not in printed


def test_an_environment_without_an_expert_has_no_needed_turns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(f"--env {ALONE} --policy random --samples 2 --action_format plain".split()) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "any" in line]
    assert rows[1][-6] == "-"


def test_several_environments_have_their_own_tables(capsys: pytest.CaptureFixture[str]) -> None:
    words = f"--env {ENV_ID} --env {EASY_ID} --mix 2,1 --samples 2 --num_tasks 4 --policy random"
    assert main([*words.split(), "--action_format", "plain", "--horizon", f"{EASY_ID}=1"]) == 0
    printed = capsys.readouterr().out
    assert "random in Letters: 2 tasks x 2 episodes, horizon 3" in printed
    assert "random in Easy: 2 tasks x 2 episodes, horizon 1" in printed
    command = printed.splitlines()[-1]
    assert f"--mix 2,1 --action_format plain --horizon {EASY_ID}=1 Easy=4 --model" in command


def test_an_environment_without_an_expert_takes_none_from_the_others(
    tmp_path: Path,
) -> None:
    words = f"--env {ENV_ID} --env {ALONE} --samples 2 --num_tasks 2 --policy random"
    words += f" --action_format plain --out {tmp_path / 'h.json'}"
    assert main(words.split()) == 0
    parts = json.loads((tmp_path / "h.json").read_text("utf-8"))["environments"]
    experts = {name: part["total"]["expert"] for name, part in parts.items()}
    assert experts == {"Letters": {"median": 1, "p90": 1}, "Alone": None}


def test_a_training_commands_words_and_files_are_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    further = "--max_steps 4 --report_to none --output-dir runs/mine --model_name_or_path random"
    (tmp_path / "o.yaml").write_text("learning_rate: 1e-3\nhorizon: '1'\nnum_tasks: 2\n", "utf-8")
    words = f"--env {ENV_ID} --samples 2 --action_format plain --config {tmp_path / 'o.yaml'}"
    assert main(f"{words} {further}".split()) == 0
    printed, noted = capsys.readouterr()
    assert "without effect here: --max_steps, --report_to, --output-dir\n" in noted
    assert "random in Letters: 2 tasks x 2 episodes, horizon 1" in printed
    *_, training = printed.splitlines()
    assert "--max_steps 4 --report_to none --output_dir runs/mine" in training
    assert "--model MODEL" in training and "random" not in training
    assert training.endswith("--horizon 2")
    with pytest.raises(SystemExit, match="2"):
        main([*words.split(), "--max_stepz", "4"])
    assert "unknown option --max_stepz; did you mean --max_steps" in capsys.readouterr().err


def test_mistakes_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["headroom", *WORDS.split(), "--resume"]) == 2
    assert cli.main(["headroom", *WORDS.split(), "--data", str(tmp_path / "none.jsonl")]) == 2
    (tmp_path / "e.jsonl").write_text("")
    assert cli.main(["headroom", *WORDS.split(), "--data", str(tmp_path / "e.jsonl")]) == 2
    write_jsonl("two.jsonl", [Trajectory(i, f"{i[4:-3].lower()}_0") for i in (ENV_ID, EASY_ID)])
    assert cli.main(["headroom", *WORDS.split(), "--data", "two.jsonl"]) == 2
    with pytest.raises(SystemExit, match="2"):
        main([*WORDS.split(), "--data", "two.jsonl", "--trajectories", "t.jsonl"])
    with pytest.raises(SystemExit, match="2"):
        main([*WORDS.split(), "--samples", "1"])
    errors = capsys.readouterr().err
    assert "--resume needs --out or --trajectories" in errors
    assert "there is no file" in errors
    assert "--data holds episodes of easy, and --env is Letters; name all of their" in errors
    assert "--trajectories t.jsonl is not written where --data is read" in errors
    assert "no task has two episodes with a score" in errors
    assert "samples must be >= 2, got 1" in errors


# -- The commands ----------------------------------------------------------------------------------


class Shown(Exception):
    """Ends a command where it parses."""


@pytest.fixture
def parsers(monkeypatch: pytest.MonkeyPatch) -> dict[str, CommandParser]:
    """The parsers of the commands that are advised, and of this one."""
    found = {}
    for command in ("train sft", "train grpo", "headroom"):

        def stop(self: CommandParser, argv: object = None) -> None:
            raise Shown(self)

        with monkeypatch.context() as patch, pytest.raises(Shown) as stopped:
            patch.setattr(CommandParser, "parse", stop)
            cli.main([*command.split(), "--env", ENV_ID])
        found[command] = stopped.value.args[0]
    return found


def options_of(parser: CommandParser) -> set[str]:
    return {option for action in parser._actions for option in action.option_strings}


TROUBLED: list[Headroom] = [
    part_of(row(success=0.0, differ=0.0)),
    part_of(row(success=0.0, differ=0.0, expert=None)),
    part_of(row(success=0.0, differ=0.5)),
    part_of(row(success=0.2, differ=0.2), easy=ROW, hard=SILENT),
    part_of(row(differ={4: 0.2, 8: 0.3, 16: 0.5, 32: 0.7}, pass_at_k=0.7, idle_turns=0.5)),
    part_of(row(out_of_reach=0.5, cut_turns=0.5, cut_by_tokens=0.5, invalid_actions=0.9)),
    part_of(row(out_of_reach=0.5, expert=TurnQuantiles(3, None), success=0.0, differ=0.0)),
    part_of(row(success=0.95), easy=replace(ROW, success=Estimate(0.5, 0.4, 0.6))),
]


def test_all_rules_are_among_the_troubled_cases() -> None:
    assert {one.rule for part in TROUBLED for one in advise(part)} == {
        *("imitate", "imitate_later", "room", "progress", "mastered", "tasks", "few_groups"),
        *("group_size", "longer_horizon", "shorter_horizon", "cut_turns", "out_of_tokens"),
        "invalid",
    }


def test_advice_names_options_that_exist_and_its_commands_can_be_read(
    parsers: dict[str, CommandParser],
) -> None:
    words = shlex.split(
        f"--env {ENV_ID} --model tiny --samples 8 --num-tasks=9 --horizon 2 --seed 3 "
        "--tasks early --temperature 0.9 --out h.json"
    )
    for part in TROUBLED:
        given = advise(part)
        for one in given:
            named = {*re.findall(r"--\w+", one.text), *(f"--{name}" for name in one.options)}
            assert named <= options_of(parsers["train grpo"]) | {"--trajectories"}
        commands = commands_of(words, {"Letters": part}, {"Letters": given}, policy="tiny")
        assert commands[-1].startswith("agentgym train grpo ")
        for command in commands:
            program, *rest = shlex.split(command)
            name = next(name for name in parsers if rest[: len(name.split())] == name.split())
            values = rest[len(name.split()) :]
            parsed, unknown = parsers[name].parse_known_args(values)
            assert (program, unknown) == ("agentgym", [])
            for one in given:
                for option, value in one.options.items() if name == "train grpo" else ():
                    assert str(value) in str(getattr(parsed, option))


def test_every_option_of_the_command_is_trainings_or_known_not_to_be(
    parsers: dict[str, CommandParser],
) -> None:
    further = {"--policy", "--samples", "--data"}  # which its commands name otherwise
    own = options_of(parsers["headroom"]) - options_of(parsers["train grpo"])
    assert own - further == {f"--{name}" for name in NOT_OF_TRAINING} - {"--seed", "--resume"}


def lines(part: Headroom, policy: str = "tiny", words: str = "--env Maze --horizon 3") -> list[str]:
    return commands_of(shlex.split(words), {"M": part}, {"M": advise(part)}, policy=policy)


def test_the_commands_follow_the_advice() -> None:
    train = "agentgym train grpo --env Maze --horizon 3 --model"
    assert lines(part_of()) == [f"{train} tiny --num_generations 8"]
    assert lines(part_of(), policy="random")[0].startswith(f"{train} MODEL")
    assert lines(part_of(), policy="http://localhost:8000/v1")[0].startswith(f"{train} MODEL")
    assert lines(part_of(row(success=0.0, differ=0.0))) == [
        "agentgym train sft --env Maze --model tiny --output_dir runs/sft",
        "agentgym headroom --env Maze --horizon 3 --model runs/sft --num_generations 8",
        f"{train} runs/sft --num_generations 8",
    ]
    again = lines(part_of(row(success=0.0, differ=0.0)), policy="runs/sft")
    assert again[0].endswith("--model runs/sft --output_dir runs/sft_2")
    assert "--model runs/sft_2" in again[1]
    assert lines(part_of(row(out_of_reach=0.5, success=0.0, differ=0.0))) == [
        "agentgym headroom --env Maze --horizon 10 --model tiny --num_generations 8",
        "agentgym train grpo --env Maze --horizon 10 --model tiny --num_generations 8",
    ]
    cut = row(cut_turns=0.8, success=0.0, differ=0.0, invalid_actions=0.9)
    words = "--env Maze --model tiny --max_tokens_per_turn 24 --max_steps 4 --output_dir runs/mine"
    assert lines(part_of(cut), policy="runs/mine", words=words) == [
        "agentgym headroom --env Maze --max_tokens_per_turn 192 --model tiny --num_generations 8",
        "agentgym train grpo --env Maze --max_tokens_per_turn 192 --max_steps 4 --output_dir "
        "runs/mine --model tiny --num_generations 8",
    ]
    short = part_of(row(out_of_reach=0.2), {"longest": 30, "horizon": 30})
    for horizon, longer in (("", ""), ("--horizon 30 ", "--horizon 60 ")):
        *_, training = lines(short, words=f"--env Maze {horizon}--max_turns 30")
        assert f"{longer}--max_turns 60 --model" in training and training.count("60") < 3
        assert ("--horizon" in training) is bool(horizon)
    assert lines(part_of(row(success=0.95))) == []
    files = lines(part_of(), words="--config a.yaml --config=b.yaml --env_kwargs '{\"a\": 1}'")
    assert files == [
        "agentgym train grpo --config a.yaml --config b.yaml --env_kwargs '{\"a\": 1}' --model "
        "tiny --num_generations 8"
    ]


def test_the_commands_hold_no_secret_and_no_option_of_a_served_policy() -> None:
    words = "--env openenv:https://me:passw0rd@host/ --hub_token hf_abcdefgh --env_kwargs"
    (training,) = lines(part_of(), words=f"""{words} '{{"api_key": "sk-12345678"}}'""")
    assert not re.search("passw0rd|hf_abcdefgh|sk-12345678", training)
    far = part_of(row(out_of_reach=0.5, success=0.0, differ=0.0))
    served = "--env Maze --policies p.yaml --policy small --max_cost 3 --seed 4 --num_tasks 9"
    assert lines(far, policy="small", words=served) == [
        "agentgym headroom --env Maze --seed 4 --num_tasks 9 --model MODEL --num_generations 8 "
        "--horizon 10",
        "agentgym train grpo --env Maze --model MODEL --num_generations 8 --horizon 10",
    ]
    assert "--model MODEL" in lines(part_of(), words="--env Maze --policy floor:greedy")[0]


def test_of_a_repeated_option_the_last_value_counts_unless_they_add_up() -> None:
    words = "--env A --env B --horizon 3 --horizon B=4 --temperature 1 --temperature=0.5"
    assert lines(part_of(), words=words) == [
        "agentgym train grpo --env A B --horizon 3 B=4 --temperature 0.5 --model tiny "
        "--num_generations 8"
    ]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield


def test_a_training_files_expert_episodes_and_late_starts_are_not_the_policys() -> None:
    own, expert = (Trajectory(ENV_ID, "letters_0", policy=name) for name in ("runs/grpo", "expert"))
    assert own_episodes([own, expert, own]) == [own, own]
    assert own_episodes([expert]) == [expert]
    own.turns.append(Turn("o", "a", 0.0, True, 0.0, trained=False))
    with pytest.raises(UsageError, match="begins with turns of another"):
        own_episodes([own])

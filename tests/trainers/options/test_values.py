"""Options that may differ between environments, and weights of environments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainers.history.views import LastTurns
from trainers.options.arguments import (
    EnvArguments,
    EpisodeArguments,
    RolloutArguments,
    TokenBudgets,
)
from trainers.options.errors import UsageError
from trainers.options.parser import CommandParser
from trainers.options.values import load_attribute, read_weights
from wrappers import FixedHorizon, ScalingInter

CRAFT, GRID = "agentgym/TextCraft-v0", "agentgym/BabyAI-v0"
BOTH = ["--env", "TextCraft", "--env", "BabyAI"]


def parse(*words: str) -> tuple[Any, ...]:
    parser = CommandParser((EnvArguments, RolloutArguments), command="x", description="x")
    return parser.parse(list(words))


def test_one_value_stays_a_plain_one() -> None:
    env, rollout = parse("--env", "TextCraft", "--max_turns", "7", "--horizon", "scaling:2,4@9")
    assert (env.max_turns, env.action_format, env.env_kwargs) == (7, "react", None)
    assert (rollout.horizon, rollout.max_tokens_per_turn) == ("scaling:2,4@9", 256)
    assert rollout.env_schedule(CRAFT) == ScalingInter((2, 4), 9)


def test_a_value_by_name_is_of_one_environment() -> None:
    env, rollout = parse(
        *BOTH,
        *("--max_turns", "TextCraft=30", "--action_format", "babyai=plain"),
        *("--horizon", "TextCraft=scaling:6,12,30@20", "--horizon", "BabyAI=20"),
        *("--max_tokens_per_turn", "64", "--max_tokens_per_turn", "agentgym/BabyAI-v0=16"),
        *("--keep_last_turns", "BabyAI=2", "--max_tokens_per_episode", "TextCraft=900"),
    )
    assert env.max_turns == {"TextCraft": 30}
    assert env.action_format == {"babyai": "plain", "default": "react"}
    assert rollout.env_schedule(CRAFT) == ScalingInter((6, 12, 30), 20)
    assert rollout.env_schedule(GRID) == FixedHorizon(20)
    assert rollout.env_budgets(CRAFT) == TokenBudgets(64, 900, LastTurns())
    assert rollout.env_budgets(GRID) == TokenBudgets(16, None, LastTurns(2))
    assert (rollout.longest_turn, rollout.longest_episode) == (64, None)


def test_the_last_value_counts_and_a_name_may_come_first() -> None:
    env, rollout = parse(*BOTH, "--max_turns", "BabyAI=3", "4", "--max_turns", "5")
    assert env.max_turns == {"BabyAI": 3, "default": 5}


def test_python_and_option_files_give_a_mapping(tmp_path: Path) -> None:
    given = {"TextCraft": 30, "default": 20}
    assert EnvArguments(env=["TextCraft", "BabyAI"], max_turns=given).max_turns == given
    file = tmp_path / "mixed.yaml"
    file.write_text(
        "env: [TextCraft, BabyAI]\nmix: 2,1\nmax_turns: {TextCraft: 30, default: 20}\n"
        "horizon:\n  TextCraft: scaling:6,12@5\n  BabyAI: 20\n"
    )
    env, rollout = parse("--config", str(file))
    assert (env.max_turns, env.weights) == (given, [2, 1])
    assert rollout.env_schedule(GRID) == FixedHorizon(20)
    env, rollout = parse("--config", str(file), "--horizon", "7")
    assert rollout.horizon == "7"


def test_env_kwargs_are_joined() -> None:
    env, _ = parse(
        *BOTH, "--env_kwargs", '{"compat": null}', "--env_kwargs", 'TextCraft={"split": "test"}'
    )
    assert env.extra_kwargs == {"compat": None, "TextCraft": {"split": "test"}}
    assert EnvArguments(env_kwargs='{"a":  1}').env_kwargs == '{"a":  1}'


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max_turns", "TextCarft=3"], "'TextCarft' is no environment of this run; did you mean"),
        (["--max_turns", "SearchQA=3"], "they are TextCraft, BabyAI"),
        (["--max_turns", "TextCraft=0"], "max_turns must be >= 1, got 0"),
        (["--max_turns", "TextCraft=x"], "max_turns must be a whole number, or NAME=NUMBER"),
        (["--action_format", "BabyAI=json"], "action_format must be one of plain, react"),
        (
            ["--horizon", "BabyAI=scaling:3"],
            "the horizon 'scaling:3': the optimizer steps of a",
        ),
        (["--max_tokens_per_turn", '{"BabyAI": null}'], "max_tokens_per_turn must be a whole"),
        (["--max_turns", '{"BabyAI": 3'], "is not JSON"),
        (["--env_kwargs", "BabyAI=3"], "env_kwargs must be a JSON object, got '3'"),
        (["--mix", "2"], "--mix must hold a number above 0 for each --env (TextCraft, BabyAI)"),
        (["--mix", "2,1,1"], "got '2,1,1'"),
        (["--mix", "2,0"], "got '2,0'. Leave out of --env an environment of weight 0"),
        (["--mix", "2,-1"], "got '2,-1'"),
        (["--mix", "2,nan"], "got '2,nan'"),
        (["--mix", "two,one"], "got 'two,one'"),
    ],
)
def test_what_cannot_be_followed_is_a_usage_error(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        parse(*BOTH, *words)
    assert left.value.code == 2
    assert message in capsys.readouterr().err


def test_weights_are_whole_numbers_in_proportion() -> None:
    assert read_weights("mix", None, "abc") == [1, 1, 1]
    assert read_weights("mix", "4, 2,2", "abc") == [2, 1, 1]
    assert read_weights("mix", "0.5,0.3,0.2", "abc") == [5, 3, 2]
    assert read_weights("mix", [0.5, 0.25, 0.25], "abc") == [2, 1, 1]
    assert read_weights("mix", {"c": 1, "b": 1, "a": 2}, "abc") == [2, 1, 1]
    for wrong in ({"a": 1, "b": 2}, {"a": 1, "b": 2, "d": 1}, [1, 2], [1, 2, None], 3):
        with pytest.raises(UsageError, match="`mix` must hold a number above 0 for each `env`"):
            read_weights("mix", wrong, "abc")  # type: ignore[arg-type]
    args = EnvArguments(env=["TextCraft", "BabyAI"], mix={"BabyAI": 1, "TextCraft": 2})
    assert args.weights == [2, 1] and args.mix == "2,1"  # as run.json and the card have it


def test_budgets_of_a_single_value_are_of_every_environment() -> None:
    assert EpisodeArguments(max_tokens_per_episode=900).env_budgets("any") == TokenBudgets(256, 900)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module:Wrapper", "cannot import 'no_such_module'.*PYTHONPATH"),
        ("json:Wrapper", "the module 'json' has no 'Wrapper'; it has "),
        ("Wrapper", "expected module:Class, such as .*, got 'Wrapper'"),
    ],
)
def test_a_class_that_is_not_there_is_message(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_attribute(name)

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec

from agentgym_envs import register_env, registered_ids, resolve_env_id
from agentgym_envs.registration import registry
from agentgym_envs.registration.registry import check_kwargs, short_env_name
from tests.helpers import CountingEnv

GUEST_ID = "tests/Guest-v3"
if GUEST_ID not in gym.registry:
    register_env(GUEST_ID, CountingEnv, split="test")


def test_our_scenarios_are_registered_by_import() -> None:
    assert {"agentgym/BabyAI-v0", "agentgym/TextCraft-v0"} <= set(registered_ids())


def test_one_call_registers_a_user_s_environment_with_its_defaults() -> None:
    assert GUEST_ID in registered_ids()
    assert gym.make(GUEST_ID).unwrapped.split == "test"  # type: ignore[attr-defined]
    assert gym.make(GUEST_ID, split="train").unwrapped.split == "train"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "env_id"),
    [
        ("TextCraft", "agentgym/TextCraft-v0"),
        ("textcraft", "agentgym/TextCraft-v0"),
        ("agentgym/BabyAI-v0", "agentgym/BabyAI-v0"),
        ("agentgym_envs:agentgym/BabyAI-v0", "agentgym/BabyAI-v0"),
        ("guest", GUEST_ID),
        (f"{__name__}:{GUEST_ID}", GUEST_ID),
        ("CartPole-v1", "CartPole-v1"),
    ],
)
def test_short_names_ids_and_modules_resolve(name: str, env_id: str) -> None:
    assert resolve_env_id(name) == env_id


@pytest.mark.parametrize(
    ("env_id", "name"),
    [("agentgym/BabyAI-v0", "BabyAI"), ("CartPole-v1", "CartPole"), ("mylab/Chess", "Chess")],
)
def test_the_short_name_is_the_id_without_namespace_and_version(env_id: str, name: str) -> None:
    assert short_env_name(env_id) == name


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="unknown environment 'chess'.*agentgym/TextCraft-v0"):
        resolve_env_id("chess")


def test_a_missing_module_is_named() -> None:
    with pytest.raises(ValueError, match="cannot import 'no_such_module' .* PYTHONPATH"):
        resolve_env_id("no_such_module:Chess-v0")


def test_a_folder_that_hides_the_package_in_it_is_where_to_change_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "hidden_lamps" / "hidden_lamps"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=r"run the command in that folder \(cd hidden_lamps\)"):
        resolve_env_id("hidden_lamps:mylab/Lamps-v0")


def test_an_unknown_name_says_how_one_of_a_module_is_written() -> None:
    with pytest.raises(ValueError, match="module of yours registers is written module:id, such as"):
        resolve_env_id("chess")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bank.py", "bank.py is a file, .*; write bank:ID with the id that the module registers"),
        ("bank", "bank.py is a file, .*; write bank:ID"),
        ("./games/bank.py", "games/bank.py is a file, .*; write games.bank:ID"),
        ("shop.py", "shop.py is no file here, .*; write shop:ID"),
        ("bank.py:lab/Bank-v0", "name the module as Python imports it"),
    ],
)
def test_a_file_in_place_of_an_id_is_refused_with_the_form(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games").mkdir()
    for place in ("bank.py", "games/bank.py"):
        (tmp_path / place).touch()
    with pytest.raises(ValueError, match=message):
        resolve_env_id(name)


def test_a_folder_that_is_no_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chess_project").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        ValueError, match=r"in the module 'chess_project' \(.*a folder without an _"
    ):
        resolve_env_id("chess_project:mylab/Chess-v0")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("int('x')", "ValueError: invalid literal"),
    ],
)
def test_what_a_module_raises_is_told_with_its_line(
    content: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chess_rules.py").write_text(f"# rules\n{content}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        ValueError, match=rf"'chess_rules' raises {told}.*/chess_rules\.py:2 in <mod"
    ):
        resolve_env_id("chess_rules:mylab/Chess-v0")


@pytest.mark.parametrize(
    ("entry_point", "told"),
    [
        (
            "no_such_module:Chess",
            "cannot import 'no_such_module' of \"tests/Absent-v0's no_such_mod",
        ),
        ("tests.helpers:Chess", "is tests.helpers:Chess, and that module has no 'Chess'"),
    ],
)
def test_a_class_that_is_not_there_is_named(entry_point: str, told: str) -> None:
    register_env("tests/Absent-v0", entry_point)
    try:
        with pytest.raises(ValueError, match=told):
            check_kwargs("tests/Absent-v0", {})
    finally:
        registry.REGISTERED.remove("tests/Absent-v0")
        del gym.registry["tests/Absent-v0"]


def test_a_file_is_no_module() -> None:
    with pytest.raises(
        ValueError, match="as Python imports it, such as mylab.maze and not mylab/m"
    ):
        resolve_env_id("rules/chess.py:Chess")


class Keyed(CountingEnv):
    """Takes an argument of its own, and passes the others on."""

    def __init__(self, key: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)


class Closed(CountingEnv):
    """Passes nothing on."""

    def __init__(self, *, lock: str = "") -> None:
        super().__init__()


@pytest.mark.parametrize(
    ("kind", "kwargs", "told"),
    [
        (Keyed, {"key": "", "split": "test", "max_turns": 3}, None),
        (Keyed, {"kay": ""}, "takes no argument 'kay'; did you mean key?"),
        (Keyed, {"task_set": None}, "takes no argument 'task_set'"),
        (Closed, {"lock": ""}, None),
        (Closed, {"split": "test"}, "takes no argument 'split'; it takes lock"),
        (lambda **kwargs: Keyed(**kwargs), {"anything": 1}, None),
    ],
)
def test_an_argument_that_an_environment_does_not_take_is_named(
    kind: Any, kwargs: dict[str, Any], told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = EnvSpec("tests/Checked-v0", entry_point=kind)
    monkeypatch.setitem(gym.registry, "tests/Checked-v0", spec)
    if told is None:
        check_kwargs("tests/Checked-v0", kwargs)
    else:
        with pytest.raises(ValueError, match=f"tests/Checked-v0 {told}"):
            check_kwargs("tests/Checked-v0", kwargs)

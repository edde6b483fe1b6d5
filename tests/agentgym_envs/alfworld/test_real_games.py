"""The original's games through TextWorld's engine, where it and `alfworld` are installed.

The games are houses of ours, written as game files with the original's domain and grammar.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from agentgym_envs.alfworld.env import ALFWorldEnv
from agentgym_envs.alfworld.tasks import SUBTASKS, alfworld_tasks
from agentgym_envs.checking import check_text_env
from agentgym_envs.errors import EnvFailure, NoExpert
from tests.agentgym_envs.alfworld.real_engine import data_folder, write_game

pytestmark = [
    pytest.mark.skipif(
        data_folder() is None,
        reason="needs TextWorld's engine: make test-partner NAME=textworld",
    ),
    pytest.mark.slow,
]
TASKS = alfworld_tasks().games
SMALL = [n for n in range(2420, 2620) if TASKS[n].room in ("bedroom", "bathroom")]
"""AgentGym's tests in rooms with few things, whose games start fast."""


def first_of(subtask: str) -> int:
    rooms = SMALL if subtask in ("Look", "Pick", "Pick2", "Clean") else range(2420, 2620)
    return next(number for number in rooms if TASKS[number].subtask == subtask)


@pytest.mark.parametrize("subtask", SUBTASKS.values())
def test_a_game_is_played_as_the_house_it_was_made_of(subtask: str, tmp_path: Path) -> None:
    number = first_of(subtask)
    write_game(tmp_path, number)
    ours, real = ALFWorldEnv(max_turns=40), ALFWorldEnv(max_turns=40, games_dir=tmp_path)
    task_id = f"alfworld_{number}"
    observation, info = ours.reset(options={"task_id": task_id})
    assert real.reset(options={"task_id": task_id})[0] == observation
    rng = random.Random(number)
    while True:
        assert real.available_actions() == info["available_actions"]
        expert = next(ours.expert(), "look")
        assert next(real.expert(), "look") == expert
        wrong = f"take mug {rng.randrange(9)}"
        action = rng.choice([expert, expert, rng.choice(info["available_actions"]), wrong])
        observation, reward, terminated, truncated, info = ours.step(action)
        step = real.step(action)
        assert step[:4] == (observation, reward, terminated, truncated), action
        assert {**step[4], "source": "", "split": ""} == {**info, "source": "", "split": ""}
        if terminated or truncated:
            break
    assert real.source.startswith("games_dir:") and step[4]["split"] == "valid_train"


@pytest.mark.timeout(600)
def test_the_contract_is_kept(tmp_path: Path) -> None:
    for name in ("train", "valid_seen", "valid_unseen"):
        write_game(tmp_path, first_of("Pick"), folder=name)
    check_text_env("ALFWorld", num_tasks=1, games_dir=str(tmp_path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a game to put a thing somewhere."""
    root = tmp_path_factory.mktemp("games") / "json_2.1.1"
    write_game(root, first_of("Pick"))
    return root


def test_the_planner_knows_the_way(folder: Path) -> None:
    env = ALFWorldEnv(games_dir=folder, split="valid_train")
    env.reset()
    env.step(next(env.expert()))
    info = {}
    for action in env.expert(privileged=True):
        *_, info = env.step(action)
        assert info["is_valid_action"]
    assert info["success"]
    ours = ALFWorldEnv()
    ours.reset()
    with pytest.raises(NoExpert):
        next(ours.expert(privileged=True))


def test_a_copy_goes_on_where_the_game_stands(folder: Path) -> None:
    env = ALFWorldEnv(games_dir=folder, split="valid_train")
    env.reset()
    for _ in range(3):
        env.step(next(env.expert()))
    other = copy.deepcopy(env)
    action = next(env.expert())
    assert other.step(action)[:4] == env.step(action)[:4]


def test_the_original_s_wording_is_given_under_compat(folder: Path) -> None:
    env = ALFWorldEnv(games_dir=folder, split="valid_train", compat="agentgym")
    assert not env.reset()[0].startswith("-=")
    puts = []
    for action in env.expert():
        observation, *_, info = env.step(action)
        assert info["is_valid_action"] and not observation.startswith("You arrive")
        assert "help" not in info["available_actions"]
        puts += [(action, observation)] if action.startswith("put ") else []
    assert info["success"]
    ((action, observation),) = puts
    thing, _, place = action.removeprefix("put ").partition(" in/on ")
    assert observation == f"You put the {thing} in/on the {place}."


def older(text: str) -> str:
    """Return a grammar in the words of version 0.3.3."""
    text = text.replace('"move {o} to {r}"', '"put {o} in/on {r}"')
    text = text.replace("You move the {o.name} to the", "You put the {o.name} in/on the")
    return text.replace("You arrive at {r.name}.", "You arrive at loc 7.")


def test_older_games_are_played_in_the_wording_of_today(folder: Path, tmp_path: Path) -> None:
    write_game(tmp_path, first_of("Pick"), edit=older)
    envs = [ALFWorldEnv(games_dir=root, split="valid_train") for root in (folder, tmp_path)]
    shown = [[env.reset()[0]] for env in envs]
    for observations, env in zip(shown, envs, strict=True):
        for action in env.expert():
            observations += [action, *map(str, env.step(action)[:2]), str(env.house.commands)]
    assert shown[0] == shown[1]
    assert any("You move the " in text for text in shown[0])


def test_places_that_share_a_spot_are_reached_from_one_another(tmp_path: Path) -> None:
    """As in the original, where the walk to one place leads to its neighbour too."""
    number = first_of("Pick2")
    write_game(tmp_path, number, edit=lambda text: text.replace(" spot_1)", " spot_0)"))
    env = ALFWorldEnv(games_dir=tmp_path, max_turns=100)
    env.reset(options={"task_id": number})
    first, second, third = env.house.places[:3]
    env.step(f"go to {first.name}")
    assert env.house.is_at(second) and not env.house.is_at(third)
    assert env.step(f"go to {second.name}")[0].endswith(f"You are at {second.name} already.")
    for action in env.expert():
        *_, info = env.step(action)
        assert info["is_valid_action"]
    assert info["success"]


@pytest.mark.parametrize(
    "damage", [lambda text: text[: len(text) // 2], lambda text: text.replace("(:goal", "(:gaol")]
)
def test_a_damaged_game_is_a_failure_and_the_next_one_plays(
    damage: Callable[[str], str], tmp_path: Path
) -> None:
    healthy, other = first_of("Pick"), first_of("Look")
    write_game(tmp_path, healthy)
    path = write_game(tmp_path, other)
    env = ALFWorldEnv(games_dir=tmp_path)
    path.write_text(damage(path.read_text("utf-8")), "utf-8")
    with pytest.raises(EnvFailure, match="TextWorld's engine broke when loading"):
        env.reset(options={"task_id": other})
    assert env.reset(options={"task_id": healthy})[0]
    assert env.step(next(env.expert()))[4]["is_valid_action"]


def test_things_are_called_as_alfworld_calls_them(folder: Path) -> None:
    from alfworld.agents.utils.misc import Demangler

    env = ALFWorldEnv(games_dir=folder, split="valid_train")
    env.reset()
    infos = env._engine._env._entity_infos
    names = Demangler(game_infos=infos)
    for identity, info in infos.items():
        assert info.name == names.demangle_alfred_name(identity).strip()

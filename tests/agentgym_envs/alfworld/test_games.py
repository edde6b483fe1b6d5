"""A folder of the original's games as tasks; what the engine plays is `test_real_games.py`'s."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from agentgym_envs.alfworld.env import ALFWorldEnv
from agentgym_envs.alfworld.games import Games, read_games
from agentgym_envs.alfworld.tasks import alfworld_tasks
from agentgym_envs.errors import MissingExtra

MUG = "pick_and_place_simple-Mug-None-Desk-308/trial_T1"
LAMP = "look_at_obj_in_light-Book-None-DeskLamp-308/trial_T2"


def write(root: Path, folder: str, game: str, *, solvable: bool | None = True) -> None:
    path = root / folder / game / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"grammar": folder, "solvable": solvable}), "utf-8")


def fresh(root: Path) -> Games:
    """Return the games of a folder that was changed since it was read."""
    from agentgym_envs.alfworld import games

    games._read.cache_clear()
    return read_games(root)


def test_folders_are_splits_and_numbers_follow_the_paths(tmp_path: Path) -> None:
    for folder in ("train", "valid_seen", "valid_unseen"):
        write(tmp_path, folder, MUG)
        write(tmp_path, folder, LAMP)
    tasks = read_games(tmp_path).tasks
    assert {split: list(tasks.numbers(split)) for split in tasks.splits} == {
        "train": [100_000, 100_001],
        "validation": [200_000, 200_001],
        "test": [300_000, 300_001],
        "valid_train": [],
    }
    assert tasks.games[300_000].game == LAMP and tasks.games[300_001].game == MUG
    assert tasks.describe(300_000) == ("Look", "test")


def test_agentgym_s_games_keep_its_numbers(tmp_path: Path) -> None:
    games = alfworld_tasks().games
    write(tmp_path, "train", games[17].game)
    write(tmp_path, "valid_train", games[2420].game)
    write(tmp_path, "valid_seen", games[18].game)  # AgentGym reads it from train
    tasks = read_games(tmp_path).tasks
    assert list(tasks.numbers("train")) == [17]
    assert list(tasks.numbers("valid_train")) == [2420]
    assert list(tasks.numbers("validation")) == [200_000]
    assert {number: tasks.games[number] for number in (17, 2420)} == {
        number: games[number] for number in (17, 2420)
    }


def test_a_split_that_lacks_games_moves_no_number_of_another(tmp_path: Path) -> None:
    write(tmp_path, "valid_unseen", MUG)
    before = read_games(tmp_path)
    write(tmp_path, "train", LAMP)
    after = fresh(tmp_path)
    assert after.paths[300_000] == before.paths[300_000]
    assert after.source != before.source


def test_the_source_changes_with_a_game_s_content(tmp_path: Path) -> None:
    write(tmp_path / "json_2.1.1", "train", MUG)
    before = read_games(tmp_path)
    assert before.source == read_games(tmp_path / "json_2.1.1").source
    path = before.paths[100_000]
    path.write_text(path.read_text().replace("train", "other"))
    after = fresh(tmp_path).source
    assert after != before.source and after.startswith("games_dir:json_2.1.1@")


def test_games_that_the_original_leaves_out_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "train", MUG)
    write(tmp_path, "train", "pick_and_place_with_movable_recep-Mug-Pan-Desk-308/trial_T3")
    write(tmp_path, "train", "pick_and_place_simple-AppleSliced-None-Fridge-1/trial_T4")
    write(tmp_path, "train", LAMP, solvable=False)
    write(tmp_path, "train", LAMP.replace("T2", "T5"), solvable=None)  # nobody has solved it yet
    tasks = read_games(tmp_path).tasks
    assert [task.game for task in tasks.games.values()] == [MUG]


def test_a_folder_without_games_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no game; it must be the folder json_2\.1\.1"):
        read_games(tmp_path)


@pytest.mark.skipif(find_spec("textworld") is not None, reason="the engine is installed")
def test_without_the_engine_the_extra_is_named(tmp_path: Path) -> None:
    write(tmp_path, "train", MUG)
    with pytest.raises(MissingExtra, match=r'pip install "agentgym-envs\[alfworld\]"'):
        ALFWorldEnv(games_dir=tmp_path)

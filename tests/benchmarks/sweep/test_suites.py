import json
from dataclasses import replace

import gymnasium as gym
import pytest

from benchmarks.sweep.suites import PAPER_PANELS, SUITES, TEXTCRAFT, find_suite, task_digest


@pytest.mark.parametrize("panel", PAPER_PANELS, ids=lambda panel: panel.scenario)
def test_a_panel_has_the_papers_sizes_and_the_pinned_tasks(panel):
    tasks = panel.tasks()
    assert {subtask: len(ids) for subtask, ids in tasks.items()} == panel.sizes
    assert task_digest(tasks) == panel.digest


def test_the_suite_of_the_paper_has_27_subtasks_and_840_tasks():
    panels = find_suite("agentgym-rl-27").panels
    assert sum(len(panel.sizes) for panel in panels) == 27
    assert sum(sum(panel.sizes.values()) for panel in panels) == 840


@pytest.mark.parametrize("panel", find_suite("quick").panels, ids=lambda panel: panel.scenario)
def test_the_quick_suite_is_a_part_of_the_papers_panels(panel):
    tasks = panel.tasks()
    whole = next(p for p in PAPER_PANELS if p.env_id == panel.env_id).tasks()
    assert set(tasks) == set(whole)
    assert all(set(ids) < set(whole[subtask]) for subtask, ids in tasks.items())
    assert {subtask: len(ids) for subtask, ids in tasks.items()} == panel.sizes


def test_tasks_that_are_not_the_pinned_ones_are_refused():
    with pytest.raises(ValueError, match="pin it anew"):
        replace(TEXTCRAFT, digest="0" * 16).tasks()


@pytest.mark.parametrize("panel", PAPER_PANELS, ids=lambda panel: panel.scenario)
def test_the_originals_protocol_plays_the_pinned_tasks(panel):
    assert panel.tasks({"compat": "agentgym"}) == panel.tasks()


def test_arguments_that_bring_other_data_are_refused(tmp_path):
    recipe = {"type": "crafting_shapeless", "ingredients": ["log"], "result": {"id": "plank"}}
    (tmp_path / "plank.json").write_text(json.dumps(recipe))
    with pytest.raises(ValueError, match="'recipes_dir'.*'minecraft-.*compat.*agentgym eval"):
        TEXTCRAFT.tasks({"recipes_dir": str(tmp_path)})


def test_an_argument_that_a_panel_does_not_take_is_refused():
    with pytest.raises(ValueError, match="fit every environment of the suite.*'top_k'"):
        TEXTCRAFT.tasks({"top_k": 5})


def test_embedded_panels_stand_beside_no_number_of_the_paper():
    for suite in SUITES.values():
        assert all(panel.paper is None for panel in suite.panels if panel.label)


@pytest.mark.parametrize(
    "panel", [panel for panel in PAPER_PANELS if panel.paper], ids=lambda panel: panel.scenario
)
def test_the_papers_turn_limit_is_the_environments_own(panel):
    env = gym.make(panel.env_id, disable_env_checker=True)
    assert panel.paper.max_turns == env.unwrapped.default_max_turns
    env.close()


def test_an_unknown_suite_is_refused_by_name():
    with pytest.raises(ValueError, match="'nix'.*agentgym-rl-27"):
        find_suite("nix")

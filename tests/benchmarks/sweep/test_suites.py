import json
from dataclasses import replace

import gymnasium as gym
import pytest

from benchmarks.report.published import published_panels
from benchmarks.sweep.suite_files import find_suite, suite_names
from benchmarks.sweep.suites import task_digest

WHOLE = {
    "agentgym/WebArena-v0": ("paper_test", "0cf7b0d77f5e1c3a", (15, 15, 10, 5, 5)),
    "agentgym/SearchQA-v0": ("paper_test", "69c071b987fc8897", (50, 50, 50, 50, 50, 100, 50)),
    "agentgym/TextCraft-v0": ("test", "b5ffee9e1d35711a", (31, 41, 25, 3)),
    "agentgym/BabyAI-v0": ("test", "39377b54fc618b54", (55, 15, 5, 5, 5, 5)),
    "agentgym/SciWorld-v0": ("paper_test", "2d425d72639b9bd8", (53, 83, 44, 5, 15)),
}
"""Of each panel the split, the digest of its tasks and its subtasks' sizes, as ever."""

SLICES = {
    "agentgym/WebArena-v0": ("6832a09a61e22e34", (3, 3, 2, 1, 1)),
    "agentgym/SearchQA-v0": ("f65c2ceb92dfc14c", (5, 5, 5, 5, 5, 10, 5)),
    "agentgym/TextCraft-v0": ("aba11057f4722d30", (7, 9, 5, 1)),
    "agentgym/BabyAI-v0": ("3b13978e1fee11d5", (11, 3, 1, 1, 1, 1)),
    "agentgym/SciWorld-v0": ("2232ec8076bc7490", (3, 5, 3, 1, 1)),
}

AGENTGYM = {
    "WebShop": ("f235ac7cbaa4077f", 150, 10),
    "WebArena": ("05a79138b3bda1de", 20, 25),
    "Maze": ("1cd4fe135c0941a1", 25, None),
    "Wordle": ("890a543f8a0d2c20", 25, None),
    "ALFWorld": ("f94ee6d7610f2daf", 200, None),
    "SciWorld": ("2d425d72639b9bd8", 200, None),
    "BabyAI": ("39377b54fc618b54", 90, None),
    "TextCraft": ("b5ffee9e1d35711a", 100, 20),
    "SQL": ("c64198887cef0b91", 200, None),
}
"""Of each row of AgentGym's table that is here the digest, how many tasks, and its turns where the
environment's own are others."""

PAPER_PANELS = find_suite("agentgym-rl-27").panels
(TEXTCRAFT,) = find_suite("textcraft").panels


@pytest.mark.parametrize("panel", PAPER_PANELS, ids=lambda panel: panel.scenario)
def test_a_panel_has_the_papers_sizes_and_the_tasks_it_always_had(panel):
    split, digest, sizes = WHOLE[panel.env_id]
    tasks = panel.tasks()
    assert tuple(map(len, tasks.values())) == sizes
    assert (panel.split, task_digest(tasks), panel.digest) == (split, digest, digest)


@pytest.mark.parametrize("panel", find_suite("quick").panels, ids=lambda panel: panel.scenario)
def test_the_quick_suite_has_the_tasks_it_always_had_all_of_the_papers_panels(panel):
    tasks = panel.tasks()
    assert (task_digest(tasks), tuple(map(len, tasks.values()))) == SLICES[panel.env_id]
    assert panel.digest == SLICES[panel.env_id][0]
    whole = next(p for p in PAPER_PANELS if p.env_id == panel.env_id).tasks()
    assert list(tasks) == list(whole)
    assert all(set(ids) < set(whole[subtask]) for subtask, ids in tasks.items())


@pytest.mark.parametrize(
    "panel", find_suite("agentgym-14").panels, ids=lambda panel: panel.scenario
)
def test_a_row_of_agentgym_s_table_has_the_tasks_it_always_had(panel):
    if panel.scenario == "WebShop":
        pytest.importorskip("rapidfuzz")
    digest, num_tasks, max_turns = AGENTGYM[panel.scenario]
    tasks = panel.tasks()
    assert (task_digest(tasks), panel.digest) == (digest, digest)
    assert (sum(map(len, tasks.values())), panel.max_turns) == (num_tasks, max_turns)


def test_the_rows_of_agentgym_s_table_are_those_that_need_no_account():
    assert [panel.scenario for panel in find_suite("agentgym-14").panels] == list(AGENTGYM)


def test_the_suite_of_the_paper_has_27_subtasks_and_840_tasks():
    assert sum(len(panel.sizes) for panel in PAPER_PANELS) == 27
    assert sum(sum(panel.sizes.values()) for panel in PAPER_PANELS) == 840


def test_the_shipped_suites_are_the_papers_panels_together_and_one_by_one():
    single = [find_suite(panel.scenario.lower()).panels for panel in PAPER_PANELS]
    assert tuple(panel for panels in single for panel in panels) == PAPER_PANELS
    assert {panel.env_id for panel in PAPER_PANELS} == set(WHOLE) == set(SLICES)
    names = [panel.scenario.lower() for panel in PAPER_PANELS]
    assert set(suite_names()) == {
        "agentgym-rl-27",
        "agentgym-14",
        "quick",
        "alfworld-hard",
        "babyai-hard",
        "long",
        "maze-hard",
        *names,
    }


@pytest.mark.parametrize("panel", find_suite("long").panels, ids=lambda panel: panel.scenario)
def test_the_long_panels_hold_their_pinned_tasks_with_turns_to_spare(panel):
    tasks = panel.tasks()
    assert {subtask: len(ids) for subtask, ids in tasks.items()} == dict(panel.sizes)
    assert panel.digest == task_digest(tasks)
    assert (panel.max_turns or panel.make().max_turns) >= 50


def test_the_harder_panels_of_babyai_have_its_tasks():
    (panel,) = find_suite("babyai").panels
    for harder in find_suite("babyai-hard").panels:
        assert harder.tasks() == panel.tasks()
        assert harder.env_kwargs


def test_the_harder_panels_of_alfworld_are_whole_splits_in_12_turns():
    for harder in find_suite("alfworld-hard").panels:
        env = harder.make()
        tasks = harder.tasks()
        listed = sorted(task_id for ids in tasks.values() for task_id in ids)
        assert listed == sorted(env.unwrapped.task_ids(harder.split))
        assert (harder.max_turns, harder.digest) == (12, task_digest(tasks))


def test_tasks_that_are_not_the_pinned_ones_are_refused():
    with pytest.raises(ValueError, match="pin this digest"):
        replace(TEXTCRAFT, digest="0" * 16).tasks()


@pytest.mark.parametrize("panel", PAPER_PANELS, ids=lambda panel: panel.scenario)
def test_the_originals_protocol_plays_the_pinned_tasks(panel):
    assert panel.tasks({"compat": "agentgym"}) == panel.tasks()


def test_arguments_that_bring_other_data_are_refused(tmp_path):
    recipe = {"type": "crafting_shapeless", "ingredients": ["log"], "result": {"id": "plank"}}
    (tmp_path / "plank.json").write_text(json.dumps(recipe))
    with pytest.raises(ValueError, match="'recipes_dir'.*'minecraft-.*compat.*suite file"):
        TEXTCRAFT.tasks({"recipes_dir": str(tmp_path)})


def test_an_argument_that_a_panel_does_not_take_is_refused():
    with pytest.raises(ValueError, match="fit every environment of the suite.*'top_k'"):
        TEXTCRAFT.tasks({"top_k": 5})


@pytest.mark.parametrize(
    "panel", [p for p in published_panels() if p.success], ids=lambda panel: panel.env_id
)
def test_the_papers_turn_limit_is_the_environments_own(panel):
    env = gym.make(panel.env_id, disable_env_checker=True)
    assert panel.max_turns == env.unwrapped.default_max_turns
    env.close()


def test_the_papers_scores_are_for_the_pinned_panels_and_none_for_embedded_data():
    assert {p.env_id: p.digest for p in published_panels()} == {
        panel.env_id: panel.digest for panel in PAPER_PANELS
    }
    assert all(bool(panel.data) != bool(panel.success) for panel in published_panels())


def test_an_unknown_suite_is_refused_by_name():
    with pytest.raises(ValueError, match="'nix'.*agentgym-rl-27.*or a YAML file"):
        find_suite("nix")
    with pytest.raises(ValueError, match="'quik'; did you mean quick"):
        find_suite("quik")

from dataclasses import replace

import pytest

from benchmarks.suites import PAPER_PANELS, SUITES, TEXTCRAFT, find_suite, task_digest


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


def test_embedded_panels_stand_beside_no_number_of_the_paper():
    for suite in SUITES.values():
        assert all(panel.paper is None for panel in suite.panels if panel.label)


def test_an_unknown_suite_is_refused_by_name():
    with pytest.raises(ValueError, match="'nix'.*agentgym-rl-27"):
        find_suite("nix")

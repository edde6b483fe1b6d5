from dataclasses import replace

import pytest

from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.report.page import write_report
from benchmarks.report.results import Setting, SweepResults
from benchmarks.report.tables import (
    METRICS,
    MOST_PAIRS,
    detail_table,
    pair_note,
    pair_table,
    panel_table,
    points,
    summary_table,
    three_digits,
)
from trainers.evaluation.intervals import Estimate
from trainers.evaluation.tally import Tally

ENV_ID = "agentgym/TextCraft-v0"


def setting(policy, max_turns, *, tasks=("t_1", "t_2"), env_id=ENV_ID):
    found = Setting(policy, env_id, "test", max_turns, digest="")
    for task in tasks:
        found.whole.add(Trajectory(env_id, task, status="terminated", success=True))
    return found


def settings(num_policies, limits):
    """Return settings in the order of `read_sweep`."""
    return [setting(f"p{n}", limit) for limit in limits for n in range(num_policies)]


def test_the_share_that_was_cut_short_names_its_causes():
    found = setting("p", 5)
    assert detail_table([found])[1][METRICS.index("cut short") + 1] == "0.0%"
    for task, cause in (("t_3", "max_turns"), ("t_4", "max_turns"), ("t_5", "token_budget")):
        found.whole.add(Trajectory(ENV_ID, task, status="truncated", truncated_by=cause))
        last = detail_table([found])[1][METRICS.index("cut short") + 1]
        if task == "t_3":
            assert last == "33.3%: turn limit"
    assert last == "60.0%: turn limit 40.0%, out of tokens 20.0%"


def maze_setting(policy, max_turns):
    found = Setting(policy, "agentgym/Maze-v0", "rooms", max_turns, digest="")
    for number in range(7000, 7200):
        episode = Trajectory("agentgym/Maze-v0", f"maze_{number}", source="maze v1")
        found.whole.add(replace(episode, status="terminated", success=True))
    return found


def test_the_strongest_baseline_stands_below_the_policies_it_was_measured_like():
    played = [maze_setting("p0", 60), maze_setting("p0", 7)]
    *_, last = panel_table(played)
    label = "strongest baseline, 60 turns"
    assert last == [f"{label}: baseline:nearest_unvisited", "47.5"]
    assert summary_table(played)[3:] == [
        [label, "47.5% (40.7 to 54.4), baseline:nearest_unvisited"]
    ]
    altered = replace(played[0], is_altered=True)
    assert len(panel_table([altered])) == 2


def test_pairs_of_equal_turn_limits_stand_apart_from_the_others():
    rows = pair_table(settings(2, [5, 10]))
    assert [row[:2] for row in rows[1:]] == [
        ["p0, 5 turns", "p1, 5 turns"],
        ["p0, 10 turns", "p1, 10 turns"],
    ]
    rows = pair_table(settings(2, [5, 10]), equal_limits=False)
    assert [row[:2] for row in rows[1:]] == [
        ["p0, 5 turns", "p0, 10 turns"],
        ["p0, 5 turns", "p1, 10 turns"],
        ["p1, 5 turns", "p0, 10 turns"],
        ["p1, 5 turns", "p1, 10 turns"],
    ]
    assert pair_note(settings(2, [5, 10])) == ""


def test_no_zero_has_a_minus():
    assert points(Estimate(-1e-9, -0.25, -0.0)) == "+0.0 points (-25.0 to +0.0)"


def test_pairs_that_are_left_out_are_counted():
    many = settings(4, [5, 10, 20])  # 66 pairs, 18 of equal limits
    assert len(pair_table(many)) == 1 + 18 and pair_note(many) == ""
    assert len(pair_table(many, equal_limits=False)) == 1 + MOST_PAIRS
    assert pair_note(many, equal_limits=False).startswith("18 more pairs are not listed")
    exactly_one_more = [setting(f"p{n}", 5) for n in range(8)] + [
        setting(f"q{n}", 5, tasks=["t_9"]) for n in range(3)
    ]
    assert pair_note(exactly_one_more).startswith("1 more pair is not listed")


def test_settings_that_share_no_task_are_no_pair():
    apart = [setting("p", 5, tasks=["t_1"]), setting("q", 5, tasks=["t_2"])]
    elsewhere = [setting("p", 5), setting("q", 5, env_id="mine/TextCraft-v0")]
    assert pair_table(apart) is None
    assert pair_table(elsewhere) is None
    assert pair_table([setting("p", 5)]) is None


def test_a_report_says_below_its_table_what_it_left_out(tmp_path):
    write_report(SweepResults(tmp_path, settings(4, [5, 10, 20]), []), tmp_path)
    text = (tmp_path / "report.md").read_text()
    table, _, rest = text.partition("18 more pairs are not listed")
    assert table.rstrip().endswith("|")
    assert "`agentgym compare`" in rest.splitlines()[0]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.0, "0"), (0.0000123, "0.0000123"), (0.00468, "0.00468"), (0.02, "0.0200"), (1.5, "1.50"),
        (12.34, "12.3"), (123.4, "123"), (12345.6, "12346"),
    ],
)  # fmt: skip
def test_seconds_have_three_significant_digits(value, told):
    assert three_digits(value) == told


def test_a_column_says_where_policies_played_other_numbers_of_its_tasks():
    found = [setting("p", None), setting("q", None)]
    for one, num_tasks in zip(found, (1, 3), strict=True):
        for number in range(num_tasks):
            one.subtasks.setdefault("easy", Tally()).add(
                Trajectory(ENV_ID, f"t_{number}", status="terminated")
            )
    assert panel_table(found)[0] == ["policy", "easy (1 to 3)", "overall"]
    assert panel_table(found[:1])[0] == ["policy", "easy (1)", "overall"]


def test_no_gain_is_below_zero_by_its_sign_alone():
    assert points(Estimate(-0.0833, -0.25, -0.0)) == "-8.3 points (-25.0 to +0.0)"
    assert points(Estimate(-0.0001, -0.0004, 0.0)) == "+0.0 points (+0.0 to +0.0)"

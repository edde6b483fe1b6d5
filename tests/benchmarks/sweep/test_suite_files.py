import json
import re
import sys
from collections import Counter

import pytest

from agentgym_envs.babyai.tasks import BabyAITasks
from agentgym_envs.registration import registry
from benchmarks.report.results import read_sweep
from benchmarks.sweep import command
from benchmarks.sweep.listing import main as list_suites
from benchmarks.sweep.plan import grid
from benchmarks.sweep.store import SweepFolder
from benchmarks.sweep.suite_files import find_suite, read_suite, suite_names
from benchmarks.sweep.suites import task_digest
from tests.benchmarks.sweep.samples import cell, episodes_of, in_this_process
from tests.helpers import COUNTING_ID, register_helpers

register_helpers()

MODULE = """
from agentgym_envs import register_env
from tests.helpers import CountingEnv


class Renamed(CountingEnv):
    pass


register_env("mylab/Tally-v0", Renamed)
"""


def written(folder, text):
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def panels(folder, text):
    return read_suite(written(folder, text)).panels


@pytest.fixture
def tally_module(tmp_path, monkeypatch):
    """A module of a user's own that registers an environment when it is imported."""
    (tmp_path / "tally_env.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "tally_env:mylab/Tally-v0"
    sys.modules.pop("tally_env", None)
    if "mylab/Tally-v0" in registry.REGISTERED:  # other tests must not see it
        registry.REGISTERED.remove("mylab/Tally-v0")
        del registry.gym.registry["mylab/Tally-v0"]


def test_a_panel_is_a_whole_split_unless_the_file_says_more(tmp_path):
    (panel,) = panels(tmp_path, f"panels:\n  - env: {COUNTING_ID}\n")
    tasks = panel.tasks()
    assert {subtask: len(ids) for subtask, ids in tasks.items()} == {"small": 3, "large": 7}
    assert (panel.scenario, panel.split, panel.max_turns) == ("Counting", "test", None)


def test_some_tasks_of_a_subtask_are_of_all_its_kinds(tmp_path):
    """Its eleven levels stand in turns: every eleventh task is of the first level."""
    text = "panels:\n  - {env: BabyAI, split: train, subtasks: {GoTo: 45}}\n"
    (panel,) = panels(tmp_path, text)
    levels = Counter(map(BabyAITasks().task_kind, panel.tasks()["GoTo"]))
    assert len(levels) == 11 and set(levels.values()) == {4, 5}


def test_tasks_every_and_subtasks_choose_in_this_order(tmp_path):
    text = f"""
description: some of them
panels:
  - env: {COUNTING_ID}
    split: train
    name: some
    tasks: [large]
    every: 3
    subtasks: {{large: 5}}
    max_turns: 7
"""
    (panel,) = panels(tmp_path, text)
    # 10, 13, ..., 37 are every third of the thirty; five of these ten are spread over them.
    assert panel.tasks() == {"large": tuple(f"counting_{n}" for n in (10, 16, 22, 28, 34))}
    assert (panel.scenario, panel.max_turns) == ("some", 7)
    listed = text.replace("[large]", "[counting_12, 11, small]").replace("every: 3", "every: 1")
    (panel,) = panels(tmp_path, listed.replace("{large: 5}", "[large]"))
    assert panel.tasks() == {"large": ("counting_11", "counting_12")}


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("panels: [", None, "is not YAML"),
        ("", None, "is empty; a suite has the key panels"),
        ("- env: TextCraft", 1, "a suite must be a mapping with the keys description, panels"),
        ("description: x", 1, "a suite needs the key 'panels'"),
        ("panels: TextCraft", 1, "panels must be a list"),
        ("panels: []", 1, "panels must be a list"),
        ("\npanel:\n- env: TextCraft", 2, "no key 'panel'; did you mean panels?"),
        ("panels:\n- TextCraft", 2, "a panel must be a mapping"),
        ("panels:\n- split: test", 2, "a panel needs the key 'env'"),
        (
            "panels:\n- env: TextCarft",
            2,
            "env: unknown environment 'TextCarft'; did you mean TextCraft?",
        ),
        ("panels:\n- env: nix:x/Y-v0", 2, "env: cannot import 'nix'"),
        ("panels:\n- env: TextCraft\n  splitt: x", 3, "no key 'splitt'; did you mean split?"),
        ("panels:\n- env: TextCraft\n  colour: x", 3, "no key 'colour'; allowed: env, name, split"),
        ("panels:\n- env: TextCraft\n  env: BabyAI", 3, "the key 'env' is there twice"),
        (
            "panels:\n- env: TextCraft\n  every: 0",
            3,
            "every must be a whole number from 1, got '0'",
        ),
        ("panels:\n- env: TextCraft\n  max_turns: ten", 3, "whole number from 1, got 'ten'"),
        ("panels:\n- env: TextCraft\n  max_turns: yes", 3, "whole number from 1, got 'yes'"),
        ("panels:\n- env: TextCraft\n  subtasks: {depth 1: x}", 3, "such as {depth 1: 10}"),
        ("panels:\n- env: TextCraft\n  tasks: {a: b}", 3, "tasks must be subtasks, depths or task"),
        ("panels:\n- env: TextCraft\n  env_kwargs: [a]", 3, "env_kwargs must be arguments"),
        (
            "panels:\n- env: TextCraft\n  env_kwargs: {max_turns: 3}",
            3,
            "without max_turns, which is a key of the panel",
        ),
        (
            "panels:\n- env: TextCraft\n  env_kwargs: {since: 2026-01-01}",
            3,
            "as JSON has them",
        ),
        ("panels:\n- env: TextCraft\n  digest: abc", 3, "16 hexadecimal digits, got 'abc'"),
        (
            "panels:\n- env: TextCraft\n- env: textcraft",
            3,
            "line 2 is called 'TextCraft' too; give one of them a name of its own",
        ),
    ],
)
def test_a_mistake_is_told_with_its_file_its_line_and_what_is_allowed(tmp_path, text, line, told):
    path = written(tmp_path, text)
    with pytest.raises(ValueError) as refused:
        find_suite(str(path))
    message = str(refused.value)
    assert message.startswith(f"{path}, line {line}: " if line else str(path))
    assert told in message


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("split: nix", "unknown split 'nix' of counting; allowed: train, validation, test"),
        ("tasks: [huge]", "['huge'] match nothing in split 'test'"),
        (
            "subtasks: {small: 9}",
            "9 tasks of the subtask 'small' are requested; available in split",
        ),
        ("subtasks: [huge]", "all tasks of the subtask 'huge' are requested"),
        ("digest: 0123456789012345", "not the pinned ones: digest"),
        ("env_kwargs: {colour: red}", "env_kwargs must fit"),
    ],
)
def test_tasks_that_are_not_there_are_told_with_the_panels_line(tmp_path, entry, told):
    path = written(tmp_path, f"panels:\n  - env: {COUNTING_ID}\n    {entry}\n")
    with pytest.raises(ValueError) as refused:
        find_suite(str(path)).panels[0].tasks()
    assert str(refused.value).startswith(f"{path}, line 2: ")
    assert told in str(refused.value)


def test_the_digest_that_the_listing_prints_pins_the_tasks(tmp_path, capsys):
    path = written(tmp_path, f"panels:\n  - env: {COUNTING_ID}\n    every: 2\n")
    assert list_suites([str(path)]) == 0
    out = capsys.readouterr().out
    (digest,) = re.findall(r"\b[0-9a-f]{16}\b", out)
    assert "small 2, large 4" in out and "counting/1" in out
    pinned = written(tmp_path, f"{path.read_text()}    digest: {digest}\n")
    assert task_digest(read_suite(pinned).panels[0].tasks()) == digest


def test_the_listing_has_every_shipped_suite_with_its_tasks(capsys):
    assert list_suites([]) == 0
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in capsys.readouterr().out.splitlines()[2:]
    ]
    assert [row[0] for row in rows] == suite_names()
    assert [row[1] for row in rows[:3]] == ["840", "1010", "103"]
    assert "TextCraft 100" in rows[0][2]


def test_a_limit_of_the_panel_is_the_default_and_the_command_lines_comes_first(tmp_path):
    text = f"panels:\n  - env: {COUNTING_ID}\n    max_turns: 7\n  - env: TextCraft\n"

    def limits(*turns):
        suite = read_suite(written(tmp_path, text))
        cells = grid(
            suite, ["random"], max_turns=turns, seeds=[0], samples=1, temperature=1.0,
            batch_size=8, settings={},
        )  # fmt: skip
        return {(cell.scenario, cell.max_turns) for cell in cells}

    assert limits(None) == {("Counting", 7), ("TextCraft", None)}
    assert limits(None, 7) == {("Counting", 7), ("TextCraft", None), ("TextCraft", 7)}
    assert limits(3) == {("Counting", 3), ("TextCraft", 3)}


def test_a_panels_arguments_are_its_cells_and_hide_their_secrets(tmp_path):
    text = """
panels:
  - {env: TextCraft, env_kwargs: {compat: agentgym}}
  - env: SearchQA
    tasks: [nq]
    env_kwargs: {retriever: "http://user:hunter22@h:1"}
"""
    suite = read_suite(written(tmp_path, text))
    cells = grid(
        suite, ["random"], max_turns=[None], seeds=[0], samples=1, temperature=1.0, batch_size=8,
        settings={"env_kwargs": None},
    )  # fmt: skip
    kwargs = [dict(cell.settings)["env_kwargs"] for cell in cells]
    assert json.loads(kwargs[0]) == {"compat": "agentgym"}
    assert "hunter22" not in kwargs[1] and "***@h:1" in kwargs[1]


def test_cells_of_earlier_sweeps_are_those_of_today(tmp_path):
    """What was written before cells knew modules and panels goes on as it was."""
    (asked,) = grid(
        find_suite("textcraft"), ["random"], max_turns=[None], seeds=[0], samples=1,
        temperature=1.0, batch_size=32, settings={"action_format": "react"},
    )  # fmt: skip
    record = asked.to_json()
    del record["module"], record["panel"]
    folder = SweepFolder(tmp_path)
    earlier = type(asked).from_json(record)
    folder.claim([earlier])
    folder.write(earlier, 0, [], seconds=1.0)
    folder.claim([asked])  # raises where it is another
    assert folder.missing(asked) == [1, 2, 3]
    assert asked.name == "random/TextCraft/turns_default/seed_0"
    assert asked.digest == "b5ffee9e1d35711a"


def test_panels_of_one_environment_have_folders_and_random_numbers_of_their_own():
    one, other = cell(), cell(panel="TextCraft, hard: ones")
    assert one.name != other.name and "/" not in other.name.split("/")[1]
    assert one.stream(0) != other.stream(0)
    assert one.stream(0)[1] == cell(panel="").stream(0)[1]


def test_an_environment_of_ones_own_is_swept_and_goes_on(
    tmp_path, tally_module, monkeypatch, capsys
):
    path = written(tmp_path, f"panels:\n  - env: {tally_module}\n    name: tallying\n")
    monkeypatch.setattr(command, "make_player", lambda sweep, **_: in_this_process)
    out = tmp_path / "sweep"
    words = ["--suite", str(path), "--policy", "expert", "--out", str(out), "--batch-size", "4"]
    assert command.main(words) == 0
    assert "10 episodes played, 0 of them failed" in capsys.readouterr().out
    next(out.rglob("batch_0001.jsonl")).unlink()
    assert command.main(words) == 0
    assert "4 episodes played" in capsys.readouterr().out
    (there,) = SweepFolder(out).cells()
    assert (there.env_id, there.module, there.panel) == ("mylab/Tally-v0", "tally_env", "tallying")


def test_worker_processes_import_the_module_of_a_users_environment(tmp_path, tally_module):
    path = written(tmp_path, f"panels:\n  - env: {tally_module}\n    tasks: [small]\n")
    words = ["--suite", str(path), "--policy", "expert", "--out", str(tmp_path / "sweep")]
    assert command.main([*words, "--workers", "1"]) == 0
    folder = SweepFolder(tmp_path / "sweep")
    episodes = episodes_of(folder, folder.cells()[0])
    assert len(episodes) == 3 and all(episode.success for episode in episodes)


def test_real_data_stand_beside_the_embedded_world_and_are_not_taken_for_it(
    tmp_path, monkeypatch, capsys
):
    pytest.importorskip("bm25s", reason="needs the search extra")
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(command, "make_player", lambda sweep, **_: in_this_process)
    questions = tmp_path / "data" / "bamboogle" / "test.jsonl"
    questions.parent.mkdir(parents=True)
    rows = (
        {"id": f"t_{n}", "question": f"Who is {n}?", "golden_answers": ["Ann"]} for n in range(125)
    )
    questions.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "wiki.jsonl").write_text(json.dumps({"id": "0", "contents": '"Ann"\nA name.'}))
    path = written(
        tmp_path,
        f"""
panels:
  - env: SearchQA
    subtasks: {{bamboogle: 3}}
  - env: SearchQA
    name: real questions
    subtasks: {{bamboogle: 2}}
    env_kwargs: {{data_dir: {tmp_path / "data"}, corpus: {tmp_path / "wiki.jsonl"}}}
""",
    )
    words = ["--suite", str(path), "--policy", "expert", "--turns", "2"]
    assert command.main([*words, "--out", str(tmp_path / "sweep")]) == 0
    assert "5 episodes played, 0 of them failed" in capsys.readouterr().out
    embedded, real = read_sweep(tmp_path / "sweep").settings
    assert (embedded.scenario, embedded.label) == ("SearchQA", "embedded")
    assert (real.scenario, real.label, real.name) == ("real questions", "", "expert, 2 turns")
    assert {source for _, source, _ in real.whole.successes} != {
        source for _, source, _ in embedded.whole.successes
    }


def test_a_panel_s_tasks_may_be_a_file_of_item_ids(tmp_path):
    ids = tmp_path / "ids.json"
    ids.write_text('[{"item_id": "babyai_1800"}, {"item_id": "babyai_41"}]')
    suite = f"panels:\n  - env: BabyAI\n    split: test\n    tasks: [{ids}]\n"
    (panel,) = panels(tmp_path, suite)
    assert [task for tasks in panel.tasks().values() for task in tasks] == [
        "babyai_1800",
        "babyai_41",
    ]


def test_a_suite_may_name_a_server(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("panels: [{env: 'openenv:http://host:8000/game'}]\n", "utf-8")
    (panel,) = read_suite(path).panels
    assert (panel.env_id, panel.module) == ("openenv/host__8000__game-v0", "")

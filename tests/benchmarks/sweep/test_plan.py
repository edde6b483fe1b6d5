import json

import pytest

from benchmarks.sweep.plan import FREE_SETTINGS, conditions, environment_changes, grid
from benchmarks.sweep.suite_files import find_suite
from benchmarks.sweep.suites import Panel, Suite
from tests.benchmarks.sweep.samples import cell
from trainers.options.values import DEFAULT

TEXTCRAFT, BABYAI = "agentgym/TextCraft-v0", "agentgym/BabyAI-v0"


def with_kwargs(**kwargs):
    return cell(settings=(("env_kwargs", json.dumps(kwargs)),))


@pytest.mark.parametrize(
    "changes",
    [
        {"policy": "expert", "seed": 1, "max_turns": 9, "samples": 3, "batch_size": 9},
        {"tasks": ("textcraft_1",), "digest": "other", "fingerprint": "a"},
        {"settings": (("action_format", "react"), ("wrapper", []), ("env_kwargs", None))},
        {"settings": (("action_format", "react"), *((name, 7) for name in FREE_SETTINGS))},
    ],
    ids=["grid", "tasks", "nothing", "free"],
)
def test_conditions_leave_out_the_grid_and_what_decides_nothing(changes):
    assert conditions(cell(**changes)) == conditions(cell())


def test_a_setting_that_names_an_environment_is_that_panels_alone():
    chosen = tuple(p for p in find_suite("quick").panels if p.env_id in (TEXTCRAFT, BABYAI))
    settings = {
        "max_tokens_per_turn": {"TextCraft": 64, DEFAULT: 256},
        "chat_template_kwargs": {"TextCraft": 1},
        "env_kwargs": '{"textcraft": {"compat": "agentgym"}, "max_goals": 3}',
    }
    by_env = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Panel, "tasks", lambda panel, kwargs: {"": [json.dumps(kwargs)]})
        for one in grid(
            Suite("two", "", chosen), ["p"], max_turns=[None], seeds=[0], samples=1,
            temperature=1.0, batch_size=1, settings=settings,
        ):  # fmt: skip
            by_env[one.env_id] = dict(one.settings), json.loads(one.tasks[0])
    assert by_env.keys() == {TEXTCRAFT, BABYAI}
    of_textcraft, of_babyai = by_env[TEXTCRAFT], by_env[BABYAI]
    assert of_textcraft[0]["max_tokens_per_turn"] == 64
    assert of_babyai[0]["max_tokens_per_turn"] == 256
    assert json.loads(of_textcraft[0]["env_kwargs"]) == of_textcraft[1]
    assert of_textcraft[1] == {"compat": "agentgym", "max_goals": 3}
    assert of_babyai[1] == json.loads(of_babyai[0]["env_kwargs"]) == {"max_goals": 3}
    assert of_textcraft[0]["chat_template_kwargs"] == {"TextCraft": 1}


def test_conditions_name_each_argument_of_the_environment():
    assert conditions(with_kwargs(compat="agentgym", top_k=5, sites=None)) == {
        "temperature": "1.0",
        "compat": "agentgym",
        "top_k": "5",
    }


def test_an_environment_is_changed_by_its_arguments_and_wrappers_alone():
    assert environment_changes(cell()) == {}
    assert environment_changes(with_kwargs(compat=None)) == {}
    assert environment_changes(with_kwargs(compat="agentgym")) == {"compat": "agentgym"}
    assert environment_changes(cell(settings=(("wrapper", ["m:C"]),))) == {"wrapper": '["m:C"]'}

import json

import pytest

from benchmarks.sweep.plan import FREE_SETTINGS, conditions, environment_changes
from tests.benchmarks.sweep.samples import cell


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

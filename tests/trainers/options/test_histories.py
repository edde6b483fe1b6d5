"""`--history` by name, by environment, and of one's own."""

from __future__ import annotations

import re

import pytest

from agentgym_envs import Trajectory
from trainers.history.notes import Notes
from trainers.history.summary import Summary
from trainers.history.views import History, LastTurns, View
from trainers.options.arguments import EpisodeArguments, open_history
from trainers.options.errors import UsageError

HERE = "tests.trainers.options.test_histories"


class Latest(History):
    """Shows the last observation alone."""

    def view(self, episode: Trajectory) -> View:
        return View((episode.final_observation,))


class Nothing:
    """Is no history."""


def test_the_names_are_those_of_the_page() -> None:
    assert open_history(None, None) == open_history("last_turns", None) == LastTurns()
    assert open_history(None, 3) == open_history("last_turns", 3) == LastTurns(3)
    assert open_history("summary", None) == Summary()
    assert open_history("notes", 2) == Notes(2)
    assert isinstance(open_history(f"{HERE}:Latest", None), Latest)


def test_each_environment_may_have_its_own() -> None:
    args = EpisodeArguments(
        history={"BabyAI": "summary", "default": "notes"}, keep_last_turns={"BabyAI": 2}
    )
    assert args.env_history("agentgym/BabyAI-v0") == Summary(2)
    assert args.env_budgets("agentgym/TextCraft-v0").history == Notes()


@pytest.mark.parametrize(
    ("name", "keep", "message"),
    [
        ("sumary", None, "did you mean summary"),
        ("all", None, "it is one of last_turns, summary, notes, or one of your own"),
        ("no_such_module:Mine", None, "cannot import 'no_such_module'"),
        (f"{HERE}:Other", None, "has no 'Other'"),
        (f"{HERE}:Latest", 3, "takes keep_last_turns where `keep_last_turns` is set"),
        (f"{HERE}:Nothing", None, "is a Nothing, which is no history; derive the class from"),
    ],
)
def test_what_is_no_history_is_refused(name: str, keep: int | None, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        open_history(name, keep)
    with pytest.raises(UsageError, match=re.escape(message)):
        EpisodeArguments(history=name, keep_last_turns=keep)

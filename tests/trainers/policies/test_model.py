"""A model's backend: how long servers are waited for that are away as a command begins."""

from __future__ import annotations

from typing import Any

import pytest

from agentgym_envs.errors import EnvFailure
from tests.trainers.toys import make_model, make_tokenizer
from trainers.options.arguments import EpisodeArguments
from trainers.policies.model import ModelPolicy
from wrappers import failures
from wrappers.failures import Machinery


@pytest.mark.parametrize("has_worked", [True, False])
def test_servers_are_waited_for_as_long_as_in_play_where_they_have_answered_before(
    *, has_worked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []

    def away(_load: Any, *, max_seconds: float, **_options: Any) -> None:
        limits.append(max_seconds)
        raise EnvFailure("away")

    monkeypatch.setattr(failures, "retry", away)
    budgets = EpisodeArguments(max_outage="5m")
    with pytest.raises(EnvFailure, match="away"):
        ModelPolicy.from_model(
            make_model(),
            make_tokenizer(),
            budgets,
            name="",
            seed=0,
            machinery=Machinery(budgets.failure_rules, has_worked),
        )
    assert limits == [300.0 if has_worked else failures.MAX_FIRST_OUTAGE]

"""A model's backend: how long servers are waited for that are away as a command begins."""

from __future__ import annotations

from typing import Any

import pytest

from agentgym_envs.errors import EnvFailure
from tests.trainers.toys import make_model, make_tokenizer
from trainers.options.arguments import EpisodeArguments
from trainers.policies import model as module
from trainers.policies.model import ModelPolicy


@pytest.mark.parametrize("is_proven", [True, False])
def test_servers_are_waited_for_as_long_as_in_play_where_they_have_answered_before(
    *, is_proven: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []

    def away(_load: Any, *, limit: float) -> None:
        limits.append(limit)
        raise EnvFailure("away")

    monkeypatch.setattr(module, "persist", away)
    with pytest.raises(EnvFailure, match="away"):
        ModelPolicy.of_model(
            make_model(),
            make_tokenizer(),
            EpisodeArguments(max_outage="5m"),
            name="",
            seed=0,
            is_proven=is_proven,
        )
    assert limits == [300.0 if is_proven else module.UNPROVEN]

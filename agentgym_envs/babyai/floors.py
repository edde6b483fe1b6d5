"""Plays BabyAI by a rule that reads words and understands none: what an agent must surpass."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agentgym_envs.actions import ActionVerb
from agentgym_envs.babyai.game import DefaultGame
from agentgym_envs.core import ExpertMove

if TYPE_CHECKING:
    from agentgym_envs.babyai.env import BabyAIEnv

_WORD = re.compile("[a-z]+")


def word_overlap(env: BabyAIEnv) -> Iterator[ExpertMove]:
    """Yield at each turn an action that shares the most words with the goal.

    It is one of the listed actions; where none are listed, one of all actions with the things that
    are in view. Ties are broken by chance, which follows from the task.
    """
    chance = random.Random(env.task.number)
    goal = set(_WORD.findall(env.goal))
    while True:
        actions = env.available_actions()
        if actions is None:
            assert isinstance(env.game, DefaultGame)  # the original's actions are always listed
            actions = _fillings(env.verbs, [sighting.name for sighting in env.game.view.things])
        shared = [len(goal & set(_WORD.findall(action))) for action in actions]
        most = max(shared)
        best = [action for action, count in zip(actions, shared, strict=True) if count == most]
        yield ExpertMove(chance.choice(best))


def _fillings(verbs: Sequence[ActionVerb], things: Sequence[str]) -> list[str]:
    return [
        verb.build(dict.fromkeys(verb.parameters, name))
        for verb in verbs
        for name in (things if verb.parameters else [""])
    ]

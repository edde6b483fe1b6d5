"""A baseline of BabyAI: a rule that reads words and understands none."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from agentgym_envs.babyai.compat import AgentGymGame
from agentgym_envs.babyai.game import DefaultGame
from agentgym_envs.core import ExpertMove

_WORD = re.compile("[a-z]+")


def word_overlap(game: DefaultGame | AgentGymGame, *, seed: int) -> Iterator[ExpertMove]:
    """Yield at each turn a possible action that shares the most words with the goal.

    Args:
        game: the episode.
        seed: breaks ties.
    """
    chance = random.Random(seed)
    goal = set(_WORD.findall(game.goal))
    while True:
        actions = game.possible_actions()
        shared = [len(goal & set(_WORD.findall(action))) for action in actions]
        most = max(shared)
        best = [action for action, count in zip(actions, shared, strict=True) if count == most]
        yield ExpertMove(chance.choice(best))

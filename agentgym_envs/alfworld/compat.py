"""Plays as AgentGym's server does, `compat="agentgym"`: ALFWorld 0.3.3 in another wording.

Follows AgentGym 3ef9235d. Its server cuts the arrival from what a walk shows, and its client lists
the commands in the first observation and after a completion that it cannot read.
"""

from __future__ import annotations

from agentgym_envs.actions import ActionVerb
from agentgym_envs.alfworld.house import Wording

WORDING = Wording(put="put", into="in/on", tells_arrival=False, has_help=False, sees_places=False)


def with_commands(observation: str, commands: list[str]) -> str:
    """Return an observation with the commands below, as the original's client shows it."""
    return f"{observation}\nAVAILABLE ACTIONS: {','.join(commands)}"


def compat_verbs(verbs: tuple[ActionVerb, ...]) -> tuple[ActionVerb, ...]:
    """Return the verbs as version 0.3.3 has them."""
    put = ActionVerb("put", "put {thing} in/on {place}", "Put down what you hold.")
    return tuple(put if verb.name == "move" else verb for verb in verbs if verb.name != "help")

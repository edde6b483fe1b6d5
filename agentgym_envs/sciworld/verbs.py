"""Lists SciWorld's actions: the simulator's verbs, and their wording for policies."""

from __future__ import annotations

import re

from agentgym_envs.actions import ActionVerb
from agentgym_envs.sciworld.house import ROOMS

VERBS = (
    ActionVerb("look_around", "look around", "Describe the room."),
    ActionVerb("inventory", "inventory", "List what you carry."),
    ActionVerb("task", "task", "Repeat the task."),
    ActionVerb("wait", "wait", "Let ten moments pass."),
    ActionVerb("wait_one", "wait1", "Let one moment pass."),
    ActionVerb("look_at", "look at {thing}", "Describe a thing."),
    ActionVerb("look_in", "look in {container}", "Describe what a container holds."),
    ActionVerb("examine", "examine {thing}", "Describe a thing in detail."),
    ActionVerb("go_to", "go to {place}", "Move to a room next door, through an open door."),
    ActionVerb("open", "open {thing}", "Open a door or container, e.g. 'door to kitchen'."),
    ActionVerb("close", "close {thing}", "Close a door or container."),
    ActionVerb("pick_up", "pick up {thing}", "Take a thing into your inventory."),
    ActionVerb("drop", "drop {thing}", "Put a thing that you carry down."),
    ActionVerb("move", "move {thing} to {container}", "Move a thing into or onto another."),
    ActionVerb("pour", "pour {thing} into {container}", "Pour a liquid, or what is in a vessel."),
    ActionVerb("dunk", "dunk {container} into {liquid}", "Dip a container into a liquid."),
    ActionVerb("mix", "mix {container}", "Mix the chemicals in a container."),
    ActionVerb("use", "use {tool} on {thing}", "Use a tool on a thing, e.g. a thermometer."),
    ActionVerb("activate", "activate {device}", "Turn a device on."),
    ActionVerb("deactivate", "deactivate {device}", "Turn a device off."),
    ActionVerb(
        "connect",
        "connect {terminal} to {other}",
        "Join two electrical terminals, e.g. 'battery anode' and 'black wire terminal 1'.",
    ),
    ActionVerb("disconnect", "disconnect {thing}", "Undo a thing's electrical connections."),
    ActionVerb("read", "read {document}", "Read a note or book."),
    ActionVerb("eat", "eat {food}", "Eat something."),
    ActionVerb("flush", "flush {thing}", "Flush a toilet."),
    ActionVerb("focus_on", "focus on {thing}", "Show that a thing is the one that is asked for."),
    ActionVerb(
        "choose", "{number}", "Answer a question with the number of a choice.", integers=("number",)
    ),
)

OTHER = ActionVerb("other", "{action}", "Any action in words of your own: 'pour cup in jug'.")
"""For the formats that name a verb: whatever the plain format can say, they can."""

CALLABLE = (*VERBS, OTHER)

_PREPOSITIONS = {"pour": "into", "dunk": "into", "connect": "to", "move": "to"}
_PLACES = (*ROOMS, "inventory")


def action_list() -> str:
    """Return the actions, one on a line, in the plain format."""
    return "\n".join(f"{verb.form}: {verb.description}" for verb in VERBS)


def reworded(action: str) -> str:
    """Return an action of the simulator's own solutions in the words of `VERBS`.

    They say `pour cup in jug` where we say `pour cup into jug`; the simulator reads both. Where it
    is not certain which preposition is the verb's, the action stays as it is.
    """
    if any(verb.match(action) for verb in VERBS):
        return action
    verb, _, rest = action.partition(" ")
    splits = []
    for match in re.finditer(r" (?:in|into|on|to|with) ", rest):
        thing, other = rest[: match.start()], rest[match.end() :]
        if not any(other == place or other.startswith(f"{place} ") for place in _PLACES):
            splits.append((thing, other))
    if len(splits) != 1 or verb not in _PREPOSITIONS:
        return action
    return f"{verb} {splits[0][0]} {_PREPOSITIONS[verb]} {splits[0][1]}"


def leading_verb(action: str) -> ActionVerb | None:
    """Return the verb that an action begins with, if any, whatever follows."""
    lowered = " ".join(action.lower().split())
    named = [
        (beginning, verb)
        for verb in VERBS
        if (beginning := verb.template.partition("{")[0].strip())
        and (lowered == beginning or lowered.startswith(f"{beginning} "))
    ]
    return max(named, key=lambda pair: len(pair[0]))[1] if named else None

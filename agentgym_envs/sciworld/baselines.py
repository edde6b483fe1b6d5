"""A baseline of SciWorld: a rule that carries out the goal's orders and measures nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sciworld.answers import is_question
from agentgym_envs.sciworld.episode import Episode
from agentgym_envs.sciworld.house import ROOMS, room_shown, through_door, tour, way

_STEP = re.compile(r"(focus on|place it in|move it to) (?:the )?([^.,]+)", re.I)
_ROOM = re.compile(rf"\b(?:around|in|near) the '?({'|'.join(ROOMS)})\b")
_CLOSED = re.compile(r"[Tt]he ([\w ]+?)(?: door)? is closed")
_LISTED = re.compile(r"^\t(?:an? )?(?:substance called )?(?!the agent|door)(\w[\w ]*\w)", re.M)
_DESCRIPTION = re.compile(r"thing|animal with|seed")


def goal_steps(episode: Episode, *, alternative: int = 0) -> Iterator[ExpertMove]:
    """Focus on and move the things that the goal names, in its order.

    It walks to the room that the goal names for a thing, and opens what is closed where it sees no
    such thing. Where the goal describes a thing, it takes the first that can be picked up.

    Args:
        episode: the episode, at its beginning.
        alternative: which of the goal's two sentences with "If" is carried out.
    """
    room = room_shown(episode.first_observation.removeprefix(f"{episode.goal}\n"))
    held = ""
    for verb, thing in _steps(episode.goal, alternative):
        target = _room_of(thing, episode.goal)
        thing = _ROOM.sub("", thing).strip()
        if target and target != room:
            if held:
                yield from _answered(episode, f"pick up {held}")
            for action in way(room, target) or ():
                yield ExpertMove(action)
            room = target
        if verb != "focus on":
            yield from _move(episode, held, thing, room)
            continue
        name = thing
        if _DESCRIPTION.match(thing):
            yield from _pick_up_any(episode)
            name = episode.reply_text.removeprefix("You move the ").partition(" to the inv")[0]
        yield from _focus(episode, name)
        held = name


def _steps(goal: str, alternative: int) -> Iterator[tuple[str, str]]:
    """Yield the verbs and things of the goal's orders, of one alternative only."""
    sentences = goal.split(". ")
    conditional = [sentence for sentence in sentences if sentence.startswith("If ")]
    for sentence in sentences:
        if sentence not in conditional or sentence == conditional[alternative]:
            for verb, thing in _STEP.findall(sentence):
                yield verb.lower(), thing


def _room_of(thing: str, goal: str) -> str:
    """Return the room that the goal names for a thing, or an empty text where it names none."""
    if own := _ROOM.search(thing):
        return own[1]
    word = "boxes" if thing.endswith("box") else thing.split(" with ")[0]
    rooms = [(match[1], text) for text in goal.split(". ") if (match := _ROOM.search(text))]
    named = [room for room, text in rooms if word in text or f"{word}s" in text]
    return (named or [room for room, _ in rooms] or [""])[0]


def _answered(episode: Episode, action: str) -> Iterator[ExpertMove]:
    """Yield an action, and the first answer where the simulator asks which thing is meant."""
    yield ExpertMove(action)
    if is_question(episode.reply_text):
        yield ExpertMove("0")


def _move(episode: Episode, held: str, target: str, room: str) -> Iterator[ExpertMove]:
    """Move a thing into another, which is sought in other rooms if it is not here."""
    yield from _answered(episode, f"move {held} to {target}")
    if episode.reply_text:
        return
    yield from _answered(episode, f"pick up {held}")
    for other in tour(room, 0):
        for action in through_door(other):
            yield ExpertMove(action)
        yield from _answered(episode, f"move {held} to {target}")
        if episode.reply_text:
            return


def _focus(episode: Episode, thing: str) -> Iterator[ExpertMove]:
    """Focus on a thing, and open closed containers if it is not seen."""
    yield from _answered(episode, f"focus on {thing}")
    if not episode.reply_text:
        yield ExpertMove("look around")
        for container in _CLOSED.findall(episode.reply_text):
            yield ExpertMove(f"open {container}")
        yield from _answered(episode, f"focus on {thing}")


def _pick_up_any(episode: Episode) -> Iterator[ExpertMove]:
    """Pick up the first listed thing that can be."""
    yield ExpertMove("look around")
    for thing in _LISTED.findall(episode.reply_text):
        if thing != "air" and not thing.endswith("box"):
            yield from _answered(episode, f"pick up {thing}")
            if episode.reply_text.startswith("You move the "):
                return

"""Plays AgentGym's BabyAI with its quirks: its text, actions, rewards and flags.

Follows AgentGym 3ef9235d so that results can be compared. The quirks: order words become "and";
closed doors and cells out of sight count as passable; a success late enough to pay 0.5 or less does
not end the episode; the last reward is paid again by every action that is not carried out; objects
out of reach shift the numbers in the action list; the simulator's time limit is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agentgym_envs.actions import ActionVerb
from agentgym_envs.babyai import skills
from agentgym_envs.babyai.compat_expert import AgentGymExpert
from agentgym_envs.babyai.compat_paths import DIRECTIONS, Pose, find_path
from agentgym_envs.babyai.describe import Names, View, described
from agentgym_envs.babyai.memory import Memory
from agentgym_envs.babyai.sight import DROP, FORWARD, LEFT, PICKUP, RIGHT, TOGGLE, VIEW, GridMap
from agentgym_envs.core import ExpertMove, Outcome
from agentgym_envs.core.game import Game

_INSTRUCTIONS = """\
You are in a world of rooms and are given a goal. Each turn you read an observation and answer with
an action: turn left, turn right, move forward, go to <object> <number>, pickup <object> <number>,
drop, go through <open door> <number>, toggle and go through <closed or locked door> <number> (a
locked one needs the key of its colour), toggle (a closed or locked door right in front of you).
Each observation lists the actions that are possible."""

_VERBS: tuple[ActionVerb, ...] = tuple(
    ActionVerb("pickup", "pickup {object}", verb.description) if verb.name == "pick_up" else verb
    for verb in skills.VERBS
    if verb.name not in ("open", "close")
)

_KINDS = {2: "wall", 4: "door", 5: "key", 6: "ball", 7: "box"}
_COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
_DOOR_STATES = ("open", "closed", "locked")
_SOLID = ("wall", "box", "ball", "key")
_NO_CHANGE = "No change in state."
_DONE = "\n The task is completed."


@dataclass(frozen=True)
class _Thing:
    kind: str
    name: str
    position: tuple[int, int]
    ahead: int
    right: int

    @property
    def distance(self) -> int:
        return abs(self.ahead) + abs(self.right)


class AgentGymGame(Game):
    """One episode of the original.

    Attributes:
        level: the minigrid level.
        actions: the listed actions and their low-level moves.
        memory: what the views have shown.
        is_over: the level is solved.
    """

    instructions = _INSTRUCTIONS
    verbs = _VERBS
    is_over = False

    def __init__(self, level: Any, observation: Any) -> None:
        self.level = level
        self.goal: str = level.mission.replace("then", "and").replace("after you", "and")
        self.actions: dict[str, list[int]] = {}
        self._last_reward: float = 0
        self._score = 0.0
        self._errors: dict[str, str] = {}
        self._image = observation["image"]
        self.memory = Memory(GridMap(level))
        view = self._look(observation)
        self.first_observation = f"Your goal: {self.goal}\n{view}{self._action_line()}"

    def act(self, action: str) -> Outcome:
        """Play one action as the original's server would."""
        text, is_valid = self._answer(action.lower().strip())
        self._score += self._last_reward
        return Outcome(
            text + self._action_line(),
            reward=float(self._last_reward),
            terminated=self.is_over,
            info={"agentgym_score": self._score},
            success=self.is_over,
            is_valid=is_valid,
        )

    def available_actions(self) -> list[str]:
        """List the plain actions that are possible now."""
        return list(self.actions)

    def possible_actions(self) -> list[str]:
        """List the plain actions that are possible now."""
        return list(self.actions)

    def expert_moves(self, *, privileged: bool = False) -> Iterator[ExpertMove]:
        """Yield moves that solve the level by the listed actions.

        Args:
            privileged: know the whole level, seen or not.
        """
        return AgentGymExpert(self, privileged=privileged).moves()

    def name_of(self, thing: Any) -> str:
        """Return an action's name for a thing right in front, which is number 1, being nearest."""
        return f"{described(thing)} 1"

    def _answer(self, action: str) -> tuple[str, bool]:
        if "check" in action:
            return "You can take the following actions: " + ", ".join(self.actions), True
        if action not in self.actions:
            return self._refusal(action), False
        moves = self.actions[action]
        return self._carry_out(moves) if moves else _NO_CHANGE, True

    def _refusal(self, action: str) -> str:
        if action == "":
            return _NO_CHANGE
        unknown = "The action is not recognized. Please check valid actions."
        return self._errors.get(action, unknown)

    def _carry_out(self, moves: list[int]) -> str:
        for move in moves:
            observation, reward, terminated, _, _ = self.level.step(move)
            if not (observation["image"] != self._image).any():
                break
            self._image = observation["image"]
        self._last_reward = reward
        text = self._look(observation)
        if terminated:
            text += _DONE
        self.is_over = bool(terminated) and reward > 0.5
        self._image = observation["image"]
        return text

    def _action_line(self) -> str:
        return "\nAvailable actions: [" + ", ".join(f'"{action}"' for action in self.actions) + "]"

    # The view ---------------------------------------------------------------------------------

    def _look(self, observation: Any) -> str:
        self.memory.see(View(self.level, GridMap(self.level), Names()))
        x, y = (int(value) for value in self.level.agent_pos)
        pose = (x, y, int(observation["direction"]))
        things = _things_in(observation["image"], pose)
        barriers = [t for t in things if t.kind in ("box", "wall") and t.right == 0]
        self._list_actions(pose, things, barriers)
        text = "You cannot see any objects within sight."
        if things:
            text = "In front of you in this room, you can see several objects: "
            text += _enumerate_things(things)
        text += "The room has walls around you. "
        if barriers:
            text += f"You are facing a {barriers[0].kind} {barriers[0].ahead} steps away. "
        carried = self.level.carrying
        if carried is None:
            return text + "You are not carrying anything."
        return text + f"You are carrying a {carried.color} {carried.type}."

    def _list_actions(self, pose: Pose, things: list[_Thing], barriers: list[_Thing]) -> None:
        self.actions = {"turn left": [LEFT], "turn right": [RIGHT]}
        self._errors = {}
        if not barriers or barriers[0].ahead > 1:
            self.actions["move forward"] = [FORWARD]
        else:
            self._errors["move forward"] = (
                "There is a barrier in front of you, you can't move forward."
            )
        solid = {thing.position for thing in things if thing.kind in _SOLID}
        seen = [thing for thing in things if thing.kind != "wall"]
        paths = {thing.position: find_path(pose, thing.position, solid) for thing in seen}
        if self.level.carrying is None:
            movable = [thing for thing in seen if thing.kind != "door"]
            self._list_reaching("pickup", movable, paths, [PICKUP])
        self._list_drop(things)
        self._list_doors(pose, seen, paths, solid)
        self._list_reaching("go to", seen, paths, [])
        self.actions["check available actions"] = []

    def _list_reaching(
        self,
        verb: str,
        things: list[_Thing],
        paths: dict[tuple[int, int], list[int] | None],
        then: list[int],
    ) -> None:
        counts: dict[str, int] = {}
        for thing in things:
            label = f"{verb} {thing.name}"
            path = paths[thing.position]
            number = counts.get(thing.name, 0) + 1
            if path is not None:
                counts[thing.name] = number
                self.actions[f"{label} {number}"] = path + then
            else:
                self._errors[f"{label} {number}"] = (
                    f"You cannot {label} {number}, as there is no path leading to it."
                )

    def _list_drop(self, things: list[_Thing]) -> None:
        cannot = "You cannot drop the object, as "
        if self.level.carrying is None:
            self._errors["drop"] = cannot + "you are not carrying anything."
        elif any(t.kind in _SOLID and (t.ahead, t.right) == (1, 0) for t in things):
            self._errors["drop"] = cannot + "there is already an object in front of you."
        else:
            self.actions["drop"] = [DROP]

    def _list_doors(
        self,
        pose: Pose,
        things: list[_Thing],
        paths: dict[tuple[int, int], list[int] | None],
        solid: set[tuple[int, int]],
    ) -> None:
        counts: dict[str, int] = {}
        for door in things:
            if door.kind != "door":
                continue
            counts[door.name] = counts.get(door.name, 0) + 1
            name = f"{door.name} {counts[door.name]}"
            state = door.name.split()[1]
            through, toggle = f"go through {name}", f"toggle and go through {name}"
            if state == "open":
                path = find_path(pose, door.position, solid, onto=True)
                if path is not None:
                    self.actions[through] = path
                else:
                    self._errors[through] = (
                        f"You cannot {through}, as there is no path leading to it."
                    )
                continue
            refusal = self._lock_refusal(door) if state == "locked" else None
            if refusal is not None:
                self._errors[toggle] = f"You cannot {toggle}, as {refusal}"
                continue
            path = paths[door.position]
            if path is not None:
                self.actions[toggle] = [*path, TOGGLE, FORWARD]
            else:
                # The original prints its table of counts where the door's number belongs.
                self._errors[toggle] = (
                    f"You cannot toggle and go through {door.name} {counts}, "
                    "as there is no path leading to it."
                )
            if path == []:
                self.actions["toggle"] = [TOGGLE]
            if state == "closed":
                self._errors[through] = (
                    f"You cannot {through}, as it is closed. You should toggle it first."
                )

    def _lock_refusal(self, door: _Thing) -> str | None:
        carried = self.level.carrying
        if carried is None or carried.type != "key":
            return "you are not carrying a key."
        if carried.color != door.name.split()[0]:
            return "the color of the key you are carrying does not match the color of door."
        return None


def _things_in(image: Any, pose: Pose) -> list[_Thing]:
    x, y, direction = pose
    fx, fy = DIRECTIONS[direction]
    rx, ry = DIRECTIONS[(direction + 1) % 4]
    cells = image.tolist()
    things = []
    for row in range(VIEW):
        for column in range(VIEW):
            kind_index, colour, state = cells[column][row]
            ahead, right = VIEW - 1 - row, column - VIEW // 2
            kind = _KINDS.get(kind_index)
            # The agent's own cell shows what it carries.
            if kind is None or (ahead == 0 and right == 0):
                continue
            position = (x + fx * ahead + rx * right, y + fy * ahead + ry * right)
            if position[0] < 0 or position[1] < 0:
                continue
            words = [_COLOURS[colour], kind]
            if kind == "door":
                words.insert(1, _DOOR_STATES[state])
            things.append(_Thing(kind, " ".join(words), position, ahead, right))
    things.sort(key=lambda thing: thing.distance)
    return things


def _enumerate_things(things: list[_Thing]) -> str:
    counts: dict[str, int] = {}
    text = ""
    for thing in things:
        if thing.kind == "wall":
            continue
        counts[thing.name] = counts.get(thing.name, 0) + 1
        if thing.right == 0:
            where = f"right in front of you {thing.ahead} steps away. "
        else:
            side = "right" if thing.right > 0 else "left"
            where = (
                f"{thing.ahead} steps in front of you and {abs(thing.right)} steps to your {side}. "
            )
        text += f"There is a {thing.name} {counts[thing.name]} {where} "
    return text

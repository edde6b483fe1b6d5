"""`agentgym play`: a person plays a text environment in the terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from agentgym_envs import NoExpert, TextEnv, resolve_env_id
from agentgym_envs.actions import ACTION_FORMATS
from agentgym_envs.core.text import counted
from agentgym_envs.registration.registry import check_kwargs
from trainers.options.parser import OptionParser
from trainers.options.values import read_object

COMMANDS = {
    ":help": "show this list",
    ":goal": "show the goal again",
    ":actions": "list the actions that are possible now",
    ":hint": "show the expert's next action",
    ":expert": "let the expert play its next action",
    ":restart": "play the same task from its start",
    ":new": "play another task of the split",
    ":quit": "leave (so do Ctrl-D and Ctrl-C)",
}
NO_MOVE = "The expert knows no way on from here."


def main(argv: Sequence[str] | None = None) -> int:
    """Play one environment until the person leaves."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.seed is not None and options.seed < 0:
        parser.error(f"--seed must be >= 0, got {options.seed}")
    try:
        import readline  # noqa: F401 - gives input() line editing and history
    except ImportError:  # not part of Python on Windows
        pass
    try:
        env = _make(options)
        session = Session(env, seed=options.seed, task_id=options.task_id)
    except ValueError as error:
        parser.error(str(error))
    try:
        session.run()
    except (EOFError, KeyboardInterrupt):
        print()
    finally:
        env.close()
    return 0


def _make(options: argparse.Namespace) -> gym.Env[Any, Any]:
    env_id = resolve_env_id(options.env)
    kwargs = {
        "split": options.split,
        "action_format": options.action_format,
        "compat": options.compat,
        "max_turns": options.max_turns,
        **read_object("env_kwargs", options.env_kwargs),
    }
    check_kwargs(env_id, kwargs)
    return gym.make(env_id, disable_env_checker=True, **kwargs)


class Session:
    """A person's session with one environment, as `gymnasium.make` returns it.

    Raises:
        ValueError: there is no such task.
        TypeError: the environment is not a text environment.
    """

    def __init__(
        self, env: gym.Env[Any, Any], *, seed: int | None = None, task_id: str | int | None = None
    ) -> None:
        base = env.unwrapped
        if not isinstance(base, TextEnv):
            raise TypeError(f"expected a TextEnv, got {type(base).__name__}")
        self.env = env
        self.base = base
        self.info: dict[str, Any] = {}
        self.total = 0.0
        self.over = False
        self._first = env.reset(seed=seed, options=_task_option(task_id))

    def run(self) -> None:
        """Read lines and play them until `:quit`, EOFError or KeyboardInterrupt."""
        print(self.base.system_prompt)
        print("\nLines that begin with a colon are for this program; :help lists them.")
        self._show_start(*self._first)
        while True:
            line = self._read()
            word = line.strip()
            if word == ":quit":
                return
            if word in COMMANDS:
                self._command(word)
            elif word.startswith(":"):
                print(f"Unknown command {word}; there are {', '.join(COMMANDS)}.")
            else:
                self._play(line)

    def _command(self, word: str) -> None:
        if word == ":help":
            print("\n".join(f"  {name:<9} {text}" for name, text in COMMANDS.items()))
            print("Anything else is your action; a line that ends with \\ goes on in the next.")
        elif word == ":goal":
            print(self.info["goal"])
        elif word == ":actions":
            actions = self.base.available_actions()
            print("This environment lists none." if actions is None else "\n".join(actions))
        elif word in (":hint", ":expert"):
            move = NO_MOVE if self.over else self._expert_action()
            print(move)
            if word == ":expert" and move != NO_MOVE:
                self._play(move)
        else:
            task_id = self.info["task_id"] if word == ":restart" else None
            self._show_start(*self.env.reset(options=_task_option(task_id)))

    def _expert_action(self) -> str:
        try:
            # A fresh expert each time: the person may have left the last one's path.
            return next(self.base.expert(), NO_MOVE)
        except NoExpert as error:
            return f"{error}."

    def _play(self, action: str) -> None:
        if self.over:
            print("The episode is over: :restart, :new or :quit.")
            return
        observation, reward, terminated, truncated, self.info = self.env.step(action)
        self.over = terminated or truncated
        self.total += float(reward)
        print(f"\n{observation}")
        remark = "" if self.info["is_valid_action"] else ", not a valid action"
        print(f"(reward {float(reward):g}, score {self.info['score']:.2f}{remark})")
        if self.over:
            ending = "Success" if self.info["success"] else "No success"
            cause = self.info["truncated_by"]
            print(
                f"\n{ending} after {counted(self.info['turn'], 'turn')}"
                f"{f', stopped by {cause}' if cause else ''}: score {self.info['score']:.2f}, "
                f"total reward {self.total:g}. Now :restart, :new or :quit."
            )

    def _show_start(self, observation: str, info: dict[str, Any]) -> None:
        self.info = info
        self.total = 0.0
        self.over = False
        print(f"\n--- {info['task_id']} ({info['subtask']}, {info['split']}): {info['goal']} ---\n")
        print(observation)

    def _read(self) -> str:
        lines = [self._input(f"[{self.info['turn']}/{self.base.max_turns}] > ")]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(self._input("... "))
        return "\n".join(lines)

    @staticmethod
    def _input(prompt: str) -> str:
        line = input(prompt)
        if not sys.stdin.isatty():
            print(line)  # a terminal shows what is typed; a pipe does not
        return line


def _task_option(task_id: str | int | None) -> dict[str, Any]:
    if task_id is None:
        return {}
    is_number = isinstance(task_id, str) and task_id.isdecimal()
    return {"task_id": int(task_id) if is_number else task_id}


def _parser() -> OptionParser:
    parser = OptionParser(
        prog="agentgym play",
        description="Play a text environment in the terminal. The expert can be asked with :hint.",
        epilog="examples: agentgym play TextCraft --task-id textcraft_7; "
        "agentgym play BabyAI --split test --seed 1; agentgym play BabyAI --compat agentgym",
    )
    parser.add_argument("env", help="an id or short name, such as TextCraft; see agentgym envs")
    parser.add_argument("--task-id", help="play this task; by default one is drawn")
    parser.add_argument("--split", default="train", help="draw from this split (default: train)")
    parser.add_argument("--seed", type=int, help="seed of the draw")
    parser.add_argument(
        "--compat", choices=["agentgym"], help="the original's text, rewards and quirks"
    )
    parser.add_argument(
        "--action-format",
        choices=ACTION_FORMATS,
        default="plain",
        help="how actions are written (default: plain)",
    )
    parser.add_argument(
        "--max-turns", type=int, help="turn limit; by default the environment's own"
    )
    parser.add_argument(
        "--env-kwargs",
        help="further arguments of the environment, as JSON: '{\"available_actions\": true}'",
    )
    return parser

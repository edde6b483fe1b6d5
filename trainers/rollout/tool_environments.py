"""Our environments for TRL's `environment_factory`: one tool method per action verb.

For models that call functions: the chat template shows the tools, TRL reads the calls and plays
them. Made from the `function_call` format, so a tool has that format's name.
"""

from __future__ import annotations

import copyreg
import inspect
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import gymnasium as gym
from datasets import Dataset

from agentgym_envs import EnvFailure, TextEnv, resolve_env_id
from agentgym_envs.actions import ActionVerb
from agentgym_envs.core import UNSCORED_KEY
from agentgym_envs.errors import EnvCodeError
from trainers.rollout.environments import EnvFactory
from wrappers.vector.host import EnvHost

logger = logging.getLogger(__name__)

OVER = "The task is over. Do not call any more functions."
BROKEN = "The environment broke, so the task is over. Do not call any more functions."


class ToolClass(type):
    """The class of the classes that `tool_environment` makes, so that these can be pickled."""


class ToolEnvironment(metaclass=ToolClass):
    """An episode played by function calls, the base of `tool_environment`'s classes.

    TRL makes one instance per rollout and resets it for each. It catches whatever a tool raises and
    shows it to the policy, so broken machinery is noted here instead of raised: `failure` holds the
    cause, and `get_reward` gives None, which leaves the rollout out of its group's baseline.
    """

    env_factory: ClassVar[EnvFactory]
    """Makes the environment that is played."""

    verbs: ClassVar[tuple[ActionVerb, ...]] = ()
    """The environment's, of which the tools are made."""

    def __init__(self) -> None:
        self._env: EnvHost | None = None
        self._failure: str | None = None
        self._is_over = True
        self._episode_return = 0.0
        self._info: dict[str, Any] = {}

    def reset(self, task_id: str | None = None, **_columns: Any) -> str:
        """Start an episode.

        Args:
            task_id: the task; None draws one of the split.
            **_columns: the data set's other columns.

        Returns:
            The first observation, which TRL adds to the prompt's last message.
        """
        self._failure, self._is_over, self._episode_return, self._info = None, True, 0.0, {}
        try:
            if self._env is None:
                self._env = EnvHost(self.env_factory, lets_interrupts_pass=True)
            options = {} if task_id is None else {"task_id": task_id}
            observation, self._info = self._env.reset(None, options)
        except EnvFailure as error:
            return self._break(error)
        self._is_over = False
        return str(observation)

    def get_reward(self) -> float | None:
        """Return the episode's return, or None after a failure or without a score."""
        if self._failure is not None or self._info.get(UNSCORED_KEY):
            return None
        return self._episode_return

    @property
    def episode_info(self) -> dict[str, Any]:
        """The last step's `info`, for reward functions: they are given `environments`."""
        return self._info

    @property
    def failure(self) -> str | None:
        """The cause of a failure, if there was one."""
        return self._failure

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        if self._is_over:
            return BROKEN if self._failure is not None else OVER
        assert self._env is not None
        call = json.dumps({"name": name, "arguments": arguments})
        try:
            observation, reward, terminated, truncated, self._info = self._env.step(call)
        except EnvFailure as error:
            return self._break(error)
        self._episode_return += float(reward)
        self._is_over = terminated or truncated
        return f"{observation}\n{OVER}" if self._is_over else str(observation)

    def _break(self, error: EnvFailure) -> str:
        self._failure = str(error)
        self._is_over = True
        if isinstance(error, EnvCodeError):
            logger.warning("an episode failed", exc_info=error)
        env, self._env = self._env, None  # the next reset makes a new one
        if env is not None:
            env.close()
        return BROKEN


def tool_environment(
    env: str, *, wrappers: Sequence[str] = (), **kwargs: Any
) -> type[ToolEnvironment]:
    """Return an `environment_factory` for a stock `trl.GRPOTrainer`: a class without arguments.

    ```python
    tools = tool_environment("TextCraft")
    GRPOTrainer(model, environment_factory=tools, train_dataset=tool_dataset(tools), args=args)
    ```

    Args:
        env: a registered id or short name.
        wrappers: Gymnasium wrappers as `module:Class`, the first one innermost.
        **kwargs: the environment's keyword arguments; `action_format` is given.

    Raises:
        ValueError: the environment is no `TextEnv`, or a verb's name is one that TRL or
            `ToolEnvironment` uses itself.
    """
    # The spec, not its id: a worker knows nothing of what this process has registered.
    spec = gym.spec(resolve_env_id(env))
    factory = EnvFactory(spec, {**kwargs, "action_format": "function_call"}, tuple(wrappers))
    probe = _text_env(factory)
    for verb in probe.verbs:
        if hasattr(ToolEnvironment, verb.name) or verb.name.startswith("_"):
            raise ValueError(
                f"{factory.env_id}: the verb {verb.name!r} cannot be a tool, since TRL or "
                "ToolEnvironment uses the name; give the ActionVerb another name"
            )
    name = "".join(part.title() for part in probe.task_set.env_name.split("_")) + "Tools"
    probe.close()
    return _tool_class(name, factory, tuple(probe.verbs))


def tool_dataset(
    environments: type[ToolEnvironment] | Mapping[str, type[ToolEnvironment]],
    *,
    split: str = "train",
    tasks: Sequence[str | int] | None = None,
) -> Dataset:
    """Return the training data: a row per task, with the instruction as a conversational prompt.

    Args:
        environments: what `environment_factory` is given; a mapping mixes several, and gives each
            row the name of its own in the column `environment`.
        split: the split.
        tasks: only these subtasks, depths or ids.
    """
    named = environments if isinstance(environments, Mapping) else {"": environments}
    rows: list[dict[str, Any]] = []
    for name, kind in named.items():
        env = _text_env(kind.env_factory)
        prompt = [
            {"role": "system", "content": env.instructions.strip()},
            {"role": "user", "content": ""},
        ]
        env_name = env.task_set.env_name
        for number in env.task_set.select(split, tasks):
            row = {"prompt": prompt, "task_id": f"{env_name}_{number}"}
            rows.append(row if environments is kind else {**row, "environment": name})
        env.close()
    return Dataset.from_list(rows)


def _tool_class(
    name: str, factory: EnvFactory, verbs: tuple[ActionVerb, ...]
) -> type[ToolEnvironment]:
    """Make the class, in a worker process too, from plain values."""
    methods = {verb.name: _tool(verb) for verb in verbs}
    own = {"env_factory": factory, "verbs": verbs}
    kind: Any = ToolClass(name, (ToolEnvironment,), {**methods, **own})
    return kind  # type: ignore[no-any-return]


def _pickled(kind: type[ToolEnvironment]) -> str | tuple[Any, ...]:
    if "env_factory" not in vars(kind):  # a class of a module's own
        return kind.__qualname__
    return _tool_class, (kind.__name__, kind.env_factory, kind.verbs)


copyreg.pickle(ToolClass, _pickled)  # type: ignore[arg-type]


def _text_env(factory: EnvFactory) -> TextEnv:
    env = factory().unwrapped
    if not isinstance(env, TextEnv):
        raise ValueError(f"{factory.env_id} is not a TextEnv, so it has no verbs and no tasks")
    return env


def _tool(verb: ActionVerb) -> Callable[..., str]:
    """Make the method of a verb, with all that transformers' `get_json_schema` reads."""

    def tool(self: ToolEnvironment, **arguments: Any) -> str:
        return self._call(verb.name, arguments)

    kinds = {name: int if name in verb.integers else str for name in verb.parameters}
    tool.__name__ = verb.name
    tool.__qualname__ = f"ToolEnvironment.{verb.name}"
    tool.__doc__ = _docstring(verb)
    tool.__annotations__ = {**kinds, "return": str}
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    for name, kind in kinds.items():
        default = verb.defaults.get(name, inspect.Parameter.empty)
        parameters.append(inspect.Parameter(name, keyword, default=default, annotation=kind))
    vars(tool)["__signature__"] = inspect.Signature(parameters, return_annotation=str)
    return tool


def _docstring(verb: ActionVerb) -> str:
    lines = [verb.description, ""]
    if verb.parameters:
        shown = verb.template
        for name in verb.parameters:
            shown = shown.replace(f"{{{name}}}", name.upper())
        lines += ["Args:"]
        for name in verb.parameters:
            description = verb.notes.get(name) or f"{name.upper()} in '{shown}'."
            lines.append(f"    {name}: {description}")
        lines += [""]
    return "\n".join([*lines, "Returns:", "    What you see then."])

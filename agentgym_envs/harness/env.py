"""An agent with a loop and prompts of its own as an environment. The policy is its model.

The agent calls the model over OpenAI's chat completions, as it does anyway. A request is an
observation, the answer to it an action. So every trainer, credit method and backend trains the
model behind the agent, on the tokens that were sampled.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any

from gymnasium.error import ResetNeeded

from agentgym_envs.actions import ActionVerb
from agentgym_envs.actions.compat import WholeTextParser
from agentgym_envs.arguments import positive_seconds
from agentgym_envs.core import CONVERSATION_KEY, VERDICT_KEY, Conversation, Outcome, TextEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.errors import EnvCodeError, EnvFailure, InvalidAction, described
from agentgym_envs.harness.endpoint import Ended, Endpoint, Pending, Session, over

_SPENT = "its turns are spent"


class HarnessEnv(TextEnv):
    """An agent, whose class writes `run`.

    A subclass sets `task_set` and `source`, as a `TextEnv` does. An exception of `run` ends the
    episode without a reward, and its message is the verdict; `EnvFailure` has the episode played
    again.

    Args:
        agent_timeout: seconds within which the agent sends its next request or ends.
        turns_left: as in `TextEnv`, where it is the default. Here the agent writes the messages.
        **kwargs: as `TextEnv`. `action_format` is `"plain"`.

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    instructions = "The agent writes the messages."
    verbs = (ActionVerb("write", "{text}", "Answer the messages.", free_text=("text",)),)
    default_max_turns = 50
    default_max_observation = 1_000_000_000  # of the record: the policy reads the conversation

    def __init__(
        self,
        *,
        agent_timeout: float = 600.0,
        turns_left: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(turns_left=turns_left, **kwargs)
        if self.action_format != "plain":
            raise ValueError(
                f"{type(self).__name__}: the agent reads answers itself, got action_format="
                f"{self.action_format!r}; leave it out, or take 'plain'"
            )
        if kwargs.get("system_prompt") is not None:
            raise ValueError(
                f"{type(self).__name__}: the agent writes the messages, so system_prompt would be "
                "ignored; leave it out, and write it into the agent's first message"
            )
        self.parser = WholeTextParser()
        self._agent_timeout = positive_seconds("agent_timeout", agent_timeout)
        self._session: Session | None = None
        self._pending: Pending | None = None
        self._answers: list[str] = []
        self._conversation = Conversation(instruction="", observations=[""], turns=[])

    @abstractmethod
    def run(self, task: TaskSpec, endpoint: Endpoint) -> float | None:
        """Run the agent on one task, in a thread of its own.

        Args:
            task: the task.
            endpoint: where the agent reaches the model: `OpenAI(base_url=endpoint.base_url,
                api_key=endpoint.api_key)`.

        Returns:
            The reward from 0 to 1, where 1 is a success. None is 0.
        """

    def describe_goal(self, task: TaskSpec) -> str:
        """Return the task's goal in words, for records."""
        return task.task_id

    def begin(self, task: TaskSpec) -> str:
        """Start the agent, and return the messages of its first request.

        Raises:
            EnvCodeError: the agent ended without a request to the model.
        """
        self.close_session("another one has begun")
        self.goal = self.describe_goal(task)
        self._answers = []
        self._session = Session(lambda endpoint: self.run(task, endpoint))
        event = self._next()
        if isinstance(event, Ended):
            why = "without a request to the model"
            if event.error is not None:
                why = f"before its first request: {described(event.error)}"
            raise EnvCodeError(f"the agent of {task.task_id} ended {why}") from event.error
        return self._read(event)

    def apply(self, action: str) -> Outcome:
        """Answer the agent's request, and return its next one or its end.

        Raises:
            ResetNeeded: the environment was closed.
        """
        if self._pending is None:
            raise ResetNeeded("the agent was left by close(); call reset() before step()")
        text = self._pending.request.cut(action)
        self._answers.append(text)
        self._pending.answers.put(text)
        event = self._next()
        if isinstance(event, Pending) and self.num_turns_left <= 0:
            # It may still return what it has come to.
            assert self._session is not None
            self._session.close(_SPENT)
            event.answers.put(over(_SPENT))
            event = self._next()
            if isinstance(event, Ended) and event.error is not None:
                return Outcome("")
        if isinstance(event, Pending):
            return Outcome(self._read(event))
        return self._outcome(event)

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a thought without an end by an empty text, as servers do."""
        return self.apply("")

    def extra_info(self) -> dict[str, Any]:
        """Return the conversation that the policy goes on with."""
        return {CONVERSATION_KEY: self._conversation}

    def close_session(self, reason: str) -> None:
        """Let the agent's requests fail from now on. The reason is for its developer."""
        if self._session is not None:
            self._session.close(reason)
            if self._pending is not None:
                self._pending.answers.put(over(reason))
        self._session = self._pending = None

    def close(self) -> None:
        """Leave the agent."""
        self.close_session("the environment is closed")
        super().close()

    def _next(self) -> Pending | Ended:
        """Wait for the agent's next request, or for its end."""
        assert self._session is not None
        self._pending = None
        try:
            event = self._session.wait(self._agent_timeout)
        except TimeoutError as error:
            raise EnvFailure(f"{error}; raise agent_timeout if it needs longer") from error
        if isinstance(event, Ended) and isinstance(event.error, EnvFailure):
            raise event.error
        if isinstance(event, Pending):
            self._pending = event
        return event

    def _outcome(self, end: Ended) -> Outcome:
        if end.error is not None:
            verdict = f"the agent raised {described(end.error)}"
            return Outcome("", terminated=True, info={VERDICT_KEY: verdict})
        result = 0.0 if end.result is None else end.result
        if not isinstance(result, Real) or not 0.0 <= float(result) <= 1.0:
            raise ValueError(
                f"{type(self).__name__}.run must return a reward from 0 to 1, got {result!r}"
            )
        reward = float(result)
        return Outcome("", reward, terminated=True, success=reward == 1.0, score=reward)

    def _read(self, pending: Pending) -> str:
        """Keep a request's conversation, and return the text of its new messages."""
        before, answers = self._conversation, self._answers
        read = self._conversation = read_conversation(pending.request.messages, answers)
        *earlier, new = read["observations"]
        if answers and (read["instruction"], earlier, read["turns"]) == (
            before["instruction"],
            before["observations"],
            [*before["turns"], len(answers) - 1],
        ):
            return new
        texts = [read["instruction"]]
        for turn, observation in zip(("", *read["turns"]), read["observations"], strict=True):
            texts += [answers[turn] if isinstance(turn, int) else turn, observation]
        return "\n\n".join(text for text in texts if text)


def read_conversation(messages: tuple[tuple[str, str], ...], answers: list[str]) -> Conversation:
    """Return a request's messages as a conversation with the policy.

    The first messages of the system are its instruction. Neighbours of the other roles are one
    observation. An assistant's message is one of the policy's turns where it has that answer, in
    their order, and else a text.
    """
    instruction: list[str] = []
    observations: list[list[str]] = [[]]
    turns: list[int | str] = []
    first = 0
    for role, text in messages:
        if role in ("system", "developer") and not turns and not observations[0]:
            instruction.append(text)
        elif role != "assistant":
            observations[-1].append(text)
        else:
            turn = next((n for n in range(first, len(answers)) if answers[n] == text), None)
            turns.append(text if turn is None else turn)
            first = first if turn is None else turn + 1
            observations.append([])
    return Conversation(
        instruction="\n\n".join(instruction),
        observations=["\n\n".join(part) for part in observations],
        turns=turns,
    )

"""Judges how an episode ended, and writes it for `info`."""

from __future__ import annotations

from dataclasses import dataclass

from agentgym_envs.core import JUDGEMENTS_KEY, UNSCORED_KEY, VERDICT_KEY, Outcome
from agentgym_envs.webarena import prompts
from agentgym_envs.webarena.deployments import Episode
from agentgym_envs.webarena.evaluators import (
    Ending,
    Judge,
    RecordedJudge,
    Verdict,
    multiply,
)


@dataclass(frozen=True)
class Judgement:
    """The answer of `stop` and its verdict, empty while the episode goes on.

    Attributes:
        answer: what `stop` said.
        verdict: of the evaluators.
        record: what a judge was asked and said, a line of JSON each.
    """

    answer: str = ""
    verdict: Verdict | None = None
    record: str = ""

    def info(self) -> dict[str, str | bool]:
        """Return the keys of `info`."""
        verdict = self.verdict or Verdict(0.0)
        return {
            "answer": self.answer,
            VERDICT_KEY: "\n".join(verdict.reasons),
            UNSCORED_KEY: verdict.score is None,
            JUDGEMENTS_KEY: self.record,
        }

    def outcome(self) -> Outcome:
        """Return the last turn, once there is a verdict."""
        assert self.verdict is not None
        success = self.verdict.score == 1.0
        message = prompts.SOLVED if success else prompts.FAILED
        if self.verdict.score is None:
            message = prompts.UNSCORED
        return Outcome(message, float(success), terminated=True, success=success)


def judge_episode(episode: Episode, judge: Judge | None, *, intent: str, answer: str) -> Judgement:
    """Have an episode judged as its browser and sites are now.

    Args:
        episode: what was played.
        judge: compares meanings, if there is one.
        intent: the task.
        answer: what `stop` said.
    """
    assert episode.evaluators, "nothing would be required of a task without evaluators"
    recorded = None if judge is None else RecordedJudge(judge)
    ending = Ending(
        intent=intent,
        answer=answer,
        browser=episode.browser,
        functions=episode.functions,
        state=episode.state,
        judge=recorded,
        visited=episode.visited,
    )
    verdict = multiply(evaluate(ending) for evaluate in episode.evaluators)
    return Judgement(answer, verdict, "" if recorded is None else recorded.record)

"""Plays a question by AgentGym's own SearchQA protocol, for `compat="agentgym"`.

The wire format is AgentGym's at commit 3ef9235d: the strings, the first tag that counts, the last
answer that is scored, and as many answers as the policy likes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentgym_envs.core import Outcome
from agentgym_envs.searchqa import prompts
from agentgym_envs.searchqa.episode import Episode
from agentgym_envs.searchqa.scoring import f1, normalise
from agentgym_envs.searchqa.tags import TagReactParser, find_tag

TAGS = ("search", "answer")

RIGHT = "Congratulations! You have answered the question correctly."
WRONG = "Sorry, your answer is incorrect. Please try again."
INVALID = (
    "Your previous action is invalid. If you want to search, you should put the query between "
    "<search> and </search>. If you want to give the final answer, you should put the answer "
    "between <answer> and </answer>. Please try again."
)

_FIRST_OBSERVATION = (
    "You must reason inside <think>...</think> first. If you do not have enough knowledge, issue a "
    "<search>...</search> and then STOP. Do not generate <information> or <answer> yet. Wait for "
    "external input wrapped in <information>...</information>. After receiving information, reason "
    "again in <think>. If confident, output your final answer in <answer>...</answer>. Do not "
    "output <answer> before receiving <information> unless you are fully confident. If you find no "
    "further external knowledge needed, you can directly provide the answer inside <answer> and "
    "</answer>, without detailed illustrations. For example, <answer> Beijing </answer>. Follow "
    "this process every time.\n\n Question: {question}"
)
_ANSWER_ENDS = re.compile(r"<answer>|</answer>")


@dataclass(frozen=True)
class OriginalReactParser(TagReactParser):
    """The original's way: the environment reads the whole completion."""

    @property
    def instructions(self) -> str:
        """The instructions of the format."""
        return "Write your thoughts inside <think> and </think>, then one action, and stop."

    def parse(self, completion: str) -> str:
        """Return the completion."""
        return completion


class AgentGymEpisode(Episode):
    """A question as the original asks it, with the arguments of `Episode`."""

    instructions = prompts.COMPAT_INSTRUCTIONS
    verbs = tuple(verb for verb in prompts.VERBS if verb.name in TAGS)
    react_parser = OriginalReactParser

    def _opening(self) -> str:
        return _FIRST_OBSERVATION.replace("{question}", self.question.text.strip())

    def act(self, action: str) -> Outcome:
        """Play the first tag of a whole completion."""
        tag = find_tag(action, TAGS)
        if tag is None:
            return self._refused(INVALID)
        if tag.name == "search":
            return Outcome(prompts.information(self._search(tag.content.strip())))
        answer = last_answer(action)
        success = self.is_over = is_right(answer, self.question.answers)
        self.f1 = f1(answer, self.question.answers)
        message = RIGHT if success else WRONG
        return Outcome(message, float(success), terminated=success, success=success)

    def _search(self, query: str) -> str:
        quote = '"' if self._has_quoted_titles else ""
        passages = [hit.passage for hit in self.desk.search(query)]
        return prompts.passages_text((f"{quote}{p.title}{quote}", p.text) for p in passages)


def last_answer(text: str) -> str:
    """Return the content of the last `<answer>...</answer>`, which the original scores.

    The tag that made the text an answer is the first one; they may differ.
    """
    answer, start = "", None
    for tag in _ANSWER_ENDS.finditer(text):
        if tag[0] == "<answer>":
            start = tag.end() if start is None else start
        elif start is not None:
            answer, start = text[start : tag.start()].strip(), None
    return answer


def is_right(answer: str, accepted: Sequence[str]) -> bool:
    """Compare as the original does, normalised answers alone."""
    return normalise(answer) in {normalise(other) for other in accepted}

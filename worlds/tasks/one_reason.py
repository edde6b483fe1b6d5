"""Searches one reason for all impossible tasks: `python -m worlds.tasks.one_reason`.

The search is greedy. A sentence is N/A and phrases of all templates' reasons, joined in one of the
ways of `JOINS`; the phrase is added that gains most, as long as one gains. Each sentence is
played as the first action, and after the walk that helps it most: addresses that are opened one
after the other, the same for every task, as many as an episode has turns for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from agentgym_envs.sites.content import open_content
from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.evaluators.answer_parts import plain
from agentgym_envs.webarena.evaluators.impossible import RECENT_PAGES, is_page, rests_on
from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from agentgym_envs.webarena.tasks.files import WebTask
from agentgym_envs.webarena.tasks.task_set import EmbeddedTasks
from worlds.tasks.baselines import is_impossible

JOINS = (", ", " ", "; ", ". ", " and ", " or ", " because ", " - ", "/", "\n")
LONGEST_WALK = WebArenaEnv.default_max_turns - 1

_MAX_PHRASES = 12
_SAMPLE = 3
"""Tasks of each template by which phrases are chosen."""

_TRIED = 12
"""Sentences that are played in each step."""

_ELSEWHERE = [f"http://homepage.test/{place}" for place in range(RECENT_PAGES)]


@dataclass(frozen=True)
class Reward:
    """The number of tasks that reward a sentence.

    Attributes:
        sentence: the answer.
        accepted: tasks to which its words are a reason.
        first: tasks that reward it as the first action.
        walked: tasks that reward it after `walk`.
        walk: the addresses that are opened before.
    """

    sentence: str
    accepted: int
    first: int
    walked: int
    walk: tuple[str, ...]


class Search:
    """Searches sentences for tasks that cannot be done.

    Args:
        tasks: of all templates, sorted by them.

    Attributes:
        phrases: of the tasks' reasons, less those that name the things of a few tasks.
    """

    def __init__(self, tasks: Sequence[WebTask]) -> None:
        self.tasks = tasks
        templates = groupby(tasks, key=lambda task: task.intent_template_id)
        self._sample = [task for _, group in templates for task in list(group)[:_SAMPLE]]
        shared = Counter(phrase for task in tasks for phrase in set(_phrases(task)))
        self.phrases = sorted(phrase for phrase, number in shared.items() if number > _SAMPLE)

    def best(self, join: str, *, starts: int = 1) -> Reward:
        """Return the best sentence whose phrases are joined so.

        Args:
            join: stands between two phrases.
            starts: how many first phrases are tried, the best ones.
        """
        rewards = {phrase: self.reward(_sentence([phrase], join)) for phrase in self.phrases}
        firsts = sorted(rewards, key=lambda phrase: _value(rewards[phrase]))[-starts:]
        return max((self._grown(first, join) for first in firsts), key=_value)

    def reward(self, sentence: str) -> Reward:
        """Return the number of tasks that reward a sentence."""
        accepted, text = self._accepting(sentence, self.tasks), plain(sentence)
        walk = _best_walk(text, accepted)
        first, walked = (
            sum(rests_on(task.eval["typed_answer"], text, pages) for task in accepted)
            for pages in ((), walk)
        )
        return Reward(sentence, len(accepted), first, walked, tuple(walk))

    def _grown(self, first: str, join: str) -> Reward:
        phrases, best = [first], self.reward(_sentence([first], join))
        while len(phrases) < _MAX_PHRASES:
            longer = [[*phrases, each] for each in self.phrases]
            longer.sort(key=lambda each: -self._accepted(_sentence(each, join)))
            rewards = {_sentence(each, join): each for each in longer[:_TRIED]}
            reward = max(map(self.reward, rewards), key=_value)
            if _value(reward) <= _value(best) and len(phrases) > 1:
                break
            phrases, best = rewards[reward.sentence], max(best, reward, key=_value)
        return best

    def _accepted(self, sentence: str) -> int:
        return len(self._accepting(sentence, self._sample))

    @staticmethod
    def _accepting(sentence: str, tasks: Iterable[WebTask]) -> list[WebTask]:
        return [
            task
            for task in tasks
            if is_answer(task.eval["typed_answer"], sentence, task=task.intent)
        ]


def impossible_tasks(tasks: EmbeddedTasks) -> list[WebTask]:
    """Return the tasks of all splits that cannot be done, by template."""
    numbers = sorted(number for split in tasks.splits for number in tasks.numbers(split))
    return [task for task in map(tasks.task, numbers) if is_impossible(task)]


def _value(reward: Reward) -> tuple[int, int, int]:
    return reward.first, reward.walked, reward.accepted


def _sentence(phrases: Sequence[str], join: str) -> str:
    return f"N/A - {join.join(phrases)}"


def _phrases(task: WebTask) -> list[str]:
    return [phrase.strip() for group in task.eval["typed_answer"]["reason"] for phrase in group]


def _best_walk(text: str, tasks: Sequence[WebTask]) -> list[str]:
    """Return the walk after which most of these tasks reward a sentence.

    Its last pages count for any reason, the others for reasons that name them.
    """
    named = [task for task in tasks if _counts_long_after(task, text)]
    others = [task for task in tasks if task not in named]
    last = _cover(others, ("pages",), RECENT_PAGES)
    left = [task for task in named if not rests_on(task.eval["typed_answer"], text, last)]
    return [*_cover(left, ("pages", "lists"), LONGEST_WALK - len(last)), *last]


def _counts_long_after(task: WebTask, text: str) -> bool:
    pages = _addresses(task, ("pages",))
    return rests_on(task.eval["typed_answer"], text, [*pages, *_ELSEWHERE])


def _cover(tasks: Sequence[WebTask], keys: Sequence[str], number: int) -> list[str]:
    """Choose addresses greedily, by the number of tasks whose reason they show."""
    addresses = {address for task in tasks for address in _addresses(task, keys)}
    shown = {
        address: {
            task.task_id
            for task in tasks
            if any(
                is_page(address, page) for key in keys for page in task.eval["typed_answer"][key]
            )
        }
        for address in sorted(addresses)
    }
    chosen: list[str] = []
    left = {task.task_id for task in tasks}
    while left and len(chosen) < number:
        chosen.append(max(shown, key=lambda address: len(shown[address] & left)))
        left -= shown[chosen[-1]]
    return chosen


def _addresses(task: WebTask, keys: Sequence[str]) -> list[str]:
    pages = (page for key in keys for page in task.eval["typed_answer"].get(key, ()))
    return [page.replace("/*", "/1").removesuffix("*") for page in pages]


def main() -> None:
    """Print the best sentence of every join, and the walk of the best one."""
    search = Search(impossible_tasks(EmbeddedTasks(open_content())))
    rewards = [search.best(join, starts=3) for join in JOINS]
    total = len(search.tasks)
    print(f"Of {total} tasks that cannot be done:")
    print("| sentence | accept the words | first action | after a walk |")
    print("|---|---|---|---|")
    for each in rewards:
        print(f"| {each.sentence!r} | {each.accepted} | {each.first} | {each.walked} |")
    best = max(rewards, key=_value)
    print(f"Best: {best.walked / total:.1%} after opening", *best.walk, sep="\n  ")


if __name__ == "__main__":
    main()

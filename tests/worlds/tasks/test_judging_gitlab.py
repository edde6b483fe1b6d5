"""The code host's tasks: any other way is as good as the expert's, and any damage spoils it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

import pytest

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from agentgym_envs.webarena.tasks.experts import EXPERTS
from agentgym_envs.webarena.tasks.files import WebTask
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.solution import Case, Solution
from tests.worlds.tasks.gitlab_damage import DAMAGE, SITE, UNDONE, by_the_agent
from tests.worlds.tasks.gitlab_ways import WAYS
from tests.worlds.tasks.judging import after, answering, changing, reading, some, verdict

CHANGING, READING = changing(SITE), reading(SITE)


@pytest.mark.parametrize("number", CHANGING)
def test_any_damage_spoils_what_was_done(number: int) -> None:
    assert verdict(some(number)).score == 1.0
    for name, damage in DAMAGE.items():
        assert verdict(some(number), after(by_the_agent(damage), number)).score == 0.0, name


@pytest.mark.parametrize(("number", "name"), list(zip(READING, cycle(DAMAGE))))
def test_who_was_to_look_may_change_nothing(number: int, name: str) -> None:
    assert verdict(some(number)).score == 1.0
    assert verdict(some(number), after(by_the_agent(DAMAGE[name]), number)).score == 0.0


@pytest.mark.parametrize("name", UNDONE)
@pytest.mark.parametrize("number", [111, 119])
def test_what_leaves_all_as_it_was_is_no_damage(name: str, number: int) -> None:
    assert verdict(some(number), after(UNDONE[name], number)).score == 1.0


@pytest.mark.parametrize(
    ("number", "way"), [(number, way) for number, ways in WAYS.items() for way in ways]
)
@pytest.mark.parametrize("instance", [0, 1])
def test_any_honest_way_does_it(number: int, way: Solution, instance: int) -> None:
    result = verdict(some(number, instance), way)
    assert result.score == 1.0, result.reasons


def expert_of(task: WebTask, screen: Screen) -> Iterator[ExpertMove]:
    """Play a task's expert, but do not stop."""
    case = Case(task.instantiation_dict or {}, task.notes or {})
    for move in EXPERTS[task.intent_template_id](case, screen):
        if not move.action.startswith("stop"):
            yield move


def nearest(task: WebTask) -> WebTask:
    """The instance that shares the most words with a task."""
    others = [some(task.intent_template_id, instance) for instance in range(1, 12)]
    values = dict(task.instantiation_dict or {})
    return max(
        others, key=lambda other: len(values.items() & (other.instantiation_dict or {}).items())
    )


@pytest.mark.parametrize("number", CHANGING)
def test_the_next_best_thing_is_not_enough(number: int) -> None:
    other = nearest(some(number))
    assert verdict(some(number), lambda case, screen: expert_of(other, screen)).score == 0.0


@pytest.mark.parametrize("number", CHANGING)
def test_all_but_the_last_button_is_not_enough(number: int) -> None:
    moves: list[ExpertMove] = []
    pressed = 0

    def noting(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        nonlocal pressed
        for move in expert_of(some(number), screen):
            buttons = [f"click [{b.element}]" for b in screen.all("button") if b.name != "Apply"]
            pressed = len(moves) if move.action in buttons else pressed
            moves.append(move)
            yield move

    assert verdict(some(number), noting).score == 1.0
    assert verdict(some(number), lambda case, screen: iter(moves[:pressed])).score == 0.0


@pytest.mark.parametrize("number", CHANGING)
def test_one_more_of_the_kind_is_too_much(number: int) -> None:
    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        yield from expert_of(some(number), screen)
        if some(number).storage_state is None:
            yield screen.click("button", "Sign out")
        yield from expert_of(some(number, 1), screen)

    assert verdict(some(number), solution).score == 0.0


def written(task: WebTask) -> list[str]:
    """What a typed answer consists of, as text."""
    expected = task.eval["typed_answer"]
    return [str(part["value"]) for part in expected.get("of", [expected])]


ANSWERS = {
    100: (
        ["{0}, {1}", 'There are {0} commits; the last one says "{1}".', "**{0}** - {1}"],
        ["{0}", "{1}", "{0}1, {1}", "{0}, {1} again", "1{0} commits, {1}"],
    ),
    101: (
        ["{0}", "The e-mail address is {0}.", "It is `{0}`"],
        ["x{0}", "{0}.au", "{0} or nora.dahl@post.test", "not {0}"],
    ),
    111: (
        ["{0}", 'It is called "{0}".', "The title is: {0}"],
        ["{0} v2", "{0} and Tests for the search command", "Not {0}", "the oldest one"],
    ),
    117: (
        ["{0}", "{0} has the most.", "The project {0}"],
        ["{0} Eastwick II", "{0} or Stockhouse", "Probably {0}", "all of them"],
    ),
    120: (
        ["{0}", "The profile gives {0}.", "They live in {0}"],
        ["{0} or Willowbank", "New {0} Town", "nowhere", "perhaps {0}"],
    ),
    124: (
        ["{0}", "{0} stars", "They have {0} stars in total."],
        ["{0}0", "about {0}", "{0} forks", "1{0}", "between 1 and {0}"],
    ),
}
"""By the number of the template: right wordings of an answer of these parts, and wrong ones."""


@pytest.mark.parametrize("number", ANSWERS)
@pytest.mark.parametrize("instance", [0, 1])
def test_the_wording_of_an_answer_is_free_and_its_value_is_not(number: int, instance: int) -> None:
    task = some(number, instance)
    for wordings, score in zip(ANSWERS[number], (1.0, 0.0), strict=True):
        for wording in wordings:
            answer = wording.format(*written(task))
            assert verdict(task, answering(answer, number)).score == score, answer


REASONS = {
    115: (
        [
            "{person} is not a member of {project}",
            "{person} is no member, so the issue cannot be assigned to them",
            "{person} does not appear in the assignee list",
            "there's no {person} among the project's members and I lack the rights to invite",
            "the person isn't a project member and I'm not a maintainer",
            "{person} cannot be assigned: nobody of that name is a member",
            "no member called {person}",
            "I can't assign it; the list of assignees lacks {person}",
            "{person} doesn't belong to {project}",
            "Only members can be assignees, and {person} is not one",
        ],
        [
            "there is no open issue without an assignment",
            "no issue has a due date",
            "the project does not exist",
            "{person} does not exist",
            "the issue is already closed",
        ],
    ),
    128: (
        [
            "No open issue fits",
            "{project} has no such issue that is open",
            "there are no issues that {condition}",
            "none of the open issues matches this condition",
            "there isn't any open issue like this",
            "the filtered list of issues is empty",
            "0 issues found",
            "no matching issues exist in {project}",
            "I did not find an open issue that meets this",
            "nothing to edit: the issue list shows nothing",
        ],
        [
            "the issue is confidential",
            "I may not edit this issue",
            "the project is archived",
            "the form of the issue does not load",
            "several issues tie",
        ],
    ),
    160: (
        [
            "I am not allowed to reopen it",
            "there is no reopen button on the issue",
            "I don't have permission to reopen issues in {project}",
            "I'm not a member of {project}",
            "no rights to change the state of the issue",
            "reopening takes the role Reporter, which I do not have",
            "my account lacks the privileges",
            "the issue page offers no button for that",
            "the user has no access to this",
            "not authorized to reopen issues there",
        ],
        [
            "there is no closed issue in {project}",
            "{project} does not exist",
            "the comment could not be found",
            "two issues were closed on that day, so it is not clear",
            "the issue is not closed",
        ],
    ),
    161: (
        [
            "No open merge request of {project} is about the {part}",
            "there is no such merge request",
            "none of the open merge requests mentions the {part}",
            "{project} has no merge request about the {part}",
            "I could not find an open merge request on the {part}",
            "there aren't any open MRs about the {part}",
            "the search for merge requests about the {part} shows nothing",
            "a merge request about the {part} does not exist",
            "there isn't a single merge request that concerns it",
            "0 merge requests match {part}",
        ],
        [
            "I am not allowed to comment on merge requests",
            "{project} could not be found",
            "the merge request is already merged",
            "the comment is too long",
            "two merge requests are about the {part}",
        ],
    ),
    162: (
        [
            "I cannot follow myself",
            "I opened it",
            "the merge request is my own",
            "it was opened by me, so there is nobody to follow",
            "the author is Mira Halden, who is signed in",
            "users cannot follow themselves",
            "you opened this merge request yourself",
            "the author is the same user",
            "one cannot follow oneself",
            "the request was opened from your account",
        ],
        [
            "there is no such merge request",
            "I already follow this person",
            "the author's profile does not exist",
            "I am not allowed to follow people",
            "the project {project} is unknown to me",
        ],
    ),
    163: (
        [
            '{project} has no milestone "{milestone}"',
            "there is no such milestone",
            "the milestone {milestone} does not exist in {project}",
            "I could not find the milestone",
            "no milestone of this name",
            "{project} doesn't have a milestone called {milestone}",
            "{milestone} is not among the milestones",
            "that milestone isn't listed",
            "none of the milestones is called {milestone}",
            "the milestone is missing",
        ],
        [
            "all its issues are closed",
            "{project} does not exist",
            "the milestone {milestone} is closed already",
            "I am not allowed to edit milestones",
            "the milestone cannot be postponed",
        ],
    ),
}
"""By the number of the template: reasons that are right, and others."""


@pytest.mark.parametrize("number", REASONS)
def test_giving_up_takes_the_right_reason(number: int) -> None:
    task = some(number)
    for reasons, is_right in zip(REASONS[number], (True, False), strict=True):
        for reason in reasons:
            answer = f"N/A: {reason.format_map(task.instantiation_dict or {})}."
            assert is_answer(task.eval["typed_answer"], answer, task=task.intent) == is_right, (
                answer
            )
    assert verdict(task, answering("N/A", number)).score == 0.0

from __future__ import annotations

import pytest

from agentgym_envs.retrieval import Hit
from agentgym_envs.retrieval.documents import Corpus, Passage
from agentgym_envs.searchqa.env import SearchQAEnv
from agentgym_envs.searchqa.questions import Hop, Question, QuestionSet
from tests.agentgym_envs.searchqa import small_world
from tests.helpers import FORMATS_AND_COMPATS


def play(env: SearchQAEnv, number: int) -> tuple[list[str], dict[str, object]]:
    _, info = env.reset(options={"task_id": number})
    actions = []
    for action in env.expert():
        actions.append(action)
        *_, terminated, truncated, info = env.step(action)
        assert info["is_valid_action"]
        if terminated or truncated:
            break
    return actions, info


@pytest.mark.parametrize(("action_format", "compat"), FORMATS_AND_COMPATS)
@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_the_expert_solves_what_can_be_found(
    number: int, action_format: str, compat: str | None
) -> None:
    _, info = play(small_world.make(action_format=action_format, compat=compat), number)
    assert info["success"]


def test_it_follows_the_hops_one_search_each() -> None:
    actions, _ = play(small_world.make(), 1)
    assert actions == [
        "<search>Orla Venn studied under</search>",
        "<search>Ivo Brann born</search>",
        "<answer>Quill</answer>",
    ]


def test_it_opens_the_document_where_the_passage_is_not_shown() -> None:
    actions, _ = play(small_world.make(), 2)
    assert actions == [
        "<search>Orla Venn painter</search>",
        "<open>Orla Venn</open>",
        "<open>Orla Venn | page 2</open>",
        "<answer>stone remembers</answer>",
    ]


def test_its_thoughts_say_what_was_read_and_what_is_sought() -> None:
    actions, _ = play(small_world.make(action_format="react"), 1)
    assert [action.splitlines()[0] for action in actions] == [
        "<think>I look for: Orla Venn studied under.</think>",
        '<think>Orla Venn: "In her youth Orla Venn studied under the sculptor Ivo Brann." So: Ivo '
        "Brann. I look for: Ivo Brann born.</think>",
        "<think>So far: Orla Venn studied under: Ivo Brann. "
        'Ivo Brann: "Ivo Brann, a sculptor, was born in the town of Quill in 1871." So: Quill. '
        "Answer: Quill.</think>",
    ]


def test_it_gives_up_what_it_cannot_find() -> None:
    actions, info = play(small_world.make(), 4)
    assert not any("<answer>" in action for action in actions)
    assert not info["success"]


class Blind:
    """A retriever that finds nothing."""

    name = "blind"

    def search(self, query: str, k: int) -> list[Hit]:
        return []

    def search_many(self, queries: list[str], k: int) -> list[list[Hit]]:
        return [[] for _ in queries]


@pytest.mark.parametrize("number", range(5))
def test_it_never_answers_what_it_has_not_read(number: int) -> None:
    env = small_world.make(retriever=Blind(), compat="agentgym")
    actions, _ = play(env, number)
    assert actions and not any("<answer>" in action for action in actions)


def test_it_goes_on_from_what_has_been_read() -> None:
    env = small_world.make()
    env.reset(options={"task_id": 1})
    env.step("<open>Orla Venn</open>")
    env.step("<python>1</python>")
    assert next(env.expert()) == "<search>Ivo Brann born</search>"
    env.step("<open>Ivo Brann</open>")
    assert list(env.expert()) == ["<answer>Quill</answer>"]


def test_it_opens_by_number_where_two_documents_share_a_title() -> None:
    texts = ["Lorn is a hill.", "Lorn is a bay of seals.", "N" * 1500, "The bay froze in 1803."]
    corpus = Corpus(
        [
            Passage(n, "Lorn", text, document_id=min(n, 1), part=max(0, n - 1))
            for n, text in enumerate(texts)
        ],
        "two-lorns v1",
    )
    hop = Hop("bay of seals", (3,), "1803")
    questions = QuestionSet(
        [Question(0, "When did the bay freeze?", ("1803",), "nq", "train", (hop,))], "lorn v1"
    )
    actions, info = play(SearchQAEnv(data_dir=questions, corpus=corpus, top_k=1), 0)
    assert actions == [
        "<search>bay of seals</search>",
        "<open>Doc 1</open>",
        "<open>Doc 1 | page 2</open>",
        "<open>Doc 1 | page 3</open>",
        "<answer>1803</answer>",
    ]
    assert info["success"]


def test_it_searches_for_no_name_that_it_has_not_read() -> None:
    hop = Hop("Ivo Brann born in Quill 1871", (4,), "Quill")
    questions = QuestionSet(
        [Question(0, "Where was Ivo Brann born?", ("Quill",), "nq", "train", (hop,))], "leak v1"
    )
    actions, _ = play(small_world.make(data_dir=questions), 0)
    assert actions[0] == "<search>Ivo Brann born in</search>"

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from gymnasium.error import ResetNeeded

from agentgym_envs import EnvFailure, UnknownTask
from agentgym_envs.retrieval import Hit
from agentgym_envs.retrieval.documents import Corpus, Passage
from agentgym_envs.searchqa.env import SearchQAEnv
from agentgym_envs.searchqa.questions import QuestionSet
from tests.agentgym_envs.searchqa import small_world
from tests.helpers import accepted, refused
from trainers.policies.scripted import play
from wrappers import FailureRules, TextVectorEnv
from wrappers.vector.backends import LOCAL_BACKENDS, Backend


@pytest.fixture
def env() -> SearchQAEnv:
    env = small_world.make()
    env.reset(options={"task_id": 0})
    return env


def test_the_first_observation_is_the_question(env: SearchQAEnv) -> None:
    observation, info = env.reset(options={"task_id": "searchqa_1"})
    assert observation == "Question: Where was the teacher of Orla Venn born?"
    assert info["goal"] == "Where was the teacher of Orla Venn born?"
    assert (info["subtask"], info["split"]) == ("hotpotqa", "train")
    assert info["source"] == "small-questions v1 over small-corpus v1"
    assert (info["f1"], info["documents"]) == (0.0, [])


def test_a_search_shows_numbered_passages(env: SearchQAEnv) -> None:
    assert accepted(env, "<search>Ivo Brann</search>") == (
        "<information>Doc 1(Title: Ivo Brann) Ivo Brann, a sculptor, was born in the town of "
        "Quill in 1871.\nDoc 2(Title: Orla Venn) In her youth Orla Venn studied under the "
        "sculptor Ivo Brann.</information>"
    )
    assert accepted(env, "<search>zzz</search>") == (
        "<information>Nothing was found. Use other words.</information>"
    )


def test_info_lists_the_documents_that_were_shown_last(env: SearchQAEnv) -> None:
    assert env.step("<search>Ivo Brann</search>")[4]["documents"] == ["Ivo Brann", "Orla Venn"]
    assert env.step("<open>quill</open>")[4]["documents"] == ["Quill"]
    assert env.step("<search>zzz</search>")[4]["documents"] == []


def test_a_document_opens_by_title_and_by_number(env: SearchQAEnv) -> None:
    page = (
        "<information>Document(Title: Ivo Brann) Ivo Brann, a sculptor, was born in the town of "
        "Quill in 1871.</information>"
    )
    assert accepted(env, "<open>Ivo Brann</open>") == page
    assert accepted(env, '<open> "ivo brann" </open>') == page
    accepted(env, "<search>Ivo Brann</search>")
    for name in ("Doc 1", "doc 1", "1", "Document 1", "Doc 1 | page 1"):
        assert accepted(env, f"<open>{name}</open>") == page


def test_a_long_document_opens_page_by_page(env: SearchQAEnv) -> None:
    first = accepted(env, "<open>Orla Venn</open>")
    assert first == (
        "<information>Document(Title: Orla Venn, page 1 of 2) Orla Venn was a painter from Tarsk."
        "\nIn her youth Orla Venn studied under the sculptor Ivo Brann."
        '\n(To read on, open "Orla Venn | page 2".)</information>'
    )
    second = accepted(env, '<open>"Orla Venn | page 2"</open>')
    assert second.startswith("<information>Document(Title: Orla Venn, page 2 of 2) LLL")
    assert second.endswith("\nHer motto was 'stone remembers'.</information>")


def test_what_cannot_be_opened_is_told(env: SearchQAEnv) -> None:
    assert "no search has found anything yet" in refused(env, "<open>Doc 1</open>")
    accepted(env, "<search>Ivo Brann</search>")
    assert "Doc 1 to Doc 2" in refused(env, "<open>Doc 3</open>")
    assert "'Nobody'; take a title as a search shows it." in refused(env, "<open>Nobody</open>")
    assert "did you mean Orla Venn?" in refused(env, "<open>Orla Ven</open>")
    assert "did you mean Quill (novel)" in refused(env, "<open>Quill (play)</open>")
    assert "'xxxx" in refused(env, f"<open>{'x' * 40_000}</open>")
    assert "has 2 pages" in refused(env, "<open>Orla Venn | page 3</open>")
    assert "has 1 page." in refused(env, "<open>Quill | page 0</open>")


def test_a_number_that_is_a_title_opens_that_title() -> None:
    corpus = Corpus(
        [Passage(0, "1871", "A year of floods.", 0, 0), Passage(1, "Flood", "A flood.", 1, 0)],
        "years v1",
    )
    env = small_world.make(corpus=corpus)
    env.reset(options={"task_id": 0})
    accepted(env, "<search>a flood</search>")
    assert "A year of floods" in accepted(env, "<open>1871</open>")
    assert "no Doc 1872" in refused(env, "<open>1872</open>")


def test_programs_run(env: SearchQAEnv) -> None:
    assert accepted(env, "<python>for i in range(2):\n    print(1871 + i)</python>") == (
        "<output>1871\n1872</output>"
    )
    assert "ZeroDivisionError" in accepted(env, "<python>1/0</python>")
    assert "SyntaxError" in refused(env, "<python>def (</python>")


def test_the_first_answer_ends_the_episode(env: SearchQAEnv) -> None:
    observation, reward, terminated, truncated, info = env.step("<answer> THE quill. </answer>")
    assert (observation, reward, terminated, truncated) == (
        "The answer is right.",
        1.0,
        True,
        False,
    )
    assert (info["success"], info["score"], info["f1"]) == (True, 1.0, 1.0)
    with pytest.raises(ResetNeeded):
        env.step("<answer>Quill</answer>")


def test_a_wrong_answer_ends_it_too_and_keeps_its_f1(env: SearchQAEnv) -> None:
    observation, reward, terminated, truncated, info = env.step("<answer>old Quill</answer>")
    assert (observation, reward, terminated, truncated) == (
        "The answer is wrong.",
        0.0,
        True,
        False,
    )
    assert (info["success"], info["score"]) == (False, 0.0)
    assert info["f1"] == pytest.approx(2 / 3)
    assert env.reset()[1]["f1"] == 0.0


def test_accepted_answers_never_stand_in_info(env: SearchQAEnv) -> None:
    env.reset(options={"task_id": 3})
    *_, info = env.step("<answer>wrong</answer>")
    assert "Ashe" not in json.dumps(info)
    assert env.question.answers == ("Ashe", "the river Ashe")


@pytest.mark.parametrize(
    "action",
    ["", "Quill", "<search></search>", "<answer> </answer>", "<search>a</search> b", "<open>"],
)
def test_what_is_no_action_is_told(env: SearchQAEnv, action: str) -> None:
    assert "<" in refused(env, action)


CODE = 'text = """a {b} \\n"""\nif text:\n    print(len(text), "</python>", {"k": 1})'


@pytest.mark.parametrize("action_format", ["function_call", "code", "plain"])
def test_a_program_of_many_lines_survives_the_format(action_format: str) -> None:
    env = small_world.make(action_format=action_format)
    env.reset(options={"task_id": 0})
    completion = {
        "plain": f"<python>{CODE}</python>",
        "function_call": json.dumps({"name": "python", "arguments": {"code": CODE}}),
        "code": f"```python\npython({CODE!r})\n```",
    }[action_format]
    assert accepted(env, completion) == "<output>7 </python> {'k': 1}</output>"
    if action_format != "plain":
        again = env.parser.format(f"<python>{CODE}</python>")
        assert accepted(env, again) == "<output>7 </python> {'k': 1}</output>"


def test_top_k_is_bounded() -> None:
    assert small_world.make(top_k=3).top_k == 3
    for wrong in (0, 101, "3", 2.5, True, None):
        with pytest.raises(ValueError, match=f"top_k must be in 1..100, got {wrong!r}"):
            small_world.make(top_k=wrong)


def test_a_corpus_needs_its_questions() -> None:
    with pytest.raises(ValueError, match="corpus= goes with data_dir="):
        SearchQAEnv(corpus=small_world.corpus())


def test_questions_need_a_corpus_unless_the_retriever_has_one() -> None:
    with pytest.raises(ValueError, match="corpus"):
        SearchQAEnv(data_dir=small_world.questions())


class Elsewhere:
    """A retriever with passages of its own, that breaks when asked to."""

    name = "elsewhere"

    def search(self, query: str, k: int) -> list[Hit]:
        if query == "break":
            raise EnvFailure("the server is gone")
        texts = ("First part.", "Second part.") if query == "both" else ("First part.",)
        return [
            Hit(Passage(7 + i, "Far Away", text, document_id=-1, part=0), 1.0)
            for i, text in enumerate(texts)
        ][:k]

    def search_many(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self.search(query, k) for query in queries]


def test_without_a_corpus_a_document_is_what_was_read_of_it() -> None:
    env = SearchQAEnv(data_dir=small_world.questions(), retriever=Elsewhere())
    env.reset(options={"task_id": 0})
    accepted(env, "<search>one</search>")
    assert accepted(env, "<open>Doc 1</open>") == (
        "<information>Document(Title: Far Away) First part.</information>"
    )
    accepted(env, "<search>both</search>")
    assert accepted(env, "<open>far away</open>").endswith(
        "First part.\nSecond part.</information>"
    )


def test_a_broken_retriever_is_a_failure_and_the_task_is_played_again() -> None:
    env = SearchQAEnv(data_dir=small_world.questions(), retriever=Elsewhere())
    env.reset(options={"task_id": 0})
    with pytest.raises(EnvFailure, match="the server is gone"):
        env.step("<search>break</search>")
    with pytest.raises(ResetNeeded):
        env.step("<search>one</search>")
    asked = iter(["<search>break</search>", "<answer>Quill</answer>"])
    vector = TextVectorEnv([lambda: env])
    (trajectory,) = play(
        vector, ["searchqa_0"], lambda _: next(asked), failure_rules=FailureRules(retries=1)
    )
    assert trajectory.success and len(trajectory.turns) == 1


def test_the_paper_s_panel_is_a_part_of_test() -> None:
    env = small_world.make(split="paper_test")
    assert env.task_ids("paper_test") == ["searchqa_2"]
    assert set(env.task_ids("paper_test")) < set(env.task_ids("test"))
    assert env.reset(seed=0)[1]["split"] == "test"


def test_an_empty_panel_is_explained() -> None:
    without = QuestionSet(small_world.QUESTIONS, "no-panel v1")
    env = small_world.make(data_dir=without, split="paper_test")
    with pytest.raises(ValueError, match="no task to draw.*no-panel v1 was made without paper_te"):
        env.reset()


def test_tasks_filter_by_family_id_and_structure() -> None:
    for entry in ("hotpotqa", "searchqa_1", 1, "teacher/birthplace"):
        env = small_world.make(tasks=[entry])
        assert {env.reset(seed=seed)[1]["task_id"] for seed in range(5)} == {"searchqa_1"}


def test_an_unknown_task_names_the_numbers_there_are() -> None:
    with pytest.raises(UnknownTask, match=r"searchqa_9.*0 to 4.*task_ids"):
        small_world.make().reset(options={"task_id": 9})


def test_environments_of_a_process_share_corpus_and_index() -> None:
    corpus = small_world.corpus()
    first, second = (small_world.make(corpus=corpus) for _ in range(2))
    assert first.corpus is second.corpus
    assert first.retriever is second.retriever


@pytest.mark.parametrize("backend", LOCAL_BACKENDS)
def test_every_backend_of_the_vector_plays_it(backend: Backend) -> None:
    vector = TextVectorEnv([small_world.make] * 3, backend=backend)
    try:
        trajectories = play(vector, [f"searchqa_{number}" for number in range(5)], "expert")
        vector.reset(options={"task_id": "searchqa_0"})
        observations, *_ = vector.step(["<python>6 * 7</python>"] * 3)
    finally:
        vector.close()
    assert [trajectory.success for trajectory in trajectories] == [True] * 4 + [False]
    assert trajectories[-1].truncated_by == "no_action"
    assert observations == ["<output>42</output>"] * 3


def test_questions_and_corpus_are_read_from_files_once(tmp_path: Path) -> None:
    (tmp_path / "nq").mkdir()
    question = {"id": "test_0", "question": "where was Ivo Brann born", "golden_answers": ["Quill"]}
    (tmp_path / "nq" / "test.jsonl").write_text(json.dumps(question) + "\n")
    lines = [
        json.dumps({"id": str(p.passage_id), "contents": f'"{p.title}"\n{p.text}'})
        for p in small_world.corpus().passages
    ]
    (tmp_path / "wiki.jsonl").write_text("".join(line + "\n" for line in lines))
    first, second = (
        SearchQAEnv(data_dir=tmp_path, corpus=tmp_path / "wiki.jsonl", split="test")
        for _ in range(2)
    )
    assert first.corpus is second.corpus and first.retriever is second.retriever
    observation, info = first.reset(options={"task_id": "searchqa_0"})
    assert observation == "Question: where was Ivo Brann born?"
    assert (info["subtask"], info["split"]) == ("nq", "test")
    assert "Doc 1(Title: Ivo Brann) Ivo Brann, a" in accepted(first, "<search>Ivo Brann</search>")
    assert "page 1 of 2) Orla" in accepted(first, "<open>Orla Venn</open>")
    assert list(first.expert()) == ["<answer>Quill</answer>"]

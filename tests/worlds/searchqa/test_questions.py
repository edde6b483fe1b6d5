"""The questions, checked from their words and the facts alone, without what drew them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from agentgym_envs.retrieval.documents import Corpus
from agentgym_envs.searchqa.questions import FAMILIES, Question, QuestionSet
from agentgym_envs.searchqa.world import embedded_world
from worlds.searchqa.asking.families import PAPER_SIZES, SPLIT_SIZES
from worlds.searchqa.asking.oracle import search_name
from worlds.searchqa.asking.patterns import KIN
from worlds.searchqa.asking.rivals import Rivals
from worlds.searchqa.build import build_world
from worlds.searchqa.naming import mentions
from worlds.searchqa.values import Date, Entity, Quantity, Value, World, value_forms

SPLITS = ("train", "validation", "test")


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(0)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return embedded_world()[0]


@pytest.fixture(scope="module")
def questions() -> QuestionSet:
    return embedded_world()[1]


@pytest.fixture(scope="module")
def listed(questions: QuestionSet) -> list[Question]:
    return [questions.question(n) for split in SPLITS for n in questions.numbers(split)]


def normal(answer: str) -> str:
    words = re.sub(r"[^\w\s]", "", answer.lower()).split()
    return " ".join(word for word in words if word not in ("a", "an", "the"))


@pytest.fixture(scope="module")
def entities(world: World) -> set[str]:
    """The names of what may be the answer to one split alone: not of countries and continents."""
    return {e.name for e in world.entities if e.kind not in ("country", "continent")}


def test_splits_hold_what_they_say_and_number_everything_once(
    questions: QuestionSet, listed: list[Question]
) -> None:
    assert len(listed) >= 20_000
    assert sorted(q.number for q in listed) == list(range(len(listed)))
    sizes = Counter((q.split, q.family) for q in listed)
    assert sizes == {
        (split, family): SPLIT_SIZES[split][family] for split in SPLITS for family in FAMILIES
    }
    assert len(questions.numbers("test")) >= 3000


def test_the_paper_panel_has_the_papers_sizes_and_lies_in_test(questions: QuestionSet) -> None:
    panel = questions.numbers("paper_test")
    assert len(set(panel)) == 400 and set(panel) <= set(questions.numbers("test"))
    assert Counter(questions.question(number).family for number in panel) == PAPER_SIZES


def test_no_question_is_asked_twice(listed: list[Question]) -> None:
    assert len({q.text.casefold() for q in listed}) == len(listed)


@pytest.mark.full
def test_splits_share_no_answer_entity(listed: list[Question], entities: set[str]) -> None:
    """Names and aliases of an answer in one split are no accepted answer in another."""
    splits: dict[str, set[str]] = defaultdict(set)
    for question in listed:
        if question.answers[0] in entities:
            for answer in question.answers:
                splits[normal(answer)].add(question.split)
    assert {form: found for form, found in splits.items() if len(found) > 1} == {}


def test_splits_share_no_subject_where_they_may_share_an_answer(
    world: World, listed: list[Question], entities: set[str]
) -> None:
    """The answers are yes, no, numbers, dates, words, countries and continents."""
    by_name = {search_name(entity): entity.number for entity in world.entities}
    splits: dict[int, set[str]] = defaultdict(set)
    for question in listed:
        if question.answers[0] not in entities:
            compared = question.structure.startswith(("same", "winner"))
            first = question.hops if compared else question.hops[-1:]
            subjects = [n for hop in first for n in subjects_of(hop.query, by_name)]
            subjects += subjects_of(question.hops[0].query, by_name)
            assert subjects, question
            for subject in subjects:
                splits[subject].add(question.split)
    assert {number for number, found in splits.items() if len(found) > 1} == set()


def subjects_of(query: str, by_name: dict[str, int]) -> list[int]:
    """Find the longest entity name that a query begins with."""
    words = query.split()
    for end in range(len(words), 0, -1):
        number = by_name.get(" ".join(words[:end]))
        if number is not None:
            return [number]
    return []


def test_gold_passages_hold_the_hops_answers(corpus: Corpus, listed: list[Question]) -> None:
    for question in listed:
        assert question.hops, question
        for hop in question.hops:
            assert hop.gold, question
            for number in hop.gold:
                assert hop.answer in corpus.passages[number].text, (question, number)


def test_the_last_hop_finds_the_answer_of_what_is_not_compared(listed: list[Question]) -> None:
    for question in listed:
        if not question.structure.startswith(("compare", "same")):
            assert question.hops[-1].answer == question.answers[0]


def test_questions_do_not_give_their_answer_away(listed: list[Question]) -> None:
    for question in listed:
        if not question.structure.startswith(("compare", "same")):
            text = f" {question.text.casefold()} "
            assert not any(a.casefold() in text for a in question.answers if len(a) > 2), question


def test_accepted_forms_differ_and_begin_with_the_canonical_one(
    world: World, listed: list[Question]
) -> None:
    dated = next(q for q in listed if re.fullmatch(r"\d+ [A-Z]\w+ \d{4}", q.answers[0]))
    assert len(dated.answers) == 10
    entity = next(e for e in world.entities if e.aliases)
    assert value_forms(entity) == (entity.name, *entity.aliases)
    assert all(len(set(q.answers)) == len(q.answers) > 0 for q in listed)


def test_structures_are_many_and_none_rules_a_family(listed: list[Question]) -> None:
    for family in FAMILIES:
        counts = Counter(q.structure for q in listed if q.family == family)
        assert len(counts) >= 60, family
        assert counts.most_common(1)[0][1] <= 0.07 * sum(counts.values()), family


def test_hops_fit_the_families(listed: list[Question]) -> None:
    hops: dict[str, set[int]] = defaultdict(set)
    for question in listed:
        hops[question.family].add(len(question.hops))
    assert hops["nq"] == hops["triviaqa"] == hops["popqa"] == {1}
    assert hops["hotpotqa"] == {2, 3} and hops["bamboogle"] == {2}
    assert hops["2wikimultihopqa"] == {2, 3, 4} == hops["musique"]


def test_yes_and_no_are_equally_common(listed: list[Question]) -> None:
    """In each family and split, and for each thing that two may share."""
    counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for question in listed:
        if question.structure.startswith("same"):
            relation = re.split(r"[.>]", question.structure.rstrip(")"))[-1]
            for key in ((), (relation,)):
                counts[(question.family, question.split, *key)][question.answers[0]] += 1
    assert sum(counts["hotpotqa", "train"].values()) >= 50
    assert all(abs(count["yes"] - count["no"]) <= 1 for count in counts.values())


def test_of_two_things_that_are_named_the_first_is_as_often_right(listed: list[Question]) -> None:
    counts: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for question in listed:
        if re.fullmatch(r"compare\(\w+\.\w+:\w+\)", question.structure):
            first, second = question.hops
            is_first = first.query.casefold().startswith(question.answers[0].casefold())
            is_second = second.query.casefold().startswith(question.answers[0].casefold())
            if is_first != is_second:  # else both names begin alike
                counts[question.family, question.split][is_first] += 1
    assert sum(counts["hotpotqa", "train"].values()) >= 50
    for count in counts.values():
        assert abs(count[True] - count[False]) <= max(3, 0.1 * count.total())


def test_the_commonest_answer_to_questions_of_one_structure_is_seldom_right(
    listed: list[Question],
) -> None:
    """Not even where the answers to all other questions of the family and split are known."""
    for family in FAMILIES:
        asked = [q for q in listed if (q.family, q.split) == (family, "test")]
        asked = [q for q in asked if not q.structure.startswith(("same", "compare"))]
        answers: dict[str, Counter[str]] = defaultdict(Counter)
        for question in asked:
            answers[question.structure][question.answers[0]] += 1
        right = 0.0
        for question in asked:
            others = answers[question.structure] - Counter([question.answers[0]])
            most = max(others.values(), default=0)
            best = [answer for answer, count in others.items() if count == most]
            right += (question.answers[0] in best) / max(1, len(best))
        assert right <= 0.05 * len(asked), family


def test_no_answer_can_be_put_together_from_the_question(
    world: World, listed: list[Question]
) -> None:
    """All that is lacking would be as common as Gazette: in one of five names of the kind."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    by_name: dict[str, Entity] = {}
    for entity in world.entities:
        kinds[entity.kind].update(set(normal(entity.name).split()))
        by_name[entity.name] = entity
    readable = []
    for question in listed:
        entity = by_name.get(question.answers[0])
        if entity is not None and not question.structure.startswith("compare"):
            lacking = set(normal(entity.name).split()) - set(normal(question.text).split())
            common = kinds[entity.kind]
            if all(common[word] >= 0.2 * len(world.of_kind(entity.kind)) for word in lacking):
                readable.append((question.text, entity.name))
    assert readable == []


def test_bamboogles_bridges_have_neighbours_that_mislead(
    world: World, listed: list[Question]
) -> None:
    rivals, by_name = Rivals(world), {search_name(e): e for e in world.entities}
    numbers = {name: entity.number for name, entity in by_name.items()}
    for question in listed:
        if question.family == "bamboogle":
            (bridge,) = subjects_of(question.hops[-1].query, numbers)
            assert rivals.of(world.entities[bridge]), question


def test_rare_entities_are_mentioned_little(world: World, listed: list[Question]) -> None:
    inbound = Counter(
        value.number
        for e in world.entities
        for value in e.facts.values()
        if isinstance(value, Entity)
    )
    by_name = {search_name(entity): entity.number for entity in world.entities}
    for question in listed:
        if question.family == "popqa":
            (subject,) = subjects_of(question.hops[0].query, by_name)
            assert inbound[subject] <= 1


# One right answer, by brute force ---------------------------------------------------------------

_PATH = re.compile(r"[\w -]+([<>][\w.-]+)+")


def meant(world: World, kind: str, text: str) -> list[Entity]:
    """List the entities of a kind that the longest mention in a text may mean."""
    folded = f" {text.casefold()} "
    found = [
        (len(mention.text), entity)
        for entity in world.of_kind(kind)
        if any(form.casefold() in folded for form in entity.forms)
        for mention in mentions(entity)
        if re.search(rf"(?<!\w){re.escape(mention.text.casefold())}(?!\w)", folded)
    ]
    longest = max((length for length, _ in found), default=0)
    return list(dict.fromkeys(entity for length, entity in found if length == longest))


def follow(world: World, start: list[Entity], steps: list[str]) -> Iterator[Value]:
    """Walk a path of relations from every start, against the facts themselves."""
    values: list[Value] = list(start)
    for step in steps:
        here = [value for value in values if isinstance(value, Entity)]
        if step.startswith("<"):
            kind, relation = step[1:].split(".")
            values = [e for e in world.entities if e.kind == kind and e.facts.get(relation) in here]
            continue
        for relation in KIN.get(step[1:].replace("_", " "), (step[1:],)):
            here = [value for value in values if isinstance(value, Entity)]
            values = [value.facts[relation] for value in here if relation in value.facts]
    yield from values


def test_paths_lead_to_one_answer_by_brute_force(world: World, listed: list[Question]) -> None:
    chains = [q for q in listed if _PATH.fullmatch(q.structure)]
    assert len(chains) >= 10_000
    for question in chains[::23]:
        kind, *steps = re.findall(r"^[\w -]+|[<>][\w.-]+", question.structure)
        start = meant(world, kind, question.text)
        values = set(follow(world, start, steps))
        assert [value_forms(value) for value in values] == [question.answers], question


def test_comparisons_have_one_winner_by_brute_force(world: World, listed: list[Question]) -> None:
    by_name = {search_name(entity): entity.number for entity in world.entities}
    compared = [q for q in listed if q.structure.startswith("compare(")]
    assert len(compared) >= 500
    for question in compared[::3]:
        relation, end = question.structure.removesuffix(")").rpartition(".")[2].split(":")
        both = [
            world.entities[number]
            for hop in question.hops[-2:]
            for number in subjects_of(hop.query, by_name)
        ]
        keys = [sort_key(entity.facts[relation]) for entity in both]
        assert len(both) == 2 and keys[0] != keys[1]
        best = (min if end == "min" else max)(keys)
        assert question.answers == value_forms(both[keys.index(best)])


def sort_key(value: Value) -> tuple[int, ...]:
    if isinstance(value, Date):
        return (value.year, value.month, value.day)
    assert isinstance(value, Quantity)
    return (value.amount,)


def test_yes_means_the_same_value_by_brute_force(world: World, listed: list[Question]) -> None:
    for question in (q for q in listed if q.structure.startswith("same(")):
        first, second = (hop.answer for hop in question.hops[-2:])
        if question.answers == ("yes",):
            assert first == second, question
        else:
            assert first != second, question


LINT = {
    "a double space": r"  |^ | $",
    "an unfilled slot": r"[{}~_]|\bNone\b",
    "a doubled word": r"\b(\w+) \1\b",
    "a small beginning": r"^[a-z]",
    "no mark at the end": r"[^.?]$",
}


@pytest.mark.parametrize("fault", LINT)
def test_no_question_has(listed: list[Question], fault: str) -> None:
    found = [
        q.text
        for q in listed
        if re.search(LINT[fault], q.text)
        and not (q.family == "nq" and fault in ("a small beginning", "no mark at the end"))
    ]
    assert not found, found[:5]

"""Baselines of SearchQA: rules that answer without a search, or after a single one.

Neither reasons. The first knows the training questions and answers, as one who has learned how
such questions tend to be answered; the second also reads one passage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from agentgym_envs.core import ExpertMove
from agentgym_envs.retrieval.documents import Passage
from agentgym_envs.retrieval.words import words
from agentgym_envs.searchqa.episode import Episode
from agentgym_envs.searchqa.questions import Question, QuestionSet
from agentgym_envs.searchqa.scoring import exact_match, normalise

_MOST = 10_000
"""Training questions that are looked at, spread evenly."""

_NAME = re.compile(r"[^\W\d_a-z][\w’'–-]*(?:\s(?:(?:of|the|and|in|for|to|over)\s)*[A-Z][\w’'–-]*)*")
_DATE = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}|\b\d{4}\b")
_NUMBER = re.compile(r"\d[\d,.]*")
_OPENING = re.compile(r"\W*(\w+)\W+(\w+)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_TWO = re.compile(r"(?:.*, |Between |Of )(.+?)(?: and (.+?),.*| or (.+?))\?$")
_YES_NO = frozenset("are can did do does had has have is was were".split())
_KIND = "yes or no"
_BY_PLACE = ("<first>", "<last>")
_YEAR = re.compile(r"\b\d{4}\b")
_KINDS = (
    (re.compile(r"\byear\b", re.IGNORECASE), _YEAR),
    (re.compile(r"\b(when|date)\b", re.IGNORECASE), _DATE),
    (re.compile(r"\b(number|figure|how (many|long|high|large|deep))\b", re.IGNORECASE), _NUMBER),
    (re.compile(""), _NAME),
)
"""Kinds of answers by the words of questions. The first match counts."""

_guesses: WeakKeyDictionary[QuestionSet, dict[tuple[str, str], str]] = WeakKeyDictionary()


def question_only(episode: Episode, questions: QuestionSet) -> Iterator[ExpertMove]:
    """Answer at once, by the question's words alone.

    Of the first name in the question, the last one, and the answer that is commonest among training
    questions of the family that begin alike, it takes what is right most often of those; to yes or
    no it gives the commoner answer, and of two things that are named the first.
    """
    yield _answer(_guess(episode.question, questions))


def one_search(episode: Episode, questions: QuestionSet) -> Iterator[ExpertMove]:
    """Search for the question, and answer from the first passage.

    Its sentence that shares most words with the question gives the answer: its first date, number
    or name, as the question asks, that the question does not have; as `question_only` where there
    is none, and where the answer is yes, no, or one of two that are named.
    """
    text = episode.question.text
    yield ExpertMove(f"<search>{text}</search>")
    hits = episode.desk.hits
    found = None if _is_closed(text) or not hits else _read_off(hits[0].passage, text)
    yield _answer(found or _guess(episode.question, questions))


def _answer(answer: str) -> ExpertMove:
    return ExpertMove(f"<answer>{answer}</answer>")


def _is_closed(text: str) -> bool:
    """Return whether the question names all answers that it may have."""
    return _opening(text)[0] in _YES_NO or _first_of_two(text) is not None


def _opening(text: str) -> tuple[str, str]:
    match = _OPENING.match(text)
    return (match[1].lower(), match[2].lower()) if match else ("", "")


def _first_of_two(text: str) -> str | None:
    """Return the first of two things that a comparison names, without the words before the name."""
    match = _TWO.match(text) if text.startswith(("Which", "Who", "Between", "Of")) else None
    names = _NAME.findall(match[1]) if match else []
    return names[0] if names else None


def _guess(question: Question, questions: QuestionSet) -> str:
    text, family = question.text, question.family
    first = _first_of_two(text)
    if first is not None:
        return first
    if questions not in _guesses:
        _guesses[questions] = _learned(questions)
    learned = _guesses[questions]
    kind = _opening(text)[0]
    is_yes_no = kind in _YES_NO
    rule = learned.get((family, _KIND if is_yes_no else kind), "yes" if is_yes_no else "<first>")
    return _by_rule(rule, text)


def _learned(questions: QuestionSet) -> dict[tuple[str, str], str]:
    """Return for each family and first word of a question the rule that is right most often.

    A rule is `"<first>"`, `"<last>"` or an answer.
    """
    numbers = questions.numbers("train")
    counts: dict[tuple[str, str], Counter[str]] = {}
    for number in numbers[:: max(1, len(numbers) // _MOST)]:
        question = questions.question(number)
        kind = _opening(question.text)[0]
        key = (question.family, _KIND if kind in _YES_NO else kind)
        rules = counts.setdefault(key, Counter())
        rules[question.answers[0]] += 1
        rules.update(
            rule
            for rule in _BY_PLACE
            if exact_match(_by_rule(rule, question.text), question.answers)
        )
    return {
        key: max(rules, key=lambda rule: (rules[rule], rule in _BY_PLACE, rule))
        for key, rules in counts.items()
    }


def _by_rule(rule: str, text: str) -> str:
    if rule not in _BY_PLACE:
        return rule
    names = _NAME.findall(text)[1:]  # the first word of a sentence is no name
    return (names[0] if rule == "<first>" else names[-1]) if names else text


def _read_off(passage: Passage, text: str) -> str | None:
    """Return the part of a passage's best fitting sentence that the question lacks."""
    asked = set(words(text))
    pattern = next(pattern for words_for, pattern in _KINDS if words_for.search(text))
    sentences = _SENTENCE_END.split(passage.text)
    for sentence in sorted(sentences, key=lambda s: -len(asked.intersection(words(s)))):
        if pattern in (_NUMBER, _NAME):
            sentence = _DATE.sub(",", sentence)
        for match in pattern.finditer(sentence):
            new = [word for word in normalise(match[0]).split() if word not in normalise(text)]
            if new and new != ["the"]:
                return match[0].rstrip(".,")
    return None

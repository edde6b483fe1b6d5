"""Evaluators: decide whether a task is done, in WebArena's own terms.

An `eval` object of a task file becomes a list of evaluators once (`build_evaluators`); when the
episode ends each returns its `Verdict`, and the verdicts are multiplied. Nothing is ever `eval`-ed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from agentgym_envs.webarena.evaluators.judging import RecordedJudge
from agentgym_envs.webarena.evaluators.page_shown import PageShownEvaluator
from agentgym_envs.webarena.evaluators.program_html import PageEvaluator
from agentgym_envs.webarena.evaluators.state_change import StateChangeEvaluator
from agentgym_envs.webarena.evaluators.string_match import StringEvaluator
from agentgym_envs.webarena.evaluators.typed_answer import TypedAnswerEvaluator
from agentgym_envs.webarena.evaluators.url_match import UrlEvaluator
from agentgym_envs.webarena.evaluators.verdict import (
    Ending,
    Evaluator,
    Judge,
    Ruling,
    Verdict,
    multiply,
)

__all__ = [
    "Ending",
    "Evaluator",
    "Judge",
    "RecordedJudge",
    "Ruling",
    "Verdict",
    "build_evaluators",
    "multiply",
]

EVALUATORS: dict[str, Callable[[Mapping[str, Any]], Evaluator]] = {
    "string_match": StringEvaluator,
    "url_match": UrlEvaluator,
    "program_html": PageEvaluator,
    "state_change": StateChangeEvaluator,
    "typed_answer": TypedAnswerEvaluator,
    "page_shown": PageShownEvaluator,
}

_ORIGINAL: dict[str, Callable[[Mapping[str, Any]], Evaluator]] = {
    "string_match": partial(StringEvaluator, is_original=True),
    "url_match": partial(UrlEvaluator, is_original=True),
    "program_html": partial(PageEvaluator, is_original=True),
}


def build_evaluators(
    evaluation: Mapping[str, Any], *, is_original: bool = False
) -> tuple[Evaluator, ...]:
    """Make the evaluators that an `eval` object names.

    Args:
        evaluation: with the keys of WebArena's task files: `eval_types`, `reference_answers`,
            `reference_url`, `program_html`; and
            of ours: `state_change`, `typed_answer`, `page_shown`. Addresses are filled in already.
        is_original: have WebArena's own three follow its rules to the letter, as the official
            tasks are scored; otherwise they are stricter where its rules let wrong ends through.

    Raises:
        ValueError: it names no evaluator, an unknown one, or one whose references are missing.
    """
    kinds = evaluation.get("eval_types")
    if not isinstance(kinds, list) or not kinds:
        raise ValueError(f"eval_types must be a list of {', '.join(EVALUATORS)}, got {kinds!r}")
    unknown = [kind for kind in kinds if kind not in EVALUATORS]
    if unknown:
        raise ValueError(f"unknown eval_types {unknown}; allowed: {', '.join(EVALUATORS)}")
    makers = EVALUATORS | _ORIGINAL if is_original else EVALUATORS
    return tuple(makers[kind](evaluation) for kind in kinds)

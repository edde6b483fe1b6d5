"""Checks the content of pages: `program_html`.

Each target names a page, a JavaScript expression that picks something out of it, and what that must
be. The browser evaluates the expression: any in Chromium, a small safe subset in process.

The rules are WebArena's. `is_original` follows them to the letter; without it there are three
deviations:

1. An empty locator is the page's text, not its source, which holds what nobody sees.
2. What a locator gives as null is no text, not the word "None".
3. Phrases that are numbers stand by themselves, as in `string_match`.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentgym_envs.webarena.evaluators.functions import PREFIX, Call, read_call
from agentgym_envs.webarena.evaluators.string_match import equals, includes, includes_literally
from agentgym_envs.webarena.evaluators.url_match import OR
from agentgym_envs.webarena.evaluators.verdict import Ending, Verdict, judged

LAST = "last"
_SOURCE = (
    "(document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '')"
    " + (document.documentElement ? document.documentElement.outerHTML : '')"
)
_EXPRESSIONS = ("document.", "[...document.")


@dataclass(frozen=True)
class Target:
    """One thing to look at.

    Attributes:
        page: address, `"last"`, or the function that gives the address.
        locator: expression, `""` for the whole page, or the function that gives the text.
        preparations: statements to run on the page before.
        exact: what the text must be; None if it must include `phrases`.
        phrases: each a tuple of alternatives.
        is_original: follow the original's rules to the letter.
    """

    page: str | Call
    locator: str | Call
    preparations: tuple[str, ...]
    exact: str | None
    phrases: tuple[tuple[str, ...], ...]
    is_original: bool = False

    def failings(self, ending: Ending) -> Iterator[str]:
        """Yield the page's faults."""
        url = self.page.run(ending, LAST) if isinstance(self.page, Call) else self.page
        content = html.unescape(self._text(ending, url)) if url else ""
        if self.exact is not None and not equals(self.exact, content):
            yield f"{self.locator} on {url} is {content!r:.200}, not {self.exact!r}"
        holds = includes_literally if self.is_original else includes
        for alternatives in self.phrases:
            if not any(holds(phrase, content) for phrase in alternatives):
                yield f"{self.locator} on {url} holds none of {alternatives}"

    def _text(self, ending: Ending, url: str) -> str:
        if isinstance(self.locator, Call):
            return self.locator.run(ending, url)
        locator = self.locator
        if self.is_original:
            locator = f"(found => found ?? 'None')({locator or _SOURCE})"
        if self.preparations:
            # WebArena goes on where a preparation fails, as where a button is missing.
            steps = "".join(f"{step};" for step in self.preparations)
            locator = f"(() => {{ try {{ {steps} }} catch {{}} return {locator}; }})()"
        return ending.browser.look_up(url, locator)


class PageEvaluator:
    """Looks at pages.

    Args:
        evaluation: WebArena's `eval` object; its `program_html` counts.
        is_original: follow the original's rules to the letter.

    Raises:
        ValueError: a target has another form; the message says which.
    """

    def __init__(self, evaluation: Mapping[str, Any], *, is_original: bool = False) -> None:
        targets = evaluation.get("program_html")
        if not isinstance(targets, list) or not targets:
            raise ValueError(f"program_html must be a list of targets, got {targets!r}")
        self._targets = tuple(read_target(target, is_original=is_original) for target in targets)

    def __call__(self, ending: Ending) -> Verdict:
        """Look at the pages in order."""
        return judged(failing for target in self._targets for failing in target.failings(ending))


def read_target(target: Mapping[str, Any], *, is_original: bool = False) -> Target:
    """Read one entry of `program_html`.

    Raises:
        ValueError: it has another form.
    """
    url, locator = target.get("url"), target.get("locator")
    contents = target.get("required_contents")
    if not isinstance(url, str) or not url or not isinstance(locator, str):
        raise ValueError(f"a target needs url and locator as text, got {target!r:.300}")
    locator = locator.strip()
    if locator and not locator.startswith((*_EXPRESSIONS, PREFIX)):
        raise ValueError(
            f"unknown locator {locator!r:.200}; it is empty or begins with "
            f"{', '.join((*_EXPRESSIONS, PREFIX))}"
        )
    exact, phrases = _contents(contents)
    return Target(
        page=read_call(url) if url.startswith(PREFIX) else url,
        locator=read_call(locator) if locator.startswith(PREFIX) else locator,
        preparations=tuple(target.get("prep_actions") or ()),
        exact=exact,
        phrases=phrases,
        is_original=is_original,
    )


def _contents(contents: Any) -> tuple[str | None, tuple[tuple[str, ...], ...]]:
    if isinstance(contents, Mapping):
        if isinstance(contents.get("exact_match"), str):
            return contents["exact_match"], ()
        if isinstance(contents.get("must_include"), list):
            return None, tuple(tuple(str(one).split(OR)) for one in contents["must_include"])
    raise ValueError(
        f"required_contents needs exact_match (text) or must_include (a list), got {contents!r}"
    )

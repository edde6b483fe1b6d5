"""Checks that the agent ended on the right page: `url_match`.

The rule "GOLD in PRED" is WebArena's: the reference's host and path stand within those of the last
page, and each of its query parameters has one of the values that the alternatives give it.
`is_original` follows it to the letter; without it there are two deviations:

1. Of a parameter that an address repeats the last value counts, since that is the one that sites
   heed; else an address that lists every value would match every reference. Lists, `label[]=...`,
   count whole.
2. A slash at the end of the path does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from agentgym_envs.webarena.evaluators.verdict import Ending, Verdict, judged

RULES = ("GOLD in PRED", "EXACT")
OR = " |OR| "


def split_url(url: str) -> tuple[str, dict[str, list[str]]]:
    """Return host and path, and the query parameters."""
    try:
        parts = urlsplit(url)
    except ValueError:  # such as http://[
        return url, {}
    return parts.netloc + parts.path, parse_qs(parts.query, max_num_fields=None)


class UrlEvaluator:
    """Compares the last page's address.

    Args:
        evaluation: WebArena's `eval` object; `reference_url` and `url_note` count.
        is_original: follow the original's rule to the letter.

    Raises:
        ValueError: there is no address, or an unknown rule.
    """

    def __init__(self, evaluation: Mapping[str, Any], *, is_original: bool = False) -> None:
        reference = evaluation.get("reference_url")
        rule = evaluation.get("url_note") or RULES[0]
        if not isinstance(reference, str) or not reference:
            raise ValueError(f"url_match needs reference_url, got {reference!r}")
        if rule not in RULES:
            raise ValueError(f"unknown url_note {rule!r}; allowed: {', '.join(RULES)}")
        self._references = tuple(url.rstrip("/") for url in reference.split(OR))
        self._is_exact = rule == "EXACT"
        self._is_original = is_original

    def __call__(self, ending: Ending) -> Verdict:
        """Compare the address."""
        url = ending.url.rstrip("/")
        matches = url in self._references if self._is_exact else self._matches(url)
        expected = OR.join(self._references)
        return judged([] if matches else [f"the last page is {url!r}, not {expected!r}"])

    def _matches(self, url: str) -> bool:
        place, query = self._split(url)
        expected = [self._split(reference) for reference in self._references]
        values: dict[str, set[str]] = {}
        for _, parameters in expected:
            for name, given in parameters.items():
                values.setdefault(name, set()).update(given)
        return any(base in place for base, _ in expected) and all(
            allowed.intersection(query.get(name, ())) for name, allowed in values.items()
        )

    def _split(self, url: str) -> tuple[str, dict[str, list[str]]]:
        place, query = split_url(url)
        if self._is_original:
            return place, query
        return place.rstrip("/"), {
            name: given if name.endswith("[]") else given[-1:] for name, given in query.items()
        }

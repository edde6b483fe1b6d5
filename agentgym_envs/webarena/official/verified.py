"""Judges an episode by `webarena-verified`: the response and the network trace.

Deviations from the package's own scores, all to the policy's disadvantage but the last:
1. A regular expression, text between `^` and `$`, is no answer, nor may a request carry one. The
   package would let it match the reference, since it takes expressions on either side.
2. Nor is a list where one value is asked for; the package would take the value that fits.
3. Tasks whose references the package itself cannot compare are unscored instead of failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

from agentgym_envs.errors import EnvFailure, needs_extra

with needs_extra("official", "evaluation='verified'"):
    from webarena_verified.api import WebArenaVerified
    from webarena_verified.core.evaluation.data_types import NormalizedString
    from webarena_verified.types.config import EnvironmentConfig, WebArenaVerifiedConfig
    from webarena_verified.types.eval import TaskEvalResult
    from webarena_verified.types.task import WebArenaSite
    from webarena_verified.types.tracing import NetworkTrace
from agentgym_envs.sites.names import ORIGINS
from agentgym_envs.webarena.evaluators.verdict import Ending, Verdict, judged
from agentgym_envs.webarena.official.response import response

UNSCORABLE = frozenset({319, 699, 700, 811})
"""One lacks its expected data, three hold a list of one value, which the package refuses."""


class Recorder(Protocol):
    """A browser that records the network traffic of an episode."""

    def end_recording(self) -> Path:
        """End the recording and return its file, a HAR."""


class VerifiedEvaluator:
    """Judges one task of the verified set.

    Args:
        number: the task's.
        sites: `{site: address}`, as the recording has them.
        recorder: the episode's browser; it can do nothing more afterwards.
    """

    def __init__(self, number: int, sites: Mapping[str, str], recorder: Recorder) -> None:
        self._number = number
        self._sites = sites
        self._recorder = recorder

    def __call__(self, ending: Ending) -> Verdict:
        """End the recording and judge it."""
        har = self._recorder.end_recording()
        return judge(self._number, ending.answer, har, sites=self._sites)


def judge(number: int, answer: str, har: Path, *, sites: Mapping[str, str]) -> Verdict:
    """Judge an episode.

    Args:
        number: the task's.
        answer: what `stop` said.
        har: the episode's network traffic.
        sites: `{site: address}`, as the traffic has them.

    Raises:
        EnvFailure: the recording cannot be read.
        ValueError: there is no such task, or it needs another site.
    """
    package = package_for(tuple(sorted(sites.items())))
    task = package.get_task(number)
    missing = sorted({str(site) for site in task.sites} - set(sites))
    if missing:
        raise ValueError(f"the task {number} needs {missing}; add it to sites")
    if number in UNSCORABLE:
        return Verdict(None, ("webarena-verified has no reference that it can compare with",))
    try:
        trace = NetworkTrace.from_har(har)
    except (OSError, ValueError, KeyError) as error:
        raise EnvFailure(f"the recording of the network traffic is unreadable: {error}") from error
    answered = response(_real(answer, sites), task_type=str(task.expected_agent_response.task_type))
    schema = task.eval[0].results_schema
    if not _is_plain(answered.get("retrieved_data"), schema):
        return judged(["a list stands where one value is asked for"])
    if any(NormalizedString(text).is_regexp for text in (*_texts(answered), *_sent(trace))):
        return judged(["a regular expression stands where a value is asked for"])
    result = package.evaluate_task(task_id=number, agent_response=answered, network_trace=trace)
    return Verdict(float(result.score), () if result.score == 1.0 else tuple(_reasons(result)))


@cache
def package_for(sites: tuple[tuple[str, str], ...]) -> WebArenaVerified:
    """Return the package's judge for (site, address) pairs."""
    environments = {WebArenaSite(site): EnvironmentConfig(urls=[url]) for site, url in sites}
    return WebArenaVerified(config=WebArenaVerifiedConfig(environments=environments))


def _real(answer: str, sites: Mapping[str, str]) -> str:
    """Write addresses in an answer, which pages show in the canonical form, as traffic has them."""
    for site, address in sites.items():
        if site in ORIGINS:
            answer = answer.replace(ORIGINS[site], address)
    return answer


def _is_plain(data: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether lists stand only at arrays of the schema. The top may be any."""
    if isinstance(data, list):
        inner = schema.get("items") or {}
        return schema.get("type") in ("array", "null") and all(_is_plain(x, inner) for x in data)
    if schema.get("type") == "array" and data is not None:
        return _is_plain(data, schema.get("items") or {})
    if isinstance(data, dict):
        fields = schema.get("properties") or {}
        return all(_is_plain(value, fields.get(name) or {}) for name, value in data.items())
    return True


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _sent(trace: NetworkTrace) -> Iterator[str]:
    """Give the values that requests carried in their addresses and bodies."""
    for event in trace.evaluation_events:
        yield from (value for _, value in parse_qsl(urlsplit(event.url).query))
        yield from _texts(event.post_data)


def _reasons(result: TaskEvalResult) -> Iterator[str]:
    if result.error_msg:
        yield result.error_msg
    for one in result.evaluators_results:
        if one.error_msg:
            yield one.error_msg
        for assertion in one.assertions or ():
            yield f"{one.evaluator_name}: {' '.join(assertion.assertion_msgs or ())}"

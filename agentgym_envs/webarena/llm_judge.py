"""A language model as the judge of answers, behind any OpenAI-compatible server.

It asks what WebArena's two fuzzy evaluators ask, in words of its own: whether an answer means what
the reference means, and whether a report gives the reason why a task cannot be done.
"""

from __future__ import annotations

import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from agentgym_envs.arguments import positive_seconds
from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.secrets import check_revealed, keep_out, masked, reveal
from agentgym_envs.webarena.evaluators.verdict import Ruling

KEY_VARIABLE = "OPENAI_API_KEY"
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_PAUSES = (1.0, 4.0, 16.0)
"""Seconds before a request is sent again."""

_EQUIVALENT = """\
A task was given to somebody, and its right answer is known. Decide whether what they answered says
the same. Other words, another order and another way to write numbers, dates or names are fine. What
is missing from the right answer, or contradicts it, is not. "N/A" means that the task cannot be
done.

Task: {question}
Right answer: {reference}
Their answer: {answer}

Give your reasons in a few words. Then end with one line that holds one word: RIGHT if their answer
says all that the right answer says, PARTLY if it says a part of it, WRONG if not."""

_SAME_REASON = """\
A task cannot be done, for a reason that is known. Somebody tried it and reported why they stopped.
Decide whether their report gives that reason; it may do so in other words or by implication.

Task: {task}
Why it cannot be done: {reason}
Their report: {report}

Give your reasons in a few words. Then end with one line that holds one word: RIGHT if the report
gives that reason, WRONG if it gives another one or none."""

_LAST_WORD = re.compile(r"\b(RIGHT|PARTLY|WRONG)\b")


class LLMJudge:
    """Asks a model at temperature 0.

    Args:
        model: the model's name at the server.
        base_url: the server's address, which ends in `/v1` as a rule.
        key_variable: the environment variable that holds the server's key, if it wants one.
        timeout: seconds before an answer counts as lost.
        fields: further fields of the requests; None leaves one out: `{"temperature": None}`.

    Raises:
        ValueError: the address is none, or the seconds are no number above 0.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "https://api.openai.com/v1",
        key_variable: str = KEY_VARIABLE,
        timeout: float = 120.0,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(model, str) or not model:
            raise ValueError(f"the judge's model must be a name, got {model!r}")
        if not str(base_url).startswith(("http://", "https://")):
            raise ValueError(
                f"the judge's base_url must be an address such as http://localhost:8000/v1, got "
                f"{masked(base_url)!r}"
            )
        check_revealed(reveal(base_url))
        self.model = model
        self._url = reveal(base_url).rstrip("/") + "/chat/completions"
        self._key_variable = key_variable
        self._timeout = positive_seconds("the judge's timeout", timeout)
        self._fields = {"model": model, "temperature": 0.0, **(fields or {})}

    def is_equivalent(self, *, question: str, reference: str, answer: str) -> Ruling:
        """Return whether an answer means the same as the whole reference."""
        return self._rule(_EQUIVALENT.format(question=question, reference=reference, answer=answer))

    def is_same_reason(self, *, task: str, reason: str, report: str) -> Ruling:
        """Return whether a report gives this reason why the task is impossible."""
        return self._rule(_SAME_REASON.format(task=task, reason=reason, report=report))

    def _rule(self, prompt: str) -> Ruling:
        text = self._ask(prompt)
        words = _LAST_WORD.findall(text)
        if not words:
            raise EnvFailure(
                f"the judge {self.model} says neither RIGHT, PARTLY nor WRONG, but {text!r:.200}"
            )
        return Ruling(words[-1] == "RIGHT", text, self.model)

    def _ask(self, prompt: str) -> str:
        body = {**self._fields, "messages": [{"role": "user", "content": prompt}]}
        sent = json.dumps({name: value for name, value in body.items() if value is not None})
        headers = {"Content-Type": "application/json"}
        key = keep_out(os.environ.get(self._key_variable))
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(self._url, data=sent.encode(), headers=headers)
        for pause in (*_PAUSES, None):
            try:
                with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                    return str(json.load(answer)["choices"][0]["message"]["content"] or "")
            except urllib.error.HTTPError as error:
                said = error.read(300).decode(errors="replace")
                cause = f"{error.code} {said}"
                if error.code not in _PASSING:
                    break
            except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
                cause = f"{type(error).__name__}: {error}"
            if pause is not None:
                time.sleep(pause)
        raise EnvFailure(f"the judge {self.model} at {masked(self._url)} fails: {masked(cause)}")

"""The answers of priced servers: their cost, a bound on it, and a file that keeps them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from agentgym_envs.content.files import append_whole, whole_lines
from trainers.options.errors import BudgetSpent, RefusedForGood


@dataclass(frozen=True)
class Answer:
    """A chat completion.

    Attributes:
        text: what the policy wrote, a refusal included. A tool call is written as the
            `function_call` format has it.
        finish_reason: why it ends.
        reasoning: what the server gives apart from the text, and what stood beside a tool call.
        prompt_tokens: tokens that were read, cached ones included.
        cached_tokens: those of them that the server had in its cache.
        completion_tokens: tokens that were written.
        cost: what the server says that it cost, where it does.
        is_refusal: the server marks the text as the model's refusal to answer.
        is_call: the text is a tool call that the server gave as one.
    """

    text: str
    finish_reason: str = ""
    reasoning: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    is_refusal: bool = False
    is_call: bool = False


class Costs:
    """A file of the costs of requests, to which several processes append."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._read = 0
        self._by_payer: dict[str, float] = {}
        self._lock = Lock()

    def add(self, cost: float, payer: str = "") -> None:
        """Append the cost of a payer's request."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # One write, so that the lines of several processes do not mix.
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, f"{cost:.9g} {payer}\n".encode())
        finally:
            os.close(descriptor)

    def by_payer(self) -> dict[str, float]:
        """Return the cost of each payer's requests."""
        with self._lock:
            if self._path.exists():
                with self._path.open("rb") as file:
                    file.seek(self._read)
                    lines = file.read()
                whole = lines[: lines.rfind(b"\n") + 1]
                self._read += len(whole)
                for line in whole.decode().splitlines():
                    cost, _, payer = line.partition(" ")
                    self._by_payer[payer] = self._by_payer.get(payer, 0.0) + float(cost)
            return dict(self._by_payer)

    def total(self) -> float:
        """Return the total cost of all requests."""
        return sum(self.by_payer().values())


class Ledger:
    """The answers of one policy's server.

    Answers of an interrupted command, or of an episode whose environment broke, are taken from here
    when the same request is made again: for the same turn of the same attempt at the same episode,
    in the same words. Another batch makes new requests.

    Args:
        max_cost: the bound, answers of earlier commands included; None is no bound.

    Attributes:
        spent: the cost of the answers; None where it is unknown.
    """

    def __init__(self, *, max_cost: float | None = None) -> None:
        self.max_cost = max_cost
        self.spent: float | None = None
        self._earlier: dict[str, Answer] = {}  # of the file
        self._present: dict[str, Answer] = {}  # of this batch
        self._path: Path | None = None
        self._costs: Costs | None = None
        self._payer = ""
        self._has_unpriced = False
        self._lock = Lock()

    def keep_in(self, path: str | Path, *, costs: Costs | None = None, payer: str = "") -> None:
        """Keep the answers in a file from here on, and read those that it holds.

        Args:
            path: the file; half a line at its end, which a kill may have left, is cut off.
            costs: of all policies that share the bound, where there are others.
            payer: this policy's name among them.
        """
        self._path, self._costs, self._payer = Path(path), costs, payer
        for record in map(json.loads, whole_lines(self._path)):
            answer = Answer(**record["answer"])
            self._earlier[record["key"]] = answer
            if answer.cost is not None:
                self.spent = (self.spent or 0.0) + answer.cost

    def forget(self) -> None:
        """Remove the file, whose answers are written elsewhere."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self._earlier.clear()

    def begin_batch(self) -> None:
        """Forget the answers of the batch before, but for those of an interrupted command."""
        self._present.clear()

    def find(self, key: str) -> Answer | None:
        """Return the answer of an earlier, equal request, if there is one."""
        return self._present.get(key) or self._earlier.get(key)

    def add(self, key: str, answer: Answer) -> None:
        """Record an answer, and write it. Several threads may."""
        with self._lock:
            self._present[key] = answer
            if answer.cost is None:
                self._has_unpriced = True
            else:
                self.spent = (self.spent or 0.0) + answer.cost
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                record = {"key": key, "answer": asdict(answer)}
                append_whole(self._path, json.dumps(record).encode() + b"\n")
            if self._costs is not None and answer.cost is not None:
                self._costs.add(answer.cost, self._payer)

    def add_unusable(self, answer: Answer) -> None:
        """Record the cost of an unusable answer, if reported."""
        if answer.cost:
            self.add("", answer)

    def check(self) -> None:
        """Stop where the bound is reached.

        Raises:
            BudgetSpent: it is.
            RefusedForGood: the bound is set, and the cost of an answer is unknown.
        """
        if self.max_cost is None:
            return
        if self._has_unpriced:
            raise RefusedForGood(
                "`max_cost` needs each answer's cost, and one has none: the server does not count "
                'its tokens ("usage"), or the policy has no prices. Let it count them and list '
                "the prices in `policies`, or leave `max_cost` out"
            )
        spent = self._costs.total() if self._costs is not None else self.spent or 0.0
        if spent >= self.max_cost:
            resume = "" if self._costs is not None else "`resume` and "
            raise BudgetSpent(
                f"`max_cost={self.max_cost:g}` is reached: {spent:.4g} is spent. The same command "
                f"with {resume}a larger one goes on"
            )


def request_key(*parts: Any) -> str:
    """Return a digest that equal requests share."""
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

"""Records a judge's questions and rulings for an episode."""

from __future__ import annotations

import json

from agentgym_envs.webarena.evaluators.verdict import Judge, Ruling


class RecordedJudge:
    """A judge whose rulings on one episode are kept.

    Args:
        judge: rules.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._lines: list[str] = []

    @property
    def record(self) -> str:
        """The rulings, a line of JSON each: question, `is_right`, and the judge's words."""
        return "\n".join(self._lines)

    def is_equivalent(self, *, question: str, reference: str, answer: str) -> bool:
        """Return whether an answer means the same as the reference."""
        ruling = self._judge.is_equivalent(question=question, reference=reference, answer=answer)
        return self._kept(ruling, {"reference": reference, "answer": answer})

    def is_same_reason(self, *, task: str, reason: str, report: str) -> bool:
        """Return whether a report gives this reason why the task is impossible."""
        ruling = self._judge.is_same_reason(task=task, reason=reason, report=report)
        return self._kept(ruling, {"reason": reason, "report": report})

    def _kept(self, ruling: bool | Ruling, asked: dict[str, str]) -> bool:
        said = {}
        if isinstance(ruling, Ruling):
            said = {"text": ruling.text, "judge": ruling.judge}
        line = {**asked, "is_right": bool(ruling), **said}
        self._lines.append(json.dumps(line, ensure_ascii=False))
        return bool(ruling)

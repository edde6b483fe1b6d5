"""The table of metrics: the key, label and format of each, and where it is shown.

The progress line, the model card and the viewer's page read it. A metric without a row is logged,
tracked and drawn like any other, under its key: one of TRL's, or of a user's reward function.
A metric of a batch's episodes is computed in `trainers.credit.rewards.episode_metrics`.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any


@dataclass(frozen=True)
class Metric:
    """A row of the table.

    Attributes:
        key: its name in `metrics.jsonl`; with `*` the row is the format of all names that match.
        label: its name on the progress line and in the card.
        format: the format specification of a value; one in percent makes the metric a share.
        mean_format: the same of a mean over steps, in the card; `format` by default.
        each: its name of one environment among several, as in `success/TextCraft`.
        line: its place on the progress line; 0 leaves it out. Metrics that share a place stand in
            the order of the table. The same holds for `card` and `viewer`.
        lists_each: each environment's value stands behind it on the progress line.
        card: its place among the columns of the card's learning curve.
        viewer: its place among the metrics that the viewer lists first.
    """

    key: str
    label: str = ""
    format: str = ""
    mean_format: str = ""
    each: str = ""
    line: int = 0
    lists_each: bool = False
    card: int = 0
    viewer: int = 0

    @property
    def kind(self) -> str:
        """`"share"` for a number in 0..1 that is shown in percent, else `"number"`."""
        return "share" if self.format.endswith("%") else "number"


METRICS = (
    # Evaluations.
    Metric("eval_success", "evaluation success", ".1%", each="eval_success", line=1,
           lists_each=True),
    Metric("eval_success_low", "from", ".1%", line=2),
    Metric("eval_success_high", "to", ".1%", line=3),
    Metric("eval_fresh_success", "success in fresh episodes", ".1%", each="eval_fresh_success",
           line=1, lists_each=True),
    Metric("eval_fresh_success_low", "from", ".1%", line=2),
    Metric("eval_fresh_success_high", "to", ".1%", line=3),
    # Batches of episodes, in the order in which the values of each environment are logged.
    Metric("share", "share", ".1%", each="share"),
    Metric("episodes/success", "success", ".1%", each="success", line=4, lists_each=True, card=1),
    Metric("reward", "reward", ".3f", each="reward", line=5, card=4, viewer=2),
    Metric("episodes/score", "score", ".3f", each="score"),
    Metric("episodes/turns", "turns", ".1f", each="turns", line=6, card=2, viewer=8),
    Metric("episodes/failed", "failed", ".0f", each="failed", line=8),
    Metric("frac_reward_zero_std", "groups of equal reward", ".1%", each="frac_reward_zero_std"),
    Metric("horizon", "horizon", ".0f", ".1f", each="horizon", line=7, lists_each=True, card=3,
           viewer=7),
    Metric("start", "start", ".0f", ".1f", each="start", line=7, lists_each=True),
    Metric("given_turns", "given turns", ".1f"),
    Metric("episodes/failed_share", "failed share", ".1%"),
    Metric("episodes/without_reward", "without reward", ".0f"),
    Metric("episodes/sampled_tokens", "sampled tokens", ".0f", viewer=9),
    Metric("episodes/invalid_actions", "invalid actions", ".1%", line=6),
    Metric("episodes/cut_turns", "cut turns", ".1%"),
    Metric("truncated/horizon", "cut by the horizon", ".1%"),
    Metric("truncated/max_turns", "cut by the turn limit", ".1%"),
    Metric("truncated/env_limit", "cut by the environment's limit", ".1%"),
    Metric("truncated/time_limit", "cut by the time limit", ".1%"),
    Metric("truncated/token_budget", "cut by the token budget", ".1%"),
    # Steps.
    Metric("loss", "loss", ".4f", ".3g", line=9, card=5, viewer=1),
    Metric("entropy", "entropy", ".2f", ".3f", line=10, card=6, viewer=3),
    Metric("kl", "KL", ".4f", viewer=4),
    Metric("kl_clip_ratio", "clipped KL", ".2%"),
    Metric("teacher_kl", "KL to the teacher", ".4f", line=10),
    Metric("teacher_kl_clip_ratio", "clipped KL to the teacher", ".2%"),
    Metric("teacher_knows", "episodes whose teacher knows the expert", ".1%"),
    Metric("grad_norm", "gradient norm", ".3f", viewer=5),
    Metric("learning_rate", "learning rate", ".2e", viewer=6),
    Metric("clip_ratio/region_mean", "clipped", ".1%", viewer=10),
    Metric("rewards/margins", "margin", ".3f", line=11),
    Metric("mean_token_accuracy", "token accuracy", ".3f", line=12),
    Metric("step_time", "seconds", ".1f", line=13),
    # Formats of names that are alike, a user's own among them.
    *(
        Metric(key, format=".1%")
        for key in (
            *("*success*", "*accuracy*", "*_share", "truncated/*", "*frac_*", "*invalid_actions*"),
            *("*cut_turns*", "*clip_ratio*", "*clipped_ratio*"),
        )
    ),
)  # fmt: skip

LINE = tuple(sorted((metric for metric in METRICS if metric.line), key=attrgetter("line")))
"""The metrics of the progress line."""
CARD = tuple(sorted((metric for metric in METRICS if metric.card), key=attrgetter("card")))
"""The columns of the card's learning curve."""
RESERVED = frozenset(metric.key for metric in METRICS) | {"global_step"}
"""Keys that no reward function may log: TRL would mix its values with the trainer's."""


def number(value: Any) -> float | None:
    """Return a logged value as a float, or None if it is not a number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def table_json() -> list[dict[str, Any]]:
    """Return the table as JSON values, for the viewer's page."""
    return [
        {"key": metric.key, "label": metric.label, "kind": metric.kind, "viewer": metric.viewer}
        for metric in METRICS
    ]

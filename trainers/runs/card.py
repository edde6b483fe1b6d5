"""The model card of a training run: its weights, their training and how to use them.

Written as Hugging Face's hub reads it: YAML front matter with the measured success, then Markdown.
It is meant to be published: machine paths and addresses of servers are cut out of what it quotes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult as CardResult
from huggingface_hub import ModelCard, ModelCardData, try_to_load_from_cache

from agentgym_envs.content.files import write_atomically
from agentgym_envs.registration.registry import short_env_name
from trainers.options.models import BASE, adapter_base
from trainers.runs.folder import CURVE_FILE, SUMMARY_FILE, read_json, read_metrics, read_run
from trainers.runs.success import (
    Measured,
    measured_success,
    overall,
    plateau_of,
    training_curve,
    validations,
)

CARD_FILE = "README.md"
TEMPLATE = Path(__file__).with_suffix(".md.jinja")
HOME = "agentgym-envs"
COMMANDS = ("train", "quickstart")
"""First words of the commands of `agentgym` that train."""

SHOWN_OPTIONS = (
    *("optim", "learning_rate", "lr_scheduler_type", "max_steps", "num_train_epochs"),
    *("per_device_train_batch_size", "gradient_accumulation_steps", "num_generations"),
    *("episodes", "batches", "num_iterations", "beta", "epsilon", "epsilon_high", "loss_type"),
    *("scale_rewards", "temperature", "top_k", "top_p", "min_p", "gamma", "lam", "critic"),
    *("max_tokens_per_turn", "max_tokens_per_episode", "keep_last_turns", "history", "backend"),
    *("mask_truncated_episodes", "invalid_action_penalty", "turn_advantage_weight"),
    *("num_rounds", "num_samples", "dtype", "bf16", "use_peft", "lora_r", "lora_alpha"),
    *("reset_adapter_every", "teacher_model_name_or_path", "teacher_knows"),
    *("reward_funcs", "reward_weights", "num_eval_tasks", "eval_samples", "eval_temperature"),
)
"""Options that are listed, where a run has them. The others are in `run.json`."""

ALGORITHMS = {
    **{name: name.upper() for name in ("dpo", "grpo", "ppo", "rloo", "sft")},
    **{"agentevol": "AgentEvol", "reinforce_pp": "REINFORCE++"},
    "distill": "on-policy distillation",
}
"""The literature's names of our algorithms."""

_PATH = re.compile(r"(?<![\w.:/\\~-])(?:file://)?(?:~|[A-Za-z]:)?[/\\][^\s\"',;{}\[\]()]+")
_ADDRESS = re.compile(r"\bhttps?://[^\s\"',;{}\[\]()]+")


@dataclass(frozen=True)
class BaseModel:
    """The model that training started from.

    Attributes:
        title: its name for a reader.
        hub_id: its id on Hugging Face's hub, or that of the model it was itself made from; None
            where there is none.
        licence: the licence fields of its own card, such as `{"license": "apache-2.0"}`.
    """

    title: str
    hub_id: str | None = None
    licence: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_name(cls, name: str | None) -> BaseModel:
        """Return a model's facts from its folder's card, or from the hub's in the local cache.

        `name` is a folder or an id; None or `""` for a model that was made in memory.
        """
        if not name:
            return cls("a model made in memory")
        folder = Path(name)
        if folder.is_dir():
            card = _read_card(folder / CARD_FILE)
            hub_id = None if card is None else card.data.get("base_model")
            heading = None if card is None else re.search(r"^# ([^:\n]+)", card.text, re.M)
            title = folder.resolve().name if heading is None else heading[1].strip()
            return cls(title, hub_id if isinstance(hub_id, str) else None, _licence(card))
        cached = try_to_load_from_cache(name, CARD_FILE)
        return cls(name, name, _licence(_read_card(cached) if isinstance(cached, str) else None))


def write_card(
    folder: str | Path,
    run: str | Path,
    *,
    algorithm: str,
    base: BaseModel,
    global_step: int,
    name: str | None = None,
    tags: Sequence[str] = (),
) -> None:
    """Write the card of a model.

    Args:
        folder: the model's.
        run: the folder of the run that trained it, with its `run.json` and metrics.
        algorithm: a name of `ALGORITHMS`, or any other.
        base: the model that training started from.
        global_step: the optimizer step that the weights are of.
        name: the model's name; by default the folder's, or the run's where that says nothing.
        tags: further tags for the hub.
    """
    folder, run = Path(folder), Path(run)
    own = folder.resolve().name
    is_part = folder.resolve() != run.resolve()
    title = name or (f"{run.resolve().name}-{own}" if is_part else own)
    card = _Card(read_run(run), run, algorithm, base, global_step, title, tuple(tags))
    content = card.content(
        has_curve_file=(folder / CURVE_FILE).is_file(),
        has_base=adapter_base(str(folder)) == str(folder / BASE),
    )
    write_atomically(folder / CARD_FILE, content)


def public(text: str) -> str:
    """Return a text without machine paths, of which the last part stays, and without addresses."""
    text = _ADDRESS.sub("http://...", text)
    return _PATH.sub(lambda match: re.split(r"[/\\]", match[0].rstrip("/\\"))[-1], text)


@dataclass(frozen=True)
class _Card:
    record: dict[str, Any]
    run: Path
    algorithm: str
    base: BaseModel
    global_step: int
    name: str
    tags: tuple[str, ...]

    def content(self, *, has_curve_file: bool, has_base: bool) -> str:
        """Return the card's text. `has_base`: the model is an adapter with its base beside it."""
        card = ModelCard.from_template(
            self.data(),
            template_path=str(TEMPLATE),
            card=self,
            environments=_listed(self.trained_on) or "texts",
            has_curve_file=has_curve_file,
            has_base=has_base,
        )
        return f"{card.content}\n"

    # What the record holds --------------------------------------------------------------------

    @property
    def method(self) -> str:
        """The algorithm, as the literature calls it."""
        return ALGORITHMS.get(self.algorithm, self.algorithm)

    def option(self, name: str) -> Any:
        """Return an option's value from any of the groups."""
        groups = (group for group in self.record.values() if isinstance(group, dict))
        return next((group[name] for group in groups if group.get(name) is not None), None)

    @property
    def environments(self) -> list[str]:
        """The ids of the environments that were played."""
        named = self.record.get("EnvArguments", {}).get("env") or self.summary.get("env_id") or []
        return [named] if isinstance(named, str) else list(named)

    @property
    def trained_on(self) -> list[str]:
        """The names of the environments whose episodes were trained on."""
        return self.option("trained_on") or [short_env_name(env) for env in self.environments]

    @property
    def summary(self) -> dict[str, Any]:
        """The run's `summary.json`, empty without evaluations."""
        return read_json(self.run / SUMMARY_FILE)

    @property
    def measured(self) -> list[Measured]:
        """The evaluations that were made up to the weights' step."""
        return [one for one in measured_success(self.run) if one.global_step <= self.global_step]

    @property
    def is_measured_again(self) -> bool:
        """The weights were measured again after evaluations had chosen them."""
        return any(one.is_fresh for one in self.measured)

    @property
    def command(self) -> str:
        """The command line, as another machine would be given it."""
        known = str(self.record.get("command", "")).split()
        words = list(self.record.get("argv", []))
        if words[: len(known)] == known:
            words = words[len(known) :]
        start = ["agentgym", *known] if known[:1] and known[0] in COMMANDS else ["python", *known]
        return shlex.join(public(word) for word in (*start, *words))

    # The parts of the card --------------------------------------------------------------------

    def data(self) -> ModelCardData:
        """Return the front matter."""
        data = ModelCardData(
            base_model=self.base.hub_id,
            library_name="transformers",
            pipeline_tag="text-generation",
            tags=[
                *(HOME, "text-games", "reinforcement-learning", "trl", self.algorithm),
                *map(str.lower, self.trained_on),
                *self.tags,
            ],
            model_name=self.name,
            eval_results=self.results() or None,
        )
        for name, value in self.base.licence.items():
            setattr(data, name, value)
        return data

    def results(self) -> list[CardResult]:
        """Return the last evaluation, or the fresh episodes, as the hub lists results."""
        last = [one for one in self.measured if one.global_step == self.measured[-1].global_step]
        return [
            CardResult(
                task_type="reinforcement-learning",
                task_name="text environment",
                dataset_type=one.env_id or "agentgym",
                dataset_name=f"{one.title} ({one.split})",
                dataset_split=one.split,
                metric_type="success_rate",
                metric_name="success rate",
                metric_value=round(one.success, 4),
            )
            for one in last
            if one.is_fresh == last[-1].is_fresh
        ]

    def facts(self) -> list[tuple[str, Any]]:
        before = self.base.title
        if self.base.hub_id and self.base.hub_id != before:
            before = f"{before}, made from {self.base.hub_id}"
        seconds = next(
            (e["train_runtime"] for e in read_metrics(self.run) if e.get("train_runtime")), None
        )
        if self.record.get("resumed"):  # it is then of the last part alone
            seconds = None
        played = [short_env_name(env) for env in self.environments]
        is_same = set(played) == set(self.trained_on)
        facts = {
            "base model": before,
            "environments": self.mixture() if is_same else _listed(self.trained_on),
            "measured in": None if is_same or not played else _listed(played),
            "split": self.option("split") or "train",
            "tasks": self.option("tasks"),
            "action format": self.option("action_format"),
            "turn limit": self.option("max_turns") or "each environment's own",
            "horizon": self.summary.get("horizon") or self.option("horizon") or "the turn limit",
            "start": self.option("start"),
            "algorithm": f"{self.method}, on TRL's trainer",
            "optimizer steps": self.global_step,
            "seed": self.record.get("seed"),
            "started": self.record.get("started"),
            "training time": None if seconds is None else f"{seconds:.0f} s",
            "commit": self.record.get("git"),
        }
        return [(name, _shown(value)) for name, value in facts.items() if value is not None]

    def mixture(self) -> str | None:
        """Return the environments with the share of each, where there are several."""
        names = [short_env_name(env) for env in self.environments]
        weights = _numbers(self.option("mix")) or [1.0] * len(names)
        if len(names) < 2 or len(weights) != len(names):
            return _listed(names) or None
        shares = (f"{weight / sum(weights):.0%}" for weight in weights)
        return ", ".join(f"{name} {share}" for name, share in zip(names, shares, strict=True))

    def success(self) -> list[tuple[str, ...]]:
        """Return the evaluations, the first and the last ones where there are many."""
        fresh = [one for one in self.measured if one.is_fresh]
        evaluations = [one for one in self.measured if not one.is_fresh]
        chosen = {one.global_step for one in fresh}
        rows: list[tuple[str, ...]] = [
            (
                one.when + ", the best" * (one.global_step in chosen and not one.is_fresh),
                f"{one.title}, {one.split}",
                f"{one.success:.1%}",
                one.interval,
            )
            for one in (*fresh, *_both_ends(evaluations, 12))
        ]
        plateau = plateau_of(list(overall(validations(self.run)).values()))
        if plateau is not None:
            when = f"plateau: mean of {plateau.count}, steps {plateau.first} to {plateau.last}"
            tasks = rows[-1][1]
            rows.insert(len(fresh), (when, tasks, f"{plateau.success:.1%}", ""))
        return rows

    def curve(self) -> tuple[tuple[str, ...], list[Any]]:
        """Return the names and the rows of the learning curve."""
        names, rows = training_curve(self.run, up_to=self.global_step)
        return ("steps", *names), rows

    def eval_options(self) -> str:
        """Return the options of `agentgym eval` that play as the run did."""
        words = [word for env in self.environments or ["ENV"] for word in ("--env", env)]
        episode = ("max_tokens_per_turn", "keep_last_turns", "history")
        for name in ("action_format", "max_turns", *episode):
            if (value := self.option(name)) is not None:
                words += [word for one in _words(value) for word in (f"--{name}", one)]
        if (actions := self.option("actions_per_turn") or 1) > 1:
            words += ["--actions_per_turn", str(actions)]
        words += ["--model", self.name, "--out", "eval.json", "--trajectories", "episodes.jsonl"]
        return shlex.join(words)

    def options(self) -> list[tuple[str, Any]]:
        values = ((name, self.option(name)) for name in SHOWN_OPTIONS)
        return [
            (f"`{name}`", public(_shown(value)))
            for name, value in values
            if value is not None and value is not False
        ]


def _read_card(path: str | Path) -> ModelCard | None:
    """Return a card, or None where none can be read."""
    try:
        return ModelCard.load(path, ignore_metadata_errors=True)
    except (OSError, ValueError):
        return None


def _licence(card: ModelCard | None) -> dict[str, str]:
    names = ("license", "license_name", "license_link")
    values = {} if card is None else {name: card.data.get(name) for name in names}
    return {name: value for name, value in values.items() if isinstance(value, str)}


def _both_ends(rows: Sequence[Measured], most: int) -> Sequence[Measured]:
    return rows if len(rows) <= most else [*rows[: most // 2], *rows[-(most - most // 2) :]]


def _numbers(value: Any) -> list[float]:
    """Return the weights of a mixture, written `2,1,1/2` or as a list."""
    parts = value.split(",") if isinstance(value, str) else value or []
    return [float(Fraction(str(part))) for part in parts]


def _listed(names: Sequence[str]) -> str:
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _shown(value: Any) -> str:
    """Return a value in words. One that differs by environment has a name before each part."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _words(value: Any) -> list[str]:
    """Return the command-line words of a value, or of each environment's."""
    if isinstance(value, dict):
        return [str(v) if name == "default" else f"{name}={v}" for name, v in value.items()]
    return [str(value)]

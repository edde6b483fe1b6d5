"""A study's file and the runs that it defines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from lab.studies.runs import Run
from trainers.runs.checkpoints import last_checkpoint

HERE = Path(__file__).parent
START = "start"
RESULT = "after"
"""Name of a measurement's files, without their endings."""

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Study:
    """The contents of `NAME.yaml`.

    A value is a piece of a command line. `$name` stands for another value, and a `$name` that is a
    word of its own for all words of it. The value of a variant goes before its ground's, and that
    before the study's; values under `cpu` or `cuda` hold on that kind of device alone.

    The runs' values are `commands`, the list of what a run calls; `measurement`, what plays the
    held-out tasks; `checkpoints`, the steps that are measured too; `start`, the model that all runs
    begin with (without it, `--model` names it); and `making`, the commands that make it in the
    folder `made`. Set for them are `$here` (this folder), `$starts` (beside the study's folder, for
    starts that studies share), `$ground`, `$run` and `$absolute_run` (the folders of a ground and
    of a run), `$trained` (the run's model), `$seed`, `$variant`, and, in a measurement, `$model`
    and `$result`, its file without an ending.

    Attributes:
        name: of the study.
        question: that it answers.
        values: of all runs.
        variants: what is compared, by the name of its folder: values and `label`, its name in
            tables.
        tables: of each table, header -> the cell's function in `lab.studies.table`.
        seeds: of trainings and measurements, by default.
        workers: runs at a time, by default.
        threads: torch threads of each, by default.
        grounds: where the variants are compared, by the name of its folder: values and `variants`,
            those that are run there; all, unless it says. In the file, `shared: NAME` adds the
            values of that name in `lab/grounds.yaml`; `true` is the ground's own.
        small: values of a rehearsal (`--small`).
        baselines: other models that are measured, once: folder -> `model` and `label`.
        start_label: the start's name in tables; None leaves it out.
        reference: the variant that the others are compared with.
        episodes_per_step: of an optimizer step.
        best_first: rows are in the order of their gain.
        curves: the drawing in `lab.studies.pictures`; empty draws none.
    """

    name: str
    question: str
    values: Values
    variants: Mapping[str, Values]
    tables: Sequence[Mapping[str, str]]
    seeds: Sequence[int]
    workers: int = 2
    threads: int = 1
    grounds: Mapping[str, Values] = field(default_factory=lambda: {"": {}})
    small: Values = field(default_factory=dict)
    baselines: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    start_label: str | None = "(the start)"
    reference: str = ""
    episodes_per_step: int = 0
    best_first: bool = False
    curves: str = ""

    @property
    def is_given_its_start(self) -> bool:
        """The start is named on the command line."""
        return not any("start" in values for values in (self.values, *self.grounds.values()))

    def variants_on(self, ground: str) -> Sequence[str]:
        """Return the variants that are compared on a ground."""
        return tuple(self.grounds[ground].get("variants", self.variants))


def study_names() -> list[str]:
    """Return the names of all studies."""
    return sorted(path.stem for path in HERE.glob("*.yaml"))


def load_study(name: str) -> Study:
    """Read the study of a name."""
    contents = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    shared = yaml.safe_load((HERE.parent / "grounds.yaml").read_text(encoding="utf-8"))
    for ground, values in contents.get("grounds", {}).items():
        if named := values.pop("shared", None):
            common = shared[ground if named is True else named]
            contents["grounds"][ground] = {**common, **values}
    return Study(name=name, **contents)


def device() -> str:
    """Return the kind of device that is used here."""
    import torch  # slow, and `--help` does without

    return "cuda" if torch.cuda.is_available() else "cpu"


def words_of(text: str | int, values: Values) -> tuple[str, ...]:
    """Return the words of a piece of a command line, with the values of its names.

    Raises:
        ValueError: a name has no value.
    """

    def value(match: re.Match[str]) -> tuple[str, ...]:
        name = match[1] or match[2]
        if name not in values:
            raise ValueError(f"${name} in {text!r} has no value; names: {', '.join(values)}")
        return words_of(values[name], values)

    words: list[str] = []
    for word in shlex.split(str(text)):
        alone = _NAME.fullmatch(word)
        if alone:
            words += value(alone)
        else:
            words.append(_NAME.sub(lambda match: " ".join(value(match)), word))
    return tuple(words)


_NAME = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


@dataclass(frozen=True)
class Plan:
    """The runs of a study in one folder.

    Attributes:
        study: the study.
        out: its folder.
        small: it is a rehearsal.
        model: the start of a study that is given it.
    """

    study: Study
    out: Path
    small: bool = False
    model: str = ""

    def making(self, ground: str) -> Run | None:
        """Return the command that makes a ground's start, or None for a shipped or given one."""
        values = self._values(ground)
        commands = tuple(words_of(command, values) for command in values.get("making", ()))
        return Run(Path(*words_of("$made", values)), commands) if commands else None

    def measurements(self, ground: str, seeds: Collection[int]) -> Iterator[Run]:
        """Yield the measurements of the start with every seed, and of the baselines with 0."""
        for seed in seeds:
            values = self._values(ground, seed=seed)
            (start,) = words_of("$start", values)
            yield self._measurement(self.out / ground / START / f"seed_{seed}", start, values)
        for name, baseline in self.study.baselines.items():
            values = self._values(ground, seed=0)
            yield self._measurement(self.out / ground / name / "seed_0", baseline["model"], values)

    def run(self, ground: str, variant: str, seed: int) -> Run:
        """Return the training of a variant with a seed, and its measurements."""
        folder, values = self._run_values(ground, variant, seed)
        model = folder / "model"
        measured = {
            f"{RESULT}_{step}": model / f"checkpoint-{step}"
            for step in values.get("checkpoints", ())
        }
        return Run(
            folder,
            (
                *(words_of(command, values) for command in values["commands"]),
                *(
                    _measurement_words(folder / result, str(of), values)
                    for result, of in {**measured, RESULT: model}.items()
                ),
            ),
        )

    def cut(self, ground: str, variant: str, seed: int) -> Run | None:
        """Return the measurement of a training's last checkpoint, or None."""
        folder, values = self._run_values(ground, variant, seed)
        model = folder / "model"
        checkpoint = last_checkpoint(model) if model.is_dir() else None
        if checkpoint is None:
            return None
        return self._measurement(folder / checkpoint.name, str(checkpoint), values)

    def _measurement(self, folder: Path, model: str, values: Values) -> Run:
        return Run(folder, (_measurement_words(folder / RESULT, model, values),))

    def _run_values(self, ground: str, variant: str, seed: int) -> tuple[Path, dict[str, Any]]:
        folder = self.out / ground / variant / f"seed_{seed}"
        own = {
            "run": shlex.quote(str(folder)),
            "absolute_run": shlex.quote(str(folder.absolute())),
            "trained": shlex.quote(str(folder / "model")),
            "seed": seed,
        }
        return folder, self._values(ground, variant, **own)

    def _values(self, ground: str, variant: str = "", **own: Any) -> dict[str, Any]:
        study = self.study
        layers = [study.values, study.grounds[ground]]
        layers += [{"variant": variant, **study.variants[variant]}] if variant else []
        layers += [study.small] if self.small else []
        values: dict[str, Any] = {"start": shlex.quote(self.model)} if self.model else {}
        for layer in layers:
            values |= layer
            if layer.keys() & {"cpu", "cuda"}:
                values |= layer.get(device(), {})
        folders = {
            "here": HERE,
            "starts": self.out.parent / "starts",
            "ground": self.out / ground,
        }
        return {**values, **{name: shlex.quote(str(path)) for name, path in folders.items()}, **own}


def _measurement_words(result: Path, model: str, values: Values) -> tuple[str, ...]:
    own = {"model": shlex.quote(model), "result": shlex.quote(str(result))}
    return words_of("$measurement", {**values, **own})

"""Files of options: YAML whose keys are a command's options, presets, and help pages.

`trainers.options.parser` checks the keys. TRL's own `TrlParser` reads such files too, but takes the
key `env` for environment variables.
"""

from __future__ import annotations

import json
from pathlib import Path

from agentgym_envs.errors import did_you_mean

PRESETS = Path(__file__).parent / "presets"
"""The option files that are shipped: the paper's runs, LoRA and QLoRA."""

LAUNCH_FILES = Path(__file__).parent / "accelerate"
"""Files for `accelerate launch --config_file`."""

HELP = Path(__file__).parent / "help"
"""The help pages of our algorithms, which `python -m trainers.NAME --help` prints."""

OptionValue = str | list[str] | None
"""An option as the command line has it. None is the file's `null`."""


def help_page(algorithm: str) -> str:
    """Return the help page of one of our algorithms, without the seconds of TRL's import."""
    return (HELP / f"{algorithm}.txt").read_text(encoding="utf-8")


def preset_names() -> list[str]:
    """List the presets by name."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def describe_presets() -> str:
    """Return a line per preset, from its comment, and the folders of the files."""
    lines = []
    for name in preset_names():
        first = (PRESETS / f"{name}.yaml").read_text("utf-8").partition("\n")[0]
        lines.append(f"  {name:<28} {first.lstrip('# ')}")
    return (
        f"presets, for --config NAME ({PRESETS}):\n"
        + "\n".join(lines)
        + f"\nfiles for accelerate launch --config_file FILE ({LAUNCH_FILES}):\n"
        + "".join(f"  {path.name}\n" for path in sorted(LAUNCH_FILES.glob("*.yaml")))
    )


def option_file(name: str) -> Path:
    """Return the preset, or else the file, that `--config` names, or raise `ValueError`."""
    if name in preset_names():
        return PRESETS / f"{name}.yaml"
    path = Path(name)
    if not path.is_file():
        raise ValueError(
            f"--config {name!r} is neither a file nor a preset"
            + did_you_mean(name, preset_names(), otherwise="--list_presets lists the presets")
        )
    return path


def read_options(path: Path) -> dict[str, OptionValue]:
    """Return the options of a YAML file as text, as a command line would have it.

    `no` stays `no`, a list stays one, a mapping becomes JSON, and `null` becomes None. Raises
    `ValueError` if the file is not YAML, or has no mapping at its top.
    """
    import yaml  # type: ignore[import-untyped]  # only who has such a file waits for it

    text = path.read_text("utf-8-sig")
    try:
        # Scalars stay text (YAML takes `no` for a boolean and 1e-6 for none); the option's own
        # type reads them. Only inside of mappings YAML's types count.
        texts = yaml.load(text, Loader=yaml.BaseLoader)
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not YAML: {error}") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ValueError(
            f"{path} must hold a mapping of options to values such as 'max_steps: 100', "
            f"got a {type(values).__name__}"
        )
    options: dict[str, OptionValue] = {}
    for (key, written), value in zip(texts.items(), values.values(), strict=True):
        if isinstance(value, dict):
            options[key] = json.dumps(value)
        elif value is None:
            options[key] = None
        elif isinstance(value, list):
            options[key] = [
                json.dumps(inner) if isinstance(inner, dict | list) else entry
                for entry, inner in zip(written, value, strict=True)
            ]
        else:
            options[key] = written
    return options

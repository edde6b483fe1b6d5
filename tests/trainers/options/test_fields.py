"""Options are read from fields as transformers reads them, without transformers."""

from __future__ import annotations

import argparse
from dataclasses import MISSING, dataclass, fields
from typing import Any

import pytest
from transformers import HfArgumentParser
from trl import DPOConfig, GRPOConfig, ModelConfig, SFTConfig

from trainers.options.parser import CommandParser, add_options, read_switch

TEXTS = ("1", "-1", "0.5", "1e-6", "true", "no", "none", "steps", "cosine", "{}", "text")


def reads(action: argparse.Action, text: str) -> Any:
    """Return what an option makes of a text, or the kind of refusal."""
    kind: Any = action.type or str
    try:
        value = kind(text)
    except (ValueError, TypeError, argparse.ArgumentTypeError):
        return "refused"
    allowed = action.choices is None or value in list(action.choices)
    return value if allowed else "refused"


def actions_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    return {action.option_strings[0]: action for action in parser._actions}


@pytest.mark.parametrize("kind", [GRPOConfig, SFTConfig, DPOConfig, ModelConfig])
def test_every_option_of_trl_is_read_as_transformers_reads_it(kind: type) -> None:
    ours = argparse.ArgumentParser(add_help=False)
    add_options(ours, kind)
    theirs = actions_of(HfArgumentParser(kind, add_help=False))
    defaults = {entry.name: entry.default for entry in fields(kind)}
    assert list(actions_of(ours)) == list(theirs)
    for name, action in actions_of(ours).items():
        other = theirs[name]
        assert action.option_strings == [n for n in other.option_strings if "-" not in n[2:]]
        assert (action.dest, action.help) == (other.dest, other.help)
        if defaults[action.dest] is not MISSING and not name.startswith("--no_"):
            default = None if name == "--debug" else defaults[action.dest]  # a text among lists
            assert action.default == default
        if action.type is read_switch:  # theirs has no `--bf16` alone where None is the default
            assert (action.nargs, action.const) == ("?", True)
        else:
            assert (action.nargs, action.const) == (other.nargs, other.const)
        if getattr(other.type, "__origin__", other.type) is not dict:  # theirs reads no mapping
            assert [reads(action, text) for text in TEXTS] == [
                reads(other, text) for text in TEXTS
            ], name


@dataclass
class Mapping:
    """A field of a kind that transformers' parser cannot read."""

    further: dict[str, int] | None = None


def test_a_mapping_is_read_from_json(capsys: pytest.CaptureFixture[str]) -> None:
    parser = CommandParser((Mapping,), command="map", description="Map.")
    assert parser.parse(["--further", '{"a": 1}']) == (Mapping({"a": 1}),)
    assert parser.parse([]) == (Mapping(None),)
    for wrong in ("[1]", "a=1"):
        with pytest.raises(SystemExit):
            parser.parse(["--further", wrong])
        assert f"--further: it must be a JSON object, got '{wrong}'" in capsys.readouterr().err


def test_a_switch_that_is_no_switch_is_told_with_what_is_allowed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = CommandParser((ModelConfig,), command="load", description="Load.")
    with pytest.raises(SystemExit):
        parser.parse(["--use_peft", "perhaps"])
    assert "expected one of yes, true, t, y, 1, no," in capsys.readouterr().err

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from trainers.options.arguments import EnvArguments, EpisodeArguments
from trainers.options.parser import CommandParser
from trainers.options.values import check_bounds


@dataclass
class Bounded:
    """A field per kind of bound."""

    count: int | None = field(default=None, metadata={"help": "A count.", "min": 1})
    seconds: float = field(default=1.0, metadata={"help": "A time.", "above": 0})
    share: float = field(default=0.5, metadata={"help": "A share.", "min": 0, "max": 1})

    def __post_init__(self) -> None:
        check_bounds(self)


OUT_OF_BOUNDS = [
    ("count", 0, "count must be >= 1, got 0"),
    ("seconds", 0.0, "seconds must be > 0, got 0.0"),
    ("seconds", float("nan"), "seconds must be > 0, got nan"),
    ("share", -0.1, r"share must be in 0\.\.1, got -0\.1"),
    ("share", 1.5, r"share must be in 0\.\.1, got 1\.5"),
    ("share", float("nan"), r"share must be in 0\.\.1, got nan"),
]


@pytest.mark.parametrize(("name", "value", "message"), OUT_OF_BOUNDS)
def test_a_dataclass_refuses_what_is_out_of_a_fields_bounds(
    name: str, value: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Bounded(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "value", "message"), OUT_OF_BOUNDS)
def test_a_command_refuses_it_as_a_usage_error(
    name: str, value: float, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = CommandParser((Bounded,), command="bounded", description="Bounds.")
    with pytest.raises(SystemExit) as left:
        parser.parse([f"--{name}={value}"])
    assert left.value.code == 2
    assert message.replace("\\", "") in capsys.readouterr().err


def test_the_bounds_themselves_and_none_are_allowed() -> None:
    assert Bounded(count=1, share=0).count == 1
    assert Bounded(share=1).count is None


@pytest.mark.parametrize("share", [-0.1, 1.1, 20, float("nan")])
def test_a_share_is_in_0_to_1(share: float) -> None:
    with pytest.raises(ValueError, match=r"max_failed_share must be in 0\.\.1, got"):
        EpisodeArguments(max_failed_share=share)
    assert EpisodeArguments(max_failed_share=1.0).max_failed_share == 1.0


def test_an_environment_is_named_by_its_keyword() -> None:
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        EnvArguments("TextCraft")  # type: ignore[misc]

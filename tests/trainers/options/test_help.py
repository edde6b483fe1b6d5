"""The help pages: what the first screen shows, and that nothing is lost behind it."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import ClassVar

import pytest

from benchmarks.cli import main as cli
from trainers import ALGORITHMS, installed_trainers
from trainers.options.files import help_page
from trainers.options.parser import CommandParser, common_options

TRAINING = ALGORITHMS
COMMANDS = [
    *(f"train {name}" for name in TRAINING),
    *("eval", "headroom", "collect", "sweep", "quickstart"),
]
MOST_OPTIONS = 30


class Shown(Exception):
    """Ends a command where it parses."""


@pytest.fixture
def parser_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], CommandParser]:
    """Return a function that returns a command's parser."""

    def parser(command: str) -> CommandParser:
        def stop(self: CommandParser, argv: object = None) -> None:
            raise Shown(self)

        with monkeypatch.context() as patch, pytest.raises(Shown) as stopped:
            patch.setattr(CommandParser, "parse", stop)
            cli.main(command.split())
        result = stopped.value.args[0]
        assert isinstance(result, CommandParser)
        return result

    return parser


def page(command: str, option: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the options that a help page lists, in order."""
    try:
        status: int | str | None = cli.main([*command.split(), option])
    except SystemExit as left:
        status = left.code
    assert status in (0, None)
    return re.findall(r"^  (-[^\s,]+)", capsys.readouterr().out, flags=re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_first_screen_has_at_most_thirty_options(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = page(command, "--help", capsys)
    assert len(shown) == len(set(shown)) <= MOST_OPTIONS
    assert {"-h", "--config", "--help_all"} <= set(shown)


@pytest.mark.parametrize(
    ("command", "first"),
    [
        *(
            (f"train {name}", "--env --model --output_dir --max_steps --learning_rate")
            for name in TRAINING
        ),
        ("eval", "--env --policy --split --num_tasks --out"),
        ("headroom", "--env --policy --horizon --samples --num_tasks"),
        ("collect", "--env --policy --out --num_episodes --split"),
        ("sweep", "--suite --policy --max-turns --seeds --out"),
    ],
)
def test_what_everybody_needs_comes_first(
    command: str, first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert page(command, "--help", capsys)[:5] == first.split()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_all_lists_every_field(
    command: str, parser_of: Callable[[str], CommandParser], capsys: pytest.CaptureFixture[str]
) -> None:
    listed = set(page(command, "--help_all", capsys))
    listed |= {"--model_name_or_path", "--turns"}  # shown by their aliases
    kinds = parser_of(command).dataclass_types
    names = [entry.name for kind in kinds for entry in dataclasses.fields(kind) if entry.init]
    assert [name for name in names if f"--{name}" not in listed] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_field_of_ours_has_a_help_text_and_every_common_option_is_a_field(
    command: str, parser_of: Callable[[str], CommandParser]
) -> None:
    for kind in parser_of(command).dataclass_types:
        entries = {entry.name: entry for entry in dataclasses.fields(kind)}
        ours = {
            name
            for base in kind.__mro__
            if not base.__module__.startswith(("trl.", "transformers."))
            for name in inspect.get_annotations(base)
        }
        assert [name for name in ours & set(entries) if not entries[name].metadata["help"]] == []
        listed = [name for base in kind.__mro__ for name in vars(base).get("common_options", ())]
        assert set(listed) <= set(entries)


@pytest.mark.parametrize("name", TRAINING)
def test_the_page_that_is_checked_in_is_the_parsers_own(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        import_module(f"trainers.{name}").main(["--help"])
    # By way of another file: the command reads the page while a shell has emptied it.
    remedy = (
        f"python -m trainers.{name} --help > p.txt && mv p.txt trainers/options/help/{name}.txt"
    )
    assert capsys.readouterr().out == help_page(name), remedy


def test_the_algorithms_that_are_known_are_those_that_are_installed() -> None:
    ours = {name for name, target in installed_trainers().items() if target.startswith("trainers.")}
    assert ours == set(ALGORITHMS)


@dataclass
class Listed:
    """Names what is common."""

    common_options: ClassVar[tuple[str, ...]] = ("often",)

    often: int = field(default=0, metadata={"help": "Often."})
    seldom: int = field(default=0, metadata={"help": "Seldom."})


@dataclass
class Further(Listed):
    """Names nothing."""

    added: int = field(default=0, metadata={"help": "Added."})


def test_a_dataclass_without_a_list_shows_all_that_it_declares() -> None:
    assert common_options(Listed) == ["often"]
    assert common_options(Further) == ["often", "added"]


def test_a_rare_option_is_accepted() -> None:
    parser = CommandParser((Further,), command="further", description="Further.", first=("added",))
    text = parser.format_help()
    assert "--seldom" not in text
    assert text.index("--added") < text.index("--often")
    (parsed,) = parser.parse(["--seldom", "3"])
    assert parsed.seldom == 3

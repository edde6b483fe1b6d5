"""Command lines: a parser over our dataclasses and TRL's.

Every option of the TRL config is accepted. `--help` shows the common options (`common_options`) and
`--help_all` shows all; `--config` reads options from files (`trainers.options.files`). No parser
imports torch or transformers: commands that train nothing do without them. TRL's `TrlParser` knows
no field of three types, no bounds and no second `--config`, and takes a file's `env` for variables.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from agentgym_envs.errors import did_you_mean
from agentgym_envs.machinery.secrets import masked_words
from trainers.options.errors import as_options, explain_refusals
from trainers.options.files import (
    OptionValue,
    describe_presets,
    option_file,
    read_options,
)
from trainers.options.values import BOUNDS, read_object

MOST_CHOICES_SHOWN = 6
ELSEWHERE = {
    "--batch_size": "--per_device_train_batch_size",
    "--group_size": "--num_generations",
    "--lora": "--use_peft",
    "--lr": "--learning_rate",
    "--max_new_tokens": "--max_tokens_per_turn",
    "--max_prompt_length": "--max_tokens_per_episode",
    "--use_lora": "--use_peft",
}
"""Other libraries' names of our options, too unlike ours to count as misspelt."""
_SHOWN = {"model_name_or_path": "--model MODEL", "turns": "--max-turns TURNS"}


class OptionFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Shows an option's names and the default."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32, width=100)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.dest == "help":
            return super()._format_action_invocation(action)
        if action.dest in _SHOWN:
            return _SHOWN[action.dest]
        value = "" if action.nargs in (0, "?") else f" {self._value(action)}"
        return ", ".join(action.option_strings) + value

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default in (None, [], argparse.SUPPRESS):
            return action.help
        return super()._get_help_string(action)

    @staticmethod
    def _value(action: argparse.Action) -> str:
        if isinstance(action.metavar, str):
            return action.metavar
        if action.choices is not None and len(list(action.choices)) <= MOST_CHOICES_SHOWN:
            return "{" + ",".join(str(choice) for choice in action.choices) + "}"
        more = " ..." if action.nargs in ("+", "*") else ""
        return action.dest.rpartition("_")[2].upper() + more


def common_options(kind: type) -> list[str]:
    """Return the fields of a dataclass that `--help` shows, in its order, base classes' first.

    A class names them in `common_options`, those that it inherits from TRL included. A class
    without such a list shows all that it declares.
    """
    names: dict[str, None] = {}
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith(("trl.", "transformers.")):
            declared = inspect.get_annotations(base)
            names |= dict.fromkeys(vars(base).get("common_options", declared))
    return list(names)


class OptionParser(argparse.ArgumentParser):
    """argparse's parser, with hints for misspelt options, and hidden secrets."""

    def __init__(self, prog: str, **kwargs: Any) -> None:
        super().__init__(prog, allow_abbrev=False, **kwargs)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse as argparse does, but report an unknown option first."""
        words = list(sys.argv[1:] if args is None else args)
        return super().parse_args(self._with_known_names(words), namespace)

    def error(self, message: str) -> NoReturn:
        """End the program with a usage error."""
        # argparse repeats the words of the command line, secrets included.
        super().error(" ".join(masked_words(as_options(message).split(" "))))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += getattr(action.choices, "remedy", "")
            raise

    def _with_known_names(self, words: list[str]) -> list[str]:
        """Spell options as the parser does, with - or _, and refuse unknown ones."""
        named = [option for option in self._option_string_actions if option.startswith("--")]
        known = {_with_underscores(option): option for option in named}
        end = words.index("--") if "--" in words else len(words)
        for place, word in enumerate(words[:end]):
            name, equals, value = word.partition("=")
            if not name.startswith("--") or " " in name or name in named:
                continue
            spelled = _with_underscores(name)
            if spelled not in known:
                otherwise = f"{self.prog} --help lists the options"
                ours = ELSEWHERE.get(spelled)
                hint = did_you_mean(spelled, known, otherwise=otherwise)
                if ours in known:
                    hint = f"; did you mean {ours}?"
                self.error(f"unknown option {name}{hint}")
            words[place] = known[spelled] + equals + value
        return words


def _with_underscores(option: str) -> str:
    return option[:2] + option[2:].replace("-", "_")


class CommandParser(OptionParser):
    """Parses one command's options into dataclasses, in their order.

    `command` is shown in the usage line, and `first` are fields that the help shows before all
    others. All options of the TRL config `config_name` are accepted. So are those of the parser
    that `ignored` makes, without effect: it is called where an option is unknown.
    """

    def __init__(
        self,
        dataclass_types: Sequence[type],
        *,
        command: str,
        description: str,
        first: Sequence[str] = (),
        config_name: str | None = None,
        ignored: Callable[[], argparse.ArgumentParser] | None = None,
    ) -> None:
        epilog = "Options may be written with - or _; --help_all lists all of them"
        if config_name is not None:
            epilog += f", with those of trl.{config_name} and trl.ModelConfig"
            epilog += ", which it has to import first: some seconds"
        self._first = first
        self._ignored = ignored
        self._without_effect: list[argparse.Action] = []
        self._shows_all = False
        super().__init__(
            command,
            usage=f"{command} [options]",
            description=description,
            epilog=f"{epilog}.",
            formatter_class=OptionFormatter,
        )
        self.dataclass_types = tuple(dataclass_types)
        for kind in self.dataclass_types:
            add_options(self, kind)
        self.add_argument(
            "--config",
            action="append",
            metavar="FILE",
            help="YAML file of options, or a preset's name; repeat for several, later ones win. "
            "Options on the command line override it.",
        )
        self.add_argument("--help_all", action="store_true", help="List all.")
        if config_name is not None:
            self.add_argument("--list_presets", action="store_true", help="List the presets.")
        self._config_name = config_name
        self._files_read: list[str] = []

    def parse(self, argv: Sequence[str] | None = None) -> tuple[Any, ...]:
        """Return one instance of each dataclass. A bad value ends the program, as argparse does."""
        arguments = list(sys.argv[1:] if argv is None else argv)
        named = {_with_underscores(word) for word in arguments}
        if "--help_all" in named:
            self._shows_all = True
            self.print_help()
            self.exit()
        if self._config_name is not None and "--list_presets" in named:
            print(describe_presets(), end="")
            self.exit()
        namespace = vars(self.parse_args(self._with_files(arguments)))
        values = []
        for kind in self.dataclass_types:
            names = {entry.name for entry in dataclasses.fields(kind) if entry.init}
            try:
                with explain_refusals():
                    values.append(kind(**{name: namespace[name] for name in names}))
            except ValueError as error:
                self.error(str(error))
        return tuple(values)

    def peek(self, argv: Sequence[str] | None, name: str) -> Any:
        """Return one option's value, parsed before the rest, which may be wrong."""
        arguments = list(sys.argv[1:] if argv is None else argv)
        if {"-h", "--help", "--help_all"} & {*arguments, *map(_with_underscores, arguments)}:
            return self.get_default(name)
        return getattr(self.parse_known_args(self._with_files(arguments))[0], name)

    def error(self, message: str) -> NoReturn:
        """End the program with a usage error that names the option files, if any were read."""
        if self._files_read:
            message += f" (options were read from {', '.join(self._files_read)})"
        super().error(message)

    def _with_files(self, arguments: list[str]) -> list[str]:
        """Put the options of the `--config` files before those of the command line.

        The command line's options replace a file's; lists are not joined.
        """
        finder = argparse.ArgumentParser(self.prog, add_help=False, allow_abbrev=False)
        finder.add_argument("--config", action="append", default=[])
        files, arguments = finder.parse_known_args(arguments)
        self._files_read = []
        options: dict[str, OptionValue] = {}
        try:
            for name in files.config:
                options |= self._options_in(option_file(name))
                self._files_read.append(name)
        except ValueError as error:
            self.error(str(error))
        arguments = self._with_known_names(arguments)
        names = {word.partition("=")[0] for word in arguments}
        explicit = {a.dest for a in self._actions if names.intersection(a.option_strings)}
        words = []
        for dest, value in options.items():
            if dest in explicit:
                continue
            if value is None:
                self.set_defaults(**{dest: None})
            elif isinstance(value, list):
                words += [f"--{dest}", *value]
            else:
                words.append(f"--{dest}={value}")
        return words + arguments

    def _with_known_names(self, words: list[str]) -> list[str]:
        end = words.index("--") if "--" in words else len(words)
        self._ignore(word.partition("=")[0] for word in words[:end] if word.startswith("--"))
        return super()._with_known_names(words)

    def _ignore(self, options: Iterable[str]) -> None:
        """Accept those of `ignored` where one of the options is unknown."""
        ours = self._option_string_actions
        known = {_with_underscores(option) for option in ours}
        if self._ignored is None or known.issuperset(map(_with_underscores, options)):
            return
        further, self._ignored = self._ignored(), None
        for action in further._actions:
            same = next((ours[name] for name in action.option_strings if name in ours), None)
            if same is not None:  # the other names of one of our options
                ours.update(dict.fromkeys(action.option_strings, same))
            elif action.option_strings:
                self._without_effect.append(self._add_action(action))

    def without_effect(self, arguments: Sequence[str]) -> list[str]:
        """Return the options of a parsed command line that only `ignored` knows."""
        options = [word.partition("=")[0] for word in arguments if word.startswith("--")]
        known = {
            _with_underscores(name) for one in self._without_effect for name in one.option_strings
        }
        return [option for option in options if _with_underscores(option) in known]

    def _options_in(self, path: Path) -> dict[str, OptionValue]:
        """Read a file's options, by the names of their fields."""
        contents = read_options(path)
        self._ignore(f"--{key}" for key in contents)
        allowed = {
            option.removeprefix("--").replace("-", "_"): action.dest
            for option, action in self._option_string_actions.items()
            if action.nargs != 0 and action.dest != "config"
        }
        options: dict[str, OptionValue] = {}
        for key, value in contents.items():
            dest = allowed.get(key.replace("-", "_"))
            if dest is None:
                hint = did_you_mean(key.replace("-", "_"), allowed, otherwise="see --help_all")
                raise ValueError(f"{path}: unknown option {key!r}{hint}")
            if dest in options:
                raise ValueError(f"{path}: {key!r} is given twice, under two spellings")
            options[dest] = value
        return options

    def format_help(self) -> str:
        """Return the help: the common options, or all of them after `--help_all`."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        for title, actions in self._help_sections():
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def _help_sections(self) -> list[tuple[str | None, list[argparse.Action]]]:
        """Return the help's sections: title and options."""
        _, general, *groups = self._action_groups  # the positionals, of which there are none
        sections = [(group.title, group._group_actions) for group in (*groups, general)]
        if self._shows_all:
            return sections
        fields = {entry.name for kind in self.dataclass_types for entry in dataclasses.fields(kind)}
        common = [name for kind in self.dataclass_types for name in common_options(kind)]
        by_name = {action.dest: action for action in reversed(self._actions)}  # not --no_NAME
        first = [by_name[name] for name in self._first]
        rare = fields.difference(common)
        places = {name: place for place, name in enumerate(common)}
        actions = [action for action in self._actions if action in by_name.values()]
        actions = [action for action in actions if action.dest not in rare]
        actions.sort(key=lambda action: places.get(action.dest, -1))
        return [
            ("most used", first),
            *(
                (title, [a for a in actions if a in group and a not in first])
                for title, group in sections
            ),
        ]


# -- Fields of dataclasses as options, read as transformers' `HfArgumentParser` does -------------

_TRUE, _FALSE = ("yes", "true", "t", "y", "1"), ("no", "false", "f", "n", "0")


def add_options(parser: argparse.ArgumentParser, kind: type) -> None:
    """Add an option for each field of a dataclass, in the group that the class names.

    A field's metadata holds its `help`, its `aliases`, and further arguments of `add_argument`,
    beside the bounds of `check_bounds`.
    """
    title = getattr(kind, "_argument_group_name", None)
    group = parser if title is None else parser.add_argument_group(title)
    hints = get_type_hints(kind)
    for entry in dataclasses.fields(kind):
        if entry.init:
            _add_option(group, entry, hints[entry.name])


def read_switch(text: str) -> bool:
    """Read a value such as `yes` or `false`, or raise `ArgumentTypeError`."""
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise argparse.ArgumentTypeError(f"expected one of {', '.join(_TRUE + _FALSE)}, got {text!r}")


def _add_option(group: Any, entry: dataclasses.Field[Any], hint: Any) -> None:
    aliases = entry.metadata.get("aliases", [])
    arguments = {k: v for k, v in entry.metadata.items() if k not in ("aliases", "read", *BOUNDS)}
    default = entry.default
    if entry.default_factory is not dataclasses.MISSING:
        default = entry.default_factory()
    # An action class of a field's own takes the text; a name is a text, whatever else the field
    # may hold in Python.
    kind = _kind_of(hint)
    has_name = "choices" in arguments and get_origin(kind) is not list
    if has_name or isinstance(arguments.get("action"), type):
        kind = str
    if get_origin(kind) is list and isinstance(default, str):
        default = None  # argparse would read the text as one entry
    options = {**arguments, **_how_to_read(kind)}
    options |= {"required": True} if default is dataclasses.MISSING else {"default": default}
    aliases = [aliases] if isinstance(aliases, str) else aliases
    group.add_argument(f"--{entry.name}", *aliases, **options)
    if kind is bool and default is True:
        negated = {"action": "store_false", "dest": entry.name, "default": False}
        group.add_argument(f"--no_{entry.name}", **{**arguments, **negated})


def _kind_of(hint: Any) -> Any:
    """Return the one type that an option is read as, of those that its field may have."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    if len(kinds) == 1:
        return kinds[0]
    if len(kinds) < len(get_args(hint)):
        return str  # a config whose field may be text, a list or None reads the text itself
    return next(kind for kind in kinds if kind is not str)


def _how_to_read(kind: Any) -> dict[str, Any]:
    """Return the arguments of `add_argument` that an option's type asks for."""
    if get_origin(kind) is Literal:
        return _choices(list(get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choices([member.value for member in kind])
    if kind is bool:
        return {"type": read_switch, "nargs": "?", "const": True}  # --bf16 alone means --bf16 true
    if get_origin(kind) is list:
        return {"type": get_args(kind)[0], "nargs": "+"}
    if kind is dict or get_origin(kind) is dict:
        return {"type": _read_mapping}
    return {"type": kind}


def _choices(values: list[Any]) -> dict[str, Any]:
    by_text = {str(value): value for value in values}

    def read(text: str) -> Any:
        return by_text.get(text, text)

    return {"choices": values, "type": read}


def _read_mapping(text: str) -> dict[str, Any]:
    try:
        return read_object("it", text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None

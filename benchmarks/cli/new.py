"""`agentgym new env`: writes the package of a working environment as a template."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from string import Template

from agentgym_envs.content.files import write_atomically
from trainers.options.errors import check_folder
from trainers.options.parser import OptionParser

TEMPLATES = Path(__file__).parent / "templates" / "env"
_NAME = re.compile(r"(?:([A-Za-z][\w-]*)/)?([A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*)")


@dataclass(frozen=True)
class EnvironmentNames:
    """The names of an environment: `mylab/TidyUp-v0`, `TidyUp` and `tidy_up`."""

    env_id: str
    title: str
    module: str

    @classmethod
    def from_name(cls, name: str) -> EnvironmentNames:
        """Parse a user's name (`tidy-up`, `TidyUp`, `mylab/TidyUp`), or raise ValueError."""
        match = _NAME.fullmatch(name)
        if match is None:
            raise ValueError(
                f"NAME must be letters and digits that begin with a letter, such as TidyUp, "
                f"tidy-up or mylab/TidyUp, got {name!r}"
            )
        words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+", match[2])
        title = "".join(word[0].upper() + word[1:] for word in words)
        module = "_".join(words).lower()
        if keyword.iskeyword(module) or module in sys.stdlib_module_names:
            raise ValueError(f"NAME must not be Python's own {module!r}; choose another")
        return cls(f"{match[1] or 'mylab'}/{title}-v0", title, module)

    def files(self) -> dict[Path, str]:
        """Return the text of each file of the package, by its path in the folder."""
        words = {
            "env_id": self.env_id,
            "title": self.title,
            "class_name": f"{self.title}Env",
            "module": self.module,
            "prefix": self.module,
            "distribution": self.module.replace("_", "-"),
        }
        package = Path(self.module)
        places = {
            "README.md": Path("README.md"),
            "pyproject.toml": Path("pyproject.toml"),
            "suite.yaml": Path("suite.yaml"),
            "init.py": package / "__init__.py",
            "env.py": package / "env.py",
            "test_env.py": Path("tests") / "test_env.py",
        }
        return filled(TEMPLATES, places, words)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the package, and print the next commands."""
    parser = OptionParser(
        prog="agentgym new",
        description="Write a working environment into a folder of its own: a small game with "
        "tasks, actions and an expert, a test that checks the contract, and a suite for sweeps.",
        epilog="example: agentgym new env TidyUp",
    )
    parser.add_argument("kind", choices=["env"], help="the kind of package")
    parser.add_argument("name", help="TidyUp, tidy-up, or mylab/TidyUp with a namespace")
    parser.add_argument("--out", help="the folder; by default the module's name, tidy_up")
    options = parser.parse_args(argv)
    try:
        names = EnvironmentNames.from_name(options.name)
        folder = Path(options.out or names.module)
        check_free(folder)
        _check_not_installed(names.module)
    except ValueError as error:
        parser.error(str(error))
    write_files(folder, names.files())
    env = f"{names.module}:{names.env_id}"
    print(
        f"\nnext:\n  cd {folder}\n  agentgym check {env}\n  agentgym play {env}\n"
        f"then make {names.module}/env.py your own; README.md has the other commands"
    )
    return 0


def filled(
    templates: Path, places: Mapping[str, str | Path], words: Mapping[str, str]
) -> dict[Path, str]:
    """Return the files' texts by their paths: `templates` (`NAME.template`) filled with `words`.

    `places` maps each name to the path of its file.
    """
    return {
        Path(place): Template((templates / f"{name}.template").read_text("utf-8")).substitute(words)
        for name, place in places.items()
    }


def check_free(folder: Path) -> None:
    """Raise ValueError unless a folder is empty or does not exist, and can be written to."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already; pass another --out")
    check_folder("--out", folder)


def write_files(folder: Path, files: Mapping[Path, str]) -> None:
    """Write files by their paths in a folder, and print each path."""
    for place, text in files.items():
        write_atomically(folder / place, text)
        print(folder / place)


def _check_not_installed(module: str) -> None:
    spec = find_spec(module)
    # A folder without __init__.py is no package that an import would give in place of ours.
    if spec is not None and spec.origin is not None:
        raise ValueError(
            f"a module {module!r} is installed already ({spec.origin}) and one would hide the "
            "other; choose another NAME"
        )

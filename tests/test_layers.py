"""Each package imports only those to its left; the envs and wrappers never pay for torch."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("agentgym_envs", "wrappers", "trainers", "benchmarks")
NOT_INSTALLED = {"tests", "worlds", "lab"}
TRAINING_STACK = {"torch", "transformers", "trl", "peft", "accelerate", "datasets", "tokenizers"}
ENCODER = Path("agentgym_envs/retrieval/encoder.py")
"""Dense retrieval's one file that knows torch; it is imported when such a retriever is made."""


def modules_of(package: str) -> list[Path]:
    """Return the modules of a package, from the root."""
    return [path.relative_to(ROOT) for path in sorted((ROOT / package).rglob("*.py"))]


MODULES = [path for layer in LAYERS for path in modules_of(layer)]


def imported(path: Path) -> Iterator[str]:
    """Yield the top-level name of every import anywhere in a file."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield (node.module or "").partition(".")[0]


def test_a_module_imports_only_layers_to_its_left() -> None:
    found = []
    for path in MODULES:
        forbidden = {*LAYERS[LAYERS.index(path.parts[0]) + 1 :], *NOT_INSTALLED}
        if path.parts[0] in ("agentgym_envs", "wrappers") and path != ENCODER:
            forbidden |= TRAINING_STACK
        found += [f"{path} imports {name}" for name in sorted(forbidden & set(imported(path)))]
    assert found == []


def test_the_makers_of_worlds_import_no_layer_but_the_environments() -> None:
    forbidden = {*LAYERS[1:], *TRAINING_STACK, "tests", "lab", "numpy"}
    found = [
        f"{path} imports {name}"
        for path in modules_of("worlds")
        for name in sorted(forbidden & set(imported(path)))
    ]
    assert found == []


LAYOUT = (ROOT / "docs" / "explanation" / "design.md").read_text("utf-8")
ENTRANCES = ("__init__", "__main__")


def rooms_of(package: str) -> list[str]:
    """Return the folders and modules of a package as docs/explanation/design.md orders them."""
    section = LAYOUT.partition(f"\n### {package}\n")[2].partition("\n### ")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, flags=re.M)
    return [name for cell in cells for name in re.findall(r"`(.+?)`", cell)]


ROOMS = {package: rooms_of(package) for package in (*LAYERS, "lab")}


@pytest.mark.parametrize("package", ROOMS)
def test_the_layout_names_every_module_and_folder_of_a_package(package: str) -> None:
    children = [path for path in (ROOT / package).iterdir() if not path.name.startswith("_")]
    modules = [path.name for path in children if path.suffix == ".py"]
    folders = [f"{path.name}/" for path in children if path.is_dir()]
    assert sorted(ROOMS[package]) == sorted(modules + folders)


@pytest.mark.parametrize("package", ROOMS)
def test_a_room_imports_only_those_above_it_in_the_layout(package: str) -> None:
    place = {name.removesuffix(".py").rstrip("/"): n for n, name in enumerate(ROOMS[package])}
    below = []
    for path in modules_of(package):
        room = path.with_suffix("").parts[1]
        if room in ENTRANCES:
            continue
        others = {m.split(".")[1] for m in imported_modules(path) if m.startswith(f"{package}.")}
        below += [f"{path} imports {o}" for o in others - {room} if place[o] > place[room]]
    assert below == []


@pytest.mark.parametrize("package", [*LAYERS, "lab", "worlds"])
def test_no_module_imports_its_way_back(package: str) -> None:
    """Not even within a room, or for a type checker alone."""
    names = {path: ".".join(path.with_suffix("").parts) for path in modules_of(package)}
    imports = {name.removesuffix(".__init__"): set[str]() for name in names.values()}
    for path, name in names.items():
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                dotted = {f"{node.module}.{alias.name}" for alias in node.names}
                found = {each if each in imports else str(node.module) for each in dotted}
            else:
                continue
            imports[name.removesuffix(".__init__")] |= found
    num_modules = -1
    while num_modules != len(imports):  # ends of chains go, circles stay
        num_modules = len(imports)
        left = {name for name in imports if imports[name] & set(imports)}
        left &= set[str]().union(*imports.values())
        imports = {name: imports[name] & left for name in left}
    assert sorted(imports) == [], "they import each other, or lie between such modules"


def imported_modules(path: Path) -> Iterator[str]:
    """Yield the dotted name of every import anywhere in a file."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            if node.module in ROOMS:  # `from trainers import grpo` names a room
                names = {alias.name for alias in node.names}
                rooms = {name.removesuffix(".py").rstrip("/") for name in ROOMS[node.module]}
                yield from (f"{node.module}.{name}" for name in names & rooms)


@pytest.mark.parametrize(
    "code",
    [
        "import agentgym_envs",
        "import wrappers",
        "from benchmarks.cli.main import main; main(['--help'])",
        "import benchmarks.cli.play",
        # It opens every environment, which takes seconds.
        pytest.param(
            "from benchmarks.cli.main import main; main(['envs'])", marks=pytest.mark.full
        ),
    ],
)
def test_nothing_of_the_training_stack_is_imported_by(code: str) -> None:
    check = f"{code}; import sys; sys.exit(str(set(sys.modules) & {TRAINING_STACK}))"
    result = subprocess.run(
        [sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.stderr.strip() == "set()"


def test_no_query_numbers_its_placeholders() -> None:
    """Python 3.12 warns of `?1` beside a sequence, and 3.14 is to refuse it."""
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sorted((ROOT / "agentgym_envs").rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"[ (]\?\d", line)
    ]
    assert found == []

"""Hooks of `make docs`: the navigation from `docs/index.md`, and the pages of the API reference.

The sources are read and not imported, so that neither torch nor a simulator is needed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PACKAGES = ("agentgym_envs", "wrappers", "trainers")
CARD = "trainers/models/tiny_checkpoint/README.md"
CARD_PAGE = "results/tiny.md"
FURTHER = (
    "agentgym_envs.actions.ActionVerb",
    "agentgym_envs.alfworld.env.ALFWorldEnv",
    "agentgym_envs.babyai.env.BabyAIEnv",
    "agentgym_envs.maze.env.MazeEnv",
    "agentgym_envs.miniwob.env.MiniWoBEnv",
    "agentgym_envs.sciworld.env.SciWorldEnv",
    "agentgym_envs.searchqa.env.SearchQAEnv",
    "agentgym_envs.sql.env.SQLEnv",
    "agentgym_envs.textcraft.env.TextCraftEnv",
    "agentgym_envs.webarena.browser_task.BrowserTaskEnv",
    "agentgym_envs.webarena.env.WebArenaEnv",
    "agentgym_envs.webarena.evaluators.Judge",
    "agentgym_envs.webarena.official.accounts.Account",
    "agentgym_envs.webarena.official.env.WebArenaOfficialEnv",
    "agentgym_envs.webshop.env.WebShopEnv",
    "agentgym_envs.wordle.env.WordleEnv",
    "trainers.collect.collect",
    "trainers.evaluate.evaluate",
    "trainers.evaluate.paired_gain",
    "trainers.evaluation.advice.advise",
    "trainers.evaluation.headroom.headroom",
)
"""The environments, and names that the pages use, which are imported from their own modules."""


def public_names(package: str) -> Iterator[str]:
    """List the full names of what `from package import ...` gives: its imports, or `_HOMES`."""
    for node in ast.parse((ROOT / package / "__init__.py").read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            for home, names in ast.literal_eval(node.value).items():
                yield from (f"{home}.{name}" for name in names)


def room(name: str) -> str:
    """Return the folder that a public name lies in: `trainers.tokens`, or the package itself."""
    module = name.rpartition(".")[0]
    folder = module if (ROOT / module.replace(".", "/")).is_dir() else module.rpartition(".")[0]
    return ".".join(folder.split(".")[:2])


def undocumented(item: griffe.Object | griffe.Alias) -> Iterator[str]:
    """List the public members of an object that have no docstring, and the object itself."""
    if not item.has_docstring:
        yield item.path
    if item.is_class:
        for member in item.members.values():
            # A method that a base class describes need not say it again.
            described = any(
                member.name in base.members and base.members[member.name].has_docstring
                for base in item.mro()
            )
            if member.is_function and not member.name.startswith("_") and not described:
                yield from undocumented(member)


def on_config(config: Any) -> None:
    """Take the navigation from the groups of `docs/index.md`; the reference comes last."""
    groups: list[Any] = ["index.md"]
    text = (ROOT / "docs" / "index.md").read_text("utf-8")
    for heading, body in re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", text, flags=re.M):
        pages = re.findall(r"^- \[(.+?)\]\((.+?)\)", body, flags=re.M)
        entries = [{title: link.replace(f"../{CARD}", CARD_PAGE)} for title, link in pages]
        groups.append({heading: entries})
    config.nav = [*groups, {"API reference": [f"api/{package}.md" for package in PACKAGES]}]


def reference() -> dict[str, dict[str, list[str]]]:
    """Return each package's public names by room, refusing names without a docstring."""
    loader = griffe.GriffeLoader(search_paths=[str(ROOT)])
    for package in PACKAGES:
        loader.load(package)
    loader.resolve_aliases(external=False)
    pages: dict[str, dict[str, list[str]]] = {package: {} for package in PACKAGES}
    for package, rooms in pages.items():
        further = [name for name in FURTHER if name.startswith(f"{package}.")]
        names = list(public_names(package))
        if not names:
            raise PluginError(f"{package}/__init__.py imports or lists no public names")
        for name in [*names, *further]:
            rooms.setdefault(room(name), []).append(name)
    missing = [
        path
        for rooms in pages.values()
        for names in rooms.values()
        for name in names
        for path in undocumented(loader.modules_collection[name])
    ]
    if missing:
        raise PluginError(f"public names without a docstring: {', '.join(missing)}")
    return pages


def on_files(files: Files, config: Any) -> Files:
    """Add the reference's pages and the model card, which lies outside `docs/`."""
    for package, rooms in reference().items():
        text = f"# {package}\n"
        for name, items in sorted(rooms.items()):
            imports = []
            for item in items:
                module, _, public = item.rpartition(".")
                imports.append(f"from {module if item in FURTHER else package} import {public}\n")
            text += f"\n## {name}\n\n```python\n{''.join(imports)}```\n\n"
            text += "\n".join(f"::: {item}\n" for item in items)
        files.append(File.generated(config, f"api/{package}.md", content=text))
    card = (ROOT / CARD).read_text("utf-8")
    files.append(File.generated(config, CARD_PAGE, content=card))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to the model card lead to its page of the site."""
    depth = page.file.src_uri.count("/")
    return re.sub(rf"\]\((?:\.\./)+{CARD}", f"]({'../' * depth}{CARD_PAGE}", markdown)

"""A chat template with its variables, `chat_template_kwargs`, as part of its text.

A saved tokenizer has one thing, its template. So the
variables stand at the template's beginning: in a comment, by which they are read back, and as
assignments, which every program that renders the template follows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, meta, nodes
from jinja2.visitor import NodeVisitor

_HEADER = re.compile(
    r"\A\{# chat_template_kwargs (?P<values>\{.*\}) #\}(?:\{% set \w+ = .*? %\})*\n"
)
_GENERATION = re.compile(r"\{%-?\s*(?:end)?generation\s*-?%\}")
_GIVEN = {
    *("messages", "tools", "documents", "add_generation_prompt", "continue_final_message"),
    *("raise_exception", "strftime_now"),
}
"""Variables that transformers sets for a template, besides the names of special tokens."""


def with_settings(template: str, values: Mapping[str, Any]) -> str:
    """Return a template with variables set, in place of earlier settings.

    Args:
        template: a Jinja template.
        values: the variables, as JSON has them.

    Raises:
        ValueError: a name is none that the template reads, so it would do nothing.
    """
    before, bare = split_settings(template)
    readable = read_variables(bare)
    for name in values:
        if name not in readable:
            known = ", ".join(sorted(readable)) or "none"
            raise ValueError(
                f"the chat template reads no variable {name!r}, so it would do nothing; variables "
                f"that it reads: {known}"
            )
    settings = {**before, **values}
    if not settings:
        return bare
    # Escaped, so that nothing in the values ends the comment or a statement.
    written = json.dumps(settings).replace("#", "\\u0023").replace("%", "\\u0025")
    sets = "".join(f"{{% set {name} = {_literal(value)} %}}" for name, value in settings.items())
    return f"{{# chat_template_kwargs {written} #}}{sets}\n{bare}"


def split_settings(template: str) -> tuple[dict[str, Any], str]:
    """Return the variables of `with_settings`, and the template without them."""
    match = _HEADER.match(template)
    if match is None:
        return {}, template
    return json.loads(match["values"]), template[match.end() :]


def read_variables(template: str) -> set[str]:
    """Return the variables that a template may be given, or raise `ValueError` for no template."""
    # Jinja's own parser does not know the tags that transformers adds.
    environment = Environment(extensions=["jinja2.ext.loopcontrols"])
    try:
        parsed = environment.parse(_GENERATION.sub("", template))
    except TemplateSyntaxError as error:
        raise ValueError(f"it is no Jinja template: line {error.lineno}: {error}") from error
    uses = _FirstUses()
    uses.visit(parsed)
    # Jinja counts what a template sets in one branch and reads behind it too.
    undeclared = meta.find_undeclared_variables(parsed) & uses.read
    return {
        name
        for name in undeclared - _GIVEN - set(environment.globals)
        if not name.endswith(("_token", "_tokens"))
    }


class _FirstUses(NodeVisitor):
    """Finds the names that are read before they are set (`read`), in the order of the text."""

    def __init__(self) -> None:
        self.read: set[str] = set()
        self._set: set[str] = set()

    def visit_Name(self, node: nodes.Name) -> None:
        if node.ctx == "load" and node.name not in self._set:
            self.read.add(node.name)
        elif node.ctx != "load":
            self._set.add(node.name)

    def visit_Assign(self, node: nodes.Assign) -> None:
        self.visit(node.node)
        self.visit(node.target)

    def visit_Macro(self, node: nodes.Macro) -> None:
        outer = set(self._set)
        self.generic_visit(node)
        self._set = outer


def _literal(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        entries = (f"{_literal(str(key))}: {_literal(entry)}" for key, entry in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return text.replace("#", "\\u0023").replace("%", "\\u0025")
    return json.dumps(value)

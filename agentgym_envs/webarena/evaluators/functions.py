"""The five helper functions of WebArena's task files, `func:name('argument')`.

They are read by `ast` and looked up in an allow-list; nothing is executed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from agentgym_envs.webarena.evaluators.verdict import Ending

PREFIX = "func:"
LAST_URL = "__last_url__"
PAGE = "__page__"

ARGUMENTS = {
    "shopping_get_latest_order_url": 0,
    "shopping_get_sku_latest_review_author": 1,
    "shopping_get_sku_latest_review_rating": 1,
    "reddit_get_post_url": 1,
    "gitlab_get_project_memeber_role": 2,  # the spelling is WebArena's
}
"""The functions there are, and how many arguments each takes."""


@dataclass(frozen=True)
class Call:
    """A call of a helper function.

    Attributes:
        name: one of `ARGUMENTS`.
        arguments: texts; the page is `PAGE` and the last address `LAST_URL`.
    """

    name: str
    arguments: tuple[str, ...]

    def run(self, ending: Ending, url: str) -> str:
        """Call the function.

        Args:
            ending: the episode.
            url: of the page that it is called on.
        """
        arguments = [ending.url if given == LAST_URL else given for given in self.arguments]
        if self.name == "shopping_get_latest_order_url":
            return ending.functions.latest_order_url()
        if self.name == "reddit_get_post_url":
            return post_url(arguments[0])
        if self.name == "gitlab_get_project_memeber_role":
            return ending.functions.member_role(ending.browser, url, arguments[1])
        author, rating = ending.functions.latest_review(arguments[0])
        return author if self.name.endswith("author") else rating


def read_call(text: str) -> Call:
    """Read `func:name(...)`.

    Raises:
        ValueError: it is no call of a function that is allowed.
    """
    try:
        node = ast.parse(text.removeprefix(PREFIX).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        node = ast.Constant(None)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and len(node.args) == ARGUMENTS.get(node.func.id)
        and not node.keywords
    ):
        arguments = tuple(_argument(given) for given in node.args)
        if None not in arguments:
            return Call(node.func.id, tuple(str(given) for given in arguments))
    raise ValueError(
        f"cannot read {text!r:.200}; allowed are calls with literal arguments of "
        f"{', '.join(ARGUMENTS)}"
    )


def post_url(url: str) -> str:
    """Return the address of the post that an address of the forum belongs to."""
    parts = urlsplit(url)
    path = parts.path.split("/")  # "", "f", forum, post, ...
    if len(path) < 4 or path[1] != "f":
        return url
    return urlunsplit((parts.scheme, parts.netloc, f"/f/{path[2]}/{path[3]}/", "", ""))


def _argument(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return node.id if isinstance(node, ast.Name) and node.id in (PAGE, LAST_URL) else None

"""Judges an episode's last page by its content: `page_shown`, a kind of our own.

The last page's address and those of the task are asked for afresh, and the pages compared: their
text, and what their forms hold. So the order of an address's parameters, its spelling and what it
leaves out do not matter, as long as the site makes the same of it; another filter, order or page of
a list is another page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from agentgym_envs.browsing import addresses
from agentgym_envs.browsing.page import Node
from agentgym_envs.browsing.text.fetch import fetch
from agentgym_envs.browsing.text.loading import Loader
from agentgym_envs.browsing.text.tree import Tree
from agentgym_envs.sites.names import DATABASES, find_site
from agentgym_envs.sites.state import SiteState, first_token
from agentgym_envs.webarena.evaluators.verdict import Ending, Verdict, judged

_MOST_SHOWN = 3

Line = tuple[str, str, tuple[tuple[str, str], ...]]


class PageShownEvaluator:
    """Compares the last page with those that a task asks for.

    Args:
        evaluation: an `eval` object; its `page_shown` lists addresses, each of which is right.

    Raises:
        ValueError: it is no such list.
    """

    def __init__(self, evaluation: Mapping[str, Any]) -> None:
        urls = evaluation.get("page_shown")
        if not isinstance(urls, list) or not urls or not all(isinstance(url, str) for url in urls):
            raise ValueError(f"page_shown must be a list of addresses, got {urls!r:.200}")
        self._urls = tuple(urls)

    def __call__(self, ending: Ending) -> Verdict:
        """Compare the pages.

        Raises:
            ValueError: a page of the task does not exist, or the sites are not ours.
        """
        if ending.state is None:
            raise ValueError("page_shown needs the embedded sites; these are not ours")
        pages = {url: shown(ending.state, url) for url in self._urls}
        if missing := [url for url, page in pages.items() if page is None]:
            raise ValueError(f"page_shown: there is no page {missing[0]!r}")
        last = pages.get(ending.url) or shown(ending.state, ending.url)
        if last in pages.values():
            return judged([])
        wanted = next(page for page in pages.values() if page is not None)
        reasons = [f"the last page is {ending.url!r}, not {' or '.join(self._urls)!r}"]
        return judged([*reasons, *_differences(last or [], wanted)])


def shown(state: SiteState, url: str) -> list[Line] | None:
    """Return a page's content for the signed-in user, or None if there is no such page."""
    address = addresses.normal(url)
    host = (address or "").partition("//")[2].partition("/")[0].partition("?")[0]
    site = find_site(host)
    if address is None or site is None:
        return None
    cookies = {name: {"session": first_token(name)} for name in DATABASES}
    if site in DATABASES:
        # What the site says once, after a form, is part of no page.
        state.database(site).execute("UPDATE sessions SET flash = '[]'")
        state.database(site).commit()
    loaded = Loader(state, fetch, cookies).load(address)
    if loaded is None or loaded.document.status >= 400:
        return None
    return [("title", loaded.document.title, ()), *map(_line, _nodes(Tree(loaded.document).root))]


def _nodes(root: Node) -> Iterator[Node]:
    return (node for node, _ in root.walk())


def _line(node: Node) -> Line:
    properties = {
        name: _written(value) if node.role in ("textbox", "searchbox") else value
        for name, value in node.properties.items()
        if name != "url"
    }
    return node.role, _written(node.name), tuple(properties.items())


def _written(text: str) -> str:
    """Return a text in lower case, and an amount such as `$160.00` as a number."""
    text = text.strip("' ").casefold()
    try:
        return str(Decimal(text.removeprefix("$").replace(",", "")).normalize())
    except InvalidOperation:
        return text


def _differences(last: list[Line], wanted: list[Line]) -> Iterator[str]:
    for words, lines, others in (
        ("it lacks", wanted, set(last)),
        ("it shows", last, set(wanted)),
    ):
        only = [line for line in lines if line not in others][:_MOST_SHOWN]
        for role, name, properties in only:
            told = "".join(f", {key} {value!r}" for key, value in properties)
            yield f"{words} the {role} {name!r:.80}{told:.80}"

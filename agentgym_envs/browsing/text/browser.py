"""The text browser: the sites in process, without a network, a layout or scripts.

It does what Chromium does with plain HTML, with these differences, for a policy's sake:

1. Forms are not validated here; the sites say what is wrong with what they are sent.
2. Going back and forward fetches the page afresh, as a server that forbids caching would have it; a
   page that answers a POST is shown as it was.
3. Keys that need lines, words, the parts of a day, a clipboard or an open menu are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lxml.etree import _Element as Element

from agentgym_envs.browsing import addresses, refusals
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.browsing.text.document import Document
from agentgym_envs.browsing.text.fetch import fetch as fetch_in_process
from agentgym_envs.browsing.text.forms import Submission
from agentgym_envs.browsing.text.input import Demand, Input
from agentgym_envs.browsing.text.loading import Fetch, Fields, Loader
from agentgym_envs.browsing.text.lookup import evaluate
from agentgym_envs.browsing.text.tree import Tree
from agentgym_envs.errors import InvalidAction
from agentgym_envs.sites.state import SiteState


@dataclass
class Entry:
    """A page in a tab's history.

    Attributes:
        url: its address, fragment included.
        document: as it was when it was left.
        was_posted: it answers a POST, so going back shows it as it was and asks nobody.
    """

    url: str
    document: Document
    was_posted: bool = False


@dataclass
class Tab:
    """A tab.

    Attributes:
        entries: its history.
        index: of the entry that is shown.
    """

    entries: list[Entry] = field(default_factory=list)
    index: int = -1

    @property
    def entry(self) -> Entry:
        """The entry that is shown."""
        return self.entries[self.index]

    def visit(self, entry: Entry, *, replaces: bool) -> None:
        """Show a new page and drop the forward history.

        Args:
            entry: the page.
            replaces: it takes the place of the one that is shown, in the history too.
        """
        del self.entries[self.index + (0 if replaces else 1) :]
        self.entries.append(entry)
        self.index = len(self.entries) - 1

    def neighbour(self, by: int) -> Entry | None:
        """Return the entry before (-1) or after (1) the one that is shown, if there is one."""
        index = self.index + by
        return self.entries[index] if 0 <= index < len(self.entries) else None


class TextBrowser:
    """A browser of one episode.

    Args:
        state: the episode's databases.
        fetch: carries out the requests; the default calls the embedded sites.
    """

    def __init__(self, state: SiteState, fetch: Fetch = fetch_in_process) -> None:
        self._state = state
        self._fetch = fetch
        self._loader = Loader(state, fetch, {})
        self._tabs = [_blank_tab()]
        self._current = 0
        self._page: Page | None = None
        self._tree: Tree | None = None

    # The protocol -----------------------------------------------------------------------------

    def open(
        self, url: str, cookies: Mapping[str, Mapping[str, str]], others: Sequence[str] = ()
    ) -> None:
        """Begin an episode: a tab for each address, with these cookies set before."""
        self._loader = Loader(self._state, self._fetch, cookies)
        self._tabs = []
        for index, address in enumerate((url, *others)):
            self._tabs.append(_blank_tab())
            self._show_tab(index)
            self._go(address)
        self._show_tab(0)

    def act(self, action: WebAction) -> None:
        """Carry out an action.

        Raises:
            InvalidAction: it cannot be done; nothing has changed.
        """
        document = self._document
        self._do(action)
        if action.kind != "hover":
            document.hovered = self._document.hovered = None

    def scroll(self, direction: str, share: float | None = None) -> bool:
        """Move no window: there is none."""
        return False

    def page(self) -> Page:
        """Return the current page."""
        if self._page is None:
            entry = self._tab.entry
            self._tree = Tree(entry.document)
            self._page = Page(
                url=entry.url,
                title=entry.document.title,
                root=self._tree.root,
                tabs=tuple(tab.entry.document.title for tab in self._tabs),
                current_tab=self._current,
            )
        return self._page

    def look_up(self, url: str, locator: str) -> str:
        """Evaluate a JavaScript expression of `lookup`'s kind on a page, "" for others."""
        if url == "last":
            entry = self._tab.entry
            return evaluate(entry.document, entry.url, locator)
        address = addresses.normal(url)
        loaded = None if address is None else self._loader.copy().load(address)
        return "" if loaded is None else evaluate(loaded.document, loaded.document.url, locator)

    def close(self) -> None:
        """Forget the pages. The databases belong to the episode."""
        self._tabs = [_blank_tab()]
        self._current = 0
        self._changed()

    # Inside ---------------------------------------------------------------------------------

    def _do(self, action: WebAction) -> None:
        match action.kind:
            case "click" | "hover" | "type" | "select":
                self._act_on_element(action)
            case "press":
                self._follow(Input(self._document).press(action.text))
                self._changed()
            case "goto":
                self._go(addresses.typed(action.text))
            case "new_tab":
                self._tabs.append(_blank_tab())
                self._show_tab(len(self._tabs) - 1)
            case "tab_focus":
                if not 0 <= action.element < len(self._tabs):
                    raise refusals.no_tab(action.element, len(self._tabs))
                self._show_tab(action.element)
            case "close_tab":
                del self._tabs[self._current]
                self._tabs = self._tabs or [_blank_tab()]
                self._show_tab(min(self._current, len(self._tabs) - 1))
            case "go_back":
                self._travel(-1)
            case "go_forward":
                self._travel(1)
            case _:
                raise InvalidAction(f"{action.kind} is nothing that a browser does.")

    # Elements ---------------------------------------------------------------------------------

    @property
    def _tab(self) -> Tab:
        return self._tabs[self._current]

    @property
    def _document(self) -> Document:
        return self._tab.entry.document

    def _act_on_element(self, action: WebAction) -> None:
        node, element = self._target(action.element)
        hand = Input(self._document)
        if action.kind == "click":
            self._follow(hand.click(node, element))
        elif action.kind == "type":
            self._follow(hand.type(node, element, action.text, press_enter=action.press_enter))
        elif action.kind == "select":
            hand.select(node, element, action.text)
        else:
            hand.hover(node, element)
            if not self._document.menus:
                return  # to point at something changes no other page without scripts
        self._changed()

    def _target(self, element: int) -> tuple[Node, Element]:
        page = self.page()
        node = page.node(element)
        if node is None or self._tree is None:
            raise refusals.no_element(element, page)
        return node, self._tree.element(node)

    # Pages ------------------------------------------------------------------------------------

    def _follow(self, demand: Demand) -> None:
        """Follow a link or submit a form, as an input demands."""
        if isinstance(demand, Submission):
            if demand.url is None:
                raise InvalidAction("This form leads to no web address.")
            self._go(demand.url, form=demand.form, referer=self._tab.entry.url)
        elif demand is not None:
            self._go(demand, referer=self._tab.entry.url)

    def _go(self, url: str, *, form: Fields | None = None, referer: str = "") -> None:
        entry = self._tab.entry
        is_same = url == entry.url and form is None
        if "#" in url and form is None and referer and not is_same:
            page, _, fragment = url.partition("#")
            if fragment and page == addresses.without_fragment(entry.url):
                entry.document.focused = None
                entry.document.pointed = entry.document.ids.get(fragment)
                self._show(Entry(url, entry.document, entry.was_posted), replaces=False)
                return
        loaded = self._loader.load(url, form=form, referer=referer)
        if loaded is not None:
            new = Entry(loaded.document.url, loaded.document, loaded.was_posted)
            self._show(new, replaces=is_same or entry.url == addresses.BLANK)

    def _travel(self, by: int) -> None:
        tab = self._tab
        target = tab.neighbour(by)
        if target is None:
            raise refusals.nothing_before() if by < 0 else refusals.nothing_after()
        is_other_page = target.document is not tab.entry.document
        if is_other_page and not target.was_posted:
            loaded = self._loader.load(target.url)
            if loaded is not None:
                target.url, target.document = loaded.document.url, loaded.document
        elif is_other_page:
            target.document = target.document.afresh()
        tab.index += by
        self._changed()

    def _show(self, entry: Entry, *, replaces: bool) -> None:
        self._tab.visit(entry, replaces=replaces)
        self._changed()

    def _show_tab(self, index: int) -> None:
        self._current = index
        self._changed()

    def _changed(self) -> None:
        self._page = None
        self._tree = None


def _blank_tab() -> Tab:
    return Tab([Entry(addresses.BLANK, Document(addresses.BLANK, ""))], 0)

"""Shows the dialogs that pages open, and answers them as the agent says.

A dialog (`alert`, `confirm`, `prompt`, or the question before a page is left) holds its page up: it
neither runs nor answers until somebody has answered it. So the dialog is shown in the page's place,
as a tree of its own, and what was going on is left.

Everything here runs in the browser's thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from html import escape
from typing import Any, TypeVar

from playwright.async_api import BrowserContext, Dialog, Page

from agentgym_envs.browsing import refusals, tree_rules
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.chromium.reading import Tree
from agentgym_envs.browsing.keys import read_keys
from agentgym_envs.browsing.page import Node

_ACCEPT, _DISMISS, _FIELD = "OK", "Cancel", "Answer"
_LEAVING = "Leave this page? Changes that you made may not be saved."
_T = TypeVar("_T")


class Dialogs:
    """The dialogs of one browser context.

    Args:
        context: whose they are.

    Attributes:
        current: the one that waits for an answer.
        unattended: pages that nobody looks at; their dialogs are dismissed at once.
    """

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self.current: Dialog | None = None
        self.unattended: set[Page] = set()
        self._text = ""
        self._opened = asyncio.Event()
        context.on("dialog", self._on_dialog)

    async def unless_opened(self, work: Coroutine[Any, Any, _T]) -> _T | None:
        """Return the work's result, or None if a dialog blocks it."""
        doing, opening = asyncio.ensure_future(work), asyncio.ensure_future(self._opened.wait())
        try:
            await asyncio.wait((doing, opening), return_when=asyncio.FIRST_COMPLETED)
            return doing.result() if doing.done() else None
        finally:
            opening.cancel()
            doing.cancel()
            await asyncio.gather(doing, opening, return_exceptions=True)

    def tree(self, title: str) -> Tree:
        """Return the tree that is shown while a dialog waits.

        Args:
            title: of the page that it stands before.
        """
        assert self.current is not None
        kind = self.current.type
        message = _LEAVING if kind == "beforeunload" else self.current.message
        dialog = Node("dialog", tree_rules.collapse(message))
        if kind == "prompt":
            field = Node("textbox", _FIELD)
            if self._text:
                field.properties["value"] = tree_rules.value_property(self._text)
            dialog.children.append(field)
        names = (_ACCEPT,) if kind == "alert" else (_ACCEPT, _DISMISS)
        dialog.children += [Node("button", name) for name in names]
        root = Node(tree_rules.ROOT, tree_rules.collapse(title), children=[dialog])
        return Tree(root, [0 for _ in root.walk()])

    async def act(self, action: WebAction, node: Node | None) -> None:
        """Answer the dialog that waits, or fill in its field.

        Args:
            action: what the agent does.
            node: of the dialog's tree, that the action names.

        Raises:
            InvalidAction: that is no answer.
        """
        is_field = node is not None and node.name == _FIELD and node.role == "textbox"
        if action.kind == "type" and is_field:
            self._text = action.text.encode("utf-8", "replace").decode()
            if action.press_enter:
                await self.answer(is_accepted=True)
        elif action.kind == "press" and (key := read_keys(action.text).key) in ("Enter", "Escape"):
            await self.answer(is_accepted=key == "Enter")
        elif action.kind == "click" and node is not None and node.role == "button":
            await self.answer(is_accepted=node.name == _ACCEPT)
        elif not (action.kind in ("click", "hover") and node is not None):
            raise refusals.dialog_waits()

    async def take_picture(self) -> bytes:
        """Return a picture of the dialog that waits, as a PNG."""
        message, *others = (node.name for node, _ in self.tree("").root.children[0].walk())
        page = await self._context.new_page()
        try:
            await page.set_content(f"<p>{escape(message)}</p><p>{escape(' | '.join(others))}</p>")
            picture: bytes = await page.screenshot()
            return picture
        finally:
            await page.close()

    async def answer(self, *, is_accepted: bool) -> None:
        """Answer the dialog that waits, if there is one."""
        dialog, self.current = self.current, None
        self._opened.clear()
        if dialog is not None and is_accepted:
            await dialog.accept(self._text if dialog.type == "prompt" else None)
        elif dialog is not None:
            await dialog.dismiss()

    async def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.page in self.unattended or self.current is not None:
            await dialog.dismiss()
            return
        self.current, self._text = dialog, dialog.default_value
        self._opened.set()

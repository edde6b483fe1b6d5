"""Carries out actions on the nodes of a tab: the mouse, the keyboard, list boxes.

Everything here runs in the browser's thread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypedDict

from agentgym_envs.browsing import refusals
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.chromium.tab import Gone, NoBox, Tab
from agentgym_envs.browsing.keys import read_keys
from agentgym_envs.browsing.page import Node
from agentgym_envs.browsing.typing_rules import SET_AT_ONCE, typed_text

_ELEMENT = """const e = this.nodeType === 1 ? this
    : this.nodeType === 9 ? this.documentElement : this.parentElement;"""

_STATE = f"""function () {{
    {_ELEMENT}
    if (!this.isConnected || !e) return null;
    const control = e.closest('a, button, input, select, textarea, label, option') || e;
    const used = control.tagName === 'LABEL' ? control.control || control : control;
    const web = ['http:', 'https:', 'javascript:', ':', ''];
    const isField = e.tagName === 'TEXTAREA' || (e.tagName === 'INPUT'
        && !['button', 'checkbox', 'file', 'hidden', 'image', 'radio', 'reset', 'submit']
            .includes(e.type));
    return {{
        tag: used.tagName,
        isDisabled: used.matches(':disabled'),
        field: e.isContentEditable ? 'textarea'
            : isField && !e.readOnly ? (e.tagName === 'INPUT' ? e.type : 'textarea') : '',
        link: used.tagName === 'A' && !web.includes(used.protocol) ? used.getAttribute('href') : '',
    }};
}}"""

_HITS = f"""function (x, y) {{
    {_ELEMENT}
    for (let inner = window; inner !== window.top; inner = inner.parent) {{
        const frame = inner.frameElement;
        if (!frame) return true;  // another site's page around this one does not tell where it is
        const box = frame.getBoundingClientRect();
        x -= box.left + frame.clientLeft;
        y -= box.top + frame.clientTop;
    }}
    const hit = document.elementFromPoint(x, y);
    return !!hit && (e.contains(hit) || hit.contains(e));
}}"""

_CLICK = f"""function () {{
    {_ELEMENT}
    e.focus();
    if (e.click) e.click();
    else e.dispatchEvent(new MouseEvent('click', {{bubbles: true, cancelable: true}}));  // SVG
}}"""
_FOCUS = f"function () {{ {_ELEMENT} e.focus(); }}"

_SELECT_ALL = f"""function () {{
    {_ELEMENT}
    e.focus();
    if (e.isContentEditable) document.getSelection().selectAllChildren(e);
    else e.select();
}}"""

# Fields of days and the like take no key strokes one after the other; their value is set at once.
_SET_VALUE = f"""function (text) {{
    {_ELEMENT}
    e.focus();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(e, text);
    e.dispatchEvent(new Event('input', {{bubbles: true}}));
    e.dispatchEvent(new Event('change', {{bubbles: true}}));
}}"""

_SELECT = f"""function (wanted) {{
    {_ELEMENT}
    const list = e.closest('select');
    const folded = text => text.replace(/\\s+/g, ' ').trim();
    const options = [...list.options].filter(option => !option.hidden);
    const names = options.map(option => folded(option.label));
    let index = names.indexOf(folded(wanted));
    if (index < 0) {{
        index = names.findIndex(name => name.toLowerCase() === folded(wanted).toLowerCase());
    }}
    if (index < 0 || options[index].disabled) return names;
    list.focus();
    list.selectedIndex = options[index].index;
    list.dispatchEvent(new Event('input', {{bubbles: true}}));
    list.dispatchEvent(new Event('change', {{bubbles: true}}));
    return null;
}}"""

_CHOOSE = f"""function () {{
    {_ELEMENT}
    const list = e.closest('select');
    list.focus();
    if (e.disabled) return;
    list.selectedIndex = e.index;
    list.dispatchEvent(new Event('input', {{bubbles: true}}));
    list.dispatchEvent(new Event('change', {{bubbles: true}}));
}}"""

_SCROLL = """([direction, share]) => {
    const page = document.scrollingElement || document.body, before = page.scrollTop;
    const step = direction === 'down' ? window.innerHeight : -window.innerHeight;
    const top = share === null ? before + step
        : share * (page.scrollHeight - window.innerHeight);
    page.scrollTo({top, behavior: 'instant'});
    return page.scrollTop !== before;
}"""

_KEYS = 200
"""Most characters that are typed one by one where pages have scripts.

Those of a longer text before them are inserted at once.
"""

ON_NODES = ("click", "hover", "type", "select", "drag")
"""The actions that name nodes of the page."""

_DRAG_STEPS = 12  # libraries follow the pointer's way, not only its ends
_PAST = 4.0  # pixels: a list makes room at a place when the middle of what is there is passed


class _Target(TypedDict):
    tag: str
    isDisabled: bool
    field: str
    link: str


async def perform(tab: Tab, action: WebAction, nodes: Sequence[tuple[Node, int]]) -> None:
    """Carry out an action of `ON_NODES`.

    Args:
        tab: whose page it is.
        action: what to do.
        nodes: the nodes that it names, each with its backend id.
    """
    node, where = nodes[0]
    try:
        if action.kind == "click":
            await click(tab, node, where)
        elif action.kind == "hover":
            await hover(tab, node, where)
        elif action.kind == "type":
            await type_text(tab, node, where, action.text, press_enter=action.press_enter)
        elif action.kind == "select":
            await select(tab, node, where, action.text)
        else:
            await drag(tab, nodes[0], nodes[1])
    except Gone as error:
        raise refusals.is_gone(node) from error


async def click(tab: Tab, node: Node, where: int) -> None:
    """Click the centre of a node, or activate it as a screen reader does if it is covered."""
    target = await _look_at(tab, node, where)
    if target["tag"] == "OPTION":
        await tab.call(where, _CHOOSE)
        return
    if target["isDisabled"]:
        raise refusals.is_disabled(node)
    if target["tag"] == "SELECT":  # the mouse would open a menu outside of the page
        await tab.call(where, _FOCUS)
        return
    if target["link"]:
        raise refusals.no_web_page(target["link"])
    try:
        x, y = await tab.point(where)
    except NoBox:
        await tab.call(where, _CLICK)
        return
    is_hit = await tab.call(where, _HITS, x, y)
    if is_hit:
        await tab.page.mouse.move(x, y)
        is_hit = await tab.call(where, _HITS, x, y)  # it may give way to the pointer
    if is_hit:
        await tab.page.mouse.click(x, y)
    else:
        await tab.call(where, _CLICK)
    if target["field"]:
        await tab.page.keyboard.press("Control+End")  # what is typed next follows what is there


async def hover(tab: Tab, node: Node, where: int) -> None:
    """Move the pointer over a node. Does nothing if the node is not drawn."""
    target = await _look_at(tab, node, where)
    if target["isDisabled"]:
        raise refusals.is_disabled(node)
    try:
        x, y = await tab.point(where)
    except NoBox:
        return
    await tab.page.mouse.move(x, y)


async def drag(tab: Tab, start: tuple[Node, int], end: tuple[Node, int]) -> None:
    """Drag one node to another. Both must be drawn."""
    points = []
    for node, where in (start, end):
        await _look_at(tab, node, where)
        try:
            points.append(await tab.point(where))
        except NoBox as error:
            raise refusals.is_not_drawn(node) from error
    (x, y), (end_x, end_y) = points
    past = _PAST / max(math.hypot(end_x - x, end_y - y), 1.0)
    mouse = tab.page.mouse
    await mouse.move(x, y)
    await mouse.down()
    await mouse.move(end_x + past * (end_x - x), end_y + past * (end_y - y), steps=_DRAG_STEPS)
    await mouse.up()


async def type_text(tab: Tab, node: Node, where: int, text: str, *, press_enter: bool) -> None:
    """Replace the content of a text field."""
    target = await _look_at(tab, node, where)
    if not target["field"]:
        raise refusals.takes_no_text(node)
    if target["isDisabled"]:
        raise refusals.is_disabled(node)
    text = typed_text(node, target["field"], text)
    if target["field"] in SET_AT_ONCE:
        await tab.call(where, _SET_VALUE, text)
    else:
        await tab.call(where, _SELECT_ALL)
        await _enter(tab, text)
    if press_enter:
        await tab.page.keyboard.press("Enter")


async def _enter(tab: Tab, text: str) -> None:
    """Replace the selected text. A page with scripts receives each key."""
    keyboard = tab.page.keyboard
    if not text:
        await keyboard.press("Delete")
        return
    at_once = text[:-_KEYS] if tab.runs_scripts else text
    if at_once:
        await keyboard.insert_text(at_once)
    if tab.runs_scripts:
        await keyboard.type(text[-_KEYS:])


async def scroll(tab: Tab, direction: str, share: float | None) -> bool:
    """Scroll by the window's height or to a share of the page. Return whether it moved."""
    return bool(await tab.page.evaluate(_SCROLL, [direction, share]))


async def select(tab: Tab, node: Node, where: int, option: str) -> None:
    """Choose an option of a list box by its text."""
    target = await _look_at(tab, node, where)
    if target["tag"] not in ("SELECT", "OPTION"):
        raise refusals.is_no_list(node)
    if target["isDisabled"]:
        raise refusals.is_disabled(node)
    text = option.encode("utf-8", "replace").decode()  # lone surrogates cannot be sent
    names = await tab.call(where, _SELECT, text)
    if names is not None:
        raise refusals.no_option(node, option, names)


async def press(tab: Tab, keys: str) -> None:
    """Press a key or combination."""
    modifiers, key, _ = read_keys(keys)
    if len(key) > 1 or key.isascii():
        await tab.page.keyboard.press("+".join([*modifiers, key]))
    elif not modifiers:  # keyboards have no such key
        await tab.page.keyboard.insert_text(key.encode("utf-8", "replace").decode())


async def _look_at(tab: Tab, node: Node, where: int) -> _Target:
    target: _Target | None = await tab.call(where, _STATE)
    if target is None:
        raise refusals.is_gone(node) from Gone()
    return target

"""Moves that several of the administration's solutions make, and how they read its pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from worlds.tasks.screen import ElementNotFound, Screen, enter

SITE = "shopping_admin"
FROM = "From (YYYY-MM-DD)"
TO = "To (YYYY-MM-DD)"


def open_section(screen: Screen, section: str, thought: str = "") -> Iterator[ExpertMove]:
    """Click a link of the bar at the side, from wherever the browser is."""
    yield from enter(screen, SITE)
    yield screen.click("link", section, thought or f"I need the section {section!r}.")


def open_report(screen: Screen, title: str, thought: str = "") -> Iterator[ExpertMove]:
    """Open a report."""
    yield from open_section(screen, "Reports", "The reports have these figures.")
    yield screen.click("link", title, thought or f"The report {title!r} answers this.")


def apply_filters(
    screen: Screen, filters: Mapping[str, str], *, sort: str = "", thought: str = ""
) -> Iterator[ExpertMove]:
    """Fill in the filters of a grid or report and apply them.

    `thought` is the reason for the sorting.
    """
    for label, value in filters.items():
        if screen.has("combobox", label):
            yield screen.choose(label, value, f"Only {value!r} counts, so I filter for it.")
        else:
            yield screen.fill("textbox", label, value, f"I filter {label!r} by {value!r}.")
    if sort:
        why = thought or "Sorted like this, what I look for comes first."
        yield screen.choose("Sort by", sort, why)
    yield screen.click("button", "Apply filters", "Now I apply the filters.")


@dataclass(frozen=True)
class Line:
    """A row of a table.

    Attributes:
        node: on the page.
        cells: text by the heading of its column.
    """

    node: Node
    cells: Mapping[str, str]


def lines(screen: Screen, heading: str) -> list[Line]:
    """Read the table that has a column of this heading, without its heading row."""
    columns: list[str] = []
    result = []
    for node in screen.all("row"):
        texts = [text.strip() for text in node.name.split("|")]
        if heading in texts and not screen.below(node, "checkbox"):
            columns = texts
        elif columns:
            texts += [""] * (len(columns) - len(texts))
            result.append(Line(node, dict(zip(columns, texts, strict=False))))
    return result


def line_with(screen: Screen, heading: str, text: str) -> Line:
    """Return the row whose cell below a heading has this text.

    Raises:
        ElementNotFound: there is none.
    """
    for line in lines(screen, heading):
        if line.cells[heading] == text:
            return line
    raise ElementNotFound(f"no row with {heading} {text!r} on {screen.url}")


def open_line(screen: Screen, heading: str, text: str, thought: str = "") -> ExpertMove:
    """Click the link in the row whose cell below a heading has this text."""
    link = screen.below(line_with(screen, heading, text).node, "link")[0]
    return screen.click_node(link, thought or f"This is the row of {text!r}.")


def open_customer(screen: Screen, name: str) -> Iterator[ExpertMove]:
    """Go to the page of a customer."""
    yield from open_section(screen, "Customers", "I have to find the customer.")
    yield from apply_filters(screen, {"Name": name})
    yield open_line(screen, "Name", name, "There is the customer.")


def open_order(screen: Screen, number: str) -> Iterator[ExpertMove]:
    """Go to the page of an order."""
    yield from open_section(screen, "Orders", "I have to find the order.")
    yield from apply_filters(screen, {"Order number": number})
    yield open_line(screen, "Number", number, "There is the order.")


def open_product(screen: Screen, sku: str) -> Iterator[ExpertMove]:
    """Go to the form of a product."""
    yield from open_section(screen, "Products", "I have to find the product.")
    yield from apply_filters(screen, {"SKU": sku})
    yield open_line(screen, "SKU", sku, "There is the product.")


def typed(screen: Screen, label: str) -> str:
    """Return the value of a text field."""
    return screen.find("textbox", label).properties.get("value", "''").strip("'")


def change_ticked(screen: Screen, things: str, action: str) -> Iterator[ExpertMove]:
    """Tick every row of the page and apply an action to them."""
    number = len(screen.all("checkbox"))
    for place in range(number):
        yield screen.click_node(screen.all("checkbox")[place], "This one is meant, so I tick it.")
    yield screen.choose(f"With ticked {things}", action, f"I choose {action!r} for all of them.")
    yield screen.click("button", "Apply to ticked", "Now I apply it.")

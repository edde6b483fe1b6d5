"""Solves tasks about coupons and content pages."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    apply_filters,
    lines,
    open_report,
    open_section,
)
from agentgym_envs.webarena.tasks.solution import Case


def new_coupon(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Fill in the form of a new coupon."""
    yield from open_section(screen, "Coupons", "Coupons have a section of their own.")
    yield screen.click("link", "Add coupon", "I open the form for a new coupon.")
    yield screen.fill("textbox", "Code", case.values["code"])
    yield screen.fill("textbox", "Name", case.values["name"])
    yield screen.fill("textbox", "Discount in percent", case.values["percent"])
    yield screen.fill("textbox", "First day (YYYY-MM-DD)", case.values["first"])
    yield screen.fill("textbox", "Last day (YYYY-MM-DD)", case.values["last"])
    if screen.find("checkbox", "Active").properties.get("checked") != "true":
        yield screen.click("checkbox", "Active", "It shall be active.")
    yield screen.click("button", "Save coupon", "All fields are filled in.")
    yield screen.stop("", "The coupon is there.")


def cheaper_coupon(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the coupon in the report, then edit it."""
    yield from open_report(screen, "Coupon usage")
    yield from apply_filters(screen, case.notes["filters"], sort="Discount: high to low")
    code = first_of(lines(screen, "Code")).cells["Code"]
    yield from open_section(screen, "Coupons", f"{code} cost most; I go and change it.")
    yield screen.click("link", code, "This is the coupon.")
    yield screen.fill("textbox", "Discount in percent", case.values["percent"])
    yield screen.click("button", "Save coupon", "Nothing else changes, so I save.")
    yield screen.stop("", "The coupon has its new discount.")


def rename_page(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Change the title and the check box of the page's form."""
    yield from open_section(screen, "Content pages", "The page is in this section.")
    yield screen.click("link", case.values["title"], "This is the page.")
    yield screen.fill("textbox", "Title", case.values["new_title"])
    yield screen.click("checkbox", "Enabled in the shop", "The page changes its state, too.")
    yield screen.click("button", "Save page", "Title and state are right.")
    yield screen.stop("", "The page is saved.")

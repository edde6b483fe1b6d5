"""Tasks about coupons and content pages."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import MONTHS
from worlds.dice import Dice
from worlds.tasks.goals import changes, row
from worlds.tasks.screen import Screen, first_of
from worlds.tasks.shopping_admin.draws import draw_period
from worlds.tasks.shopping_admin.steps import (
    SITE,
    apply_filters,
    lines,
    open_report,
    open_section,
)
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_OCCASIONS: tuple[str, ...] = WORDS["shopping_admin"]["occasions"]


class NewCoupon(Template):
    """A coupon is added."""

    number = 45
    sites = (SITE,)
    split = "train"
    intents = (
        'Create an active coupon "{name}": code {code}, {percent}% off, {first} to {last}.',
        'Create an active coupon "{name}" with the code {code} that gives {percent}% off from '
        "{first} to {last}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a name, a code and a span within a year."""
        occasion = dice.pick(_OCCASIONS)
        percent = dice.between(3, 30)
        month = dice.between(4, 8)
        values = {
            "name": f"{occasion} {dice.pick(('treat', 'offer', 'thank you'))}",
            "code": f"{occasion.replace(' ', '').upper()}{dice.between(10, 98)}",
            "first": f"2026-{month:02}-{dice.between(1, 27):02}",
            "last": f"2026-{month + dice.between(1, 3):02}-{dice.between(1, 27):02}",
        }
        coupon = row(
            "coupons",
            name=values["name"],
            code=values["code"],
            percent=percent,
            starts_on=values["first"],
            ends_on=values["last"],
            is_active=1,
        )
        return Case(values | {"percent": str(percent)}, changes(coupon))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


class CheaperCoupon(Template):
    """The coupon that cost most in a period gets a lower discount."""

    number = 46
    sites = (SITE,)
    split = "test"
    intents = (
        "Set the costliest coupon across all orders of {period} to {percent}%.",
        "Set the coupon that gave the most discount on all orders of {period} to {percent}%.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a period with one costliest coupon, and another percentage."""
        period = draw_period(dice)
        coupons = world.rows(
            SITE,
            "SELECT k.id, k.percent, sum(o.discount) AS cost FROM orders o "
            "JOIN coupons k ON k.code = o.coupon WHERE o.created_at BETWEEN ? AND ? "
            "GROUP BY k.id ORDER BY cost DESC LIMIT 2",
            *period.between,
        )
        percent = dice.between(3, 12)
        if len(coupons) < 2 or coupons[0]["cost"] == coupons[1]["cost"]:
            return None
        if coupons[0]["percent"] == percent:
            return None
        return Case(
            {"period": period.text, "percent": str(percent)},
            changes(row("coupons", id=coupons[0]["id"], percent=percent)),
            {"filters": period.filters},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the coupon in the report, then edit it."""
        yield from open_report(screen, "Coupon usage")
        yield from apply_filters(screen, case.notes["filters"], sort="Discount: high to low")
        code = first_of(lines(screen, "Code")).cells["Code"]
        yield from open_section(screen, "Coupons", f"{code} cost most; I go and change it.")
        yield screen.click("link", code, "This is the coupon.")
        yield screen.fill("textbox", "Discount in percent", case.values["percent"])
        yield screen.click("button", "Save coupon", "Nothing else changes, so I save.")
        yield screen.stop("", "The coupon has its new discount.")


class RenamePage(Template):
    """A content page gets another title and goes online or offline."""

    number = 47
    sites = (SITE,)
    split = "train"
    intents = (
        'Retitle the page "{title}" to "{new_title}" and {switch}.',
        'Change the title of the content page "{title}" to "{new_title}" and {switch}.',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a page and a title that says from when it is valid."""
        page = dice.pick(world.rows(SITE, "SELECT id, title, is_enabled FROM pages ORDER BY id"))
        month = f"{MONTHS[dice.below(12)]} {dice.pick((2026, 2027))}"
        pattern = dice.pick(("{} from {}", "{} (as of {})", "{}, {} edition"))
        new_title = pattern.format(page["title"], month)
        is_enabled = 1 - page["is_enabled"]
        switch = "enable it" if is_enabled else "disable it"
        return Case(
            {"title": page["title"], "new_title": new_title, "switch": switch},
            changes(row("pages", id=page["id"], title=new_title, is_enabled=is_enabled)),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Change the title and the check box of the page's form."""
        yield from open_section(screen, "Content pages", "The page is in this section.")
        yield screen.click("link", case.values["title"], "This is the page.")
        yield screen.fill("textbox", "Title", case.values["new_title"])
        yield screen.click("checkbox", "Enabled in the shop", "The page changes its state, too.")
        yield screen.click("button", "Save page", "Title and state are right.")
        yield screen.stop("", "The page is saved.")

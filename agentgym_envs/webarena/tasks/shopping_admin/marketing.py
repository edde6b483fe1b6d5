"""Tasks about coupons and content pages."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.filters import MONTHS
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.shopping_admin.template_helpers import (
    SITE,
    apply_filters,
    draw_period,
    lines,
    open_report,
    open_section,
    same,
)
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of

_OCCASIONS = ("Market", "Picnic", "Anniversary", "Breakfast", "Workshop", "Moonlight", "Rainy day")


class NewCoupon(Template):
    """A coupon is added."""

    number = 45
    sites = (SITE,)
    intent = (
        'Create an active coupon "{name}" with the code {code} that gives {percent}% off, valid '
        "from {first} to {last}."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a name, a code and a span within a year."""
        occasion = rng.choice(_OCCASIONS)
        percent = rng.randrange(3, 31)
        code = f"{occasion.replace(' ', '').upper()}{rng.randrange(10, 99)}"
        month = rng.randrange(4, 9)
        values = {
            "name": f"{occasion} {rng.choice(('treat', 'offer', 'thank you'))}",
            "code": code,
            "percent": str(percent),
            "first": f"2026-{month:02}-{rng.randrange(1, 28):02}",
            "last": f"2026-{month + rng.randrange(1, 4):02}-{rng.randrange(1, 28):02}",
        }
        return Case(
            values,
            changed(
                state_of(
                    SITE,
                    "SELECT name, percent, starts_on, ends_on, is_active FROM coupons "
                    f"WHERE code = '{code}'",
                    [(values["name"], percent, values["first"], values["last"], 1)],
                ),
                same(
                    world,
                    "SELECT count(*), sum(percent), sum(is_active) FROM coupons "
                    f"WHERE code <> '{code}'",
                ),
            ),
        )

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
    intent = (
        "Find the coupon that cost us the highest sum of discounts in {period}, orders of every "
        "status counted, and set its discount to {percent}%. Change nothing else about it."
    )
    split = "test"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a period with one costliest coupon, and another percentage."""
        period = draw_period(rng)
        rows = world.rows(
            SITE,
            "SELECT k.*, sum(o.discount) AS cost FROM orders o JOIN coupons k ON k.code = o.coupon "
            "WHERE o.created_at BETWEEN ? AND ? GROUP BY k.id ORDER BY cost DESC LIMIT 2",
            *period.between,
        )
        percent = rng.randrange(3, 13)
        if len(rows) < 2 or rows[0]["cost"] == rows[1]["cost"] or rows[0]["percent"] == percent:
            return None
        coupon = rows[0]
        columns = ("code", "name", "starts_on", "ends_on", "is_active")
        return Case(
            {"period": period.text, "percent": str(percent)},
            changed(
                state_of(
                    SITE,
                    f"SELECT percent, {', '.join(columns)} FROM coupons WHERE id = {coupon['id']}",
                    [(percent, *(coupon[column] for column in columns))],
                ),
                same(
                    world,
                    "SELECT id, percent, is_active, ends_on FROM coupons "
                    f"WHERE id <> {coupon['id']} ORDER BY id",
                ),
                same(world, "SELECT count(*) FROM coupons"),
            ),
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
    intent = (
        'Change the title of the content page "{title}" to "{new_title}" and {switch}. Its URL key '
        "and content stay the same."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a page and a title that says from when it is valid."""
        page = rng.choice(world.rows(SITE, "SELECT * FROM pages ORDER BY id"))
        month = f"{MONTHS[rng.randrange(12)]} {rng.choice((2026, 2027))}"
        pattern = rng.choice(("{} from {}", "{} (as of {})", "{}, {} edition"))
        new_title = pattern.format(page["title"], month)
        is_enabled = 1 - page["is_enabled"]
        switch = "enable it in the shop" if is_enabled else "take it offline by disabling it"
        return Case(
            {"title": page["title"], "new_title": new_title, "switch": switch},
            changed(
                state_of(
                    SITE,
                    "SELECT title, url_key, length(content), is_enabled FROM pages "
                    f"WHERE id = {page['id']}",
                    [(new_title, page["url_key"], len(page["content"]), is_enabled)],
                ),
                same(
                    world,
                    "SELECT id, title, url_key, is_enabled FROM pages "
                    f"WHERE id <> {page['id']} ORDER BY id",
                ),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Change the title and the check box of the page's form."""
        yield from open_section(screen, "Content pages", "The page is in this section.")
        yield screen.click("link", case.values["title"], "This is the page.")
        yield screen.fill("textbox", "Title", case.values["new_title"])
        yield screen.click("checkbox", "Enabled in the shop", "The page changes its state, too.")
        yield screen.click("button", "Save page", "Title and state are right.")
        yield screen.stop("", "The page is saved.")

"""Tasks about coupons and content pages."""

from __future__ import annotations

from agentgym_envs.webarena.sites.filters import MONTHS
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.tasks.shopping_admin.draws import draw_period, same
from worlds.tasks.template import Case, Template, World, changed, state_of
from worlds.tasks.words import WORDS

_OCCASIONS: tuple[str, ...] = WORDS["shopping_admin"]["occasions"]


class NewCoupon(Template):
    """A coupon is added."""

    number = 45
    sites = (SITE,)
    intent = (
        'Create an active coupon "{name}" with the code {code} that gives {percent}% off, valid '
        "from {first} to {last}."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a name, a code and a span within a year."""
        occasion = dice.pick(_OCCASIONS)
        percent = dice.between(3, 30)
        code = f"{occasion.replace(' ', '').upper()}{dice.between(10, 98)}"
        month = dice.between(4, 8)
        values = {
            "name": f"{occasion} {dice.pick(('treat', 'offer', 'thank you'))}",
            "code": code,
            "percent": str(percent),
            "first": f"2026-{month:02}-{dice.between(1, 27):02}",
            "last": f"2026-{month + dice.between(1, 3):02}-{dice.between(1, 27):02}",
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


class CheaperCoupon(Template):
    """The coupon that cost most in a period gets a lower discount."""

    number = 46
    sites = (SITE,)
    intent = (
        "Find the coupon that cost us the highest sum of discounts in {period}, orders of every "
        "status counted, and set its discount to {percent}%. Change nothing else about it."
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a period with one costliest coupon, and another percentage."""
        period = draw_period(dice)
        rows = world.rows(
            SITE,
            "SELECT k.*, sum(o.discount) AS cost FROM orders o JOIN coupons k ON k.code = o.coupon "
            "WHERE o.created_at BETWEEN ? AND ? GROUP BY k.id ORDER BY cost DESC LIMIT 2",
            *period.between,
        )
        percent = dice.between(3, 12)
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


class RenamePage(Template):
    """A content page gets another title and goes online or offline."""

    number = 47
    sites = (SITE,)
    intent = (
        'Change the title of the content page "{title}" to "{new_title}" and {switch}. Its URL key '
        "and content stay the same."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a page and a title that says from when it is valid."""
        page = dice.pick(world.rows(SITE, "SELECT * FROM pages ORDER BY id"))
        month = f"{MONTHS[dice.below(12)]} {dice.pick((2026, 2027))}"
        pattern = dice.pick(("{} from {}", "{} (as of {})", "{}, {} edition"))
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

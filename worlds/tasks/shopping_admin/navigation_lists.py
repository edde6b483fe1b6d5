"""Tasks that end on a list as somebody wants to see it: filtered, sorted, at a certain page."""

from __future__ import annotations

from urllib.parse import urlencode

from agentgym_envs.webarena.tasks.shopping_admin.navigation_lists import REPORTS, days_of
from agentgym_envs.webarena.tasks.shopping_admin.steps import SITE
from worlds.dice import Dice
from worlds.tasks.goals import shows
from worlds.tasks.shopping_admin.draws import Period, draw_period, plain_categories
from worlds.tasks.template import Case, Template, World


class ReportOfMonth(Template):
    """A report is set up for the best month of a longer period."""

    number = 57
    sites = (SITE,)
    split = "train"
    intents = (
        'Show "{report}" for the {narrowed}, by {sorting}, in the highest-revenue month (all '
        "orders) of {period}.",
        'Show the report "{report}" for the {narrowed}, highest {sorting} first, in the month of '
        "{period} with the highest revenue, counting all orders.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a quarter or half with one best month, and a report with two lines or more."""
        period = draw_period(dice)
        months = world.rows(
            SITE,
            "SELECT substr(created_at, 1, 7) AS month, sum(total) AS revenue FROM orders "
            "WHERE created_at BETWEEN ? AND ? GROUP BY month ORDER BY revenue DESC LIMIT 2",
            *period.between,
        )
        if len(months) < 2 or months[0]["revenue"] == months[1]["revenue"]:
            return None
        title = dice.pick(("Best sellers", "Best sellers", "Customers by orders"))
        report = REPORTS[title]
        groups = ("General", "Wholesale", "Retailer")
        texts = sorted(plain_categories(world)) if title == "Best sellers" else groups
        text = dice.pick(texts)
        first, last = days_of(months[0]["month"])
        if world.value(SITE, report.count, first, f"{last} 23:59:59", text) < 2:
            return None
        query = {"from": first, "to": last, "search": text, "sort": report.sorting}
        return Case(
            {
                "period": period.text,
                "report": title,
                "narrowed": f"{report.narrowed_by.lower()} {text}",
                "sorting": report.sorting,
            },
            shows(f"__SHOPPING_ADMIN__/reports/{report.path}?{urlencode(query)}"),
            {"filters": period.filters, "narrowed": {report.narrowed_by: text}},
        )


_RATINGS = {
    "with 5 stars": ("5", "5 stars", 5, 5),
    "with 4 stars": ("4", "4 stars", 4, 4),
    "with 3 stars": ("3", "3 stars", 3, 3),
    "with 2 stars": ("2", "2 stars", 2, 2),
    "with 1 star": ("1", "1 star", 1, 1),
    "with fewer than 3 stars": ("low", "Below 3 stars", 1, 2),
    "with 4 stars or more": ("high", "4 stars and more", 4, 5),
}
"""The parameter's value, the choice in the list box, and the bounds, by the intent's words."""

_REVIEWS_A_PAGE = 15
_YEARS = tuple(Period(year, f"{year}-01-01", f"{year}-12-31") for year in ("2024", "2025"))


class ReviewsPage(Template):
    """A later page is opened of a list of reviews that is filtered and sorted."""

    number = 59
    sites = (SITE,)
    split = "train"
    intents = (
        "Show the {place} page of {status} reviews {rating} from {period}, {sorting}.",
        "Show me the {place} page of all {status} reviews {rating} that were written in {period}, "
        "{sorting}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw filters that enough reviews pass for the page to exist."""
        status = dice.pick(("approved", "pending", "rejected"))
        # Few reviews are not approved: a shorter time has no second page of them.
        period = draw_period(dice) if status == "approved" else dice.pick(_YEARS)
        rating = dice.pick(tuple(_RATINGS))
        place = dice.pick(("second", "second", "third"))
        sorting, sort = dice.pick((("oldest first", "oldest"), ("sorted by product", "product")))
        page = 3 if place == "third" else 2
        key, label, lowest, highest = _RATINGS[rating]
        number = world.value(
            SITE,
            "SELECT count(*) FROM reviews WHERE status = ? AND rating BETWEEN ? AND ? "
            "AND created_at BETWEEN ? AND ?",
            status,
            lowest,
            highest,
            *period.between,
        )
        if number <= (page - 1) * _REVIEWS_A_PAGE:
            return None
        query = {
            "status": status,
            "rating": key,
            "from": period.first,
            "to": period.last,
            "sort": sort,
            "page": str(page),
        }
        return Case(
            {
                "place": place,
                "status": status,
                "rating": rating,
                "period": period.text,
                "sorting": sorting,
            },
            shows(f"__SHOPPING_ADMIN__/reviews?{urlencode(query)}"),
            {
                "filters": {"Status": status, "Rating": label, **period.filters},
                "turned": page - 1,
            },
        )

"""The reports: what each asks the database, and how it can be filtered and sorted.

Data only; `report_pages` shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentgym_envs.sites.shopping.delivery import STATUSES


@dataclass(frozen=True)
class Column:
    """A column of a report.

    Attributes:
        label: its heading.
        sql: what is selected.
        kind: `"text"`, `"number"`, `"money"`, `"rating"`, `"product"` or `"customer"`; the last two
            link to the page of the row's `id`.
    """

    label: str
    sql: str
    kind: str = "text"


@dataclass(frozen=True)
class Report:
    """A report.

    Attributes:
        title: its name.
        about: what it tells, in a sentence.
        source: what follows FROM.
        columns: from left to right.
        sorting: as `Grid` takes it.
        group: what follows GROUP BY; empty for one line per row.
        row_id: what identifies the row's product or customer; empty where nothing is linked.
        moment: the column that the days filter; empty for no such filter.
        status: the column that the list box "Status" filters, its values in `statuses`.
        search: the text filter: its label and its columns.
        bound: the filter "... below": its label, column, and what it is when left empty.
        totals: the last line: SQL of an aggregate for each column, "" for an empty cell.
    """

    title: str
    about: str
    source: str
    columns: tuple[Column, ...]
    sorting: Mapping[str, tuple[str, str]]
    group: str = ""
    row_id: str = ""
    moment: str = ""
    status: str = ""
    statuses: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    bound: tuple[str, str, str] = ("", "", "")
    totals: tuple[str, ...] = field(default=())


_ITEMS = "sum((SELECT sum(i.quantity) FROM order_items i WHERE i.order_id = o.id))"
_ORDER_ITEMS = (
    "orders o JOIN order_items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id "
    "JOIN categories c ON c.id = p.category_id LEFT JOIN categories above ON above.id = c.parent_id"
)


def _sales(title: str, about: str, period: str) -> Report:
    return Report(
        title=title,
        about=about,
        source="orders o",
        columns=(
            Column("Period", f"{period} AS period"),
            Column("Orders", "count(*)", "number"),
            Column("Items", _ITEMS, "number"),
            Column("Discount", "sum(o.discount)", "money"),
            Column("Revenue", "sum(o.total)", "money"),
        ),
        sorting={
            "newest": ("Newest first", "period DESC"),
            "oldest": ("Oldest first", "period"),
            "revenue": ("Revenue: high to low", "sum(o.total) DESC, period"),
        },
        group=period,
        moment="o.created_at",
        status="o.status",
        statuses=STATUSES,
        totals=("", "count(*)", _ITEMS, "sum(o.discount)", "sum(o.total)"),
    )


REPORTS: dict[str, Report] = {
    "sales-by-month": _sales(
        "Sales by month",
        "Orders, items and revenue of every month.",
        "substr(o.created_at, 1, 7)",
    ),
    "sales-by-day": _sales(
        "Sales by day",
        "Orders, items and revenue of every day.",
        "substr(o.created_at, 1, 10)",
    ),
    "best-sellers": Report(
        title="Best sellers",
        about="The products that were ordered most in a period.",
        source=_ORDER_ITEMS,
        columns=(
            Column("Product", "p.name", "product"),
            Column("SKU", "p.sku"),
            Column("Units", "sum(i.quantity)", "number"),
            Column("Revenue", "sum(i.quantity * i.price)", "money"),
        ),
        sorting={
            "units": ("Units: high to low", "sum(i.quantity) DESC, p.name"),
            "revenue": ("Revenue: high to low", "sum(i.quantity * i.price) DESC, p.name"),
        },
        group="p.id",
        row_id="p.id",
        moment="o.created_at",
        status="o.status",
        statuses=STATUSES,
        search=("Category", "c.name", "coalesce(above.name, '')"),
    ),
    "customers": Report(
        title="Customers by orders",
        about="Who orders how often, and for how much.",
        source="orders o JOIN customers c ON c.id = o.customer_id",
        columns=(
            Column("Customer", "c.name", "customer"),
            Column("Group", "c.group_name"),
            Column("Orders", "count(*)", "number"),
            Column("Total", "sum(o.total)", "money"),
        ),
        sorting={
            "orders": ("Orders: high to low", "count(*) DESC, c.name"),
            "total": ("Total: high to low", "sum(o.total) DESC, c.name"),
        },
        group="c.id",
        row_id="c.id",
        moment="o.created_at",
        status="o.status",
        statuses=STATUSES,
        search=("Group", "c.group_name"),
    ),
    "low-stock": Report(
        title="Low stock",
        about="Products of which little is left.",
        source="products p JOIN categories c ON c.id = p.category_id",
        columns=(
            Column("Product", "p.name", "product"),
            Column("SKU", "p.sku"),
            Column("Category", "c.name"),
            Column("Stock", "p.stock", "number"),
        ),
        sorting={
            "stock": ("Stock: low to high", "p.stock, p.name"),
            "name": ("Product", "p.name, p.id"),
        },
        row_id="p.id",
        search=("Category", "c.name"),
        bound=("Stock below", "p.stock", "10"),
    ),
    "search-terms": Report(
        title="Search terms",
        about="What people look for in the shop, and how much they find.",
        source="search_terms",
        columns=(
            Column("Term", "term"),
            Column("Results", "results", "number"),
            Column("Uses", "uses", "number"),
        ),
        sorting={
            "uses": ("Uses: high to low", "uses DESC, term"),
            "results": ("Results: low to high", "results, term"),
            "term": ("Term", "term"),
        },
        search=("Term", "term"),
        bound=("Results below", "results", ""),
    ),
    "coupons": Report(
        title="Coupon usage",
        about="How often each coupon was used, and what it cost.",
        source="orders o JOIN coupons k ON k.code = o.coupon",
        columns=(
            Column("Code", "k.code"),
            Column("Name", "k.name"),
            Column("Orders", "count(*)", "number"),
            Column("Discount", "sum(o.discount)", "money"),
            Column("Revenue", "sum(o.total)", "money"),
        ),
        sorting={
            "orders": ("Orders: high to low", "count(*) DESC, k.code"),
            "discount": ("Discount: high to low", "sum(o.discount) DESC, k.code"),
            "code": ("Code", "k.code"),
        },
        group="k.id",
        moment="o.created_at",
        status="o.status",
        statuses=STATUSES,
    ),
    "reviews": Report(
        title="Reviews per product",
        about="How many reviews each product has, and how good they are.",
        source="reviews r JOIN products p ON p.id = r.product_id",
        columns=(
            Column("Product", "p.name", "product"),
            Column("Reviews", "count(*)", "number"),
            Column("Average rating", "avg(r.rating)", "rating"),
            Column("Last review", "substr(max(r.created_at), 1, 10)"),
        ),
        sorting={
            "reviews": ("Reviews: high to low", "count(*) DESC, p.name"),
            "best": ("Rating: high to low", "avg(r.rating) DESC, count(*) DESC, p.name"),
            "worst": ("Rating: low to high", "avg(r.rating), count(*) DESC, p.name"),
        },
        group="p.id",
        row_id="p.id",
        moment="r.created_at",
        status="r.status",
        statuses=("approved", "pending", "rejected"),
        search=("Product", "p.name"),
    ),
}
"""Every report by the last part of its address."""

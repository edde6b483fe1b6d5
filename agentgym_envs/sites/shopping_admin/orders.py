"""The grid of orders and what is done to many of them at once."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.filters import count
from agentgym_envs.sites.shopping.delivery import STATUSES
from agentgym_envs.sites.shopping_admin.grids import Grid, choices_of
from agentgym_envs.sites.shopping_admin.order_rules import carry_out
from agentgym_envs.sites.shopping_admin.site import SITE
from agentgym_envs.sites.web import RequestContext

SORTING = {
    "newest": ("Newest first", "o.created_at DESC, o.id DESC"),
    "oldest": ("Oldest first", "o.created_at, o.id"),
    "dearest": ("Total: high to low", "o.total DESC, o.id"),
    "cheapest": ("Total: low to high", "o.total, o.id"),
    "customer": ("Customer", "c.name, o.created_at, o.id"),
}
MASS_ACTIONS = {
    "hold": ("Put on hold", "put on hold"),
    "release": ("Release from hold", "released from hold"),
    "cancel": ("Cancel", "cancelled"),
}


@SITE.get("/orders", signed_in=True)
def orders(context: RequestContext) -> Response:
    """List orders."""
    grid = Grid(context, "orders o JOIN customers c ON c.id = o.customer_id", SORTING)
    grid.contains("number", "o.number")
    grid.contains("customer", "c.name", "c.email")
    grid.equals("status", "o.status", STATUSES)
    grid.days("o.created_at")
    grid.amounts("o.total")
    rows, pages = grid.rows("o.id, o.number, o.created_at, o.status, o.total, c.name")
    return context.render(
        "orders.html",
        rows=rows,
        pages=pages,
        grid=grid,
        choices=choices_of(STATUSES),
        actions=[(key, label) for key, (label, _) in MASS_ACTIONS.items()],
    )


@SITE.post("/orders/mass", signed_in=True)
def change_many(context: RequestContext) -> Response:
    """Hold, release or cancel the ticked orders."""
    back = context.way_back("/orders", name="back")
    action = context.field("action")
    numbers = list(dict.fromkeys(context.fields("order")))
    if action not in MASS_ACTIONS:
        context.flash("Choose what to do with the orders.", "error")
    elif not numbers:
        context.flash("Tick at least one order.", "error")
    else:
        orders = [context.row("SELECT * FROM orders WHERE number = ?", n) for n in numbers]
        done = sum(order is not None and carry_out(context, order, action) for order in orders)
        if done:
            context.flash(f"{count(done, 'order')} {MASS_ACTIONS[action][1]}.")
        if done < len(orders):
            context.flash(f"{count(len(orders) - done, 'order')} could not be changed.", "error")
    return context.redirect(back)

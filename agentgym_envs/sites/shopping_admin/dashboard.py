"""Shows the administration's first page: how the shop is doing."""

from __future__ import annotations

from datetime import datetime, timedelta

from starlette.responses import Response

from agentgym_envs.sites.shopping_admin.site import SITE
from agentgym_envs.sites.web import RequestContext

SPAN_DAYS = 30  # of the list of best sellers


@SITE.get("/", signed_in=True)
def dashboard(context: RequestContext) -> Response:
    """Show totals, the newest orders, best sellers and search terms."""
    since = (datetime.fromisoformat(context.now) - timedelta(days=SPAN_DAYS)).isoformat(" ")
    best_sellers = context.rows(
        "SELECT p.id, p.name, sum(i.quantity) AS quantity FROM orders o "
        "JOIN order_items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id "
        "WHERE o.created_at >= ? AND o.status NOT IN ('cancelled', 'refunded') "
        "GROUP BY p.id ORDER BY quantity DESC, p.name LIMIT 5",
        since,
    )
    return context.render(
        "dashboard.html",
        sums=context.row(
            "SELECT count(*) AS orders, coalesce(sum(total), 0) AS sales FROM orders "
            "WHERE status NOT IN ('cancelled', 'refunded')"
        ),
        pending_reviews=context.value("SELECT count(*) FROM reviews WHERE status = 'pending'"),
        last_orders=context.rows(
            "SELECT o.number, o.created_at, o.status, o.total, c.name FROM orders o "
            "JOIN customers c ON c.id = o.customer_id ORDER BY o.created_at DESC, o.id DESC LIMIT 5"
        ),
        best_sellers=best_sellers,
        months=context.rows(
            "SELECT substr(created_at, 1, 7) AS month, sum(total) AS sales FROM orders "
            "WHERE created_at >= date(?, 'start of month', '-11 months') "
            "AND status NOT IN ('cancelled', 'refunded') GROUP BY month ORDER BY month",
            context.now,
        ),
        search_terms=context.rows(
            "SELECT term, results, uses FROM search_terms ORDER BY uses DESC, term LIMIT 5"
        ),
    )

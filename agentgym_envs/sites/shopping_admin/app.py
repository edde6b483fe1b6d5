"""Assembles the administration with all its pages."""

from __future__ import annotations

from agentgym_envs.sites.shopping_admin import (
    cms,
    coupons,
    customers,
    dashboard,
    order_pages,
    orders,
    product_pages,
    products,
    report_pages,
    reviews,
)
from agentgym_envs.sites.shopping_admin.site import SITE

__all__ = [
    "SITE",
    "cms",
    "coupons",
    "customers",
    "dashboard",
    "order_pages",
    "orders",
    "product_pages",
    "products",
    "report_pages",
    "reviews",
]

"""Assembles the shop with all its pages."""

from __future__ import annotations

from agentgym_envs.sites.shopping import (
    account,
    addresses,
    cart,
    catalogue,
    checkout,
    entry,
    information,
    orders,
    product,
    reviewing,
    wishlist,
)
from agentgym_envs.sites.shopping.site import SITE

__all__ = [
    "SITE",
    "account",
    "addresses",
    "cart",
    "catalogue",
    "checkout",
    "entry",
    "information",
    "orders",
    "product",
    "reviewing",
    "wishlist",
]

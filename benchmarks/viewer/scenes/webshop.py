"""WebShop's scene: the goal's conditions, and those that the product and the hits meet."""

from __future__ import annotations

from typing import Any

from agentgym_envs.webshop.catalogue import NO_LIMIT, Goal, Product
from agentgym_envs.webshop.env import WebShopEnv
from agentgym_envs.webshop.reward import has_attribute, is_chosen, purchase_reward, type_factor


def about(env: WebShopEnv) -> dict[str, Any]:
    """Return the goal and its conditions."""
    return {"goal": env.goal, "asked": conditions(env.task_goal)}


def conditions(goal: Goal) -> list[str]:
    """Return a goal's conditions: the kind, the attributes, the options and the price."""
    limit = "any price" if goal.price_limit == NO_LIMIT else f"up to ${goal.price_limit:.2f}"
    options = [": ".join(filter(None, option)) for option in goal.options]
    return [goal.product.query, *goal.attributes, *options, limit]


def look(env: WebShopEnv) -> dict[str, Any]:
    """Return the page: its product with the conditions met, or its hits with best scores."""
    page, goal = env.visit.page, env.task_goal
    hits = env.visit.shown_hits if page.kind == "results" else []
    return {
        "page": page.kind,
        "query": page.query,
        "product": page.product and page.product.title,
        "met": page.product and _met(page.product, page.chosen, goal),
        "hits": [[product.title, _best_score(product, goal)] for product in hits],
    }


def _met(product: Product, chosen: dict[str, str], goal: Goal) -> list[bool]:
    """Return for each of `conditions` whether a product with these options meets it."""
    return [
        type_factor(product, goal.product) == 1,
        *(has_attribute(product, attribute) for attribute in goal.attributes),
        *(any(is_chosen(v, name, asked) for v in chosen.values()) for name, asked in goal.options),
        product.price <= goal.price_limit,
    ]


def _best_score(product: Product, goal: Goal) -> float:
    """Return the score of a product whose options are chosen as well as they can be."""
    best = {
        f"{name} {asked}": value
        for name, asked in goal.options
        for values in product.options.values()
        for value in values
        if is_chosen(value, name, asked)
    }
    return purchase_reward(product, best, goal).total

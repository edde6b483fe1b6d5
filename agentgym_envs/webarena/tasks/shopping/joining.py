"""Tasks that begin signed out."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.people import people
from agentgym_envs.webarena.tasks.screen import Screen, enter
from agentgym_envs.webarena.tasks.shopping.template_helpers import (
    SITE,
    open_product,
    rows,
    same_number_of,
    unchanged,
)
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of

_HOSTS = ("inbox.test", "letterbox.test", "post.test")
_WORDS = (
    *("acorn", "barley", "candle", "ferry", "gravel", "hazel", "island", "kettle", "lantern"),
    *("marble", "nettle", "orchid", "pebble", "ribbon", "saddle", "thimble", "velvet", "willow"),
)
_NEWSLETTER = {"Subscribe to the newsletter": True, "Do not subscribe to the newsletter": False}


class JoinAndWish(Template):
    """Create an account, and put a product on its wish list."""

    number = 23
    sites = (SITE,)
    split = "train"
    signed_in = False
    intent = (
        "I have no account in this shop yet. Create one with the name {name}, the email address "
        "{email} and the password {password}. {newsletter}. Then put {product} on my wish list."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a person whom the shop does not know, a password and a product."""
        first, last = (rng.choice(people()).name.split()[part] for part in (0, -1))
        email = f"{first}.{last}@{rng.choice(_HOSTS)}".lower()
        password = "-".join([*rng.sample(_WORDS, 2), str(rng.randrange(100, 1000))])
        known = "SELECT 1 FROM customers WHERE name = ? OR email = ?"
        if world.value(SITE, known, f"{first} {last}", email):
            return None
        newsletter = rng.choice(sorted(_NEWSLETTER))
        product = rng.choice(
            rows(world, "SELECT id, name FROM products WHERE is_enabled ORDER BY id")
        )
        values = {
            "name": f"{first} {last}",
            "email": email,
            "password": password,
            "newsletter": newsletter,
            "product": product["name"],
        }
        account = [values["name"], email, password, int(_NEWSLETTER[newsletter])]
        last_id = world.value(SITE, "SELECT max(id) FROM customers")
        return Case(
            values,
            changed(
                state_of(
                    SITE,
                    f"SELECT name, email, password, newsletter FROM customers WHERE id > {last_id}",
                    [account],
                ),
                state_of(
                    SITE,
                    f"SELECT product_id FROM wishlist_items WHERE customer_id > {last_id}",
                    [[product["id"]]],
                ),
                unchanged(
                    world,
                    f"SELECT count(*) FROM wishlist_items WHERE customer_id <= {last_id}",
                ),
                same_number_of(world, "orders", "cart_items", "addresses"),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Fill in the form, which signs in too, then find the product."""
        values = case.values
        yield from enter(screen, SITE)
        yield screen.click("link", "Create an account", "A wish list takes an account.")
        yield screen.fill("textbox", "Name", values["name"], "This is the name asked for.")
        yield screen.fill("textbox", "Email", values["email"], "And this the email address.")
        yield screen.fill("textbox", "Password", values["password"], "The password is given, too.")
        yield screen.fill("textbox", "Repeat the password", values["password"], "Once more.")
        if _NEWSLETTER[values["newsletter"]]:
            yield screen.click(
                "checkbox", "I want to get the newsletter", "The newsletter is wanted."
            )
        yield screen.click("button", "Create account", "The form is complete.")
        yield from open_product(screen, values["product"])
        yield screen.click("button", "Add to wish list", "I am signed in now, so I can wish.")
        yield screen.stop()

"""Tasks that begin signed out."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from worlds.dice import Dice
from worlds.tasks.goals import changes, row
from worlds.tasks.screen import Screen, enter
from worlds.tasks.shopping.draws import rows
from worlds.tasks.shopping.steps import SITE, open_product
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_HOSTS = ("inbox.test", "letterbox.test", "post.test")


_PASSWORDS: tuple[str, ...] = WORDS["shopping"]["passwords"]


NEWSLETTER = {"Subscribe to the newsletter": True, "Do not subscribe to the newsletter": False}


class JoinAndWish(Template):
    """Create an account, and put a product on its wish list."""

    number = 23
    sites = (SITE,)
    split = "train"
    signed_in = False
    intents = (
        "Register me ({name}, {email}, password {password}) and put {product} on my wish list. "
        "{newsletter}.",
        "Create an account for me: {name}, e-mail address {email}, password {password}. "
        "{newsletter}. Then put {product} on my wish list.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a person whom the shop does not know, a password and a product."""
        first, last = (dice.pick(world.people).name.split()[part] for part in (0, -1))
        email = f"{first}.{last}@{dice.pick(_HOSTS)}".lower()
        password = "-".join([*dice.sample(_PASSWORDS, 2), str(dice.between(100, 999))])
        known = "SELECT 1 FROM customers WHERE name = ? OR email = ?"
        if world.value(SITE, known, f"{first} {last}", email):
            return None
        newsletter = dice.pick(sorted(NEWSLETTER))
        product = dice.pick(
            rows(world, "SELECT id, name FROM products WHERE is_enabled ORDER BY id")
        )
        account = {"name": f"{first} {last}", "email": email, "password": password}
        goal = changes(
            row("customers", **account, newsletter=int(NEWSLETTER[newsletter])),
            row("wishlist_items", product_id=product["id"]),
        )
        return Case(account | {"newsletter": newsletter, "product": product["name"]}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Fill in the form, which signs in too, then find the product."""
        values = case.values
        yield from enter(screen, SITE)
        yield screen.click("link", "Create an account", "A wish list takes an account.")
        yield screen.fill("textbox", "Name", values["name"], "This is the name asked for.")
        yield screen.fill("textbox", "Email", values["email"], "And this the email address.")
        yield screen.fill("textbox", "Password", values["password"], "The password is given, too.")
        yield screen.fill("textbox", "Repeat the password", values["password"], "Once more.")
        if NEWSLETTER[values["newsletter"]]:
            yield screen.click(
                "checkbox", "I want to get the newsletter", "The newsletter is wanted."
            )
        yield screen.click("button", "Create account", "The form is complete.")
        yield from open_product(screen, values["product"])
        yield screen.click("button", "Add to wish list", "I am signed in now, so I can wish.")
        yield screen.stop()

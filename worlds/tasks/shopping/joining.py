"""Tasks that begin signed out."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.shopping.joining import NEWSLETTER
from agentgym_envs.webarena.tasks.shopping.steps import SITE
from worlds.dice import Dice
from worlds.tasks.goals import changes, row
from worlds.tasks.shopping.draws import rows
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_HOSTS = ("inbox.test", "letterbox.test", "post.test")
_PASSWORDS: tuple[str, ...] = WORDS["shopping"]["passwords"]


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

"""Tasks about people who are known on two sites; their names are the same everywhere."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab import template_helpers as code
from agentgym_envs.webarena.tasks.reddit import template_helpers as forum
from agentgym_envs.webarena.tasks.screen import Screen, enter, first_of
from agentgym_envs.webarena.tasks.shopping_admin import template_helpers as office
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of


class MessageBuyer(Template):
    """A message on the forum to whoever placed an order."""

    number = 135
    sites = ("shopping_admin", "reddit")
    split = "train"
    intent = (
        "The customer who placed order {order} at Larder & Loom has the same user name on "
        "Commonplace. Send them this message there: “{text}”"
    )
    texts = (
        "Your parcel is ready to be picked up.", "Please call the shop about your order.",
        "We found the missing piece of your order.", "Would you like a refund or a new one?",
        "Thank you for your patience with the delivery.", "Your address seems to be incomplete.",
    )  # fmt: skip

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw an order of somebody who is on the forum and not blocked."""
        order = rng.choice(
            world.rows(
                "shopping",
                "SELECT o.number, c.username FROM orders o JOIN customers c"
                " ON c.id = o.customer_id WHERE c.id != 1 ORDER BY o.id",
            )
        )
        user = world.value(
            "reddit",
            "SELECT id FROM users WHERE username = ?"
            " AND id NOT IN (SELECT blocked_id FROM blocked_users)",
            order["username"],
        )
        if user is None or user == forum.ME:
            return None
        text = rng.choice(self.texts)
        query = (
            "SELECT from_id, to_id, body FROM messages"
            f" WHERE id > {forum.last_id(world, 'messages')}"
        )
        return Case(
            {"order": order["number"], "text": text},
            changed(
                forum.expected(query, (forum.ME, user, text)),
                forum.totals(world, messages=1),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the customer's user name and write to it."""
        yield from office.open_order(screen, case.values["order"])
        row = screen.starting("row", "Customer | ")
        name = row.name.partition(" | ")[2]
        yield screen.click_node(screen.below(row, "link")[0], f"{name} placed the order.")
        username = screen.starting("row", "User name | ").name.partition(" | ")[2]
        yield from enter(screen, forum.SITE)
        yield screen.click_node(screen.starting("link", "Messages"), "Messages are written here.")
        yield screen.click("link", "New message")
        yield screen.fill("textbox", "To", username, "This is the customer's user name.")
        yield screen.fill("textbox", "Message", case.values["text"])
        yield screen.click("button", "Send message")
        yield screen.stop("", "The message is sent.")


class GroupOfContributor(Template):
    """Puts the most active contributor of a project into a customer group."""

    number = 133
    sites = ("gitlab", "shopping_admin")
    split = "test"
    intent = (
        "Who has the most commits on the default branch of {project} on Forgeyard? That person is "
        "also a customer of Larder & Loom: in the shop's administration, put them into the "
        "customer group {group}."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a project with one top contributor, and a group which that one is not in."""
        project = code.draw_project(world, rng)
        top = world.rows(
            "gitlab",
            "SELECT u.username, u.name, count(*) AS commits FROM commits c JOIN users u"
            " ON u.id = c.author_id WHERE c.project_id = ? AND c.branch = ? GROUP BY u.id"
            " ORDER BY commits DESC LIMIT 2",
            *(project["id"], project["default_branch"]),
        )
        if len(top) < 2 or top[0]["commits"] == top[1]["commits"]:
            return None
        customers = world.rows(
            "shopping", "SELECT * FROM customers WHERE username = ?", top[0]["username"]
        )
        group = rng.choice(("General", "Wholesale", "Retailer"))
        if not customers or customers[0]["group_name"] == group:
            return None
        customer = customers[0]["id"]
        others = f"SELECT id, group_name FROM customers WHERE id != {customer} ORDER BY id"
        query = f"SELECT group_name FROM customers WHERE id = {customer}"
        return Case(
            {"project": project["name"], "group": group},
            changed(
                state_of("shopping_admin", query, [[group]]),
                office.same(world, others),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the list of contributors and change the customer."""
        yield from code.open_part(screen, case.values["project"], "Contributors")
        name, commits, *_ = max(code.cells(screen), key=lambda cells: int(cells[1]))
        thought = f"{name} has the most commits, {commits}. Now to the shop."
        yield from enter(screen, office.SITE, thought)
        yield from office.open_customer(screen, name)
        yield screen.choose("Customer group", case.values["group"])
        yield screen.click("button", "Save group")
        yield screen.stop("", "The customer is in the group.")


_OWNERS = (
    "SELECT DISTINCT u.username FROM projects p JOIN users u ON u.id = p.owner_id"
    f" WHERE u.id != 1 AND {code.SEEN}"
)


class StarAuthorsBest(Template):
    """Stars the most popular project of whoever wrote a post."""

    number = 134
    sites = ("reddit", "gitlab")
    split = "test"
    intent = (
        "Whoever wrote the post “{title}” on Commonplace also has projects on Forgeyard, under the "
        "same user name. Star the one of their projects that has the most stars."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a post by somebody whose most starred project is new to the agent."""
        owners = world.rows("gitlab", _OWNERS)
        posts = world.rows(
            "reddit",
            "SELECT p.title, u.username FROM posts p JOIN users u ON u.id = p.user_id"
            " GROUP BY p.title HAVING count(*) = 1 ORDER BY p.id",
        )
        names = {row["username"] for row in owners}
        post = rng.choice([row for row in posts if row["username"] in names])
        projects = world.rows(
            "gitlab",
            "SELECT p.id, p.star_count FROM projects p JOIN users u ON u.id = p.owner_id"
            f" WHERE {code.SEEN} AND u.username = ? ORDER BY p.star_count DESC, p.id",
            post["username"],
        )
        if not projects:
            return None
        best = projects[0]["id"]
        starred = "SELECT count(*) FROM stars WHERE user_id = 1 AND project_id = ?"
        is_shared = len(projects) > 1 and projects[1]["star_count"] == projects[0]["star_count"]
        if is_shared or world.value("gitlab", starred, best):
            return None
        mine = [
            row["project_id"]
            for row in world.rows("gitlab", "SELECT project_id FROM stars WHERE user_id = 1")
        ]
        query = "SELECT project_id FROM stars WHERE user_id = 1 ORDER BY project_id"
        expected = [[number] for number in sorted([*mine, best])]
        return Case({"title": post["title"]}, changed(state_of("gitlab", query, expected)))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the author, their profile, and the project that comes first by stars."""
        yield from forum.open_post(screen, case.values["title"])
        username = screen.below(screen.find("article", "Post"), "link")[0].name
        yield from enter(screen, code.SITE, f"{username} wrote it. Now I look for their projects.")
        yield from code.find_person(screen, username)
        name = " ".join(part.capitalize() for part in username.split("."))
        yield screen.click("link", name, "The profile lists the projects.")
        yield from code.apply(screen, {"Sort by": "Most stars"})
        first = first_of(code.items(screen, "Projects")).link
        yield screen.click_node(first, f"{first.name} has the most stars.")
        yield screen.click("button", "Star")
        yield screen.stop("", "The project is starred.")

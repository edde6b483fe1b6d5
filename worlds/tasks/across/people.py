"""Tasks about people who are known on two sites, under the same name."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.gitlab import draws as code_draws
from worlds.tasks.gitlab import steps as code
from worlds.tasks.goals import changes, row
from worlds.tasks.reddit import steps as forum
from worlds.tasks.screen import Screen, enter, first_of
from worlds.tasks.shopping_admin import steps as office
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS


class MessageBuyer(Template):
    """A message on the forum to the customer of an order."""

    number = 135
    sites = ("shopping_admin", "reddit")
    split = "train"
    intents = (
        "Message order {order}'s customer on Commonplace: “{text}”",
        "The customer of order {order} is on Commonplace too. Send them this message there: "
        "“{text}”",
    )
    texts: tuple[str, ...] = WORDS["across"]["texts"]

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an order of a customer who is on the forum and not blocked."""
        order = dice.pick(
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
        if user is None or user == AGENT_ID:
            return None
        text = dice.pick(self.texts)
        message = {"from_id": AGENT_ID, "to_id": user, "body": text}
        values = {"order": order["number"], "text": text}
        return Case(values, changes(row("messages", **message)))

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
    intents = (
        "Put the top committer on {project}'s default branch into the customer group {group}.",
        "Find out who has the most commits on the default branch of {project}, and put that "
        "customer into the group {group}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project with one top contributor, and a group which that one is not in."""
        project = code_draws.draw_project(world, dice)
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
        group = dice.pick(("General", "Wholesale", "Retailer"))
        if not customers or customers[0]["group_name"] == group:
            return None
        values = {"project": project["name"], "group": group}
        return Case(values, changes(row("customers", id=customers[0]["id"], group_name=group)))

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
    f" WHERE u.id != 1 AND {code_draws.SEEN}"
)


_ORDERS = {"most starred": "star_count DESC", "newest": "created_at DESC", "oldest": "created_at"}
"""Rules that choose one of somebody's projects, and their order in the database."""


class StarAuthorsProject(Template):
    """Stars a project by the author of a post."""

    number = 134
    sites = ("reddit", "gitlab")
    split = "test"
    intents = (
        "Star the {which} project of whoever posted “{title}”.",
        "On Forgeyard, star the {which} project of whoever wrote the post “{title}” on "
        "Commonplace.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a post by the owner of a project that comes first and has no star of the agent."""
        owners = world.rows("gitlab", _OWNERS)
        posts = world.rows(
            "reddit",
            "SELECT p.title, u.username FROM posts p JOIN users u ON u.id = p.user_id"
            " GROUP BY p.title HAVING count(*) = 1 ORDER BY p.id",
        )
        names = {row["username"] for row in owners}
        post = dice.pick([row for row in posts if row["username"] in names])
        which = dice.pick(tuple(_ORDERS))
        column, _, _ = _ORDERS[which].partition(" ")
        projects = world.rows(
            "gitlab",
            f"SELECT p.id, p.{column} AS rank FROM projects p JOIN users u ON u.id = p.owner_id"
            f" WHERE {code_draws.SEEN} AND u.username = ? ORDER BY p.{_ORDERS[which]}, p.id",
            post["username"],
        )
        if len(projects) < 2 or projects[0]["rank"] == projects[1]["rank"]:
            return None
        first = projects[0]["id"]
        starred = f"SELECT count(*) FROM stars WHERE user_id = {AGENT_ID} AND project_id = ?"
        if world.value("gitlab", starred, first):
            return None
        goal = changes(row("stars", user_id=AGENT_ID, project_id=first))
        return Case({"which": which, "title": post["title"]}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the author, their profile, and the project that comes first."""
        yield from forum.open_post(screen, case.values["title"])
        username = screen.below(screen.find("article", "Post"), "link")[0].name
        yield from enter(screen, code.SITE, f"{username} wrote it. Now I look for their projects.")
        yield from code.find_person(screen, username)
        name = " ".join(part.capitalize() for part in username.split("."))
        yield screen.click("link", name, "The profile lists the projects.")
        which = case.values["which"]
        sort = {"most starred": "Most stars", "newest": "Newest", "oldest": "Oldest"}[which]
        yield from code.apply(screen, {"Sort by": sort})
        first = first_of(code.items(screen, "Projects")).link
        yield screen.click_node(first, f"{first.name} is the {which} one.")
        yield screen.click("button", "Star")
        yield screen.stop("", "The project is starred.")

"""A template that starts signed out: without an account nothing of it can be done."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.reddit.steps import SITE
from worlds.dice import Dice
from worlds.tasks.goals import changes, row
from worlds.tasks.reddit.draws import pick_forum
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_PASSWORDS: tuple[str, ...] = WORDS["reddit"]["passwords"]
_VOTES = {"upvote": 1, "downvote": -1}


class RegisterAndAct(Template):
    """A new account, and what it is made for."""

    number = 143
    sites = (SITE,)
    split = "train"
    signed_in = False
    intents = (
        'Register me as {username} ({name}, {email}, password "{password}"); {deed} '
        "{community}'s newest post.",
        "Create an account for me: {name}, user name {username}, e-mail address {email}, password "
        '"{password}". Then {deed} the newest post in {community}.',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw somebody who is not on the forum, and a community with one newest post."""
        known = {row["username"] for row in world.rows(SITE, "SELECT username FROM users")}
        person = dice.pick([each for each in world.people if each.username not in known])
        password = f"{dice.pick(_PASSWORDS)}-{dice.pick(_PASSWORDS)}-{dice.between(10, 99)}"
        forum, community = pick_forum(world, dice)
        deed = dice.pick((*_VOTES, "save"))
        newest, second = world.rows(
            SITE,
            "SELECT id, substr(created_at, 1, 16) AS moment FROM posts WHERE forum_id = ? "
            "ORDER BY id DESC LIMIT 2",
            forum,
        )
        if newest["moment"] == second["moment"]:
            return None
        account = {
            "name": person.name,
            "username": person.username,
            "email": person.email,
            "password": password,
        }
        if deed == "save":
            done = row("saved_posts", post_id=newest["id"])
        else:
            done = row("post_votes", post_id=newest["id"], value=_VOTES[deed])
        goal = changes(row("users", **account), done)
        return Case({**account, "deed": deed, "community": community}, goal)


REGISTERING: tuple[Template, ...] = (RegisterAndAct(),)

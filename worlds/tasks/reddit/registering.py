"""A template that starts signed out: without an account nothing of it can be done."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.reddit.steps import SITE
from worlds.dice import Dice
from worlds.tasks.reddit.draws import expected, last_id, totals
from worlds.tasks.reddit.lookups import pick_forum
from worlds.tasks.template import Case, Template, World, changed
from worlds.tasks.words import WORDS

_PASSWORDS: tuple[str, ...] = WORDS["reddit"]["passwords"]


class RegisterAndAct(Template):
    """A new account, and what it is made for."""

    number = 143
    sites = (SITE,)
    split = "train"
    signed_in = False
    intent = (
        "I have no account on Commonplace yet. Create one for me: my name is {name}, the user name "
        'shall be {username}, the email address {email} and the password "{password}". Then {deed} '
        "the newest post in the community {community}."
    )
    _votes = {"upvote": 1, "downvote": -1}
    _deeds = (*_votes, "save")

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw somebody who is not on the forum, and a community with one newest post."""
        known = {row["username"] for row in world.rows(SITE, "SELECT username FROM users")}
        person = dice.pick([each for each in world.people if each.username not in known])
        password = f"{dice.pick(_PASSWORDS)}-{dice.pick(_PASSWORDS)}-{dice.between(10, 99)}"
        forum, community = pick_forum(world, dice)
        deed = dice.pick(self._deeds)
        newest, second = world.rows(
            SITE,
            "SELECT id, substr(created_at, 1, 16) AS moment FROM posts WHERE forum_id = ? "
            "ORDER BY id DESC LIMIT 2",
            forum,
        )
        if newest["moment"] == second["moment"]:
            return None
        values = {
            "name": person.name,
            "username": person.username,
            "email": person.email,
            "password": password,
            "deed": deed,
            "community": community,
        }
        last = last_id(world, "users")
        account = expected(
            f"SELECT username, name, email, password FROM users WHERE id > {last}",
            (person.username, person.name, person.email, password),
        )
        if deed == "save":
            done = expected(
                f"SELECT post_id FROM saved_posts WHERE user_id > {last}", (newest["id"],)
            )
            return Case(values, changed(account, done, totals(world, users=1, saved_posts=1)))
        value = self._votes[deed]
        done = expected(
            f"SELECT post_id, value FROM post_votes WHERE user_id > {last}", (newest["id"], value)
        )
        after = totals(world, users=1, post_votes=1, sum_of_post_votes=value)
        return Case(values, changed(account, done, after))


REGISTERING: tuple[Template, ...] = (RegisterAndAct(),)

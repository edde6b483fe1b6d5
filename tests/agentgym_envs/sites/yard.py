"""Somebody who browses the code host in process, for its tests."""

from __future__ import annotations

from urllib.parse import urljoin

from lxml import html

from agentgym_envs.browsing.text.fetch import Answer, fetch
from agentgym_envs.sites.state import SiteState

ORIGIN = "http://gitlab.test"
OWN = "/~mira.halden/seedbank"


class Visitor:
    """Somebody who browses the code host in process."""

    def __init__(self, user: int = 1) -> None:
        self.state = SiteState()
        self.cookies = {"session": self.state.sign_in("gitlab", user)} if user else {}
        self.db = self.state.database("gitlab")

    def get(self, path: str, form: list[tuple[str, str]] | None = None) -> Answer:
        answer = fetch(self.state, urljoin(ORIGIN, path), form=form, cookies=self.cookies)
        for name, value in answer.headers:
            if name == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return answer

    def post(self, path: str, /, **fields: str | list[str]) -> Answer:
        """Post a form, and follow the redirect."""
        form = [
            (name, one)
            for name, value in fields.items()
            for one in (value if isinstance(value, list) else [value])
        ]
        answer = self.get(path, form)
        location = answer.header("location")
        return answer if location is None else self.get(location)

    def value(self, sql: str, *values: object) -> object:
        row = self.db.execute(sql, values).fetchone()
        return row[0] if row else None

    def path_of(self, name: str) -> str:
        path = self.value(
            "SELECT '/~' || u.username || '/' || p.slug FROM projects p "
            "JOIN users u ON u.id = p.owner_id WHERE p.name = ?",
            name,
        )
        return str(path)


def text(answer: Answer) -> str:
    return " ".join(html.fromstring(answer.body).xpath("string(//main)").split())

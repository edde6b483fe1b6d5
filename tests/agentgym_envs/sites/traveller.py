"""Somebody who uses the map, for the tests of its site."""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import html

from agentgym_envs.browsing.text.fetch import Answer, fetch
from agentgym_envs.sites.names import ORIGINS
from agentgym_envs.sites.state import SiteState

ORIGIN = ORIGINS["map"]
TOWNS = [
    name for (name,) in SiteState().database("map").execute("SELECT name FROM towns ORDER BY id")
]


@dataclass
class Traveller:
    """The map with somebody signed in."""

    user_id: int = 1
    state: SiteState = field(default_factory=SiteState)

    def __post_init__(self) -> None:
        self.cookies = {"session": self.state.sign_in("map", self.user_id)}

    def get(self, path: str) -> Answer:
        return fetch(self.state, ORIGIN + path, cookies=self.cookies)

    def post(self, path: str, *fields: tuple[str, str]) -> Answer:
        return fetch(self.state, ORIGIN + path, form=fields, cookies=self.cookies)

    def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        return [tuple(row) for row in self.state.database("map").execute(sql, values)]

    def value(self, sql: str, *values: object) -> object:
        return self.rows(sql, *values)[0][0]


def text_of(answer: Answer) -> str:
    return " ".join(html.fromstring(answer.body).xpath("//main")[0].text_content().split())


def listed(answer: Answer, name: str = "Places") -> list[str]:
    items = html.fromstring(answer.body).xpath(f"//*[@aria-label='{name}']/li")
    return [" ".join(item.text_content().split()) for item in items]

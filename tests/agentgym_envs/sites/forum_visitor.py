"""A visitor of the forum: requests and answers, and the database behind."""

from __future__ import annotations

from agentgym_envs.browsing.text.fetch import Answer, fetch
from agentgym_envs.sites.state import SiteState

ORIGIN = "http://reddit.test"


class Visitor:
    """Somebody with a browser, without its page."""

    def __init__(self, *, user_id: int | None = 1) -> None:
        self.state = SiteState()
        self.cookies: dict[str, str] = {}
        if user_id is not None:
            self.cookies["session"] = self.state.sign_in("reddit", user_id)

    def get(self, path: str) -> Answer:
        return self._keep(fetch(self.state, ORIGIN + path, cookies=self.cookies))

    def post(self, path: str, **form: str) -> Answer:
        pairs = list(form.items())
        return self._keep(fetch(self.state, ORIGIN + path, form=pairs, cookies=self.cookies))

    def value(self, query: str) -> object:
        return self.state.database("reddit").execute(query).fetchone()[0]

    def _keep(self, answer: Answer) -> Answer:
        cookie = answer.header("set-cookie")
        if cookie:
            self.cookies["session"] = cookie.split(";")[0].partition("=")[2]
        return answer

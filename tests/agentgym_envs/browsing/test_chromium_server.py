from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse

import pytest

from agentgym_envs import EnvFailure
from agentgym_envs.browsing.chromium.server import Episode, SiteServer
from agentgym_envs.sites.state import SiteState
from tests.agentgym_envs.browsing import gallery

pytestmark = pytest.mark.browser


@pytest.fixture
def server() -> Iterator[SiteServer]:
    site = gallery.build()

    @site.get("/leave")
    def leave(context: gallery.RequestContext) -> gallery.Response:
        return context.redirect(context.field("to"))

    started = SiteServer(sites=lambda name: site)
    yield started
    started.close()
    assert not started.alive


def ask(server: SiteServer, host: str, path: str = "/") -> tuple[HTTPResponse, str]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", path, headers={"Host": host})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer, body


def host_of(episode: Episode, site: str) -> str:
    return episode.origins[site].removeprefix("http://")


def test_the_host_name_tells_the_episode(server: SiteServer) -> None:
    first, second = server.open(SiteState()), server.open(SiteState())
    assert (
        host_of(first, "shopping_admin")
        == f"shopping-admin.ep{first.number}.localhost:{server.port}"
    )
    assert set(first.origins.values()).isdisjoint(second.origins.values())
    answer, body = ask(server, host_of(second, "homepage"))
    assert (answer.status, "<h1>Home</h1>" in body) == (200, True)
    server.forget(second)
    assert ask(server, host_of(second, "homepage"))[0].status == 404


@pytest.mark.parametrize(
    "host", ["", "homepage.test", "nowhere.ep1.localhost", "homepage.ep.localhost", "127.0.0.1"]
)
def test_other_hosts_have_no_pages(server: SiteServer, host: str) -> None:
    server.open(SiteState())
    assert ask(server, host)[0].status == 404


def test_what_a_browser_asks_for_by_itself_reaches_no_handler(server: SiteServer) -> None:
    host = host_of(server.open(SiteState()), "homepage")
    answer, body = ask(server, host, "/static/base.css")
    assert answer.getheader("content-type") == "text/css; charset=utf-8"
    assert "--accent" in body
    assert ask(server, host, "/static/../server.py")[0].status == 404
    assert ask(server, host, "/favicon.ico")[0].status == 404
    assert "RequestContext 1" in ask(server, host)[1]


@pytest.mark.parametrize("target", ["http://127.0.0.1:1/x", "//127.0.0.1/x", "https:127.0.0.1"])
def test_no_redirect_leaves_the_episode(server: SiteServer, target: str) -> None:
    host = host_of(server.open(SiteState()), "homepage")
    answer, body = ask(server, host, f"/leave?to={target}")
    assert (answer.status, answer.getheader("location")) == (200, None)
    assert f"url={target}" in body


def test_redirects_inside_of_the_episode_are_sent(server: SiteServer) -> None:
    episode = server.open(SiteState())
    for target in ("/form", "form?x=1", f"{episode.origins['map']}/", episode.origins["map"]):
        answer, _ = ask(server, host_of(episode, "homepage"), f"/leave?to={target}")
        assert (answer.status, answer.getheader("location")) == (303, target)


def test_a_request_in_hand_is_waited_for(server: SiteServer) -> None:
    episode = server.open(SiteState())
    episode.begin()
    with pytest.raises(EnvFailure, match="did not answer"):
        episode.wait(0.01)
    episode.end(ValueError("broken"))
    with pytest.raises(EnvFailure, match="broken"):
        episode.wait(1)
    episode.wait(1)

"""Signing in is alike on every site, and a way back never leads out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentgym_envs.browsing.text.fetch import Answer, fetch
from agentgym_envs.sites.names import DATABASES, ORIGINS, SITES
from agentgym_envs.sites.people import AGENT, AGENT_ID, PASSWORD
from agentgym_envs.sites.state import SiteState, first_token
from agentgym_envs.sites.web import own_path

HOMES = {"shopping": "/account"}


@pytest.fixture
def state() -> Iterator[SiteState]:
    state = SiteState()
    yield state
    state.close()


def sign_in(state: SiteState, site: str, **fields: str) -> Answer:
    return fetch(state, f"{ORIGINS[site]}/login", form=list(fields.items()))


@pytest.mark.parametrize("site", DATABASES)
@pytest.mark.parametrize(
    "name", [AGENT.username, AGENT.email, AGENT.username.upper(), f" {AGENT.email.title()} "]
)
def test_user_name_and_email_in_any_case_sign_in(state: SiteState, site: str, name: str) -> None:
    answer = sign_in(state, site, username=name, password=PASSWORD)
    assert (answer.status, answer.header("location")) == (303, HOMES.get(site, "/"))
    assert "session=" in (answer.header("set-cookie") or "")


@pytest.mark.parametrize("site", DATABASES)
@pytest.mark.parametrize(
    ("username", "password", "message"),
    [
        ("", "x", "User name is required."),
        (AGENT.username, "", "Password is required."),
        (AGENT.username, "wrong", "User name and password do not match."),
        (AGENT.username, PASSWORD.upper(), "User name and password do not match."),
        ("nobody", PASSWORD, "User name and password do not match."),
    ],
)
def test_a_wrong_sign_in_says_why_and_opens_nothing(
    state: SiteState, site: str, username: str, password: str, message: str
) -> None:
    answer = sign_in(state, site, username=username, password=password)
    assert answer.status == 422 and message in answer.body
    assert answer.header("set-cookie") is None


@pytest.mark.parametrize("site", DATABASES)
def test_who_is_signed_in_is_sent_on(site: str) -> None:
    state = SiteState(signed_in={site: AGENT_ID})
    cookies = {"session": first_token(site)}
    answer = fetch(state, f"{ORIGINS[site]}/login", cookies=cookies)
    assert (answer.status, answer.header("location")) == (303, HOMES.get(site, "/"))
    state.close()


@pytest.mark.parametrize("site", DATABASES)
@pytest.mark.parametrize(
    "path",
    ["//evil.test", "/\\evil.test", "http://evil.test", "/a\r\nb", "x", "/logout", "/no/such"],
)
def test_signing_in_leads_to_pages_of_the_site_alone(
    state: SiteState, site: str, path: str
) -> None:
    answer = sign_in(state, site, username=AGENT.username, password=PASSWORD, next=path)
    assert answer.header("location") == HOMES.get(site, "/")


@pytest.mark.parametrize("path", ["/", "/orders?status=pending", "/search?q=a b&c=\u00e4#top"])
def test_own_paths_are_kept(path: str) -> None:
    assert own_path(path, "/home") == path


@pytest.mark.parametrize("path", ["", "//a", "/\\a", "/a\\b", "a", "http://a", "/a\nb", "/\ud800"])
def test_other_addresses_are_no_own_paths(path: str) -> None:
    assert own_path(path, "/home") == "/home"


@pytest.mark.parametrize("site", SITES)
def test_an_address_without_a_page_says_so_in_the_site_s_own_words(
    state: SiteState, site: str
) -> None:
    answer = fetch(state, f"{ORIGINS[site]}/no/such/page/anywhere")
    assert answer.status == 404 and "This page does not exist." in answer.body

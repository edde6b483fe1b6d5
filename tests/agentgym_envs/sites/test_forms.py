"""What every form of every site tells about its fields."""

from __future__ import annotations

from functools import cache
from urllib.parse import urljoin

import pytest
from lxml import html

from agentgym_envs.browsing.text.fetch import fetch
from agentgym_envs.sites.names import DATABASES, SITES
from tests.agentgym_envs.sites.crawl import Crawler, a_page_of_each_route, page_routes

_TEXTS = "text email password search number date url tel".split()


@cache
def pages(site: str) -> dict[str, str]:
    return a_page_of_each_route(site)


@pytest.mark.full
@pytest.mark.parametrize("site", SITES)
def test_every_page_is_found_by_following_links(site: str) -> None:
    assert set(pages(site)) == set(page_routes(site))


@pytest.mark.full
@pytest.mark.parametrize("site", SITES)
def test_headings_leave_no_level_out(site: str) -> None:
    for url, page in _opened(site):
        levels = [int(str(tag.tag)[1]) for tag in page.iter("h1", "h2", "h3", "h4")]
        assert levels[:1] == [1], url
        assert all(b - a <= 1 for a, b in zip(levels, levels[1:], strict=False)), (url, levels)


@pytest.mark.parametrize("site", DATABASES)
def test_what_is_wrong_is_tied_to_its_field_and_what_must_be_filled_in_says_so(site: str) -> None:
    """Each form is sent empty."""
    crawler, unmarked = Crawler(site), set()
    for url, page in _opened(site):
        for form in page.forms:
            fields = [field for field in form.inputs if field.get("name") and _can_be_empty(field)]
            if form.method != "POST" or not fields:
                continue
            assert "novalidate" in form.attrib, url
            sent = {k: v for k, v in form.form_values()} | {f.get("name"): "" for f in fields}
            action = urljoin(url, form.get("action") or url)
            cookies = {} if action.endswith(("/login", "/register")) else crawler.cookies
            answer = fetch(crawler.state, action, form=list(sent.items()), cookies=cookies)
            if not answer.body.strip():
                continue
            document = html.fromstring(answer.body)
            for message in document.xpath("//p[@class='wrong']"):
                tied = document.xpath("//*[contains(@aria-describedby, $id)]", id=message.get("id"))
                assert [field.get("aria-invalid") for field in tied] == ["true"], (
                    url,
                    message.text,
                )
                unmarked |= {
                    (url, f.get("name"))
                    for f in fields
                    if f.get("id") == tied[0].get("id") and "required" not in f.attrib
                    if not (f.get("name") == "body" and "url" in form.fields)  # one of both will do
                }
    crawler.state.close()
    assert sorted(unmarked) == []


def _can_be_empty(field: html.HtmlElement) -> bool:
    if field.tag == "select":
        return "" in field.value_options
    return field.get("type", "text") in _TEXTS


def _opened(site: str) -> list[tuple[str, html.HtmlElement]]:
    agent, stranger = Crawler(site), Crawler(site, is_signed_in=False)
    result = []
    for route, url in pages(site).items():
        who = stranger if route == "/login" else agent
        answer = fetch(who.state, url, cookies=who.cookies)
        assert answer.status == 200, url
        if answer.body.strip().startswith("<!DOCTYPE"):
            result.append((url, html.fromstring(answer.body)))
    return result

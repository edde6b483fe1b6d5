import pytest

from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.sites.state import SiteState
from tests.agentgym_envs.browsing.gallery import (
    HOME,
    act,
    do,
    find,
    refusal,
    serve,
    texts,
)

gallery = serve()


def test_a_link_opens_its_page() -> None:
    browser = gallery()
    do(browser, "click", "link", "form")
    assert browser.page().url == HOME + "form"
    assert browser.page().title == "Form"


def test_the_page_is_one_object_until_something_changes() -> None:
    browser = gallery("/form")
    page = browser.page()
    do(browser, "hover", "button", "Send")
    assert browser.page() is page
    do(browser, "click", "checkbox", "Gift")
    assert browser.page() is not page


def test_going_back_fetches_the_page_afresh() -> None:
    browser = gallery()
    assert "StaticText 'RequestContext 1'" in texts(browser)
    do(browser, "click", "link", "form")
    act(browser, "go_back")
    assert "StaticText 'RequestContext 2'" in texts(browser)
    act(browser, "go_forward")
    assert browser.page().url == HOME + "form"


def test_a_posted_page_is_shown_as_it_was() -> None:
    browser = gallery("/form")
    do(browser, "click", "button", "Send")
    assert "listitem \"name='Mira'\"" in texts(browser)
    do(browser, "click", "link", "Home")
    act(browser, "go_back")
    assert "listitem \"name='Mira'\"" in texts(browser)


def test_a_new_page_forgets_what_lay_ahead() -> None:
    browser = gallery()
    do(browser, "click", "link", "form")
    act(browser, "go_back")
    do(browser, "click", "link", "who")
    assert "go forward" in refusal(browser, "go_forward")
    act(browser, "go_back")
    assert "go back" in refusal(browser, "go_back")


def test_asking_for_the_same_address_replaces_the_page() -> None:
    browser = gallery()
    act(browser, f"goto [{HOME}]")
    assert "StaticText 'RequestContext 2'" in texts(browser)
    assert "go back" in refusal(browser, "go_back")


def test_a_fragment_moves_within_the_page() -> None:
    browser = gallery()
    do(browser, "click", "link", "below")
    assert browser.page().url == HOME + "#below"
    assert "StaticText 'RequestContext 1'" in texts(browser)
    act(browser, "go_back")
    assert browser.page().url == HOME
    assert "StaticText 'RequestContext 1'" in texts(browser)


def test_post_redirect_get_ends_at_the_last_address() -> None:
    browser = gallery("/form")
    do(browser, "click", "button", "Save")
    assert browser.page().url == HOME + "who?saved=1"
    act(browser, "go_back")
    assert browser.page().url == HOME + "form"


def test_307_posts_again() -> None:
    browser = gallery("/search")
    do(browser, "type", "textbox", "Kept", "[it] [1]")
    assert browser.page().url == HOME + "echo"
    assert "listitem \"kept='it'\"" in texts(browser)


def test_endless_redirects_end_on_an_error_page() -> None:
    browser = gallery()
    do(browser, "click", "link", "loop")
    assert 'heading "This page isn\'t working"' in texts(browser)


@pytest.mark.parametrize("address", ["nowhere.test/x", "https://shopping.test/", "http://[::1]/"])
def test_what_no_site_answers_is_an_error_page_or_refused(address: str) -> None:
    browser = gallery()
    if "::" in address:
        assert "is no address" in refusal(browser, f"goto [{address}]")
        return
    act(browser, f"goto [{address}]")
    assert 'heading "This site can\'t be reached"' in texts(browser)
    act(browser, "go_back")
    assert browser.page().url == HOME


def test_redirects_may_lead_away() -> None:
    browser = gallery()
    do(browser, "click", "link", "away")
    assert browser.page().url == "http://elsewhere.test/page"


def test_plain_text_is_a_page_and_files_and_empty_answers_are_none() -> None:
    browser = gallery()
    for link in ("file", "empty"):
        do(browser, "click", "link", link)
        assert browser.page().url == HOME
    do(browser, "click", "link", "plain")
    assert texts(browser) == ["RootWebArea ''", "StaticText 'a < b & c'"]


def test_an_empty_answer_is_an_empty_page() -> None:
    assert texts(gallery("/nothing")) == ["RootWebArea ''"]


def test_cookies_are_kept_sent_and_deleted() -> None:
    browser = gallery("/who")
    assert "StaticText 'cookies:'" in texts(browser)
    do(browser, "click", "link", "again")
    assert "StaticText 'cookies: seen=yes'" in texts(browser)
    do(browser, "click", "link", "forget")
    assert "StaticText 'cookies: forgot=1'" in texts(browser)


def test_the_referer_is_the_page_before() -> None:
    browser = gallery()
    do(browser, "click", "link", "who")
    assert f"StaticText 'referer: {HOME}'" in texts(browser)
    act(browser, "goto [homepage.test/who]")
    assert "StaticText 'referer:'" in texts(browser)


def test_goto_takes_addresses_as_people_type_them() -> None:
    browser = gallery()
    act(browser, "goto [HOMEPAGE.test/words/caf\N{LATIN SMALL LETTER E WITH ACUTE}%20x]")
    assert browser.page().url == HOME + "words/caf%C3%A9%20x"
    assert "StaticText 'caf\N{LATIN SMALL LETTER E WITH ACUTE} x'" in texts(browser)
    assert "is no address" in refusal(browser, "goto [javascript:alert(1)]")
    act(browser, "goto [about:blank]")
    assert browser.page().url == "about:blank"


def test_tabs_are_opened_changed_and_closed() -> None:
    browser = gallery()
    act(browser, "new_tab")
    assert (browser.page().url, browser.page().current_tab) == ("about:blank", 1)
    act(browser, f"goto [{HOME}form]")
    assert browser.page().tabs == ("Home", "Form")
    assert "go back" in refusal(browser, "go_back")
    act(browser, "tab_focus [0]")
    assert browser.page().url == HOME
    assert "the tabs are 0 to 1" in refusal(browser, "tab_focus [2]")
    act(browser, "close_tab")
    assert (browser.page().title, browser.page().tabs) == ("Form", ("Form",))
    act(browser, "close_tab")
    assert browser.page().url == "about:blank"


def test_unknown_ids_are_refused_with_the_range() -> None:
    browser = gallery()
    last = len(browser.page().nodes)
    for number in (0, last + 1, 999_999_999):
        assert refusal(browser, f"click [{number}]") == (
            f"There is no element [{number}] on this page; ids go from 1 to {last}."
        )


def test_links_that_lead_out_of_the_web_are_refused() -> None:
    browser = gallery()
    mail = find(browser, "link", "mail").element
    assert "mailto:a@b.test" in refusal(browser, f"click [{mail}]")


def test_a_look_up_leaves_the_tabs_and_the_cookies_alone() -> None:
    browser = gallery()
    page = browser.page()
    assert browser.look_up(HOME + "who", "document.title") == "Who"
    assert browser.page() is page
    do(browser, "click", "link", "who")
    assert "StaticText 'cookies:'" in texts(browser)
    assert browser.look_up("last", "document.URL") == HOME + "who"
    assert browser.look_up("no address", "document.title") == ""


def test_the_real_sites_answer_by_default() -> None:
    browser = TextBrowser(SiteState())
    browser.open(HOME, {"shopping": {"session": "x"}})
    assert find(browser, "heading", "Homepage")
    browser.close()
    browser.close()

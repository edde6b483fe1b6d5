"""Signs the agent in on the official sites, by their log-in forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentgym_envs.errors import EnvFailure, InvalidAction
from agentgym_envs.webarena.actions import WebAction
from agentgym_envs.webarena.browsers.chromium.browser import ChromiumBrowser
from agentgym_envs.webarena.page import Node

FIELD_ROLES = ("textbox", "searchbox")


@dataclass(frozen=True)
class Account:
    """An account on one site.

    Attributes:
        username: or the e-mail address, as the form asks for it.
        password: in plain text; the official ones are public.
        path: of the log-in form.
    """

    username: str
    password: str
    path: str


ACCOUNTS: Mapping[str, Account] = {
    "shopping": Account("emma.lopez@gmail.com", "Password.123", "/customer/account/login/"),
    "shopping_admin": Account("admin", "admin1234", "/"),
    "reddit": Account("MarvelsGrantMan136", "test1234", "/login"),
    "gitlab": Account("byteblaze", "hello1234", "/users/sign_in"),
}
"""WebArena's published accounts; the map and the encyclopedia have none."""


def sign_in(origins: Mapping[str, str], site: str, account: Account) -> dict[str, str]:
    """Fill in a site's log-in form and return the cookies that it sets.

    Raises:
        EnvFailure: there is no form, or it does not let the account in.
    """
    browser = ChromiumBrowser(None, origins=origins)
    address = origins[site].rstrip("/") + account.path
    try:
        browser.open(address, {})
        username, password = _fields(browser, address)
        browser.act(WebAction("type", username.element, account.username, press_enter=False))
        _, password = _fields(browser, address)  # the page may have changed while typing
        browser.act(WebAction("type", password.element, account.password, press_enter=True))
        if _password_field(browser) is not None:
            raise EnvFailure(f"{site} does not let {account.username!r} in; check accounts=")
        return browser.cookies(site)
    except InvalidAction as error:
        raise EnvFailure(f"cannot sign in on {site}: {error}") from error
    finally:
        browser.close()


def _fields(browser: ChromiumBrowser, address: str) -> tuple[Node, Node]:
    """Return the fields for the name, which stands before it, and for the password."""
    password = _password_field(browser)
    fields = [node for node in browser.page().nodes if node.role in FIELD_ROLES]
    before = [] if password is None else fields[: fields.index(password)]
    if password is None or not before:
        shown = " ".join(node.name for node in browser.page().nodes if node.name)
        raise EnvFailure(f"{address} shows no log-in form, but {shown!r:.300}")
    return before[-1], password


def _password_field(browser: ChromiumBrowser) -> Node | None:
    return next(
        (
            node
            for node in browser.page().nodes
            if node.role in FIELD_ROLES and "password" in node.name.lower()
        ),
        None,
    )

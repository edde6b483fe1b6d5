"""Signs the agent in on the official sites, by their log-in forms or by a header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.chromium.browser import ChromiumBrowser
from agentgym_envs.browsing.page import Node
from agentgym_envs.errors import EnvFailure, InvalidAction
from agentgym_envs.machinery.secrets import keep_out
from agentgym_envs.webarena.option_values import load_option

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
"""WebArena's published accounts. The map and the encyclopedia have none."""


LOG_INS = ("form", "header")

AUTO_LOGIN: Mapping[str, str] = {
    "shopping": "X-M2-Customer-Auto-Login",
    "shopping_admin": "X-M2-Admin-Auto-Login",
    "reddit": "X-Postmill-Auto-Login",
}
"""The headers by which the images of `webarena-verified` sign in `username:password`.

The other sites have none.
"""


def read_accounts(value: Any) -> dict[str, Account]:
    """Return WebArena's accounts with others in their place.

    Args:
        value: `{site: Account}`, or `{site: {"username", "password", "path"}}`, whose path may be
            left out where WebArena has one; `"module:name"` or a `.json` file of it; or None.

    Raises:
        ValueError: it is something else.
    """
    given = load_option("accounts", value)
    if callable(given):
        given = given()
    if not isinstance(given, Mapping | None):
        raise ValueError(f"accounts must map sites to accounts, got {type(given).__name__}")
    return {**ACCOUNTS, **{site: _account(site, one) for site, one in (given or {}).items()}}


def _account(site: str, given: Any) -> Account:
    names = [field.name for field in fields(Account)]
    if isinstance(given, Account):
        return given
    own = {"path": ACCOUNTS[site].path} if site in ACCOUNTS else {}
    held = {**own, **given} if isinstance(given, Mapping) else {}
    if sorted(held) != sorted(names) or not all(isinstance(text, str) for text in held.values()):
        raise ValueError(
            f"accounts[{site!r}] must have {', '.join(names)} as text; it has "
            f"{', '.join(sorted(held)) or 'nothing'}"
        )
    keep_out(held["password"])
    return Account(**held)


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

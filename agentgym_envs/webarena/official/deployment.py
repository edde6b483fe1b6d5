"""Describes a deployment of the official sites: its addresses, log-in states and resets."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agentgym_envs.browsing.chromium.browser import ChromiumBrowser
from agentgym_envs.sites.names import ORIGINS
from agentgym_envs.webarena.deployments import Episode, fill_values
from agentgym_envs.webarena.evaluators import build_evaluators
from agentgym_envs.webarena.official.accounts import AUTO_LOGIN, LOG_INS, read_accounts, sign_in
from agentgym_envs.webarena.official.functions import OfficialFunctions
from agentgym_envs.webarena.official.resetting import check_when, read_reset_hook
from agentgym_envs.webarena.option_values import load_option
from agentgym_envs.webarena.tasks.files import WebTask

SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia", "homepage")

ENVIRONMENT = "environment"
"""A `sites=` that reads WebArena's environment variables, `SHOPPING` and so on."""

COOKIES_SECONDS = 600.0
"""Lifetime of a log-in. The shop's administration forgets it soonest."""


def read_sites(sites: Mapping[str, str] | str) -> dict[str, str]:
    """Return the addresses of a deployment without slashes at the end.

    Raises:
        ValueError: a site is unknown, an address is none, or the environment names no site.
    """
    if sites == ENVIRONMENT:
        sites = {site: os.environ.get(site.upper(), "") for site in SITES}
        sites = {site: url for site, url in sites.items() if url}
    if not isinstance(sites, Mapping) or not sites:
        raise ValueError(
            f"sites must map {', '.join(SITES)} to addresses, or be {ENVIRONMENT!r} with "
            f"{', '.join(site.upper() for site in SITES)} set; got {sites!r}"
        )
    for site, url in sites.items():
        if site not in SITES:
            raise ValueError(f"unknown site {site!r} in sites; allowed: {', '.join(SITES)}")
        _check_address(f"sites[{site!r}]", url)
    return {site: url.rstrip("/") for site, url in sites.items()}


def _check_address(name: str, url: str) -> None:
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"{name} must be an http address, got {url!r}")


class OfficialDeployment:
    """Official sites, which all episodes share.

    Args:
        sites: their addresses, as `read_sites` gives them.
        accounts: who the agent is, where not WebArena's own accounts; see `read_accounts`.
        log_in: `"form"`, or `"header"` for the sites of `AUTO_LOGIN`, whose images take one.
        headers: further HTTP headers by site, sent with each request to it.
        reset_hook: puts the sites back; see `read_reset_hook`.
        reset: `"changed"` calls it before a task when the one before it may have changed a site,
            `"always"` before every task.
        services: origins that the sites' pages may ask beside the sites, such as a map's router;
            whatever else a page or the agent asks for is answered in the network's place.
        is_verified: record each episode's network traffic, and have `webarena-verified` judge it.

    Raises:
        ValueError: an argument has a value that is not allowed.
        ImportError: `webarena-verified` is to judge, but is not here with all that it requires.
    """

    backend = "chromium"

    def __init__(
        self,
        sites: Mapping[str, str],
        *,
        accounts: Any = None,
        log_in: str = "form",
        headers: Any = None,
        reset_hook: Any = None,
        reset: str = "changed",
        services: Sequence[str] = (),
        is_verified: bool = False,
    ) -> None:
        if is_verified:
            # Imported for what it raises: better now than at the end of the first episode.
            from agentgym_envs.webarena.official import verified  # noqa: F401
        self.sites = sites
        for service in services:
            _check_address("services", service)
        self._services = tuple(services)
        self._is_verified = is_verified
        self._accounts = read_accounts(accounts)
        if log_in not in LOG_INS:
            raise ValueError(f"unknown log_in {log_in!r}; allowed: {', '.join(LOG_INS)}")
        self._by_header = set(AUTO_LOGIN) if log_in == "header" else set()
        self._headers = _read_headers(headers, sites)
        self._reset_hook = read_reset_hook(reset_hook, sites)
        self._resets_always = check_when(reset)
        if self._resets_always and self._reset_hook is None:
            raise ValueError("reset='always' needs a reset_hook=, which puts the sites back")
        self._cookies: dict[str, tuple[float, dict[str, str]]] = {}
        self._before: WebTask | None = None

    def fill(self, text: str) -> str:
        """Replace the placeholders by the addresses that pages show."""
        # The longest first, although no placeholder is part of another today.
        for site in sorted(SITES, key=len, reverse=True):
            text = text.replace(
                f"__{site.upper()}__", ORIGINS.get(site) or self.sites.get(site, "")
            )
        return text

    def begin(self, task: WebTask, tree: str = "short") -> Episode:
        """Make ready: sites put back if need be, and a browser in which the agent is signed in.

        Raises:
            ValueError: the task needs a site that has no address.
        """
        evaluators = build_evaluators(fill_values(self, task.eval), is_original=True)
        missing = sorted(set(task.sites) - set(self.sites))
        if missing:
            raise ValueError(f"the task webarena_{task.task_id} needs {missing}; add it to sites=")
        if self._resets_always or self._before is not None:
            self._put_back(self._before or task)
        self._before = task if self._resets_always or may_change(task) else None
        needed = (
            [site for site in task.sites if site in self._accounts] if task.require_login else []
        )
        cookies = {site: self._signed_in(site) for site in needed if site not in self._by_header}
        headers = self._request_headers([site for site in needed if site in self._by_header])
        shop, administrator = self.sites.get("shopping", ""), self._accounts["shopping_admin"]
        functions = OfficialFunctions(shop, administrator)
        if self._is_verified:
            return self._recorded(task, tree, cookies, functions, headers)
        return Episode(self._browser(headers, tree), cookies, functions, evaluators)

    def _put_back(self, task: WebTask) -> None:
        if self._reset_hook is not None:
            self._reset_hook(task)
            self._cookies.clear()

    def _request_headers(self, signed_in: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return each site's request headers, an account's among them."""
        headers = {site: dict(values) for site, values in self._headers.items()}
        for site in signed_in:
            account = self._accounts[site]
            own = {AUTO_LOGIN[site]: f"{account.username}:{account.password}"}
            headers[site] = {**own, **headers.get(site, {})}
        return headers

    def _browser(
        self, headers: Mapping[str, Mapping[str, str]], tree: str, har: Path | None = None
    ) -> ChromiumBrowser:
        return ChromiumBrowser(
            None,
            origins=self.sites,
            services=self._services,
            headers=headers,
            har=har,
            tree=tree,
        )

    def _recorded(
        self,
        task: WebTask,
        tree: str,
        cookies: dict[str, dict[str, str]],
        functions: OfficialFunctions,
        headers: Mapping[str, Mapping[str, str]],
    ) -> Episode:
        # Imported here: the package is needed for nothing else.
        from agentgym_envs.webarena.official.verified import VerifiedEvaluator

        folder = TemporaryDirectory(prefix="agentgym_webarena_")
        browser = self._browser(headers, tree, Path(folder.name) / "network.har")
        evaluator = VerifiedEvaluator(task.task_id, self.sites, browser)
        return Episode(browser, cookies, functions, (evaluator,), folder=folder)

    def _signed_in(self, site: str) -> dict[str, str]:
        since, cookies = self._cookies.get(site, (float("-inf"), {}))
        if time.monotonic() - since > COOKIES_SECONDS:
            cookies = sign_in(self.sites, site, self._accounts[site])
            self._cookies[site] = (time.monotonic(), cookies)
        return cookies


def _read_headers(value: Any, sites: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return `{site: {name: value}}`, which may stand in a `.json` file.

    Raises:
        ValueError: it is something else, or a site is unknown.
    """
    given = load_option("headers", value)
    is_right = isinstance(given, Mapping | None) and all(
        site in sites
        and isinstance(values, Mapping)
        and all(isinstance(text, str) for pair in values.items() for text in pair)
        for site, values in (given or {}).items()
    )
    if not is_right:
        raise ValueError(
            f"headers must map sites of {sorted(sites)} to headers, such as "
            "{'shopping': {'X-Name': 'value'}}, all of them text"
        )
    return {site: dict(values) for site, values in (given or {}).items()}


def may_change(task: WebTask) -> bool:
    """Return whether solving a task changes a site, as far as its evaluators show."""
    return task.require_reset or "program_html" in task.eval["eval_types"]

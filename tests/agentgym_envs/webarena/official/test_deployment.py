"""What a command line can say of a deployment: accounts, headers, how sites are put back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright")

from agentgym_envs import EnvFailure
from agentgym_envs.webarena.official.accounts import ACCOUNTS, Account, read_accounts
from agentgym_envs.webarena.official.deployment import OfficialDeployment
from agentgym_envs.webarena.official.env import WebArenaOfficialEnv
from agentgym_envs.webarena.official.resetting import read_reset_hook
from agentgym_envs.webarena.tasks.files import WebTask
from tests.agentgym_envs.webarena import small_tasks


class Site(ThreadingHTTPServer):
    """Answers with what it was asked."""

    asked: list[tuple[str, str, dict[str, str]]]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.asked.append((self.command, self.path, dict(self.headers)))
        body = b"<title>Site</title><h1>Hello</h1>"
        self.send_response(404 if self.path == "/none" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def site() -> Iterator[Site]:
    server = Site(("127.0.0.1", 0), Handler)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


SITES = {"shopping": "http://host:1", "gitlab": "http://host:2"}
TASK = WebTask(("shopping",), 3, "__SHOPPING__", "", {})


def hook(task: WebTask) -> None:
    """Be named by `module:function`."""


# Accounts ---------------------------------------------------------------------------------------


def test_accounts_are_objects_or_their_fields(tmp_path: Path) -> None:
    given = {"gitlab": {"username": "ida", "password": "a-secret"}}
    expected = Account("ida", "a-secret", ACCOUNTS["gitlab"].path)
    path = tmp_path / "accounts.json"
    path.write_text(json.dumps(given))
    for value in (given, str(path), {"gitlab": expected}):
        accounts = read_accounts(value)
        assert accounts["gitlab"] == expected
        assert accounts["reddit"] == ACCOUNTS["reddit"]
    assert read_accounts(None) == ACCOUNTS


@pytest.mark.parametrize(
    ("accounts", "message"),
    [
        ([], "must map sites"),
        ({"gitlab": {"username": "ida"}}, r"accounts\['gitlab'\] must have"),
        ({"gitlab": {"username": "ida", "password": 1}}, "as text"),
        ({"gitlab": "ida"}, "it has nothing"),
        ({"map": {"username": "ida", "password": "x"}}, "must have username, password, path"),
    ],
)
def test_other_accounts_are_refused(accounts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_accounts(accounts)


# Putting sites back -----------------------------------------------------------------------------


def test_an_address_of_each_site_puts_it_back(site: Site) -> None:
    hook = read_reset_hook({"shopping": f"{site.address}/restart?wait=1"}, SITES)
    assert hook is not None
    hook(TASK)
    hook(WebTask(("gitlab",), 4, "", "", {}))
    assert [asked[:2] for asked in site.asked] == [("POST", "/restart?wait=1")]
    failing = read_reset_hook({"shopping": f"{site.address}/none"}, SITES)
    assert failing is not None
    with pytest.raises(EnvFailure, match="shopping is not put back: .*/none answers .*404"):
        failing(TASK)


def test_a_function_is_named_by_its_module() -> None:
    assert read_reset_hook(f"{__name__}:hook", SITES) is hook


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"reset_hook": {"shopping": "host"}}, "must map sites of"),
        ({"reset_hook": {"map": "http://host"}}, "must map sites of"),
        ({"reset_hook": "put_back"}, "must be module:name"),
        ({"reset_hook": 3}, "must be a function"),
        ({"reset": "never"}, "unknown reset 'never'; allowed: changed, always"),
        ({"reset": "always"}, "needs a reset_hook="),
        ({"log_in": "cookie"}, "unknown log_in 'cookie'; allowed: form, header"),
        ({"headers": {"map": {}}}, "headers must map sites of"),
        ({"headers": {"shopping": {"X": 1}}}, "all of them text"),
        ({"headers": ["X"]}, "headers must map sites of"),
    ],
)
def test_other_arguments_are_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OfficialDeployment(SITES, **kwargs)


@pytest.mark.parametrize(("reset", "expected"), [("changed", [0]), ("always", [0, 0, 1])])
def test_sites_are_put_back_if_changed_or_always(reset: str, expected: list[int]) -> None:
    seen: list[int] = []

    def note(task: WebTask) -> None:
        seen.append(task.task_id)

    deployment = OfficialDeployment(SITES, reset_hook=note, reset=reset)
    target = {"url": "last", "locator": "", "required_contents": {"must_include": ["x"]}}
    looks = {"eval_types": ["program_html"], "program_html": [target]}
    arrives = {"eval_types": ["url_match"], "reference_url": "__SHOPPING__"}
    for number, evaluation in enumerate((looks, arrives, looks)):
        task = WebTask(("shopping",), number, "", "", evaluation, require_login=False)
        deployment.begin(task).close()
    assert seen == expected


# Headers ----------------------------------------------------------------------------------------


@pytest.mark.browser
def test_headers_sign_in_and_go_to_their_site_alone(site: Site, tmp_path: Path) -> None:
    other = Site(("127.0.0.1", 0), Handler)
    other.asked = []
    threading.Thread(target=other.serve_forever, daemon=True).start()
    values = {"sites": ["reddit"], "start_url": "__REDDIT__/f/books"}
    evaluation = {"eval_types": ["url_match"], "reference_url": "__REDDIT__/f/books"}
    env = WebArenaOfficialEnv(
        sites={"reddit": site.address, "gitlab": other.address},
        tasks_file=small_tasks.write(
            tmp_path / "tasks.json", [small_tasks.task(0, evaluation, **values)]
        ),
        accounts={"reddit": {"username": "ida", "password": "a-secret"}},
        log_in="header",
        headers={"reddit": {"X-More": "yes"}},
        split="test",
    )
    env.reset(options={"task_id": 0})
    env.step("goto [http://gitlab.test/x]")
    env.step("goto [http://reddit.test/f/books]")
    *_, info = env.step("stop []")
    assert info["success"], env.verdict
    env.close()
    other.shutdown()
    other.server_close()
    pages = [
        {name.lower(): value for name, value in headers.items()}
        for _, path, headers in site.asked
        if path == "/f/books"
    ]
    assert len(pages) == 2
    for headers in pages:
        assert headers["x-postmill-auto-login"] == "ida:a-secret"
        assert headers["x-more"] == "yes"
    assert other.asked
    assert not any("x-more" in {name.lower() for name in headers} for *_, headers in other.asked)

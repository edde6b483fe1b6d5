"""Episodes in Chromium that `webarena-verified` judges by what Chromium recorded.

The sites are a small imitation: the few pages and forms of the official ones that two tasks touch.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip(
    "agentgym_envs.webarena.official.verified",
    reason="needs webarena-verified with all that it requires: make test-partner NAME=official",
    exc_type=ImportError,
)

from agentgym_envs.webarena.official.env import WebArenaOfficialEnv
from agentgym_envs.webarena.prompts import instructions

pytestmark = [
    pytest.mark.browser,
    # url-normalize 2.2.1, which the package requires, passes what idna 3.20 no longer heeds.
    pytest.mark.filterwarnings("ignore:Transitional processing:DeprecationWarning"),
]

BIOGRAPHY = "/user/MarvelsGrantMan136/edit_biography"

LOGIN = """<h1>Sign in</h1><form method="post"><label>Name <input name="name"></label>
<label>Password <input type="password" name="password"></label><button>Sign in</button></form>"""
FORM = """<h1>Biography</h1><form method="post"><label>Biography
<input name="user_biography[biography]"></label><button>Save</button></form>"""
HOME = f"""<h1>Home</h1><a href="/dashboard/todos">To-do list</a>
<a href="{BIOGRAPHY}">Edit biography</a>"""
PAGES = {
    "/": HOME,
    "/login": LOGIN,
    "/users/sign_in": LOGIN,
    BIOGRAPHY: FORM,
    "/dashboard/todos": '<h1>To-do list</h1><a href="/">Home</a>',
}


class Site(BaseHTTPRequestHandler):
    """Answers for either site."""

    def do_GET(self) -> None:
        page = PAGES.get(self.path)
        is_known = page is not None and (page is LOGIN or "is_in=1" in str(self.headers["Cookie"]))
        body = f"<!doctype html><title>Site</title>{page if is_known else 'Nothing'}".encode()
        self.send_response(200 if is_known else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(302)
        if PAGES[self.path] is LOGIN:
            self.send_header("Set-Cookie", "is_in=1; Path=/")
        self.send_header("Location", "/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(params=["reddit"])
def env(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WebArenaOfficialEnv]:
    """The verified tasks on the imitation of one site; recordings lie in `tmp_path`."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    env = WebArenaOfficialEnv(
        sites={request.param: f"http://127.0.0.1:{server.server_port}"},
        evaluation="verified",
        split="test",
    )
    yield env
    env.close()
    server.shutdown()
    server.server_close()
    thread.join()


def element(env: WebArenaOfficialEnv, role: str, name: str) -> int:
    return next(
        node.element for node in env.browser.page().nodes if node.role == role and name in node.name
    )


def recordings(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith("agentgym_webarena_")]


@pytest.mark.parametrize(("text", "success"), [("I am a robot", True), ("I am ill", False)])
def test_a_change_counts_when_the_right_form_was_sent(
    env: WebArenaOfficialEnv, tmp_path: Path, text: str, success: bool
) -> None:
    observation, _ = env.reset(options={"task_id": 399})
    assert 'Goal: Change my bio to "I am a robot"' in observation
    assert len(recordings(tmp_path)) == 1
    env.step(f"click [{element(env, 'link', 'Edit biography')}]")
    env.step(f"type [{element(env, 'textbox', 'Biography')}] [{text}] [0]")
    env.step(f"click [{element(env, 'button', 'Save')}]")
    _, reward, terminated, _, info = env.step("stop []")
    assert (reward, terminated, info["success"]) == (float(success), True, success), env.verdict
    assert info["url"] == "http://reddit.test/"
    env.close()
    assert recordings(tmp_path) == []


@pytest.mark.parametrize("env", ["gitlab"], indirect=True)
def test_the_page_that_was_opened_last_counts(env: WebArenaOfficialEnv, tmp_path: Path) -> None:
    env.reset(options={"task_id": 44})
    env.step(f"click [{element(env, 'link', 'To-do list')}]")
    *_, info = env.step("stop []")
    assert info["success"], env.verdict
    env.reset(options={"task_id": 44})
    assert len(recordings(tmp_path)) == 1
    env.step("goto [http://gitlab.test/dashboard/todos]")
    env.step("goto [http://gitlab.test/]")
    *_, info = env.step("stop []")
    assert not info["success"] and not info["unscored"]


@pytest.mark.parametrize("env", ["gitlab"], indirect=True)
def test_doing_nothing_fails_and_the_last_picture_remains(env: WebArenaOfficialEnv) -> None:
    env.reset(options={"task_id": 44})
    *_, info = env.step("stop []")
    assert not info["success"] and env.verdict is not None
    assert any("No matching network event" in reason for reason in env.verdict.reasons)
    env.render_mode = "rgb_array"
    before = env.render()
    assert before.shape == (720, 1280, 3)


def test_the_instructions_say_how_to_give_several_values(env: WebArenaOfficialEnv) -> None:
    assert env.instructions == instructions("plain", is_verified=True, asks_reason=False)
    assert 'such as stop [["first", "second"]], or' in env.instructions

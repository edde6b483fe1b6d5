"""What the browser gets: the package's files and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agentgym_envs.miniwob import pages


def test_a_page_is_the_package_s_with_our_script_before_its_own() -> None:
    reply = pages.answer(pages.page_url("click-test"))
    assert reply is not None
    assert reply.content_type == "text/html; charset=utf-8"
    own = b'<script src="/agentgym.js"></script>'
    file = pages.pages_folder() / "miniwob" / "click-test.html"
    assert reply.body.replace(own, b"", 1) == file.read_bytes()
    assert reply.body.index(own) < reply.body.index(b"core.js")


def test_what_pages_load_is_answered() -> None:
    for path in ("/agentgym.js", "/core/core.js", "/core/core.css", "/common/ui_utils.js"):
        assert pages.answer(pages.ORIGIN + path) is not None


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/",
        "http://miniwob.test.example.com/core/core.js",
        "https://miniwob.test/core/core.js",
        f"{pages.ORIGIN}/",
        f"{pages.ORIGIN}/core",
        f"{pages.ORIGIN}/miniwob/no-such-task.html",
        f"{pages.ORIGIN}/../registration.py",
        f"{pages.ORIGIN}/%2e%2e/registration.py",
        f"{pages.ORIGIN}//etc/passwd",
        f"{pages.ORIGIN}/%00",
        "http://[",
        "data:text/html,x",
    ],
)
def test_nothing_else_is_answered(url: str) -> None:
    assert pages.answer(url) is None


@pytest.mark.full
def test_the_package_s_python_and_selenium_are_never_imported() -> None:
    code = (
        "import sys, agentgym_envs.miniwob.env as module; module.MiniWoBEnv(); "
        "sys.exit(str([name for name in sys.modules if name.startswith(('miniwob', 'selenium'))]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    ).stderr
    assert result.strip() == "[]"

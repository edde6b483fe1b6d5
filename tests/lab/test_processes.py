from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lab import processes
from lab.processes import ROOT, Child, with_checkout


@pytest.mark.slow
def test_a_child_ends_with_all_that_it_has_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ends at once, its child when it has written its checkpoint, the last never."""
    script = """
        (trap 'sleep 0.3; echo saved; exit' TERM; echo a; sleep 60 & wait) &
        (trap '' TERM; echo b; sleep 60; echo never) &
        trap 'exit 1' TERM; wait
    """
    monkeypatch.setattr(processes, "GRACE", 1.0)
    with Child(["bash", "-c", script]) as child:
        assert {child.first_line(), child.first_line()} == {"a\n", "b\n"}
        child.end()
        assert child.first_line() == "saved\n"  # until the last of them is gone
        assert child.first_line() == ""


@pytest.mark.parametrize(
    ("script", "code", "ending"),
    [("exit 3", 3, "exit status 3"), ("kill -TERM $$", -15, "killed by SIGTERM")],
)
def test_a_childs_end_is_said_in_words_and_its_log_is_kept(
    script: str, code: int, ending: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.txt"
    log.write_text("before\n")
    with Child(["bash", "-c", f"echo out; echo err >&2; {script}"], log=log) as child:
        assert child.wait(10) == code
        assert child.has_ended
        assert child.ending == ending
        assert child.log_end() == "before\nout\nerr\n"
        assert child.log_end(4) == "err\n"


def test_a_child_that_is_still_running_is_ended_at_once_without_grace() -> None:
    with Child(["bash", "-c", "trap '' TERM; echo deaf; sleep 60"]) as child:
        assert child.first_line() == "deaf\n"
        assert child.wait(0.01) is None
        assert (child.has_ended, child.ending) == (False, "still running")
        child.end(grace=0)
        assert child.ending.startswith("killed by SIGKILL")


def test_a_child_imports_this_checkout_first(tmp_path: Path) -> None:
    code = "import lab; print(lab.__path__[0])"
    with Child([sys.executable, "-c", code], environ=with_checkout(), folder=tmp_path) as child:
        assert child.first_line().strip() == str(ROOT / "lab")

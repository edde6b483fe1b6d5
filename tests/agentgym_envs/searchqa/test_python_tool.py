"""Whatever a program does, it is answered with text, in bounded time, and nothing else happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentgym_envs.searchqa import python_tool
from agentgym_envs.searchqa.counting import MAX_STEPS
from agentgym_envs.searchqa.python_tool import MAX_SHOWN, NO_OUTPUT, run_program, run_python

ROOT = Path(__file__).parents[3]


def test_what_is_printed_and_the_last_value_are_shown() -> None:
    assert run_python("print('a')\nprint('b', 2)\n3 * 4") == "a\nb 2\n12"
    assert run_python("x = 1") == NO_OUTPUT


def test_programs_start_afresh() -> None:
    run_python("x = 1")
    assert "NameError" in run_python("print(x)")


def test_useful_modules_are_there() -> None:
    program = """
    import datetime, json, math, re
    from collections import Counter
    days = (datetime.date(1871, 5, 4) - datetime.date(1870, 5, 4)).days
    print(days, math.sqrt(9), re.findall("[0-9]+", "a1b22"), json.dumps({"a": 1}))
    print(Counter("aab").most_common(1))
    """
    assert run_python(textwrap.dedent(program)) == ("365 3.0 ['1', '22'] {\"a\": 1}\n[('a', 2)]")


@pytest.mark.parametrize(
    ("program", "output"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise ValueError('bad')", "ValueError: bad"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise SystemExit(3)", "Error"),
        ("assert 1 == 2", "AssertionError"),
        ("[][1]", "IndexError"),
        ("{}['a']", "KeyError"),
        ("undefined", "NameError"),
        ("await 3", "TypeError"),
    ],
)
def test_errors_of_a_program_are_shown_after_what_it_printed(program: str, output: str) -> None:
    text, is_program = run_program(f"print('before')\n{program}")
    assert text.startswith("before\n")
    assert output in text
    assert is_program


def test_what_the_sandbox_lacks_of_python_is_told() -> None:
    text = run_python("class Wrong(ValueError):\n    pass")
    assert "does not yet support class inheritance" in text


@pytest.mark.parametrize(
    "program",
    ["", " \n\t", "def (", "x = 1\0", "'\ud800'", "(" * 10_000, "[" * 100_000, "-" * 100_000 + "1"],
)
def test_what_is_no_program_is_told_from_a_program_that_fails(program: str) -> None:
    text, is_program = run_program(program)
    assert not is_program
    assert 0 < len(text) <= MAX_SHOWN + 80


@pytest.mark.parametrize(
    "program",
    [
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "try:\n    while True: pass\nexcept BaseException: pass\nprint('caught')",
        "while (n := 1): n += 1",
        "import time\nwhile True: time.sleep(1)",
        "while True: print('flood')",
        "for i in range(10**12):\n    for j in []: pass",
        "for i in range(10**12):\n    if i < 0: pass",
        "for i in range(10**12):\n    try:\n        x = i\n    except ValueError: pass",
        "for i in range(10**12):\n    match i:\n        case 0: pass",
        "def f(n):\n    if n < 2: return n\n    return f(n - 1) + f(n - 2)\nf(60)",
        "f = lambda n: n if n < 2 else f(n - 1) + f(n - 2)\nf(60)",
        "[i for i in range(10**12) if i < 0]",
        "sum(i * i for i in range(10**12))",
        "{i: j for i in range(10**12) for j in range(3)}",
        "list(map(lambda x: x, range(10**12)))",
        "class A:\n    def __repr__(self):\n        while True: pass\nA()",
        "next = 3\nwhile True: pass",
    ],
)
def test_slow_programs_end_by_counted_steps(program: str) -> None:
    assert run_python(program) == "TimeoutError: stopped after 1,000,000 steps"


def test_as_many_steps_as_are_allowed_end_well_whatever_the_clock_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(python_tool, "MAX_SECONDS", 120.0)  # however busy this machine is
    program = f"n = 0\nwhile n < {MAX_STEPS - 1}: n += 1\nn"
    assert run_python(program) == f"{MAX_STEPS - 1}"
    assert "stopped" in run_python(program.replace(f"{MAX_STEPS - 1}", f"{MAX_STEPS + 1}"))


@pytest.fixture
def one_second(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Shorten the last resort, and start workers that keep to it."""
    monkeypatch.setattr(python_tool, "MAX_SECONDS", 1.0)
    workers = python_tool._Workers()
    monkeypatch.setattr(python_tool, "_workers", workers)
    yield
    workers.close()


@pytest.mark.parametrize(
    "program",
    [
        "x = [0]\nwhile True: x = x + x",
        "x = 'a' * 10**12",
        "x = 'a'\nwhile True: x *= 10",
        "x = 10 ** 10 ** 10",
        "x = 1 << 10**12",
        "x = list(range(10**10))",
        "x = f'{1:1000000000}'",
        "x = ('a' * 10**6).replace('a', 'b' * 10**6)",
        "x = []\nwhile True:\n    try: x.append('a' * 1000)\n    except BaseException: pass",
    ],
)
def test_memory_bombs_are_stopped(program: str) -> None:
    assert run_python(program) == "MemoryError: more than 64 MB of memory"


@pytest.mark.parametrize(
    "program",
    [
        "def f(n): return f(n + 1)\nf(0)",
        "f = lambda g: g(g)\nf(f)",
        "x = ()\nfor i in range(100000): x = (x,)\nhash(x)",
    ],
)
def test_deep_recursion_is_an_error_of_the_program(program: str) -> None:
    assert "RecursionError" in run_python(program)


@pytest.mark.parametrize(
    "program",
    [
        "import subprocess",
        "import socket",
        "import ctypes",
        "import urllib.request",
        "import os\nos.system('true')",
        "import os\nos.listdir('/')",
        "import os\nos.fork()",
        "import os\nos.environ['HOME']",
        "import os\nos.getenv('HOME')",
        "import sys\nsys.modules",
        "open('/etc/passwd').read()",
        "open('made-by-a-program', 'w').write('x')",
        "import pathlib\npathlib.Path('made-by-a-program').write_text('x')",
        "__import__('os').system('true')",
        "().__class__.__bases__[0].__subclasses__()",
        "(lambda: 0).__globals__",
        "eval(\"open('/etc/passwd')\")",
        "exec('import socket')",
        "globals()",
        "input()",
        "exit()",
    ],
)
def test_files_processes_network_and_the_interpreter_are_out_of_reach(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, _ = run_program(f"{program}\nprint('reached')")
    assert "Error" in text
    assert "reached" not in text.splitlines()
    assert "root:" not in text
    assert list(tmp_path.iterdir()) == []


def test_long_output_is_cut_visibly() -> None:
    text = run_python("for i in range(5000): print(i)")
    assert text.startswith("0\n1\n2\n")
    assert text.endswith(f"\n(cut: {MAX_SHOWN} of 23890 characters are shown)")
    assert len(run_python("'x' * 100000")) < MAX_SHOWN + 60
    assert len(run_python("raise ValueError('x' * 100000)")) < MAX_SHOWN + 60


@pytest.mark.parametrize(
    "program",
    [
        "10 ** 5000",
        "x = []\nx.append(x)\nx",
        "x = []\nfor i in range(100000): x = [x]\nx",
        "class A:\n    def __repr__(self): return repr(self)\nA()",
        "(i for i in range(3))",
        "float('nan')",
        "b'\\xff'",
        "'\\ud800'",
        "print('a\\0b')",
        "print('é☃\\u2028')",
    ],
)
def test_every_value_can_be_shown(program: str) -> None:
    text, is_program = run_program(program)
    assert is_program and text
    text.encode()


def test_programs_say_the_same_each_time_and_in_every_process() -> None:
    program = (
        "import random, time, datetime\n"
        "print(random.random(), time.time(), datetime.datetime.now(), hash('a'), {'b', 'a', 'c'})"
    )
    script = (
        f"from agentgym_envs.searchqa.python_tool import run_python; print(run_python({program!r}))"
    )
    other = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert run_python(program) == run_python(program) == other.strip()


def test_killed_workers_are_replaced() -> None:
    threads = [threading.Thread(target=run_python, args=["sum(range(1000))"]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _workers()
    for pid in _workers():
        os.kill(pid, signal.SIGKILL)
    assert run_python("1 + 1") == "2"


def test_threads_share_the_workers() -> None:
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: answers.append(run_python(f"{n} * 2")))  # type: ignore[misc]
        for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers, key=int) == [str(n * 2) for n in range(12)]


def test_a_forked_child_says_what_it_cannot_do_instead_of_hanging() -> None:
    script = """
    import os, sys
    from agentgym_envs import EnvFailure
    from agentgym_envs.searchqa.python_tool import run_python
    run_python("1")
    pid = os.fork()
    if pid == 0:
        try:
            run_python("2")
        except EnvFailure as failure:
            print("child:", failure, flush=True)
        sys.exit(0)
    os.waitpid(pid, 0)
    print("parent:", run_python("3"))
    """
    output = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    assert "child: this process was forked" in output
    assert "parent: 3" in output


def test_no_worker_outlives_its_process() -> None:
    script = (
        "import os, subprocess\n"
        "from agentgym_envs.searchqa.python_tool import run_python\n"
        "run_python('1')\n"
        "print(subprocess.run(['ps', '-o', 'pid=,comm=', '--ppid', str(os.getpid())],"
        " capture_output=True, text=True).stdout)"
    )
    output = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    workers = [int(line.split()[0]) for line in output.splitlines() if "monty" in line]
    assert workers
    for pid in workers:
        for _ in range(50):
            if not _runs(pid):
                break
            time.sleep(0.1)
        assert not _runs(pid)


def _workers() -> list[int]:
    children = subprocess.run(
        ["ps", "-o", "pid=,comm=", "--ppid", str(os.getpid())], capture_output=True, text=True
    ).stdout
    return [int(line.split()[0]) for line in children.splitlines() if "monty" in line]


def _runs(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and ") Z " not in stat.read_text()


@pytest.mark.full
@pytest.mark.parametrize(
    "program",
    [
        "import math\nmath.gcd(7**(10**6), 3**(10**6))",  # asks nobody whether time is up
        "import math\nmath.factorial(10**7)",
        "sum(range(10**12))",
    ],
)
def test_a_step_that_does_not_end_is_stopped_by_the_clock(program: str, one_second: None) -> None:
    assert run_python(program) == "TimeoutError: stopped after 1 seconds"


@pytest.mark.full
@pytest.mark.parametrize("last", ["a", "{a: 1}", "{a}"])
def test_a_value_that_never_ends_is_stopped_inside_the_sandbox(last: str) -> None:
    # In a process of its own: what this would hang is the process, whose other slots would wait.
    program = f"a = (0,)\nfor i in range(60): a = (a, a)\n{last}"
    script = (
        "from agentgym_envs.searchqa import python_tool as tool; tool.MAX_SECONDS = 1.0; "
        f"print(tool.run_python({program!r}))"
    )
    output = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=90
    ).stdout
    assert output.startswith(("MemoryError", "TimeoutError"))


@pytest.mark.parametrize(
    ("last", "shown"),
    [
        ("return {a: 1}", "SyntaxError: 'return' outside function"),
        ('f"{\'a\' + "b"}"\nreturn {a: 1}', NO_OUTPUT),  # no program before Python 3.12
        ("def repr(x): return {a: 1}\n3", "3"),
    ],
)
def test_no_value_leaves_the_sandbox_as_an_object(last: str, shown: str) -> None:
    # In a process of its own, which would hash the dict's key for ever.
    program = f"a = (0,)\nfor i in range(64): a = (a, a)\n{last}"
    script = (
        f"from agentgym_envs.searchqa.python_tool import run_python; print(run_python({program!r}))"
    )
    output = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=90
    ).stdout
    allowed = (shown, "SyntaxError: 'return' outside") if '"b"' in last else shown
    assert output.startswith(allowed)


@pytest.mark.parametrize("value", ["", "1", "1.5", "[1]", "{'a': 1}", "b'x'", "int", "open", "a"])
@pytest.mark.parametrize(
    "form", ["return {}", "if True:\n    return {}", "class A:\n    return {}"]
)
def test_a_return_outside_of_a_function_is_no_program(form: str, value: str) -> None:
    text, is_program = run_program(form.format(value))
    assert text.startswith("SyntaxError: 'return' outside function")
    assert not is_program


@pytest.mark.parametrize(
    "program",
    [
        "def __take__(*a): raise ValueError\n3",
        "def __take__(*a):\n    while True: pass\n3",
        "__take__ = 3\n3",
        "__steps__ = 3\nfor i in []: pass",
        "__size__ = 3\n3",
        "x = ['a' * 10**6 for i in range(60)]\n3",
        "'x' * 60_000_000",
        "raise ValueError('x' * 60_000_000)",
        "raise ValueError('\\n' * 20_000_000)",
    ],
)
def test_a_program_that_breaks_what_is_run_beside_it_is_answered(program: str) -> None:
    text, is_program = run_program(program)
    assert text and is_program
    assert len(text) < MAX_SHOWN + 60


def test_the_rest_of_a_long_traceback_is_counted() -> None:
    text = run_python("raise ValueError('\\n' * 2_000_000)")
    assert text.endswith("of 2000124 characters are shown)")


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        ("x = 1; x + 1", "2"),
        ("(1 +\n 2)  # a comment", "3"),
        ("'\u00e9'; 'a'", "'a'"),
        ("from collections import Counter\nCounter('aab')", "Counter({'a': 2, 'b': 1})"),
        ("print(1)", "1"),
        ("\ufeff1 + 1", "2"),
        ("if True:\n    3", NO_OUTPUT),
    ],
)
def test_the_last_value_is_shown_as_python_writes_it(program: str, shown: str) -> None:
    assert run_python(program) == shown


@pytest.mark.parametrize(
    ("program", "frames"),
    [
        ("x = 1\n1 / 0", ["2, in <module>", "1 / 0", "~~~~~"]),
        ("for i in [1]:\n    x = i / 0", ["2, in <module>", "x = i / 0", "    ~~~~~"]),
        ("while 1 / 0: pass", ["1, in <module>", "while 1 / 0: pass", "      ~~~~~"]),
        (
            "def f(x):\n    return 1 / x\n[f(y) for y in 'é' for y in [0]]",
            ["3, in <module>", "[f(y) for y in 'é' for y in [0]]", " ~~~~"]
            + ["2, in f", "return 1 / x", "       ~~~~~"],
        ),
        ("x = 'é'; [1 / 0 for _ in x]; x", ["1, in <module>", "x = 'é'; [1 / 0 for _ in x]; x"]),
    ],
)
def test_a_traceback_shows_the_program_as_it_was_written(program: str, frames: list[str]) -> None:
    lines = run_python(program).splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "ZeroDivisionError: division by zero"
    shown = [line.removeprefix('  File "program", line ').removeprefix("    ") for line in lines]
    assert shown[1 : len(frames) + 1] == frames


@pytest.mark.full
def test_endless_programs_of_many_slots_fail_no_slot(one_second: None) -> None:
    programs = ["import math\nmath.gcd(7**(10**6), 3**(10**6))"] * 32 + ["6 * 7"] * 32
    with ThreadPoolExecutor(64) as pool:
        start = time.perf_counter()
        answers = list(pool.map(run_python, programs))
    assert answers == ["TimeoutError: stopped after 1 seconds"] * 32 + ["42"] * 32
    assert time.perf_counter() - start < 60


@pytest.mark.full
def test_a_hung_worker_is_replaced_and_fails_one_call(one_second: None) -> None:
    others = set(_workers())
    run_python("1")
    hung = set(_workers()) - others
    for pid in hung:
        os.kill(pid, signal.SIGSTOP)
    stopped = len(hung)
    with ThreadPoolExecutor(stopped) as pool:
        answers = list(pool.map(run_python, ["1"] * stopped))
    assert answers == ["TimeoutError: stopped after 1 seconds"] * stopped
    assert run_python("1 + 1") == "2"


@pytest.mark.full
@pytest.mark.parametrize("named", ["", "/nowhere/monty"])
def test_a_missing_sandbox_is_told_when_the_environment_is_made(named: str, tmp_path: Path) -> None:
    script = (
        "from pydantic_monty import _binary\n"
        "_binary._script_dirs = lambda: []\n"  # as where the sandbox's own package is not there
        "import gymnasium, agentgym_envs\n"
        "try: gymnasium.make('agentgym/SearchQA-v0')\n"
        "except agentgym_envs.errors.MissingExtra as error: print(error)\n"
        "gymnasium.make('agentgym/SearchQA-v0', compat='agentgym')\n"
        "print('the original has no such tool')"
    )
    environment = {**os.environ, "PATH": "", "MONTY_BIN": named}
    output = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True
    ).stdout
    assert "<python> tool of SearchQA needs the search extra" in output
    assert 'pip install "agentgym-envs[search]"' in output
    assert output.endswith("the original has no such tool\n")


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    monkeypatch.delitem(sys.modules, python_tool.__name__)
    with pytest.raises(ImportError, match=r'pip install "agentgym-envs\[search\]"'):
        __import__(python_tool.__name__)

"""Runs a policy's Python program in a sandbox and returns its output or error.

The sandbox is `pydantic-monty`: an interpreter of its own, in worker processes, that has no files,
no network, no environment variables and no modules but a few harmless ones. Bounded are steps,
memory, recursion and what is shown. The clock stands still, random numbers are seeded and steps are
counted, so that the same program says the same on every machine, however busy. Time is bounded as
well, for what a step may do.

Only text of bounded length leaves the sandbox: values are written down inside, under the limits.
"""

from __future__ import annotations

import ast
import atexit
import ctypes
import os
import re
import shutil
import threading
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from agentgym_envs.actions.literals import MAX_CODE, read_python
from agentgym_envs.errors import EnvFailure, InvalidAction, MissingExtra, needs_extra
from agentgym_envs.searchqa.counting import (
    IS_SPENT,
    MAX_STEPS,
    PRELUDE,
    SHOW_VALUE,
    VALUE,
    Counted,
    Insertion,
    returns_outside,
)

_WHAT = "the <python> tool of SearchQA"

with needs_extra("search", _WHAT):
    import pydantic_monty as monty

MAX_SECONDS = 20.0
"""The last resort: where it ends a program, another machine might not."""
MAX_MEMORY_MB = 64
MAX_RECURSION = 200
MAX_SHOWN = 2000
"""Characters of output shown. The rest is cut, visibly."""

NO_OUTPUT = "(The program ran and printed nothing.)"

# More than there are processors: endless programs share them, and no program waits long behind any.
_MAX_PROCESSES = 16
_BACKSTOP_SECONDS = 3.0  # after the limit
_MAX_SUSPENSIONS = 100_000  # of the sandbox to ask this process
_POLICY: monty.OSPolicy = {
    "datetime": datetime(2025, 1, 1, tzinfo=UTC),
    "sleep": "zero",
    "random_start": {"seed": 0},
}
_FILE_NAME = "<python-input-1>"  # of what is run after the prelude, in tracebacks
_EXECUTED = "<string>"
_OWN_FRAME = re.compile(r'  File "<python-input-\d+>", line .*\n(?:    .*\n)*')
_MAX_READ = 500_000
"""Characters of a traceback that are looked through."""
_RETURNS = "SyntaxError: 'return' outside function; the value of the last line is shown"
_TOO_MANY_STEPS = f"TimeoutError: stopped after {MAX_STEPS:,} steps"


class ProgramRun(NamedTuple):
    """The result of a program.

    Attributes:
        text: what it printed, the value of its last line, or its error; never empty.
        is_program: it could be read as a program, whatever happened when it ran.
    """

    text: str
    is_program: bool


@cache
def check_sandbox() -> None:
    """Check that programs can be run, without starting the sandbox.

    Raises:
        MissingExtra: the sandbox's program is not installed.
    """
    named = os.environ.get("MONTY_BIN")
    if named and shutil.which(named) is None:
        raise MissingExtra("search", _WHAT, f"MONTY_BIN is {named!r}, which is no program")
    try:
        monty.Monty()
    except FileNotFoundError as error:
        raise MissingExtra("search", _WHAT, error) from error


def run_python(program: str) -> str:
    """Run a program in the sandbox and return its output, its last value, or its error."""
    return run_program(program).text


def run_program(program: str) -> ProgramRun:
    """Run a program in the sandbox.

    Raises:
        EnvFailure: the sandbox itself could not be started or reached.
    """
    program = program.removeprefix("\ufeff")
    if not program.strip():
        return ProgramRun("The program is empty.", False)
    if len(program) > MAX_CODE:
        text = f"The program has {len(program)} characters; at most {MAX_CODE} are run."
        return ProgramRun(text, False)
    try:
        program.encode()
    except UnicodeEncodeError:
        return ProgramRun("The program holds half a character.", False)
    has_crashed = False
    for _ in range(_MAX_PROCESSES + 2):
        try:
            return _attempt(program)
        except _WorkerWasDead:
            continue  # all that were idle may have died of something else at once
        except monty.MontyCrashedError as error:
            if error.timed_out:
                return ProgramRun(_too_slow(), True)
            if has_crashed:  # a program that kills two is to blame
                return ProgramRun("RuntimeError: the program crashed its interpreter", True)
            has_crashed = True
    raise EnvFailure("the Python sandbox's workers died before they were given a program")


class _WorkerWasDead(Exception):
    """A worker had died before it was given a program."""


def _attempt(program: str) -> ProgramRun:
    limits: monty.ResourceLimits = {
        "max_feed_duration_secs": MAX_SECONDS,
        "max_memory": MAX_MEMORY_MB << 20,
        "max_recursion_depth": MAX_RECURSION,
        "max_suspensions": _MAX_SUSPENSIONS,
    }
    pool = _workers.pool()
    is_begun = False
    try:
        with pool.checkout(limits=limits, os_policy=_POLICY) as session:
            session.feed_run(PRELUDE)
            is_begun = True
            return _run(session, program)
    except monty.MontyCrashedError as error:
        if is_begun or error.timed_out:
            raise
        raise _WorkerWasDead from error
    except (OSError, RuntimeError, TimeoutError) as error:
        raise EnvFailure(f"the Python sandbox failed: {type(error).__name__}: {error}") from error


def _run(session: Any, program: str) -> ProgramRun:
    """Run a program in a session of its own, without its output if a limit ends it."""
    source, printed = _source(program), _Printed()
    if source is None:
        return ProgramRun(_RETURNS, False)
    error, value = None, ""
    try:
        session.feed_run(source.text, inputs=source.inputs, print_callback=printed)
        if source.has_value:
            value = session.feed_run(SHOW_VALUE, print_callback=printed)
        is_spent = session.feed_run(IS_SPENT, print_callback=printed)
    except monty.MontyCrashedError:
        raise
    except monty.MontyError as raised:
        error = raised
        if isinstance(error, monty.MontySyntaxError):
            return ProgramRun(_cut(*_told(error, source)), False)
        if limit := _limit_met(error):  # the worker may be gone by now
            return ProgramRun(limit, True)
        is_spent = _is_spent(session)
    if is_spent:
        return ProgramRun(_TOO_MANY_STEPS, True)
    if error is not None:
        return ProgramRun(_joined(printed.shown(), _cut(*_told(error, source))), True)
    length, _, value = value.partition(" ")
    shown = _cut(value, int(length) if length.isdecimal() else None)
    return ProgramRun(_joined(printed.shown(), shown) or NO_OUTPUT, True)


def _is_spent(session: Any) -> bool:
    """Return whether a program that has failed has used its steps up."""
    try:
        return bool(session.feed_run(IS_SPENT, print_callback=_Printed()))
    except monty.MontyCrashedError:
        raise
    except monty.MontyError:  # a limit was met before, or the program has changed what counts
        return False


def _limit_met(error: monty.MontyError) -> str:
    """Return the limit of the sandbox that ended a program, or an empty text."""
    cause = error.exception()
    if isinstance(cause, TimeoutError):
        return _too_slow()
    if isinstance(cause, MemoryError):
        return f"MemoryError: more than {MAX_MEMORY_MB} MB of memory"
    return ""


class _Source(NamedTuple):
    """The text that runs a program, whose value never leaves the sandbox as an object.

    This process would build and hash such an object, and no limit would end that.

    Attributes:
        text: to be run.
        inputs: variables that it reads.
        has_value: the last line's value is in the variable that `SHOW_VALUE` shows.
        counted: the program with a count of its steps; None where Python here cannot read it.
    """

    text: str
    inputs: dict[str, str] | None = None
    has_value: bool = False
    counted: Counted | None = None


def _source(program: str) -> _Source | None:
    """Return the text that runs a program, or None where it returns outside of a function."""
    try:
        body = read_python(program)
    except InvalidAction:  # the sandbox may know newer forms, else it says what is wrong
        return _Source("exec(__program__)\nNone", {"__program__": program})
    if returns_outside(body):
        return None
    last = body[-1] if body else None
    if not isinstance(last, ast.Expr):
        counted = Counted(f"{program}\nNone", body)
        return _Source(counted.text, counted=counted)
    place = Insertion(last.lineno - 1, last.col_offset, VALUE)
    counted = Counted(f"{program}\nNone", body, [place])
    return _Source(counted.text, has_value=True, counted=counted)


class _Printed:
    """Keeps the beginning of a program's output, and counts the rest."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._kept = 0
        self._length = 0

    def __call__(self, stream: str, text: str) -> None:
        self._length += len(text)
        if self._kept < MAX_SHOWN:
            part = text[: MAX_SHOWN - self._kept]
            self._parts.append(part)
            self._kept += len(part)

    def shown(self) -> str:
        return _cut("".join(self._parts), self._length)


def _cut(text: str, length: int | None = None) -> str:
    length = len(text) if length is None else length
    if length <= MAX_SHOWN:
        return text.rstrip()
    return f"{text[:MAX_SHOWN]}\n(cut: {MAX_SHOWN} of {length} characters are shown)"


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _told(error: Any, source: _Source) -> tuple[str, int]:
    """Return the beginning of an error's traceback as the program would give it, and its length."""
    text = str(error.display())
    shown, length = text[:_MAX_READ], len(text)
    if source.counted is None:
        shown = _OWN_FRAME.sub("", shown).replace(_EXECUTED, "program")
    else:
        shown = source.counted.restored(shown.replace(_FILE_NAME, "program"))
        shown = _OWN_FRAME.sub("", shown)
    return shown, length - len(text[:_MAX_READ]) + len(shown)


def _too_slow() -> str:
    return f"TimeoutError: stopped after {MAX_SECONDS:g} seconds"


class _Workers:
    """The sandbox's worker processes, one pool a process, started by the first program."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: monty.Monty | None = None
        self._pid = 0

    def pool(self) -> monty.Monty:
        with self._lock:
            if self._pool is None:
                pool = monty.Monty(
                    min_processes=1,
                    max_processes=_MAX_PROCESSES,
                    # No bound on the wait for a worker: the limits end what the others run.
                    checkout_timeout=None,
                    request_timeout=MAX_SECONDS + _BACKSTOP_SECONDS,
                )
                try:
                    pool.__enter__()
                except (OSError, RuntimeError) as error:
                    raise EnvFailure(f"the Python sandbox did not start: {error}") from error
                self._pool, self._pid = pool, os.getpid()
            if self._pid != os.getpid():
                # The sandbox's threads do not survive a fork, and a call would wait for ever.
                raise EnvFailure(
                    "this process was forked from one that had run Python programs; start workers "
                    'by TextVectorEnv(backend="process"), or by context="forkserver"'
                )
            return self._pool

    def after_fork(self) -> None:
        self._lock = threading.Lock()  # the parent's may have been held by another thread
        if self._pool is not None:
            # Its destructor may wait for threads that do not survive a fork, so it never runs.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._pool))

    def close(self) -> None:
        if self._pool is not None and self._pid == os.getpid():
            self._pool.__exit__(None, None, None)
            self._pool = None


_workers = _Workers()
atexit.register(_workers.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.after_fork)

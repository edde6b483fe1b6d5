"""JSON over HTTP with retries, for servers that sample."""

from __future__ import annotations

import logging
import re
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from operator import attrgetter
from socket import SHUT_RDWR, socket
from threading import Event, Lock
from typing import Any, TypeVar
from weakref import WeakSet

import httpx

from agentgym_envs.machinery.secrets import (
    check_revealed,
    hide_address,
    keep_out,
    masked,
    masked_address,
    reveal,
)
from trainers.backends.pace import Pace

logger = logging.getLogger(__name__)
Item = TypeVar("Item")
Result = TypeVar("Result")

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request may succeed."""

FIRST_PAUSE = 0.5
"""Seconds before a request is sent again for the first time."""

_TOO_MANY_REQUESTS = 429
_LONGEST_WAIT = 600.0
"""Total wait of a request at a rate limit, in seconds, at most."""
_LOG_SECONDS = 60.0
_NO_CREDIT = ("insufficient_quota", "insufficient_credits", "billing_hard_limit")
"""Codes of a 429 that waiting does not end."""


def _mask_record(record: logging.LogRecord) -> bool:
    record.msg, record.args = masked(record.getMessage()), ()
    return True


# httpx logs each request's address, where a program asks for the level INFO.
logging.getLogger("httpx").addFilter(_mask_record)


class RequestFailed(Exception):
    """A request had no usable answer, however often it was sent."""


class RequestRefused(Exception):
    """The server says that the request itself is wrong and that a retry would not help."""

    def __init__(self, status: int, message: str, *, server: str) -> None:
        super().__init__(f"{server} answered {status}: {message}")
        self.status = status
        self.message = message


class WebPage(ValueError):
    """The answer is a web page, mostly because of a wrong address."""


class Sockets:
    """The sockets of a client. Shutting them down wakes up readers, unlike closing the client."""

    def __init__(self) -> None:
        self._known: WeakSet[socket] = WeakSet()
        self._lock = Lock()

    def watch(self, request: httpx.Request) -> None:
        """Have httpx report the connections that a request opens (its `trace` extension)."""
        request.extensions["trace"] = self._see

    def shut_down(self) -> None:
        """End all connections for both sides."""
        with self._lock:
            for one in self._known:
                with suppress(OSError):  # it has ended by itself
                    one.shutdown(SHUT_RDWR)

    def _see(self, event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._known.add(info["return_value"].get_extra_info("socket"))


class JSONClient:
    """Sends requests to one server, several at a time.

    A request that meets a broken connection, an overloaded server or an unusable answer is retried
    after 0.5, 1, 2, ... seconds, or as `Retry-After` says. These retries are for brief failures; a
    player waits for a server that is gone. A timeout is not retried. Status 429 is no failure: all
    requests wait as long as the server says, and fewer are sent at once from then on (`Pace`). A
    web page in place of JSON is a wrong address, unless the server has answered before. A cause is
    logged once a minute, however many requests meet it. Messages begin with the name, and show the
    address without its secrets.

    Args:
        base_url: the beginning of all addresses; its query is sent with each of them, its user and
            password as `Authorization`.
        timeout: seconds before an answer counts as lost.
        retries: of a request, at most.
        max_requests: pending requests at once, at most.
        api_key: sent as a bearer token; None sends none.
        name: the server's name in messages; empty if the address says enough.
        wait: sleeps for so many seconds; None sleeps until then or until the client has ended.

    Raises:
        ValueError: a number is out of its range, or `base_url` is not an HTTP address, or masked.
    """

    def __init__(
        self,
        base_url: str,
        *,
        timeout: float = 600.0,
        retries: int = 3,
        max_requests: int = 64,
        api_key: str | None = None,
        name: str = "",
        wait: Callable[[float], object] | None = None,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ValueError(
                f"expected an address such as http://localhost:8000, got {masked(base_url)!r}"
            )
        for option, value, least in (("retries", retries, 0), ("max_requests", max_requests, 1)):
            if value < least:
                raise ValueError(f"{option} must be >= {least}, got {value}")
        if not timeout > 0:
            raise ValueError(f"timeout must be > 0 seconds, got {timeout}")
        self.base_url = hide_address(base_url)
        check_revealed(reveal(base_url))
        try:
            self._address = httpx.URL(reveal(base_url))
        except httpx.InvalidURL as error:
            raise ValueError(f"{self.base_url} is no address ({masked(str(error))})") from None
        keep_out(api_key)
        self._name = name
        self._retries = retries
        self._ended = Event()
        self._wait = wait
        self.pace = Pace(max_requests)
        self._logged: dict[str, float] = {}  # when, by cause
        self._is_proven = False  # the server has answered
        self._sockets = Sockets()
        self._http = httpx.Client(
            timeout=timeout,
            event_hooks={"request": [self._sockets.watch]},
            headers={} if api_key is None else {"Authorization": f"Bearer {api_key}"},
            limits=httpx.Limits(max_connections=max_requests),
        )
        self._threads = ThreadPoolExecutor(max_requests, thread_name_prefix="requests")
        # Players are not closed; the connections end with the client at the latest.
        weakref.finalize(self, _end, self._threads, self._http, self._ended, self._sockets)
        _CLIENTS.add(self)

    def get(self, path: str) -> Any:
        """Return the JSON at a path. Raises the errors of `post`."""
        return self._send("GET", path, None)[0]

    def post(self, path: str, body: Any, *, answers_text: bool = False) -> Any:
        """Post JSON and return the JSON answer, or raise `RequestRefused` or `RequestFailed`.

        `answers_text`: the answer is no JSON, and is returned as a text.
        """
        decode = attrgetter("text") if answers_text else response_json
        return self._send("POST", path, body, decode=decode)[0]

    def submit(
        self,
        path: str,
        body: Any,
        *,
        begin: Callable[[], None],
        read: Callable[[Any], Result],
        cancelled: Event,
    ) -> Future[tuple[Result, int]]:
        """Post JSON without waiting for the answer.

        Args:
            path: of the request.
            body: the JSON.
            begin: called in the request's thread just before it is sent; its error is the result.
            read: decodes the answer in that thread; an answer for which it raises `ValueError` is
                unusable.
            cancelled: set when the answer is no longer needed; it is not retried then.

        Returns:
            The result of `read`, and the number of retries; or the errors of `post`.
        """

        def work() -> tuple[Result, int]:
            begin()
            return self._send("POST", path, body, read=read, cancelled=cancelled)

        return self._threads.submit(work)

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Call a function on each item, `max_requests` at a time, and keep their order."""
        try:
            return list(self._threads.map(function, items))
        except KeyboardInterrupt:
            self.close()  # or the interpreter would wait for all answers
            raise

    def close(self) -> None:
        """Close the connections. Pending requests fail at once."""
        _end(self._threads, self._http, self._ended, self._sockets)

    def _send(
        self,
        method: str,
        path: str,
        body: Any,
        *,
        read: Callable[[Any], Any] = lambda answer: answer,
        cancelled: Event | None = None,
        decode: Callable[[httpx.Response], Any] | None = None,
    ) -> tuple[Any, int]:
        """Return the answer, and how often the request was sent again."""
        address = self._address.copy_with(path=self._address.path.rstrip("/") + path)
        server = self._described(address)
        cancelled = cancelled or self._ended
        failures = limited = 0
        waited = 0.0
        seconds: float | None
        while True:
            sent_at = self._enter(cancelled)
            if sent_at is None:
                raise RequestFailed(f"{server} is not asked any more")
            try:
                response = self._http.request(method, address, json=body)
                if response.is_success:
                    answer = read((decode or response_json)(response))
                    self._is_proven = True
                    self.pace.speed_up()
                    return answer, failures + limited
            except httpx.TimeoutException as error:
                raise self._timed_out(server, error) from None
            except RuntimeError as error:  # it was closed just now
                if not self._ended.is_set():
                    raise
                raise RequestFailed(f"{server} is not asked any more") from error
            except (httpx.TransportError, ValueError) as error:  # ValueError: unusable
                cause = f"{type(error).__name__}: {masked(str(error))}"
                is_limit, seconds = False, None
                if isinstance(error, WebPage) and failures >= self._retries and not self._is_proven:
                    raise RequestRefused(response.status_code, str(error), server=server) from None
            else:
                cause = f"{response.status_code} {error_message(response)}"
                is_limit, seconds = _passing(response, server)
                if is_limit:  # before another request gets this one's place
                    seconds = FIRST_PAUSE * 2**limited if seconds is None else seconds
                    self.pace.slow_down(sent_at, seconds)
            finally:
                self.pace.leave()
            limited += is_limit
            failures += not is_limit
            wait = FIRST_PAUSE * 2 ** (failures - 1) if seconds is None else seconds
            waited += wait
            if failures > self._retries or waited > _LONGEST_WAIT:
                asks = f" and asks to wait {wait:.0f} s" * (waited > _LONGEST_WAIT)
                times = f"{failures + limited} times, the last time"
                down = "; is the server running?" * cause.startswith(httpx.ConnectError.__name__)
                raise RequestFailed(f"{server} failed {times} with {cause}{asks}{down}")
            if cancelled.is_set() or self._ended.is_set():
                raise RequestFailed(f"{server} failed, and the client has ended: {cause}")
            self._report_retry(f"{server} failed ({cause})", wait)
            if not is_limit:  # those that are limited wait together, as they enter
                self._sleep(wait, cancelled)

    def _timed_out(self, server: str, error: httpx.TimeoutException) -> RequestFailed:
        cause = f"{type(error).__name__}: {masked(str(error))}"
        return RequestFailed(
            f"{server} gave no answer in {self._http.timeout.read:g} s ({cause}); raise the "
            "request timeout, or lower max_requests if it answers few at once"
        )

    def _described(self, address: httpx.URL) -> str:
        url = masked_address(str(address))
        return f"{self._name} ({url})" if self._name else url

    def _enter(self, cancelled: Event) -> float | None:
        """Wait until a request may be sent, and return when, or None if it was cancelled."""

        def is_over() -> bool:
            return cancelled.is_set() or self._ended.is_set()

        while not is_over():
            if pause := self.pace.pause:
                self._sleep(pause, cancelled)
            elif (sent_at := self.pace.enter(is_over)) is not None:
                return sent_at
        return None

    def _sleep(self, seconds: float, cancelled: Event) -> None:
        (self._wait or cancelled.wait)(seconds)

    def _report_retry(self, failure: str, wait: float) -> None:
        now = time.monotonic()
        is_known = now - self._logged.get(failure, -_LOG_SECONDS) < _LOG_SECONDS
        if not is_known:
            self._logged[failure] = now
        level = logging.DEBUG if is_known else logging.WARNING
        logger.log(level, "%s; again in %.1f s", failure, wait)


def _passing(response: httpx.Response, server: str) -> tuple[bool, float | None]:
    """Return whether a failure is a rate limit, and the seconds to wait, or refuse for good."""
    is_limit = response.status_code == _TOO_MANY_REQUESTS
    has_credit = not any(code in response.text for code in _NO_CREDIT)
    if response.status_code not in _PASSING or (is_limit and not has_credit):
        raise RequestRefused(response.status_code, error_message(response), server=server)
    return is_limit, retry_after(response)


def retry_after(response: httpx.Response) -> float | None:
    """Return the seconds that the server asks to wait (RFC 9110), or None.

    `retry-after-ms` is OpenAI's finer form.
    """
    finer, text = response.headers.get("retry-after-ms"), response.headers.get("retry-after", "")
    try:
        if finer is not None:
            return max(0.0, float(finer) / 1000)
        if text.strip().replace(".", "", 1).isdigit():
            return float(text)
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def response_json(response: httpx.Response) -> Any:
    """Return the JSON of an answer, or raise `ValueError`, `WebPage` for a web page."""
    try:
        return response.json()
    except ValueError:
        if response.text.lstrip().startswith("<"):
            raise WebPage(f"a web page in place of JSON: {_page_text(response)}") from None
        raise


def _page_text(response: httpx.Response) -> str:
    """Return the text of a page, without tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", str(masked(response.text))).split())[:300]


def error_message(response: httpx.Response) -> str:
    """Return the server's error message, without secrets."""
    try:
        answer = response.json()
    except ValueError:
        return _page_text(response)
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    if not isinstance(error, dict):
        return str(masked(str(error)))[:300]
    message, code = str(error.get("message", error)), error.get("code")
    if isinstance(code, str) and code not in message:
        message = f"{message[:250]} ({code})"
    return str(masked(message))[:300]


def end_clients() -> None:
    """Close every client of this process, at the end of a command."""
    for client in list(_CLIENTS):
        client.close()


def _end(threads: ThreadPoolExecutor, http: httpx.Client, ended: Event, sockets: Sockets) -> None:
    ended.set()
    threads.shutdown(wait=False, cancel_futures=True)
    sockets.shut_down()
    http.close()


_CLIENTS: WeakSet[JSONClient] = WeakSet()

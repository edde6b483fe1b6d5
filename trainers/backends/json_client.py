"""JSON over HTTP with retries, for servers that sample."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, TypeVar

import httpx

from agentgym_envs.secrets import (
    check_revealed,
    hide_address,
    keep_out,
    masked,
    masked_address,
    reveal,
)

logger = logging.getLogger(__name__)
Item = TypeVar("Item")
Result = TypeVar("Result")

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request may succeed."""

FIRST_PAUSE = 0.5
"""Seconds before a request is sent again for the first time."""

_ASKED_TOO_OFTEN = 429
_LONGEST_WAIT = 60.0
"""Seconds to wait, at most, where a server that is asked too often names a time."""


def _mask_record(record: logging.LogRecord) -> bool:
    record.msg, record.args = masked(record.getMessage()), ()
    return True


# httpx logs each request's address, where a program asks for the level INFO.
logging.getLogger("httpx").addFilter(_mask_record)


class RequestFailed(Exception):
    """A request had no usable answer, however often it was sent."""


class RequestRefused(Exception):
    """The server says that the request itself is wrong; sending it again would not help.

    Attributes:
        status: the HTTP status.
        message: what the server said.
    """

    def __init__(self, status: int, message: str, *, url: str) -> None:
        super().__init__(f"{url} answered {status}: {message}")
        self.status = status
        self.message = message


class JSONClient:
    """Sends requests to one server, several at a time.

    A request that meets a broken connection, an overloaded server or an answer that is not JSON is
    sent again after 0.5, 1, 2, ... seconds, and after status 429 as `Retry-After` says. These
    retries are for what passes at once; whoever plays waits for a server that is gone. A timeout is
    not tried again. A cause is logged once, until some request succeeds, however many requests it
    meets. Messages show the address without its secrets.

    Args:
        base_url: what the paths are appended to; its query is sent with each of them, its user and
            password as `Authorization`.
        timeout: seconds before an answer counts as lost.
        retries: how often a request is sent again.
        max_requests: requests under way at once.
        api_key: sent as a bearer token; None sends none.
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
        wait: Callable[[float], object] | None = None,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ValueError(
                f"expected an address such as http://localhost:8000, got {masked(base_url)!r}"
            )
        for name, value, least in (("retries", retries, 0), ("max_requests", max_requests, 1)):
            if value < least:
                raise ValueError(f"{name} must be >= {least}, got {value}")
        if not timeout > 0:
            raise ValueError(f"timeout must be > 0 seconds, got {timeout}")
        self.base_url = hide_address(base_url)
        check_revealed(reveal(base_url))
        try:
            self._address = httpx.URL(reveal(base_url))
        except httpx.InvalidURL as error:
            raise ValueError(f"{self.base_url} is no address ({masked(str(error))})") from None
        keep_out(api_key)
        self._retries = retries
        self._ended = Event()
        self._wait = wait or self._ended.wait
        self._logged: set[str] = set()
        self._http = httpx.Client(
            timeout=timeout,
            headers={} if api_key is None else {"Authorization": f"Bearer {api_key}"},
            limits=httpx.Limits(max_connections=max_requests),
        )
        self._threads = ThreadPoolExecutor(max_requests, thread_name_prefix="requests")
        # Players are not closed; the connections end with the client at the latest.
        weakref.finalize(self, _end, self._threads, self._http, self._ended)

    def get(self, path: str) -> Any:
        """Return the JSON at a path; see `post`."""
        return self._send("GET", path, None)

    def post(self, path: str, body: Any) -> Any:
        """Post JSON and return the JSON answer.

        Raises:
            RequestRefused: the server refused the request.
            RequestFailed: there was no usable answer.
        """
        return self._send("POST", path, body)

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Call a function on each item, `max_requests` at a time, and keep their order."""
        try:
            return list(self._threads.map(function, items))
        except KeyboardInterrupt:
            self._ended.set()  # or the interpreter would wait for all that is to be sent again
            raise

    def close(self) -> None:
        """Close the connections."""
        _end(self._threads, self._http, self._ended)

    def _send(self, method: str, path: str, body: Any) -> Any:
        place = self._address.path.rstrip("/") + path
        address = self._address.copy_with(path=place)
        url = masked_address(str(address))
        for attempt in range(self._retries + 1):
            wait = FIRST_PAUSE * 2**attempt
            is_timeout = False
            try:
                response = self._http.request(method, address, json=body)
                if response.is_success:
                    answer = response.json()
                    self._logged.clear()
                    return answer
                cause = f"{response.status_code} {_message(response)}"
                wait = _retry_after(response, wait)
                if response.status_code not in _PASSING:
                    raise RequestRefused(response.status_code, _message(response), url=url)
            except (
                httpx.TransportError,
                ValueError,
            ) as error:  # ValueError: the answer is not JSON
                cause = f"{type(error).__name__}: {masked(str(error))}"
                is_timeout = isinstance(error, httpx.TimeoutException)
            if is_timeout:
                raise RequestFailed(f"{url} gave no answer in time ({cause})")
            if attempt < self._retries:
                self._tell(f"{url} failed ({cause})", wait)
                self._wait(wait)
            if self._ended.is_set():
                raise RequestFailed(f"{url} failed, and the client has ended: {cause}")
        raise RequestFailed(f"{url} failed {self._retries + 1} times, the last time with {cause}")

    def _tell(self, failure: str, wait: float) -> None:
        level = logging.DEBUG if failure in self._logged else logging.WARNING
        self._logged.add(failure)
        logger.log(level, "%s; again in %.1f s, %d times at most", failure, wait, self._retries)


def _end(threads: ThreadPoolExecutor, http: httpx.Client, ended: Event) -> None:
    ended.set()
    threads.shutdown(wait=False, cancel_futures=True)
    http.close()


def _retry_after(response: httpx.Response, otherwise: float) -> float:
    seconds = response.headers.get("retry-after", "")
    if response.status_code != _ASKED_TOO_OFTEN or not seconds.isdigit():
        return otherwise
    return min(float(seconds), _LONGEST_WAIT)


def _message(response: httpx.Response) -> str:
    """Return what went wrong, in the server's words, without secrets."""
    try:
        answer = response.json()
    except ValueError:
        return str(masked(response.text))[:300]
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    message = error.get("message", error) if isinstance(error, dict) else error
    return str(masked(str(message)))[:300]

from __future__ import annotations

import socket
import threading

import pytest

from agentgym_envs import EnvFailure
from agentgym_envs.sciworld.gateway import Gateway, JavaError, JavaObject, static
from agentgym_envs.sciworld.jvm import Jvm, shared_jvm

SECONDS = 30.0
OBJECTS = static("java.util.Objects")


@pytest.fixture(scope="module")
def jvm() -> Jvm:
    return shared_jvm()


@pytest.mark.parametrize("text", ["", "a\nb", "\\n", "\\\\n\r\n", "tab\t", "☃ é 𝄞", "e", "s\ne\n"])
def test_text_goes_there_and_back(jvm: Jvm, text: str) -> None:
    with jvm.calling() as gateway:
        assert gateway.call(OBJECTS, "toString", text, "null", timeout=SECONDS) == text


def test_lone_surrogates_become_question_marks(jvm: Jvm) -> None:
    with jvm.calling() as gateway:
        assert gateway.call(OBJECTS, "toString", "\ud800", "null", timeout=SECONDS) == "?"


def test_numbers_and_flags_keep_their_types(jvm: Jvm) -> None:
    with jvm.calling() as gateway:
        assert gateway.call(static("java.lang.Math"), "abs", -1.5, timeout=SECONDS) == 1.5
        assert gateway.call(static("java.lang.Long"), "sum", 2**40, 1, timeout=SECONDS) == 2**40 + 1
        assert gateway.call(static("java.lang.Boolean"), "valueOf", True, timeout=SECONDS) is True


def test_objects_can_be_made_and_deleted(jvm: Jvm) -> None:
    with jvm.calling() as gateway:
        made = gateway.construct("java.util.Random", 0, timeout=SECONDS)
        assert isinstance(made, JavaObject)
        gateway.delete(made, timeout=SECONDS)
        with pytest.raises(JavaError):
            gateway.call(made, "nextInt", timeout=SECONDS)


def test_a_java_exception_leaves_java_alive(jvm: Jvm) -> None:
    with pytest.raises(JavaError), jvm.calling() as gateway:
        gateway.call(static("java.lang.Integer"), "parseInt", "x", timeout=SECONDS)
    assert jvm.alive


def test_a_port_where_nobody_listens_is_a_failure() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(EnvFailure, match="does not answer"):
            Gateway(unused.getsockname()[1], "token")


def test_a_port_that_says_nothing_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentgym_envs.sciworld.gateway.CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(EnvFailure, match=r"no answer within 0\.2 s"):
            Gateway(silent.getsockname()[1], "token")


def test_a_port_that_hangs_up_is_a_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            connection, _ = server.accept()
            connection.recv(100)
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(EnvFailure, match="connection to Java broke"):
            Gateway(server.getsockname()[1], "token")
        thread.join()


def test_a_wrong_token_is_refused(jvm: Jvm) -> None:
    with jvm.calling() as gateway:
        port = gateway.port
    with pytest.raises(EnvFailure, match="refuses us|broke"):
        Gateway(port, "wrong")

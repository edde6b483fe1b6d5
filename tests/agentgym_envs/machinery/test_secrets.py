from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from agentgym_envs.machinery import secrets
from agentgym_envs.machinery.secrets import (
    check_revealed,
    hidden,
    hide_address,
    hide_kwargs,
    keep_out,
    masked,
    masked_words,
    reveal,
    take_over,
)


@pytest.fixture(autouse=True)
def nothing_hidden(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let each test begin as a process does."""
    monkeypatch.setattr(secrets, "_true", {})
    monkeypatch.setattr(secrets, "_pieces", set())
    yield


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("https://ada:s3cret@host/v1", "https://***@host/v1"),
        ("http://host/?api_key=s3cret&page=2", "http://host/?api_key=***&page=2"),
        ("at http://ada:p@ss@host/ it failed", "at http://***@host/ it failed"),
        (
            '--env_kwargs={"token": "a\\"b", "n": 1}',
            '--env_kwargs={"token": "***", "n": 1}',
        ),
        ({"env_kwargs": {"a": {"password": 12}}}, {"env_kwargs": {"a": {"password": "***"}}}),
        ({"env_kwargs": '{"secret": 12}'}, {"env_kwargs": '{"secret": "***"}'}),
        ({"env_kwargs": {"num_tokens": 3, "key": None, "use_token": True}}, None),
        ({"eos_token": "<eos>", "max_tokens_per_turn": 256, "monkey": "x"}, None),
    ],
)
def test_secrets_are_masked_and_nothing_else(value: Any, shown: Any) -> None:
    expected = value if shown is None else shown
    assert masked(value) == expected
    assert masked(expected) == expected


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://host:8000/v1", "http://host:8000/v1"),
        ("http://ada:pa/ss@word@host/v1", "http://***@host/v1"),
        ("https://t0ken@host/v1?sig=abc&v=2", "https://***@host/v1?sig=***&v=***"),
        ("http://host/?t0ken", "http://host/?***"),
        ("runs/a@b", "runs/a@b"),
    ],
)
def test_an_address_is_hidden_where_it_is_read_and_revealed_to_whoever_connects(
    address: str, shown: str
) -> None:
    assert hide_address(address) == shown
    assert hide_address(shown) == shown
    assert reveal(shown) == address


def test_keyword_arguments_are_hidden_and_revealed_as_a_whole() -> None:
    kwargs = {"retriever": {"url": "http://ada:s3cret@host/?sig=abc123"}, "token": "t0ken", "n": 1}
    shown = hide_kwargs(json.dumps(kwargs))
    assert shown is not None
    retriever = {"url": "http://***@host/?sig=***"}
    assert json.loads(shown) == {"retriever": retriever, "token": "***", "n": 1}
    assert hide_kwargs(shown) == shown
    assert json.loads(reveal(shown)) == kwargs
    assert hide_kwargs('{"n":1}') == '{"n":1}'
    assert hide_kwargs(None) is None


def test_what_was_hidden_is_found_in_the_words_of_others() -> None:
    hide_address("http://ada:s3cret%21@host/v1?sig=abcdef")
    keep_out("sk-123456")
    text = "bad key sk-123456 of ada, password s3cret! or s3cret%21, signature abcdef"
    assert masked(text) == "bad key *** of ada, password *** or ***, signature ***"


def test_another_process_takes_over_what_is_hidden() -> None:
    shown = hide_address("http://ada:s3cret@host/v1")
    texts = hidden()
    secrets._true.clear()
    assert reveal(shown) == shown
    take_over(texts)
    assert reveal(shown) == "http://ada:s3cret@host/v1"


def test_the_values_of_secret_options_are_masked_in_a_command_line() -> None:
    words = ["--hub_token", "hf_x", "--hub-token=hf_x", "--eos_token", "<eos>", "--n", "3"]
    shown = ["--hub_token", "***", "--hub-token=***", "--eos_token", "<eos>", "--n", "3"]
    assert masked_words(words) == shown


@pytest.mark.parametrize(
    "address", ["http://***@host/v1", "http://host/?sig=***", "http://host/?***"]
)
def test_an_address_that_was_copied_from_a_record_asks_for_its_secret(address: str) -> None:
    with pytest.raises(ValueError, match="give the address with the secret again"):
        check_revealed(address)
    check_revealed("http://host/v1")


def test_a_password_is_masked_in_base64_too_as_it_is_sent() -> None:
    hide_address("https://user:hunter%212@host/retrieve")
    sent = b64encode(b"user:hunter!2").decode()
    assert masked(f"400: got Authorization: Basic {sent}") == "400: got Authorization: Basic ***"
    hide_kwargs('{"retriever": {"url": "https://TOKEN-ALONE@host"}}')
    sent = b64encode(b"TOKEN-ALONE:").decode()
    assert masked(sent) == "***"

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.names import short_names


def test_a_path_goes_by_the_fewest_parts_that_tell_it_from_the_others() -> None:
    runs = "runs/studies/2026-11-21"
    assert short_names(
        [f"{runs}/grpo/seed_0/model", f"{runs}/ppo/seed_0/model", f"{runs}/sft/model", "random"]
    ) == {
        f"{runs}/grpo/seed_0/model": "grpo/seed_0/model",
        f"{runs}/ppo/seed_0/model": "ppo/seed_0/model",
        f"{runs}/sft/model": "sft/model",
        "random": "random",
    }


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/a/model", "a/model"),
        ("Qwen/Qwen2.5-3B-Instruct", "Qwen/Qwen2.5-3B-Instruct"),
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000/v1"),
        ("expert", "expert"),
    ],
)
def test_a_name_may_be_asked_to_have_two_parts(path: str, name: str) -> None:
    assert short_names([path], least=2) == {path: name}


def test_a_path_that_others_end_with_goes_by_the_whole_of_it() -> None:
    names = short_names(["model", "a/model", "b/a/model"])
    assert names == {"model": "model", "a/model": "a/model", "b/a/model": "b/a/model"}


def test_paths_that_differ_in_their_slashes_alone_keep_them() -> None:
    assert short_names(["x/a", "x/a/", "/x/a"]) == {"x/a": "x/a", "x/a/": "x/a/", "/x/a": "/x/a"}


@given(st.lists(st.text("ab/", max_size=7)), st.integers(0, 3))
def test_different_paths_have_different_names(paths: list[str], least: int) -> None:
    names = short_names(paths, least=least)
    assert set(names) == set(paths)
    assert len(set(names.values())) == len(names)


def test_a_path_that_is_named_twice_is_one() -> None:
    assert short_names(["runs/a", "runs/a"]) == {"runs/a": "a"}

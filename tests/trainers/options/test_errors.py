from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

import trainers
from trainers.options.errors import (
    UsageError,
    as_options,
    check_folder,
    check_output,
    explain_refusals,
)


def test_a_file_that_can_be_written_is_taken(tmp_path: Path) -> None:
    check_output("out", None)
    check_output("out", str(tmp_path / "new" / "deep" / "file"))
    (tmp_path / "old").touch()
    check_output("out", str(tmp_path / "old"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old"]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="out must name a file, got the folder"):
        check_output("out", str(tmp_path))


def test_a_file_holds_no_files(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    with pytest.raises(ValueError, match="cannot write .*new, for .*old is not a folder"):
        check_output("out", str(tmp_path / "old" / "new"))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="a place where root cannot write")
def test_a_place_where_nothing_can_be_written_is_told() -> None:
    with pytest.raises(ValueError, match="cannot write /proc/new/file, for nothing can be written"):
        check_output("out", "/proc/new/file")
    with pytest.raises(UsageError, match="output_dir: cannot write /proc/new, for nothing can be"):
        check_folder("output_dir", "/proc/new")


def test_a_folder_that_can_be_written_is_not_made(tmp_path: Path) -> None:
    check_folder("output_dir", tmp_path)
    check_folder("output_dir", tmp_path / "new" / "deep")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    with pytest.raises(UsageError, match="output_dir must name a folder, got the file .*old"):
        check_folder("output_dir", tmp_path / "old")
    with pytest.raises(UsageError, match="new, for .*old is not a folder"):
        check_folder("output_dir", tmp_path / "old" / "new")


def test_what_a_library_raises_about_options_is_told_with_its_name() -> None:
    from peft import LoraConfig

    with pytest.raises(UsageError, match="peft cannot follow the options: Invalid task type: 'X'"):
        with explain_refusals():
            LoraConfig(task_type="X")


def test_an_error_of_our_own_keeps_its_kind_and_traceback() -> None:
    with pytest.raises(ValueError, match="ours") as raised:
        with explain_refusals():
            raise ValueError("ours")
    assert not isinstance(raised.value, UsageError)
    with pytest.raises(TypeError, match="of another kind"):
        with explain_refusals(ImportError):
            raise TypeError("of another kind")


def test_the_command_line_words_arguments_as_its_options() -> None:
    message = (
        "use `RolloutArguments.backend=vllm` with `seed`, `kwargs='{\"a b\": 1}'`; see `A`, `a b`"
    )
    assert as_options(message) == (
        "use --backend vllm with --seed, --kwargs '{\"a b\": 1}'; see `A`, `a b`"
    )


COMMANDS = {"collect.py", "command.py", "evaluate.py", "parser.py", "files.py"}
"""Modules of the commands, which speak of options."""
OF_OTHERS = {"vllm_server.py"}
"""Names options of vLLM's own command."""


def test_the_library_raises_in_the_words_of_its_arguments() -> None:
    """Only commands name `--options`; `as_options` words a message for them."""
    flags = [
        f"{path}:{node.lineno} {text.value!r}"
        for path in sorted(Path(trainers.__file__).parent.rglob("*.py"))
        if path.name not in COMMANDS | OF_OTHERS
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef) and function.name != "main"
        for node in ast.walk(function)
        if isinstance(node, ast.Raise)
        for text in ast.walk(node)
        if isinstance(text, ast.Constant) and re.search(r"(?<![\w-])--[a-z]", str(text.value))
    ]
    assert flags == []

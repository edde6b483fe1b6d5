from __future__ import annotations

import pytest

from worlds.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sites", "--seed", "7"], "--out FOLDER"),
        (["sites", "--scale", "0", "--out", "world"], "--scale must be >= 1, got 0"),
        (["atlantis"], "invalid choice"),
        (["searchqa", "--scale", "2", "--out", "world"], "no --scale"),
    ],
)
def test_a_wrong_command_says_what_is_allowed(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err

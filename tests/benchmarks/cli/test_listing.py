from __future__ import annotations

import gymnasium as gym
import pytest

import agentgym_envs
from benchmarks.cli import listing


def test_the_table_holds_every_registered_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert listing.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = [line.split("|")[1].strip() for line in lines[2:]]
    assert shown == [*agentgym_envs.registered_ids(), "agentgym/WebArenaOfficial-v0"]
    assert "| needs sites that you host and the official extra " in lines[-1]
    assert len({len(line) for line in lines}) == 1


def test_a_row_tells_splits_subtasks_turns_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    listing.main([])
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "TextCraft" in line)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1] == "train 374, validation 70, test 100"
    assert cells[2] == "depth 1 31, depth 2 41, depth 3 25, depth 4 3"
    assert cells[3] == "30"
    assert "minecraft" in cells[4]


@pytest.mark.parametrize("name", ["TextCraft", "textcraft", "agentgym/TextCraft-v0"])
def test_one_environment_is_shown_in_full(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert listing.main([name]) == 0
    text = capsys.readouterr().out
    assert text.startswith("agentgym/TextCraft-v0\n")
    assert "| validation | 70 " in text
    assert "system prompt" in text


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("TextCaft", "unknown environment 'TextCaft'; did you mean TextCraft?"),
        (
            "Chess",
            "unknown environment 'Chess'; registered: agentgym/BabyAI-v0, agentgym/TextCraft",
        ),
        ("mylab/Wordle-v0", "registers is written module:mylab/Wordle-v0"),
    ],
)
def test_an_unknown_environment_is_refused_with_the_nearest_or_all(
    name: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        listing.main([name])
    assert told in capsys.readouterr().err


def test_an_environment_without_its_extra_is_listed_with_the_remedy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(env_id: str, **kwargs: object) -> None:
        raise ImportError('needs an extra: pip install "agentgym-envs[science]"')

    monkeypatch.setattr(gym, "make", missing)
    assert listing.main([]) == 0
    row = capsys.readouterr().out.splitlines()[2]
    assert 'not installed: needs an extra: pip install "agentgym-envs[science]"' in row


def test_a_table_keeps_bars_and_line_breaks_inside_their_cells() -> None:
    told = listing.table([("a", "b"), ("x|y", "one\ntwo")])
    assert told.splitlines() == ["| a    | b       |", "|------|---------|", "| x\\|y | one two |"]


def test_a_table_sets_its_numbers_to_the_right() -> None:
    told = listing.table([("name", "tasks"), ("p", "7")], numbers_from=1)
    assert told.splitlines() == ["| name | tasks |", "|------|------:|", "| p    |     7 |"]

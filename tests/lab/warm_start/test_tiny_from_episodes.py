from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from agentgym_envs.trajectories.trajectory import Trajectory, Turn, write_jsonl
from lab.warm_start.tiny import SPECIAL_TOKENS
from lab.warm_start.tiny_from_episodes import build_policy, frequent_units, main
from trainers.models.fetched import tiny_folder

PAGE = "\n\t\t[3] link 'Home'\n\t\t[4] heading 'Blue teapots'"


def episode(number: int) -> Trajectory:
    turn = Turn(
        observation=f"Goal: teapot {number}{PAGE}",
        completion="Thought: a teapot.",
        reward=1.0,
        is_valid_action=True,
        score=1.0,
    )
    return Trajectory("shop", f"shop_{number}", system_prompt="Buy a teapot.", turns=[turn])


def test_lines_and_words_that_tasks_share_become_units():
    units = frequent_units([episode(1), episode(2)], num_units=16)
    assert {"\n\t\t[3] link 'Home'", "\n\t\t[4] heading 'Blue teapots'", " teapot"} <= set(units)
    assert {"7", " 199"} <= set(units)
    assert len(units) <= 16 + 400


def test_what_one_task_alone_says_is_no_unit():
    units = frequent_units([episode(1), Trajectory("shop", "shop_2", turns=[])], num_units=16)
    assert not any("teapot" in unit for unit in units)


def test_no_episodes_are_refused():
    with pytest.raises(ValueError, match="no episodes"):
        frequent_units([], num_units=16)


def test_the_policy_keeps_the_layers_and_known_words_of_the_shipped_one():
    model, tokenizer = build_policy([" teapot", "Teapot", " xylophone", "craft"])
    tiny = AutoModelForCausalLM.from_pretrained(tiny_folder())
    words = AutoTokenizer.from_pretrained(tiny_folder())
    name = "model.layers.3.mlp.up_proj.weight"
    assert torch.equal(model.state_dict()[name], tiny.state_dict()[name])
    rows, old = model.get_input_embeddings().weight, tiny.get_input_embeddings().weight
    (craft,), (craft_then,) = tokenizer("craft").input_ids, words("craft").input_ids
    assert torch.equal(rows[craft], old[craft_then])
    fresh = [tokenizer(word).input_ids for word in (" teapot", "Teapot", " xylophone")]
    assert all(len(ids) == 1 for ids in fresh)
    # Beyond what all words have in common, half of the variance is shared by a word's spellings.
    usual = old[len(SPECIAL_TOKENS) + 256 :]
    teapot, capital, stranger = ((rows[i] - usual.mean(0)) / usual.std(0) for (i,) in fresh)
    assert torch.cosine_similarity(teapot, capital, dim=0) > 0.3
    assert torch.cosine_similarity(teapot, stranger, dim=0) < 0.3


def test_the_command_makes_a_folder_that_opens(tmp_path: Path):
    write_jsonl(tmp_path / "episodes.jsonl", [episode(1), episode(2)])
    assert main([str(tmp_path / "episodes.jsonl"), "--out", str(tmp_path / "policy")]) == 0
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "policy")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "policy")
    assert len(tokenizer(PAGE).input_ids) == 2
    assert model.get_input_embeddings().weight.shape[0] == len(tokenizer)

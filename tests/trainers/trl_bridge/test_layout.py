from __future__ import annotations

from typing import Any

import pytest
import torch
from trl.trainer.utils import add_fused_lm_head

from tests.trainers.tiny_models import tiny_model
from trainers.trl_bridge import layout as layouts
from trainers.trl_bridge.layout import Layout, Sizes
from trainers.trl_bridge.passes import compact_logprobs

MASK = torch.tensor([[0, 1, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 1, 0, 0]])
IDS = torch.tensor([[0, 5, 6, 7, 0], [0, 0, 1, 2, 3], [0, 0, 9, 0, 0]])


def test_tokens_move_to_the_left_in_their_order() -> None:
    assert Layout.from_mask(MASK).pack(IDS).tolist() == [[5, 6, 7], [1, 2, 3], [9, 0, 0]]


def test_what_was_packed_comes_back_to_its_columns() -> None:
    layout = Layout.from_mask(MASK)
    assert (layout.unpack(layout.pack(IDS), 5) == IDS).all()
    vectors = torch.stack([IDS, -IDS], dim=-1)
    packed = torch.stack([layout.pack(IDS), layout.pack(-IDS)], dim=-1)
    assert (layout.unpack(packed, 5) == vectors).all()


def test_the_last_columns_need_only_the_packed_columns_that_hold_their_tokens() -> None:
    layout = Layout.from_mask(MASK)
    assert layout.num_kept(2) == 2  # the first row's two tokens before are the fewest but one
    assert layout.num_kept(3) == 3
    kept = layout.pack(IDS)[:, -2:]
    assert layout.unpack(kept, 2).tolist() == [[7, 0], [2, 3], [0, 0]]


def test_a_row_without_tokens_comes_back_as_zeros() -> None:
    layout = Layout.from_mask(torch.zeros(1, 3, dtype=torch.long))
    assert layout.unpack(layout.pack(torch.ones(1, 3)), 3).tolist() == [[0.0, 0.0, 0.0]]


# Rows that share their prompts ------------------------------------------------------------------

#   two rows of the prompt 1 2 3, one of 4 5
SHARED_IDS = torch.tensor([[1, 2, 3, 6, 7, 0], [0, 4, 5, 8, 0, 0], [1, 2, 3, 9, 0, 0]])
SHARED_MASK = (SHARED_IDS != 0).long()


@pytest.fixture
def always_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "_WORTH_SHARING", float("inf"))


def shared() -> Layout:
    return Layout.sharing(SHARED_IDS, SHARED_MASK, prompt_width=3, hidden_size=64)


@pytest.mark.usefixtures("always_shared")
def test_a_prompt_comes_once_and_each_branch_begins_with_its_last_token() -> None:
    layout = shared()
    assert layout.pack(SHARED_IDS).tolist() == [[1, 2, 3, 6, 7, 3, 9], [4, 5, 8, 0, 0, 0, 0]]
    assert layout.positions is not None
    assert layout.positions.tolist()[0] == [0, 1, 2, 3, 4, 2, 3]


@pytest.mark.usefixtures("always_shared")
def test_a_token_sees_the_prompt_and_its_own_branch() -> None:
    distances = shared().distances()
    assert distances is not None
    sees = distances[0] >= 0
    assert sees[4].tolist() == [True, True, True, True, True, False, False]  # 7: 1 2 | 3 6 7
    assert sees[6].tolist() == [True, True, False, False, False, True, True]  # 9: 1 2 | 3 9
    assert sees[1].tolist() == [True, True, False, False, False, False, False]
    assert (distances[1, :3, :3] >= 0).equal(torch.ones(3, 3).tril().bool())
    assert not (distances[1, :3, 3:] >= 0).any()
    assert (distances >= 0).any(dim=2).all()  # padding too: a row of a mask must not be empty


@pytest.mark.usefixtures("always_shared")
def test_what_shared_its_prompt_comes_back_to_its_columns() -> None:
    layout = shared()
    assert layout.unpack(layout.pack(SHARED_IDS), 6).equal(SHARED_IDS)
    assert layout.num_kept(3) == 5  # the second row's 8 lies in the third of seven columns
    kept = layout.pack(SHARED_IDS)[:, -layout.num_kept(3) :]
    assert layout.unpack(kept, 3).equal(SHARED_IDS[:, 3:])


def rows(prompts: list[int], answers: list[int]) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Rows of one prompt for each length in `prompts`, with answers of each length in `answers`."""
    width, longest = max(prompts), max(answers)
    ids = torch.randint(1, 400, (len(prompts) * len(answers), width + longest))
    mask = torch.zeros_like(ids)
    for group, prompt in enumerate(prompts):
        first = group * len(answers)
        ids[first : first + len(answers), :width] = ids[first, :width].clone()
        for row, answer in enumerate(answers, first):
            mask[row, width - prompt : width + answer] = 1
    order = torch.randperm(len(ids))
    return (ids * mask)[order], mask[order], longest


def logprobs(
    model: Any, ids: torch.Tensor, mask: torch.Tensor, longest: int, scored: Any = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probabilities, and the gradient of a weighted sum of them."""

    def compute(
        model: Any, ids: torch.Tensor, mask: torch.Tensor, kept: int, **_kwargs: Any
    ) -> Any:
        labels = ids.masked_fill(mask == 0, -100)
        labels[:, :-kept] = -100
        output = model(input_ids=ids, attention_mask=mask, labels=labels, fused_lm_head=True)
        return output.log_probs[:, -kept:], None, None

    add_fused_lm_head(model, temperature=1.0)
    model.zero_grad()
    found, _, _ = compact_logprobs(compute, model, ids, mask, longest, scored=scored)
    found = found * mask[:, -longest:]
    (found * torch.linspace(-1, 1, found.numel()).view_as(found)).sum().backward()
    gradients = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
    return found.detach(), torch.cat(gradients)


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("family", ["qwen3", "qwen2-sliding", "llama"])
@pytest.mark.parametrize("partly", [False, True])
def test_shared_prompts_change_no_logprob_and_no_gradient(
    family: str, attention: str, partly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    model = tiny_model(family)
    monkeypatch.setattr(model.config, "_attn_implementation", attention)
    ids, mask, longest = rows([30, 33, 1], [1, 20, 6, 12])
    scored = mask[:, -longest:] * (torch.rand(mask[:, -longest:].shape) < 0.6) if partly else None
    computed: list[int] = []
    handle = model.model.register_forward_pre_hook(
        lambda _module, args, kwargs: computed.append(kwargs["input_ids"].numel()),
        with_kwargs=True,
    )
    monkeypatch.setattr(layouts, "_WORTH_SHARING", 0.0)
    expected = logprobs(model, ids, mask, longest, scored)
    monkeypatch.setattr(layouts, "_WORTH_SHARING", float("inf"))
    found = logprobs(model, ids, mask, longest, scored)
    handle.remove()
    assert computed == [12 * 53, 3 * (32 + 39 + 4)]
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-4 * float(other.abs().max()))


def test_rows_share_where_it_saves_tokens_and_not_where_a_mask_would_be_too_large() -> None:
    def shares(prompts: list[int], answers: list[int]) -> bool:
        ids, mask, longest = rows(prompts, answers)
        return Layout.sharing(ids, mask, ids.size(1) - longest, 576).branches is not None

    assert shares([150], [60] * 8)
    assert shares([150, 100], [60, 90, 20, 30])
    assert not shares([150, 100, 30], [60])  # all alone
    assert not shares([20], [600] * 8)  # the mask costs more than the prompt
    assert not shares([4000], [700] * 8)  # longer than a mask may be


def test_a_pass_costs_what_its_cheaper_layout_does() -> None:
    ids, mask, longest = rows([100], [10, 20])
    sizes = Sizes.measure(ids, mask, ids.size(1) - longest, 10**9)
    assert sizes.cost([0, 1]) == pytest.approx(99 + 11 + 21)
    assert sizes.cost([0]) == pytest.approx(sizes.lengths[0])

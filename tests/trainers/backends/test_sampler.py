import numpy as np
import pytest
import torch

from tests.trainers.tiny_models import tiny_model
from trainers.backends.hf import HFBackend
from trainers.tokens.generation import Sampling

SAMPLING = Sampling(max_new_tokens=12, temperature=1.3, stop_ids=tuple(range(12)))
PROMPTS = {key: [20 + key, 30, 40 + 7 * key, *range(50, 50 + 9 * key)] for key in range(1, 6)}


def backend(seed=3, **kwargs):
    made = HFBackend(tiny_model(), **kwargs)
    made.seed_rows(seed)
    return made


def play(backend, batches, turns=3):
    """Play `turns` turns of every row, each turn in the given batches; return the ids by row."""
    histories = {key: list(prompt) for key, prompt in PROMPTS.items()}
    sampled = {key: [] for key in PROMPTS}
    for turn in range(turns):
        for keys in batches:
            generated = backend.generate([histories[key] for key in keys], SAMPLING, keys=keys)
            for key, one in zip(keys, generated, strict=True):
                sampled[key].append(one.ids)
                histories[key] += [*one.ids, 100 + turn]
    backend.finish(list(PROMPTS))
    return sampled


@pytest.mark.full
@pytest.mark.parametrize("cache", [True, False])
def test_a_row_with_a_stream_of_its_own_does_not_notice_its_company(cache):
    together = play(backend(), [[1, 2, 3, 4, 5]])
    assert play(backend(cache=cache), [[5, 2], [1], [4, 3]]) == together
    apart = [[1], [2], [3], [4], [5]]
    assert play(backend(cache=cache), apart) == together


def test_a_budget_cuts_a_row_and_changes_no_other():
    kept, cut = backend(), backend()
    prompts, keys = [PROMPTS[1], PROMPTS[2]], [1, 2]
    first = kept.generate(prompts, SAMPLING, keys=keys)
    second = cut.generate(prompts, SAMPLING, keys=keys, budgets=[2, 12])
    assert second[0].ids == first[0].ids[:2]
    assert second[1].ids == first[1].ids
    assert kept.generate(prompts, SAMPLING, keys=keys)[1].ids == (
        cut.generate(prompts, SAMPLING, keys=keys)[1].ids
    )


def test_streams_follow_from_the_seed_the_key_and_the_turn():
    one = backend()
    prompt = PROMPTS[5]
    turns = [one.generate([prompt] * 2, SAMPLING, keys=[1, 2]) for _ in range(2)]
    drawn = [turn.ids for batch in turns for turn in batch]
    drawn.append(backend(seed=4).generate([prompt], SAMPLING, keys=[1])[0].ids)
    assert len({tuple(ids) for ids in drawn}) == 5
    one.finish([1, 2])
    assert one.generate([prompt], SAMPLING, keys=[1])[0].ids == drawn[0]


def test_streams_leave_the_generator_alone_and_give_way_to_it():
    generator = torch.Generator().manual_seed(8)
    one = backend(generator=generator)
    before = generator.get_state()
    play(one, [[1, 2, 3, 4, 5]])
    assert torch.equal(generator.get_state(), before)
    one.seed_rows(None)
    plain = HFBackend(tiny_model(), generator=torch.Generator().manual_seed(8))
    assert play(one, [[1, 2, 3, 4, 5]]) == play(plain, [[1, 2, 3, 4, 5]])


def test_a_call_without_keys_has_no_streams_and_does_not_repeat_itself():
    one = backend()
    turns = [one.generate([PROMPTS[5]], SAMPLING)[0].ids for _ in range(2)]
    assert turns[0] != turns[1]


def test_samples_from_streams_follow_the_distribution():
    model, prompt, num = tiny_model(), PROMPTS[2], 3000
    one = HFBackend(model)
    one.seed_rows(5)
    turns = one.generate([prompt] * num, Sampling(1, 2.0), keys=list(range(num)))
    one.finish(list(range(num)))
    with torch.no_grad():
        logits = model(torch.tensor([prompt])).logits[0, -1].float()
    expected = torch.softmax(logits / 2.0, -1).numpy()
    counts = np.bincount([turn.ids[0] for turn in turns], minlength=len(expected))
    likely = expected > 0.01
    spread = np.sqrt(expected * (1 - expected) / num)
    assert likely.any()
    assert np.all(np.abs(counts / num - expected)[likely] < 5 * spread[likely])

import numpy as np
import pytest
import torch

from trainers.tiny import build_model
from trainers.warm_start.textcraft_play import training_split_play
from trainers.warm_start.texts import Text, batches, encode, tiny_tokenizer
from trainers.warm_start.training import likelihood, token_losses


def small_model():
    return build_model(
        len(tiny_tokenizer()), hidden_size=32, num_layers=1, num_heads=2, head_dim=16
    )


def test_the_loss_counts_each_token_by_its_weight_and_padding_not_at_all():
    texts = [Text([5, 6, 7, 8], [0.0, 1.0, 0.0, 0.2]), Text([5, 9], [0.0, 1.0])]
    losses, weights = token_losses(small_model(), texts)
    assert losses.shape == weights.shape == (2, 3)
    torch.testing.assert_close(weights, torch.tensor([[1.0, 0.0, 0.2], [1.0, 0.0, 0.0]]))


def test_likelihood_looks_at_the_policys_own_tokens_alone():
    model = small_model()
    text = encode(training_split_play(np.random.default_rng(0)))
    losses, weights = token_losses(model, [text])
    expected = losses[weights == 1.0].mean().item()
    assert likelihood(model, [text]) == pytest.approx(expected, rel=1e-5)


def test_batches_depend_on_the_seed_alone_and_end_at_their_tokens():
    def read(seed):
        stream = batches(seed, num_tokens=30_000, batch_tokens=1024)
        return [([text.ids for text in texts], progress) for texts, progress in stream]

    first, again = read(3), read(3)
    assert first == again
    progress = [share for _, share in first]
    assert progress == sorted(progress) and progress[-1] == 1.0
    sizes = [len(ids) * max(map(len, ids)) for ids, _ in first]
    assert all(size <= 1024 or len(ids) == 1 for size, (ids, _) in zip(sizes, first, strict=True))

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from lab.warm_start import continuing
from lab.warm_start.babyai_rooms import rooms_play
from lab.warm_start.continuing import GROUNDS, teach
from lab.warm_start.textcraft_play import training_split_play
from lab.warm_start.texts import Text, batches, encode, tiny_tokenizer
from lab.warm_start.tiny import build_model
from lab.warm_start.tiny_from_episodes import build_policy
from lab.warm_start.tiny_units import tiny_units
from lab.warm_start.training import likelihood, token_losses
from trainers.models.fetched import tiny_folder


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_going_on_in_rooms_depends_on_the_seed_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("lab.warm_start.continuing.POOL", 4)
    models = []
    for place, seed in enumerate((5, 5, 6)):
        teach("rooms", str(tmp_path / str(place)), num_tokens=800, seed=seed)
        model = AutoModelForCausalLM.from_pretrained(tmp_path / str(place))
        models.append(torch.cat([p.flatten() for p in model.parameters()]))
    assert torch.equal(models[0], models[1])
    assert not torch.equal(models[0], models[2])


@pytest.mark.slow
def test_what_was_ended_goes_on_to_the_same_weights(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(continuing, "POOL", 4)
    whole, halved = str(tmp_path / "whole"), str(tmp_path / "halved")
    teach("rooms", whole, num_tokens=2_000, seed=5)
    pools = []

    def end_in_the_second(*arguments):
        pools.append(None)
        if len(pools) == 2:
            raise KeyboardInterrupt
        return make_pool(*arguments)

    make_pool = continuing._pool
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(continuing, "_pool", end_in_the_second)
        teach("rooms", halved, num_tokens=2_000, seed=5)
    capsys.readouterr()
    teach("rooms", halved, num_tokens=2_000, seed=5)
    assert capsys.readouterr().out.startswith("going on after ")
    one, other = (AutoModelForCausalLM.from_pretrained(f).state_dict() for f in (whole, halved))
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.slow
def test_what_is_finished_is_written_again_without_training(tmp_path, monkeypatch):
    monkeypatch.setattr(continuing, "POOL", 4)
    folder = tmp_path / "start"
    teach("rooms", str(folder), num_tokens=100, seed=5)
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").unlink()
    monkeypatch.setattr(continuing, "_pool", None)  # nothing more is played
    teach("rooms", str(folder), num_tokens=100, seed=5)
    assert (folder / "model.safetensors").read_bytes() == weights


@pytest.mark.slow
def test_what_was_ended_of_another_seed_is_not_gone_on_with(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(continuing, "POOL", 4)

    def end(*_):
        raise KeyboardInterrupt

    for seed in (5, 6):
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(continuing, "save_tiny", end)
            teach("rooms", str(tmp_path / "start"), num_tokens=100, seed=seed)
        assert "going on" not in capsys.readouterr().out


@pytest.mark.slow
def test_going_on_in_rooms_makes_their_play_likelier(tmp_path):
    teach("rooms", str(tmp_path), num_tokens=100_000, seed=5)
    texts = [encode(rooms_play(np.random.default_rng([9, n]))) for n in range(24)]
    taught, shipped = (AutoModelForCausalLM.from_pretrained(f) for f in (tmp_path, tiny_folder()))
    assert likelihood(taught, texts) < 0.9 * likelihood(shipped, texts)


def test_without_units_of_its_own_a_ground_begins_with_the_shipped_policy():
    model, tokenizer = build_policy([*tiny_units(), *GROUNDS["rooms"].units()])
    shipped = AutoModelForCausalLM.from_pretrained(tiny_folder())
    assert tokenizer.get_vocab() == tiny_tokenizer().get_vocab()
    assert all(map(torch.equal, model.parameters(), shipped.parameters()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["books", "houses"])
def test_a_ground_s_names_are_one_token_each(name):
    _, tokenizer = build_policy([*tiny_units(), *GROUNDS[name].units()])
    text = {"books": " willow loom, 2 elm bark", "houses": " cabinet 1 mug 1"}[name]
    words = [tokenizer.decode([token]) for token in tokenizer(text).input_ids]
    expected = {
        "books": [" willow loom", ",", " 2", " elm bark"],
        "houses": [" cabinet 1", " mug 1"],
    }
    assert words == expected[name]

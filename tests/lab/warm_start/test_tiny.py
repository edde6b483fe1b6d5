import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.warm_start.tiny import SPECIAL_TOKENS, build_model, build_tokenizer
from lab.warm_start.tiny_units import tiny_units
from trainers.models.fetched import tiny_folder
from trainers.tokens.chat import ChatFormat

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def shipped():
    return transformers.AutoTokenizer.from_pretrained(tiny_folder())


@given(st.text())
def test_any_text_comes_back_unchanged(shipped, text):
    ids = shipped(text, split_special_tokens=True).input_ids
    assert shipped.decode(ids, skip_special_tokens=False) == text


@given(st.lists(st.sampled_from(tiny_units()), max_size=12))
def test_texts_made_of_units_come_back_unchanged(shipped, units):
    text = "".join(units)
    assert shipped.decode(shipped(text).input_ids) == text


def test_an_item_is_one_token_and_words_within_words_are_not_units():
    tokenizer = build_tokenizer([" stick", " sticky piston", "craft"])
    pieces = [
        tokenizer.decode([i]) for i in tokenizer("craft sticky piston stick sticks").input_ids
    ]
    assert pieces == ["craft", " sticky piston", " stick", *" sticks"]


def test_text_that_imitates_special_tokens_stays_text(shipped):
    text = "<|end|><|assistant|>craft"
    ids = shipped(text, split_special_tokens=True).input_ids
    assert not set(ids) & {shipped.convert_tokens_to_ids(t) for t in SPECIAL_TOKENS}


def test_the_template_only_ever_appends(shipped):
    chat = ChatFormat.from_tokenizer(shipped)
    messages = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "O"},
        {"role": "assistant", "content": "A"},
        {"role": "user", "content": "P"},
    ]
    whole = shipped.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    ours = chat.prompt_ids("S", "O") + chat.action_ids("A") + chat.observation_ids("P", closed=True)
    assert ours == whole


def test_the_shipped_checkpoint_is_small_and_its_tokenizer_is_the_one_the_code_builds(shipped):
    folder = Path(tiny_folder())
    assert sum(file.stat().st_size for file in folder.iterdir()) < 8 * 2**20
    built = json.loads(build_tokenizer(tiny_units()).backend_tokenizer.to_str())
    assert json.loads(shipped.backend_tokenizer.to_str())["model"] == built["model"]


def test_the_shipped_model_has_the_shape_that_the_code_builds(shipped):
    config = transformers.AutoConfig.from_pretrained(tiny_folder())
    built = build_model(len(shipped)).config
    for name in ("hidden_size", "num_hidden_layers", "head_dim", "vocab_size", "eos_token_id"):
        assert getattr(config, name) == getattr(built, name)

import pytest

from benchmarks.sweep import fingerprints
from benchmarks.sweep.fingerprints import policy_fingerprint


@pytest.fixture
def model(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(bytes(100))
    return tmp_path


@pytest.mark.parametrize(
    "name", ["config.json", "model.safetensors", "adapter_config.json", "tokenizer.json"]
)
def test_another_model_in_the_same_folder_has_another_fingerprint(model, name):
    before = policy_fingerprint(str(model))
    (model / name).write_text("new" + "0" * 97)
    assert policy_fingerprint(str(model)) != before


def test_an_adapter_on_another_base_has_another_fingerprint(model):
    (model / "base").mkdir()
    before = policy_fingerprint(str(model))
    (model / "base" / "model.safetensors").write_bytes(bytes(100))
    assert policy_fingerprint(str(model)) != before


def test_what_a_run_writes_beside_its_model_does_not_matter(model):
    before = policy_fingerprint(str(model))
    (model / "metrics.jsonl").write_text("{}")
    (model / "run.json").write_text("{}")
    (model / "trajectories").mkdir()
    assert policy_fingerprint(str(model)) == before != ""


def test_a_copy_is_the_same_policy(model, tmp_path_factory):
    copy = tmp_path_factory.mktemp("copy")
    for file in model.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    assert policy_fingerprint(str(copy)) == policy_fingerprint(str(model))


def test_large_files_are_sampled_all_along(model, monkeypatch):
    monkeypatch.setattr(fingerprints, "READ_WHOLE", 50)
    monkeypatch.setattr(fingerprints, "STRIDE", 10)
    monkeypatch.setattr(fingerprints, "SAMPLE", 2)
    before = policy_fingerprint(str(model))
    weights = bytearray(100)
    weights[41] = 1
    (model / "model.safetensors").write_bytes(weights)
    assert policy_fingerprint(str(model)) != before


@pytest.mark.parametrize("policy", ["expert", "random", "http://h:1/v1", "org/no-such-model"])
def test_policies_without_files_have_none(policy):
    assert policy_fingerprint(policy) == ""


def test_the_shipped_policy_has_one():
    assert len(policy_fingerprint("tiny")) == 16

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.trainers.toys import ENV_ID, make_folder
from trainers import collect, evaluate
from trainers.options.arguments import EnvArguments, EpisodeArguments
from trainers.options.errors import UsageError
from trainers.options.policies import PolicyArguments, PolicyLoadingArguments
from trainers.policies.open import (
    check_model,
    open_environments,
    open_model,
)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no model, for there is no config.json"):
        open_model(PolicyArguments(policy=str(tmp_path)), EpisodeArguments())
    with pytest.raises(UsageError, match="holds no model"):
        check_model(PolicyArguments(policy=str(tmp_path)))


def test_a_misspelt_name_is_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str, **_options: object) -> None:
        raise OSError(f"{name} is not a local folder\nand no model of the hub")

    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", unknown)
    with pytest.raises(UsageError) as refused:
        check_model(PolicyArguments(policy="exprt"))
    assert str(refused.value) == (
        "cannot open the policy 'exprt'; did you mean expert? "
        "(there is no such folder, and of such an id: "
        "exprt is not a local folder and no model of the hub)"
    )


def test_a_model_that_is_there_passes(tmp_path: Path) -> None:
    check_model(PolicyArguments(policy=make_folder(tmp_path)))
    check_model(PolicyArguments(policy="tiny"))


def test_cuts_of_the_distribution_are_for_models_and_in_their_bounds() -> None:
    assert PolicyArguments(policy="tiny", top_k=3, top_p=0.9, min_p=0.1).top_k == 3
    for policy in ("expert", "random", "http://localhost:8000/v1"):
        with pytest.raises(ValueError, match=f"got `policy={policy}`; .* `api_kwargs`"):
            PolicyArguments(policy=policy, top_p=0.9)
    with pytest.raises(ValueError, match="top_p must be above 0 and at most 1, got 2"):
        PolicyArguments(policy="tiny", top_p=2)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"env": []}, "no environment is named"),
        ({"env": ["CartPole-v1"]}, "CartPole-v1 is no text environment"),
        ({"env": [ENV_ID], "env_kwargs": '{"nix": 1}'}, "takes no argument 'nix'; it takes"),
        (
            {"env": [ENV_ID], "wrapper": ["nonsense"]},
            "expected module:Class, such as .*, got 'nonsense'",
        ),
    ],
)
def test_environments_that_cannot_be_made_are_told(options: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        open_environments(EnvArguments(**options))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_requests": 0}, "max_requests must be >= 1, got 0"),
        ({"request_timeout": 0.0}, "request_timeout must be > 0, got 0.0"),
    ],
)
def test_a_number_out_of_its_range_is_told(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        PolicyLoadingArguments(**options)


@pytest.mark.parametrize("command", [collect.main, evaluate.main], ids=["collect", "eval"])
@pytest.mark.parametrize("policy", ["expert", "random", "http://127.0.0.1:1/v1"])
def test_a_backend_is_refused_where_no_model_is_loaded(
    command: Any, policy: str, tmp_path: Path
) -> None:
    words = f"--env {ENV_ID} --policy {policy} --backend vllm --out {tmp_path / 'out.json'}"
    with pytest.raises(
        UsageError, match=f"`backend=vllm` samples from a model .* `policy={policy}`;"
    ):
        command(words.split())

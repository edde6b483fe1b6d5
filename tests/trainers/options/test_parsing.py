from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from trainers import collect
from trainers.agentevol import AgentEvolConfig
from trainers.command import parse_training
from trainers.dpo import AgentDPOConfig
from trainers.models.fetched import tiny_folder
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.configs import AgentGRPOConfig, defaults_for
from trainers.options.files import help_page, preset_names
from trainers.options.models import own_name
from trainers.options.offline import AgentSFTConfig
from trainers.options.parser import CommandParser, OptionParser
from trainers.options.policies import PolicyArguments
from trainers.ppo import AgentPPOConfig


@dataclass
class Fruit:
    """Options of every kind that the commands have."""

    name: str = field(default="apple", metadata={"aliases": ["--fruit"]})
    count: int | None = 3
    weight: float = 1.0
    is_ripe: bool = False
    is_sweet: bool = True
    mode: str = field(default="raw", metadata={"choices": ["raw", "no", "cooked"]})
    colours: list[str] = field(default_factory=list, metadata={"action": "extend"})
    extras: str | None = None


def parsed(*argv: str) -> Fruit:
    parser = CommandParser((Fruit,), command="fruit", description="Fruit.")
    (fruit,) = parser.parse(argv)
    assert isinstance(fruit, Fruit)
    return fruit


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Return a function that writes an option file and returns its path."""

    def write(text: str, name: str = "options.yaml") -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def refusal(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    with pytest.raises(SystemExit) as left:
        parsed(*argv)
    assert left.value.code == 2
    return capsys.readouterr().err


def test_a_file_overrides_defaults_and_the_command_line_overrides_the_file(written: Any) -> None:
    path = written("name: pear\ncount: 5\nweight: 1e-6\n")
    fruit = parsed("--config", path, "--count", "7")
    assert (fruit.name, fruit.count, fruit.weight, fruit.mode) == ("pear", 7, 1e-6, "raw")
    assert parsed("--count=7", f"--config={path}").count == 7


def test_keys_may_have_dashes_and_be_aliases(written: Any) -> None:
    fruit = parsed("--config", written("is-ripe: true\nfruit: fig\n"))
    assert fruit.is_ripe
    assert fruit.name == "fig"


def test_values_are_read_as_on_the_command_line(written: Any) -> None:
    text = "is_sweet: no\nmode: no\nname: -1\nweight: -1e-3\ncolours: [red, 12]\n"
    fruit = parsed("--config", written(text))
    assert not fruit.is_sweet
    assert fruit.mode == "no"
    assert fruit.name == "-1"
    assert fruit.weight == -1e-3
    assert fruit.colours == ["red", "12"]


def test_a_mapping_becomes_json_and_null_means_none(written: Any) -> None:
    fruit = parsed("--config", written("extras: {a: null, b: [1, true]}\ncount: null\n"))
    assert fruit.extras == '{"a": null, "b": [1, true]}'
    assert fruit.count is None


def test_lists_of_the_command_line_replace_those_of_the_file(written: Any) -> None:
    path = written("colours: [red, green]\n")
    assert parsed("--config", path).colours == ["red", "green"]
    assert parsed("--config", path, "--colours", "blue").colours == ["blue"]
    assert parsed("--config", written("colours: red\n")).colours == ["red"]


def test_a_negated_switch_of_the_command_line_overrides_the_file(written: Any) -> None:
    assert not parsed("--config", written("is_sweet: true\n"), "--no_is_sweet").is_sweet


def test_later_files_override_earlier_ones(written: Any) -> None:
    first = written("name: pear\ncount: 5\n", "first.yaml")
    second = written("name: plum\n", "second.yaml")
    fruit = parsed("--config", first, "--config", second)
    assert (fruit.name, fruit.count) == ("plum", 5)
    assert parsed("--config", second, "--config", first).name == "pear"


def test_an_empty_file_changes_nothing(written: Any) -> None:
    assert parsed("--config", written("# nothing\n")) == Fruit()


def test_an_unknown_key_names_the_key_the_file_and_the_nearest_names(
    written: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written("wieght: 2\n")
    message = refusal(capsys, "--config", path)
    assert f"{path}: unknown option 'wieght'; did you mean weight" in message


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("qqqq: 1\n", "unknown option 'qqqq'; see"),
        ("config: other.yaml\n", "unknown option 'config'"),
        ("help: true\n", "unknown option 'help'"),
        ("is-ripe: true\nis_ripe: false\n", "'is_ripe' is given twice"),
        ("name: pear\nfruit: fig\n", "'fruit' is given twice"),
        ("- name\n", "must hold a mapping of options"),
        ("name: [unclosed\n", "is not YAML"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(
    text: str, complaint: str, written: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(text)
    message = refusal(capsys, "--config", path)
    assert complaint in message
    assert path in message


@pytest.mark.parametrize("text", ["count: many\n", "mode: fried\n", "is_ripe: perhaps\n"])
def test_a_value_of_the_wrong_kind_names_the_option_and_the_file(
    text: str, written: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(text)
    message = refusal(capsys, "--config", path)
    assert f"argument --{text.partition(':')[0]}" in message
    assert path in message


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["--wieght", "2"], "unknown option --wieght; did you mean --weight?"),
        (["--is-rip"], "unknown option --is-rip; did you mean --is_ripe"),
        (["--count", "many", "--wieght=2"], "unknown option --wieght; did you mean --weight?"),
        (["--qqqq"], "unknown option --qqqq; fruit --help lists the options"),
        (["--count", "2", "rest"], "unrecognized arguments: rest"),
    ],
)
def test_a_misspelt_option_is_told_first_with_what_it_may_have_meant(
    argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in refusal(capsys, *argv)


def test_a_secret_after_a_misspelt_option_is_not_repeated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "hf_" not in refusal(capsys, "--hub_tokn=hf_abcdefghijklmnopqrstuvwxyzabcdef")


def test_a_plain_parser_takes_both_spellings_and_names_the_nearest_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = OptionParser("plain")
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("words", nargs="*")
    assert parser.parse_args(["--batch_size=3"]).batch_size == 3
    assert parser.parse_args(["--", "--batch-sise"]).words == ["--batch-sise"]
    with pytest.raises(SystemExit):
        parser.parse_args(["--batch-sise", "3"])
    assert "unknown option --batch-sise; did you mean --batch_size?" in capsys.readouterr().err


def test_an_unknown_preset_or_file_names_the_nearest_preset(
    capsys: pytest.CaptureFixture[str],
) -> None:
    message = refusal(capsys, "--config", "textcraft-scaling-inter-7b")
    assert "neither a file nor a preset; did you mean textcraft-scalinginter-7b" in message
    assert "--list_presets" in refusal(capsys, "--config", "nowhere.yaml")


def test_a_config_without_a_name_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert "expected one argument" in refusal(capsys, "--config")


def training(*argv: str, config: Any = AgentGRPOConfig) -> tuple[Any, ...]:
    return parse_training(list(argv), algorithm="grpo", config=config, description="Train.")


def test_a_file_may_name_the_model_that_has_its_own_defaults(written: Any) -> None:
    big = written("model: some/model\n", "big.yaml")
    tiny = written("model: tiny\nlearning_rate: 5e-4\n", "tiny.yaml")
    assert training("--config", big, "--use_cpu")[-1].learning_rate == 1e-6
    assert training("--config", big, "--model", "tiny", "--use_cpu")[-1].learning_rate == 3e-4
    assert training("--config", tiny, "--use_cpu")[-1].learning_rate == 5e-4


@pytest.mark.parametrize("kind", [AgentPPOConfig, AgentEvolConfig, AgentDPOConfig, AgentGRPOConfig])
def test_a_pass_holds_one_row_of_a_language_model_whatever_the_algorithm(kind: Any) -> None:
    own = defaults_for(kind, "smollm2")
    assert own["per_device_train_batch_size"] == 1
    usual = kind()
    batch = usual.per_device_train_batch_size * usual.gradient_accumulation_steps
    assert own["gradient_accumulation_steps"] in (batch, 8)


@pytest.mark.parametrize(
    ("kind", "rates"),
    [
        (AgentSFTConfig, {"tiny": 1e-3, "smollm2": 1e-4, "smollm2 --use_peft": 5e-4, "some": 2e-5}),
        (AgentGRPOConfig, {"tiny": 3e-4, "smollm2": 4e-5, "smollm2 --use_peft": 4e-4}),
        (AgentPPOConfig, {"smollm2-textcraft": 4e-5, "some": 1e-6}),
        (AgentDPOConfig, {"tiny": 3e-5, "HuggingFaceTB/SmolLM2-135M-Instruct": 1e-6}),
        (AgentSFTConfig, {"some --use_peft": 2e-4, "tiny --use_peft": 1e-3}),
        (AgentGRPOConfig, {"some --use_peft": 1e-5, "tiny --use_peft": 3e-4}),
        (AgentPPOConfig, {"some --use_peft": 1e-5}),
        (AgentDPOConfig, {"some --use_peft": 1e-5}),
        (AgentEvolConfig, {"some --use_peft": 2e-4, "tiny": 2e-4}),
    ],
)
def test_the_learning_rate_is_as_high_as_the_size_of_the_model_allows(
    kind: Any, rates: dict[str, float]
) -> None:
    for words, rate in rates.items():
        args = training("--model", *words.split(), "--use_cpu", config=kind)
        assert args[-1].learning_rate == rate


@pytest.mark.parametrize(
    ("algorithm", "rates"),
    [
        ("grpo", "tiny 0.0003, smollm2 4e-05 (0.0004 with --use_peft), another model 1e-06 (1e-05"),
        ("agentevol", "tiny 0.0002, smollm2 0.0001 (0.0005 with --use_peft), another model 2e-05"),
    ],
)
def test_the_help_says_by_which_model_the_learning_rate_goes(algorithm: str, rates: str) -> None:
    text = " ".join(help_page(algorithm).split())
    assert f"By default it goes by the model: {rates}" in text


def test_a_folder_of_a_model_of_ours_has_its_defaults(tmp_path: Path) -> None:
    shutil.copy(f"{tiny_folder()}/config.json", tmp_path)
    assert own_name(str(tmp_path)) == own_name("tiny") == "tiny"
    assert training("--model", str(tmp_path), "--use_cpu")[-1].learning_rate == 3e-4
    sizes = {"hidden_size": 576, "num_hidden_layers": 30, "vocab_size": 49152}
    (tmp_path / "config.json").write_text(json.dumps(sizes))
    args = training("--model", str(tmp_path), "--use_cpu")[-1]
    assert (args.learning_rate, args.per_device_train_batch_size) == (4e-5, 1)
    (tmp_path / "config.json").write_text(json.dumps({**sizes, "vocab_size": 9}))
    assert training("--model", str(tmp_path), "--use_cpu")[-1].learning_rate == 1e-6


@pytest.mark.parametrize("capability", ["amx_bf16", "avx512_bf16", None])
@pytest.mark.parametrize("accelerator", [False, True])
def test_wide_models_are_trained_in_bfloat16_where_a_cpu_multiplies_it(
    capability: str | None, accelerator: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {capability: True, "avx2": True})
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: accelerator)
    chosen = {}
    for width in (511, 512):
        folder = tmp_path / str(width)
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({"hidden_size": width}))
        chosen[width] = defaults_for(AgentGRPOConfig, str(folder)).get("bf16")
    on_cpu = True if capability and not accelerator else None
    assert chosen == {511: None, 512: on_cpu}
    assert defaults_for(AgentGRPOConfig, "smollm2").get("bf16") is on_cpu
    assert defaults_for(AgentGRPOConfig, "tiny").get("bf16") is None


@pytest.mark.parametrize("capability", ["avx512_bf16", "none"])
def test_a_model_plays_in_bfloat16_where_that_is_faster(
    capability: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {capability: True})
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    fast = "bfloat16" if capability == "avx512_bf16" else "float32"
    for policy, dtype in {"smollm2": fast, "tiny": "float32", "expert": None}.items():
        assert PolicyArguments(policy=policy).dtype == dtype
    settings = [("dtype", fast)] if fast == "bfloat16" else []
    assert PolicyArguments(policy="smollm2").settings == settings
    assert PolicyArguments(policy="smollm2", dtype="float32").settings == []


def test_the_command_line_overrules_the_precision_of_the_processor() -> None:
    assert training("--model", "smollm2", "--use_cpu", "--bf16", "False")[-1].bf16 is False


@pytest.mark.parametrize(
    ("options", "precision"),
    [
        ("--use_peft --bf16", "bfloat16"),
        ("--use_peft --bf16 --dtype float32", "float32"),
        ("--use_peft --bf16 false", "float32"),
        ("--use_peft --bf16 --reset_adapter_every 9", "float32"),
        ("--bf16", "float32"),
    ],
)
def test_weights_that_an_adapter_freezes_are_loaded_as_they_are_computed(
    options: str, precision: str
) -> None:
    assert training("--use_cpu", *options.split())[-2].dtype == precision


def test_the_environment_of_the_command_line_replaces_the_files(written: Any) -> None:
    path = written("env: [TextCraft, BabyAI]\nhorizon: fixed:4\n")
    env, rollout, *_ = training("--config", path, "--env", "SciWorld", "--use_cpu")
    assert isinstance(env, EnvArguments)
    assert isinstance(rollout, RolloutArguments)
    assert env.env == ["agentgym/SciWorld-v0"]
    assert rollout.horizon == "fixed:4"


def test_every_option_of_trls_config_may_stand_in_a_file(written: Any) -> None:
    path = written("adam_beta1: 0.5\nlr_scheduler_kwargs: {num_cycles: 2}\nuse_cpu: true\n")
    args = training("--config", path, config=AgentSFTConfig)[-1]
    assert args.adam_beta1 == 0.5
    assert args.lr_scheduler_kwargs == {"num_cycles": 2}


def test_a_backend_that_there_is_not_names_those_there_are_and_how_one_is_added(
    capsys: pytest.CaptureFixture[str],
) -> None:
    remedy = "an entry point of the group agentgym.backends that names a trainers.BackendSpec"
    with pytest.raises(SystemExit):
        training("--backend", "my_lab.backends:SPEC")
    message = " ".join(capsys.readouterr().err.split())
    assert "invalid choice: 'my_lab.backends:SPEC' (choose from" in message
    assert "vllm_server" in message and remedy in message
    with pytest.raises(ValueError, match="backend must be one of hf, vllm, vllm_server, got 'nix'"):
        RolloutArguments(backend="nix")
    with pytest.raises(ValueError, match=remedy):
        RolloutArguments(backend="nix")


def test_list_presets_names_each_with_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        training("--list-presets")
    assert left.value.code in (0, None)
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in preset_names())
    assert "TextCraft, GRPO, ScalingInter turns 10/20/30, Qwen2.5-7B" in shown
    assert "fsdp2.yaml" in shown


def test_commands_that_do_not_train_take_files_too(written: Any, tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    path = written(f"env: TextCraft\nnum-episodes: 2\nout: {out}\n")
    assert collect.main(["--config", path]) == 0
    assert len(out.read_text().splitlines()) == 2

"""The parts at their smallest, of which `python -m lab.gpu` without a GPU runs all."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen2ForCausalLM

from lab.gpu import learning
from lab.gpu.command import main
from lab.gpu.launched import ADAPTERS, command_line, launched
from lab.gpu.learning import FULL, SMALL, keep_curve, stages
from lab.gpu.models import FULL as SHAPES
from lab.gpu.models import build_tokenizer, config_of, model_folder, shapes
from lab.gpu.parts import PARTS, Setting
from lab.gpu.sampling import TOKENS_PER_SECOND, GenerateBackend, rollouts
from lab.gpu.steps import Case, gap_values, learner, step_values, train
from trainers import AgentGRPOConfig, AgentSFTConfig
from trainers.command import parse_training
from trainers.options.files import LAUNCH_FILES
from trainers.options.offline import DataArguments
from trainers.runs.folder import write_metrics
from trainers.tokens.generation import Sampling


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))  # without smollm2
    made = Setting(tmp_path / "work" / "part", tmp_path / "work" / "shared", small=True)
    made.folder.mkdir(parents=True)
    return made


def test_the_shapes_have_as_many_parameters_as_qwen() -> None:
    """Qwen2.5's technical report, arXiv 2412.15115: 0.49B and 3.09B; counted on the hub."""
    tokenizer = build_tokenizer()
    with torch.device("meta"):
        models = [Qwen2ForCausalLM(config_of(shape, tokenizer)) for shape in SHAPES]
    assert [model.num_parameters() for model in models] == [494_032_768, 3_085_938_688]


def test_a_random_model_is_made_once_and_loads(setting: Setting) -> None:
    shape, _ = shapes(small=True)
    folder = model_folder(shape, setting.shared)
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert model_folder(shape, setting.shared) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    model, tokenizer = (
        kind.from_pretrained(folder) for kind in (AutoModelForCausalLM, AutoTokenizer)
    )
    assert model.dtype == torch.bfloat16 and len(tokenizer) < model.config.vocab_size
    prompts = [[5, 6, 7], [8]]
    sampled = GenerateBackend(model, tokenizer.pad_token_id).generate(
        prompts, Sampling(max_new_tokens=5), keys=[0, 1]
    )
    assert [len(one.ids) for one in sampled] == [5, 5]


def test_a_step_has_its_share_of_sampling_and_close_probabilities(setting: Setting) -> None:
    assert learner() == "tiny"
    case = Case("here", learner(), dtype="float32", bf16=False).at_size(small=True)
    logs, seconds = train(case, setting)
    values = step_values(case, logs, seconds)
    assert 0 < float(values["of it sampling"].rstrip("%")) < 100
    assert values["episodes"] == 4 and len(seconds) == 2
    gaps = gap_values(logs)
    assert 0 <= gaps["gap, mean (nats)"] <= gaps["gap, most (nats)"] < 1e-3
    assert gaps["ratio, least"] <= 1 <= gaps["ratio, most"]
    assert all(log["frac_reward_zero_std"] == 0 for log in logs)  # every row was trained


@pytest.mark.parametrize(
    "part", [name for name, p in PARTS.items() if p.target.endswith("launched")]
)
def test_launched_parts_have_a_file_and_as_many_processes_as_gpus(part: str) -> None:
    line = command_line(part, Path("notes"), ["--x"], num_gpus=1)
    if part in ADAPTERS:
        assert line[-2:] == ["--config", part]
        return
    assert (LAUNCH_FILES / f"{part}.yaml").is_file()
    assert line[line.index("--num_processes") + 1] == "1" and "--use_cpu" not in line
    alone = command_line(part, Path("notes"), ["--x"], num_gpus=0)
    assert alone[alone.index("--num_processes") + 1] == "2" and alone[-1] == "--use_cpu"


@pytest.mark.parametrize("plan", [FULL, SMALL], ids=["full", "small"])
def test_the_commands_of_the_learning_part_take_their_options(
    plan: learning.Plan, tmp_path: Path
) -> None:
    commands = {run.folder.name: run.commands[0] for run in stages(plan, "tiny", tmp_path)}
    assert [*commands] == [
        "collected",
        "start",
        "imitating",
        "after_sft",
        "reinforcing",
        "after_grpo",
    ]
    for name, algorithm in (("imitating", "sft"), ("reinforcing", "grpo")):
        words = commands[name]
        assert words[:3] == ("agentgym", "train", algorithm)
        config = {"sft": AgentSFTConfig, "grpo": AgentGRPOConfig}[algorithm]
        parsed = parse_training(
            list(words[3:]),
            algorithm=algorithm,
            config=config,
            description="",
            further=(DataArguments,) if algorithm == "sft" else (),
        )
        assert parsed[-1].output_dir == str(tmp_path / algorithm)
    assert commands["after_grpo"][1] == "eval" and str(tmp_path / "grpo") in commands["after_grpo"]


def test_the_curve_is_kept_as_a_table(tmp_path: Path) -> None:
    keep_curve(tmp_path / "run", tmp_path)
    assert list(tmp_path.iterdir()) == []  # training has not begun
    (tmp_path / "run").mkdir()
    write_metrics(tmp_path / "run", [{"global_step": 1, "episodes/success": 0.5, "other": 1}])
    keep_curve(tmp_path / "run", tmp_path)
    (row,) = csv.DictReader((tmp_path / "learning_curve.csv").read_text().splitlines())
    assert row["global_step"] == "1" and row["episodes/success"] == "0.5" and "other" not in row


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--there", "x"], "--there is of --pack"),
        (["--minutes", "0"], "--minutes must be above 0"),
        (["--only", "nothing"], "invalid choice: 'nothing'"),
    ],
)
def test_wrong_lines_are_told(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert told in capsys.readouterr().err


@pytest.mark.slow
def test_rollouts_are_timed_four_ways(setting: Setting) -> None:
    readings = list(rollouts(setting, "rollout"))
    assert len(readings) == 8  # each of two models
    assert all(reading.values[TOKENS_PER_SECOND] > 0 for reading in readings)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["lora", "fsdp2"])
def test_adapters_and_split_weights_train_here_too(part: str, setting: Setting) -> None:
    (reading,) = launched(setting, part)
    assert reading.values["kind"] == {"lora": "NO", "fsdp2": "FSDP"}[part]
    assert (setting.folder / "made" / "run" / "model.safetensors").is_file()


@pytest.mark.slow
def test_the_learning_part_runs_to_its_end(setting: Setting) -> None:
    readings = list(learning.learning(setting, "learning"))
    assert [reading.name for reading in readings] == [
        "tiny, as it is", "tiny, after SFT", "tiny, after GRPO"
    ]  # fmt: skip
    assert (setting.folder.parents[1] / "learning_curve.png").is_file()

"""The option files that are shipped hold what the paper and its scripts say, and parse."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from accelerate.commands.config.config_args import load_config_from_file
from accelerate.commands.launch import launch_command_parser
from accelerate.utils import DistributedType

from agentgym_envs import registered_ids
from tests.trainers.toys import ENV_ID, make_folder
from trainers.backends.row_cache import RowCache
from trainers.command import parse_training
from trainers.grpo import main
from trainers.models.loading import adapter_config
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.configs import AgentGRPOConfig, ModelArguments
from trainers.options.files import LAUNCH_FILES, PRESETS, option_file, preset_names, read_options
from wrappers import FixedHorizon, ScalingInter


@dataclass(frozen=True)
class Run:
    """A scenario's settings, from the paper (arXiv 2509.08755) and its released scripts.

    Attributes:
        env: the scenario.
        turns: the fixed horizon.
        stages: ScalingInter's horizons.
        every: batches of episodes per stage.
        tasks: tasks of a batch.
        group: episodes per task.
        tasks_per_update: tasks of a mini-batch, which is an optimizer step.
        tokens_per_turn, tokens: of a turn, and of prompt and interaction together.
        learning_rate: the optimizer's.
    """

    env: str
    turns: int
    stages: tuple[int, ...]
    every: int
    tasks: int
    group: int
    tasks_per_update: int
    tokens_per_turn: int
    tokens: int
    learning_rate: float = 1e-6


RUNS = {
    "textcraft": Run("TextCraft", 30, (10, 20, 30), 100, 32, 8, 8, 512, 512 + 10240),
    "babyai": Run("BabyAI", 20, (6, 13, 20), 100, 32, 4, 8, 512, 512 + 8192),
    "sciworld": Run("SciWorld", 20, (10, 20, 30), 100, 16, 8, 8, 200, 1024 + 8192),
    "searchqa": Run("SearchQA", 5, (5, 8, 10), 100, 32, 4, 8, 512, 1024 + 8192),
    "webarena": Run("WebArena", 15, (8, 12, 15), 80, 32, 4, 4, 512, 750 + 14098, 5e-7),
}
KINDS = ("fixed", "scalinginter")
NAMES = [f"{scenario}-{kind}-7b" for scenario in RUNS for kind in KINDS]


def parsed(name: str, *more: str) -> tuple[EnvArguments, RolloutArguments, Any, AgentGRPOConfig]:
    """Parse a preset with its command; a scenario that is not there yet is stood in for."""
    options = read_options(option_file(name))
    is_there = f"agentgym/{options.get('env')}-v0" in registered_ids()
    stand_in = () if is_there else ("--env", "TextCraft")
    env, rollout, _, _, model, args = parse_training(
        ["--config", name, *stand_in, *more],
        algorithm="grpo",
        config=AgentGRPOConfig,
        description="Train.",
    )
    return env, rollout, model, args


def test_the_presets_are_the_papers_ten_runs_two_adapters_and_a_quickstart() -> None:
    assert preset_names() == sorted([*NAMES, "lora", "qlora", "quickstart-llm"])


def test_the_quickstart_measures_what_it_trains_before_and_after() -> None:
    env, _, model, args = parsed("quickstart-llm", "--use_cpu")
    assert env.eval_tasks == env.tasks == ["depth 1"]
    assert env.eval_split == "test" and env.split == "train"
    assert args.eval_on_start and args.eval_steps == args.max_steps
    assert args.generation_batch_size == env.num_envs
    assert model.model_name_or_path == "smollm2-textcraft"


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_holds_the_runs_numbers(name: str) -> None:
    scenario, kind, _ = name.split("-")
    run = RUNS[scenario]
    env, rollout, model, args = parsed(name)
    assert read_options(option_file(name))["env"] == run.env
    if f"agentgym/{run.env}-v0" in registered_ids():
        assert env.env == [f"agentgym/{run.env}-v0"]
    assert model.model_name_or_path == "Qwen/Qwen2.5-7B-Instruct"
    assert rollout.max_tokens_per_turn == run.tokens_per_turn
    assert rollout.max_tokens_per_episode == run.tokens
    # Evaluations play the paper's evaluation turns, which mostly are the environment's own limit.
    assert env.max_turns == (15 if scenario == "webarena" else None)

    assert args.num_generations == run.group
    assert args.generation_batch_size == run.tasks * run.group
    per_update = args.per_device_train_batch_size * args.gradient_accumulation_steps
    assert per_update == run.tasks_per_update * run.group
    updates = run.tasks // run.tasks_per_update * args.num_iterations
    assert args.steps_per_generation * args.num_iterations == (
        updates * args.gradient_accumulation_steps
    )

    if kind == "fixed":
        assert rollout.env_schedule(run.env) == FixedHorizon(run.turns)
    else:
        assert rollout.env_schedule(run.env) == ScalingInter(run.stages, every=run.every * updates)
    assert args.max_steps >= len(run.stages) * run.every * updates
    assert args.max_steps % updates == 0

    assert args.learning_rate == run.learning_rate
    assert (args.beta, args.epsilon, args.temperature) == (1e-3, 0.2, 1.0)
    assert (args.loss_type, args.scale_rewards) == ("grpo", "group")
    assert args.use_bias_correction_kl is False
    assert (args.kl_clip, read_options(option_file(name))["kl_clip"]) == (10.0, "10")


def cache_bytes(num_envs: int, tokens: int) -> int:
    """What sampling keeps of so many episodes of Qwen2.5-7B, at most: 28 layers, 4 heads of 128."""
    cache = RowCache()
    for columns in (tokens * 7 // 10, tokens):
        cache.reserve(num_envs, columns, tokens)
    layer = cache.layer_class_to_replicate()
    new = torch.empty(1, 4, 1, 128, dtype=torch.bfloat16, device="meta")
    layer.lazy_initialization(new, new)
    return int(28 * (layer.keys.nbytes + layer.values.nbytes))


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_tells_its_memory_and_fits_the_gpus_that_it_names(name: str) -> None:
    text = (PRESETS / f"{name}.yaml").read_text().replace("\n#", "")
    _, rollout, _, args = parsed(name)
    num_envs = int(str(read_options(option_file(name))["num_envs"]))
    (stated,) = re.findall(rf"the cache of {num_envs} episodes (\d+):", text)
    assert rollout.max_tokens_per_episode is not None
    actual = cache_bytes(num_envs, rollout.max_tokens_per_episode)
    assert actual < (int(stated) + 0.5) * 1e9
    assert actual == pytest.approx(57_344 * num_envs * rollout.max_tokens_per_episode, rel=0.01)
    named = re.findall(r"GPUs? of (\d+)(.*?)together (\d+)", text)
    assert [int(size) for size, *_ in named] == [192, 80, 80]
    for size, parts, total in named:
        numbers = [int(number) for number in re.findall(r" (\d+)[,:]", parts)]
        assert sum(numbers) == int(total) < 0.97 * int(size)
        assert int(stated) in numbers
    assert args.num_generations is not None
    assert num_envs >= args.num_generations


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("num_gpus", [2, 4, 8])
def test_a_presets_batches_are_the_same_on_several_gpus(name: str, num_gpus: int) -> None:
    """What `TrainingArguments` computes for one process, by hand for several."""
    one = parsed(name)[-1]
    accumulation, left = divmod(one.gradient_accumulation_steps, num_gpus)
    assert left == 0
    args = parsed(name, "--gradient_accumulation_steps", str(accumulation))[-1]
    per_pass = args.per_device_train_batch_size * num_gpus
    assert args.generation_batch_size is not None
    passes, left = divmod(args.generation_batch_size, per_pass)
    assert left == 0
    assert passes // accumulation == one.steps_per_generation // one.gradient_accumulation_steps
    assert passes % accumulation == 0


@pytest.mark.parametrize("scenario", RUNS)
def test_the_two_runs_of_a_scenario_differ_in_the_horizon_alone(scenario: str) -> None:
    fixed, staged = (read_options(option_file(f"{scenario}-{kind}-7b")) for kind in KINDS)
    differing = {key for key in fixed | staged if fixed.get(key) != staged.get(key)}
    assert differing == {"horizon", "output_dir"}


@pytest.mark.parametrize("name", [*NAMES, "lora", "qlora"])
def test_every_value_of_a_preset_names_its_source(name: str) -> None:
    lines = (PRESETS / f"{name}.yaml").read_text().splitlines()
    values = [line for line in lines if line and not line.startswith("#")]
    bare = [line.partition(":")[0] for line in values if "  # " not in line]
    assert set(bare) <= {"env", "use_peft", "load_in_4bit"}
    if name in NAMES:
        sources = ("[script]", "[fixed script]", "[defaults]", "[code]", "[ours]", "the paper's")
        told = [line for line in values if "  # " in line]
        assert [line for line in told if not any(source in line for source in sources)] == []


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("webarena")])
def test_a_presets_comment_tells_the_commands_that_run_it(name: str) -> None:
    text = (PRESETS / f"{name}.yaml").read_text()
    assert f"#   agentgym train grpo --config {name}\n" in text
    *_, model, _ = parsed(name, "--model", "Qwen/Qwen2.5-3B-Instruct")
    assert model.model_name_or_path == "Qwen/Qwen2.5-3B-Instruct"


def test_an_adapter_file_adds_to_a_preset() -> None:
    _, rollout, model, args = parsed("textcraft-scalinginter-7b", "--config", "lora")
    assert rollout.horizon == "scaling:10,20,30@400"
    assert args.learning_rate == 1e-5
    adapter = adapter_config(model)
    assert (adapter.r, adapter.lora_alpha, adapter.lora_dropout) == (16, 32, 0.0)
    assert adapter.target_modules == "all-linear"


def test_qlora_asks_for_four_bits() -> None:
    model: ModelArguments = parsed("textcraft-fixed-7b", "--config", "qlora")[2]
    assert model.load_in_4bit
    assert model.use_bnb_nested_quant
    assert (model.bnb_4bit_quant_type, model.dtype) == ("nf4", "bfloat16")
    assert model.use_peft


@pytest.mark.full
def test_a_preset_with_lora_trains_on_a_small_model(tmp_path: Path) -> None:
    """The whole preset, the horizon and batch aside: 4 batches of 2 tasks, 2 steps each."""
    out = tmp_path / "out"
    options = (
        f"--config babyai-scalinginter-7b --config lora --env {ENV_ID} --action_format plain "
        f"--model {make_folder(tmp_path / 'model')} --output_dir {out} --max_steps 4 "
        "--horizon scaling:1,2@2 --max_tokens_per_turn 4 --generation_batch_size 8 "
        "--gradient_accumulation_steps 4 --eval_strategy no --disable_tqdm --use_cpu"
    ).split()
    assert main(options) == 0
    metrics = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    steps = [entry for entry in metrics if "loss" in entry]
    assert [entry["global_step"] for entry in steps] == [1, 2, 3, 4]
    # Two optimizer steps per batch of episodes, and two batches: one per stage.
    assert [entry["horizon"] for entry in steps if "horizon" in entry] == [1, 2]
    assert sorted(path.name for path in (out / "trajectories").glob("train_*")) == [
        "train_000001.jsonl",
        "train_000003.jsonl",
    ]
    played = (out / "trajectories/train_000003.jsonl").read_text().splitlines()
    assert len(played) == 8
    assert (out / "adapter" / "adapter_config.json").is_file()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cpu2", DistributedType.MULTI_GPU),
        ("fsdp2", DistributedType.FSDP),
        ("zero2", DistributedType.DEEPSPEED),
        ("zero3", DistributedType.DEEPSPEED),
    ],
)
def test_accelerate_reads_its_files_and_knows_every_key(name: str, kind: DistributedType) -> None:
    path = LAUNCH_FILES / f"{name}.yaml"
    config = asdict(load_config_from_file(str(path)))
    assert config["distributed_type"] == kind
    known = {action.dest for action in launch_command_parser()._actions}
    own = config["fsdp_config"] | config["deepspeed_config"]
    assert set(own) <= known
    assert set(yaml.safe_load(path.read_text())) <= set(config)


def test_the_names_tell_versions_and_stages() -> None:
    fsdp = load_config_from_file(str(LAUNCH_FILES / "fsdp2.yaml"))
    for stage in (2, 3):
        zero = load_config_from_file(str(LAUNCH_FILES / f"zero{stage}.yaml"))
        assert zero.deepspeed_config["zero_stage"] == stage
    assert fsdp.fsdp_config["fsdp_version"] == 2


@pytest.mark.slow
def test_two_processes_on_the_cpu_train_together(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [
        sys.executable, "-m", "accelerate.commands.launch",
        "--config_file", str(LAUNCH_FILES / "cpu2.yaml"), "-m", "trainers.grpo",
        *(
            f"--env TextCraft --tasks 1 --model tiny --max_steps 1 --max_turns 2 "
            f"--max_tokens_per_turn 16 --num_generations 2 --per_device_train_batch_size 2 "
            f"--gradient_accumulation_steps 1 --eval_strategy no --disable_tqdm --use_cpu "
            f"--output_dir {out}"
        ).split(),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=280)
    assert (out / "model.safetensors").is_file()
    files = sorted(path.name for path in (out / "trajectories").glob("train_*"))
    assert files == ["train_000001_rank0.jsonl", "train_000001_rank1.jsonl"]

"""Evaluates a policy, alone or as one of several processes; run as a script.

`evaluate_shared.py FOLDER` writes the metrics of each process as `FOLDER/<rank>.json`, and the
episodes below `FOLDER/greedy` and `FOLDER/sampled`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

from tests.trainers.toys import ENV_ID, make_model, make_tokenizer
from trainers.grpo import AgentGRPOTrainer
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.configs import AgentGRPOConfig
from trainers.trl_bridge import task_dataset


def evaluate(folder: Path, temperature: float, samples: int, num_tasks: int) -> dict[str, float]:
    args = AgentGRPOConfig(
        str(folder), use_cpu=True, report_to="none", save_strategy="no", disable_tqdm=True,
        num_generations=2, per_device_train_batch_size=2, gradient_accumulation_steps=1,
        eval_strategy="steps",
    )  # fmt: skip
    trainer = AgentGRPOTrainer(
        make_model(), EnvArguments(env=[ENV_ID], action_format="plain"), args=args,
        rollout=RolloutArguments(max_tokens_per_turn=4),
        evaluation=EvaluationArguments(eval_samples=samples, eval_temperature=temperature),
        eval_dataset=task_dataset([f"letters_{n}" for n in range(num_tasks)]),
        processing_class=make_tokenizer(),
    )  # fmt: skip
    metrics: dict[str, float] = trainer.evaluate()
    return metrics


if __name__ == "__main__":
    torch.set_num_threads(1)
    out = Path(sys.argv[1])
    results = {
        "greedy": evaluate(out / "greedy", 0.0, samples=1, num_tasks=5),
        "sampled": evaluate(out / "sampled", 1.0, samples=2, num_tasks=4),
    }
    is_several = torch.distributed.is_initialized()
    rank = torch.distributed.get_rank() if is_several else 0
    (out / f"{rank}.json").write_text(json.dumps(results))
    if is_several:
        torch.distributed.destroy_process_group()

"""On-policy distillation on episodes, and `agentgym train distill`.

The policy plays, and a teacher scores the tokens that it sampled. A token's advantage is the
teacher's log-probability less the policy's own, so that the loss's gradient estimates that of the
reverse KL of each sampled token's distribution,

    sum_t KL(pi(. | s_t) || q(. | s_t)),   d/dtheta = E[(log pi(a_t) - log q(a_t)) d log pi(a_t)]

with the states s_t as the policy reaches them: generalized knowledge distillation on the student's
own samples (GKD, arXiv 2306.13649, section 3.1: no gradient through the sampling), by one sample in
place of the sum over the vocabulary. A token has no credit for the KL of later ones, unlike in
MiniLLM (arXiv 2306.08543, equation 3).

The teacher is another model, or the policy that knows what the expert plays: on-policy
self-distillation (for agents: arXiv 2602.04942), by the start's weights where `--teacher` names
them, as in arXiv 2601.18734, and by the present ones where it is `self`, as in arXiv 2601.19897 but
for its moving mean. No reward is in the loss. Episodes that failed train nothing.
"""

from __future__ import annotations

import sys
from typing import Any

import torch

from trainers.command import train_online
from trainers.online import OnlineTrainer
from trainers.options.configs import AgentDistillConfig
from trainers.options.errors import run_command
from trainers.trl_bridge import EpisodeBatch
from trainers.trl_bridge.teacher import Knowledge, open_teacher


class AgentDistillTrainer(OnlineTrainer):
    """On-policy distillation for agents in text environments.

    ```python
    args = AgentDistillConfig(teacher_model_name_or_path="Qwen/Qwen2.5-7B-Instruct")
    trainer = AgentDistillTrainer("Qwen/Qwen2.5-0.5B-Instruct", "TextCraft", args=args)
    trainer.train()
    ```

    Args:
        *args: `OnlineTrainer`'s.
        teacher: a loaded model with the policy's tokenizer, in place of the config's
            `teacher_model_name_or_path`.
        **kwargs: `OnlineTrainer`'s.
    """

    config = takes = AgentDistillConfig

    def __init__(self, *args: Any, teacher: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.teacher = open_teacher(self, teacher)
        self.knowledge: Knowledge | None = None
        if self.args.teacher_knows == "expert":
            demonstrations = self.demonstrations(
                "teacher_knows", "pass `teacher_knows=nothing`", encoded=False
            )
            policy: Any = self.rollout.policy
            self.knowledge = Knowledge(demonstrations, policy.chat)

    def further_plan(self) -> dict[str, str]:
        """Return the teacher's line."""
        knowing = ", knowing the expert's actions" * (self.knowledge is not None)
        return {"teacher": self.teacher.title + knowing}

    def advantages_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return (R, T) nats: the teacher's log-probabilities less the policy's, clipped."""
        prompts = None
        if self.knowledge is not None:
            with self.player.pause():
                prompts, share = self.knowledge.prompts(self.rows, self.trajectories)
            self.logged["teacher_knows"].append(share)
        logps = self.teacher.logps(batch, prompts)
        return -self.measures.kl_to(logps, batch, episodes, whose="teacher_")


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym train distill`."""
    return train_online(
        argv,
        algorithm="distill",
        trainer=AgentDistillTrainer,
        description="Train a policy by a teacher's log-probabilities of the tokens it samples.",
    )


if __name__ == "__main__":
    sys.exit(run_command(main))

"""Builds a tiny policy from episodes: `python -m lab.warm_start.tiny_from_episodes`.

A page of text that the shipped `tiny` spells in bytes becomes few tokens for a policy that knows
the lines and words of such pages. Only the embeddings are fresh: the layers are those of `tiny`,
which have learnt to copy from what they read.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    Qwen3ForCausalLM,
)

from agentgym_envs.trajectories.agenttraj import read_trajectories
from agentgym_envs.trajectories.trajectory import Trajectory
from lab.warm_start.tiny import SPECIAL_TOKENS, build_model, build_tokenizer, save_tiny
from trainers.models.fetched import tiny_folder

MOST_NUMBER = 199
LINES_SHARE = 0.25
"""Largest share of the units that are whole lines. The rest are words and marks."""

_LINES = re.compile(r"\n[^\n]+")
# A mark ends before a newline: it must not eat the beginning of a line that is a unit.
_PIECES = re.compile(r" ?[^\W\d_]+| ?\d+|[\W_][^\w\n\0]*?(?= ?[^\W_]|[_\n\0]|\Z)")


def frequent_units(trajectories: Iterable[Trajectory], *, num_units: int) -> list[str]:
    """List the texts that become single tokens, those that save most first.

    Whole lines that stand in several tasks' episodes, then, of what is left, words (with the space
    before them), and the marks between words. Numbers to 199 are always among them.

    Args:
        trajectories: the episodes.
        num_units: how many units at most, numbers aside.

    Raises:
        ValueError: there are no episodes with turns.
    """
    texts = [(t.task_id, text) for t in trajectories for text in _texts(t)]
    if not texts:
        raise ValueError("there are no episodes to take words from")
    lines = _frequent(texts, _LINES)[: int(num_units * LINES_SHARE)]
    whole = frozenset(lines)
    rest = [(task, _LINES.sub(lambda m: "\0" if m[0] in whole else m[0], t)) for task, t in texts]
    pieces = [unit for unit in _frequent(rest, _PIECES) if "\0" not in unit]
    numbers = [f"{space}{n}" for n in range(MOST_NUMBER + 1) for space in ("", " ")]
    words = [unit for unit in pieces if not unit.strip().isdecimal()]
    return [*numbers, *lines, *words[: num_units - len(lines)]]


def build_policy(
    units: Sequence[str], *, seed: int = 0
) -> tuple[Qwen3ForCausalLM, PreTrainedTokenizerFast]:
    """Build a policy that knows `units`, with the layers of the shipped `tiny`.

    A token that `tiny` knows keeps its embedding. Every other one is drawn with the mean and the
    spread of those; half of the variance is shared by the spellings of a word with and without a
    space and in either case, so that one is easily taken for the other.

    Args:
        units: texts that become single tokens.
        seed: of the fresh embeddings.
    """
    tokenizer = build_tokenizer(units)
    vocabulary, known = (
        words.get_vocab() for words in (tokenizer, AutoTokenizer.from_pretrained(tiny_folder()))
    )
    model = build_model(len(tokenizer), seed=seed)
    weights = AutoModelForCausalLM.from_pretrained(tiny_folder()).state_dict()
    embedding = weights["model.embed_tokens.weight"]
    words = embedding[len(SPECIAL_TOKENS) + 256 :]
    generator = torch.Generator().manual_seed(seed)
    shared: dict[str, torch.Tensor] = {}
    rows = []
    for text, _ in sorted(vocabulary.items(), key=lambda item: item[1]):
        if text in known:
            rows.append(embedding[known[text]])
            continue
        own, common = (torch.randn(words.shape[1], generator=generator) for _ in range(2))
        common = shared.setdefault(text.lstrip("\u0120").lower(), common)
        rows.append(words.mean(0) + words.std(0) * (own + common) / 2**0.5)
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        weights[name] = torch.stack(rows)
    model.load_state_dict(weights)
    return model, tokenizer


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line and build the policy."""
    parser = argparse.ArgumentParser(
        prog="python -m lab.warm_start.tiny_from_episodes", description=__doc__
    )
    parser.add_argument("data", nargs="+", help="files of trajectories, ours or AgentTraj's")
    parser.add_argument("--out", required=True, help="folder of the policy")
    parser.add_argument("--units", type=int, default=3000, help="texts that become single tokens")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    trajectories = [t for path in arguments.data for t in read_trajectories(path)]
    units = frequent_units(trajectories, num_units=arguments.units)
    model, tokenizer = build_policy(units, seed=arguments.seed)
    save_tiny(arguments.out, model, tokenizer)
    print(f"{model.num_parameters():,} parameters, {len(tokenizer)} tokens: {arguments.out}")
    return 0


def _texts(trajectory: Trajectory) -> Iterator[str]:
    if trajectory.turns:
        yield trajectory.system_prompt
    for turn in trajectory.turns:
        yield turn.observation
        yield turn.completion


def _frequent(texts: Iterable[tuple[str, str]], pattern: re.Pattern[str]) -> list[str]:
    """Return the units that several tasks share, by the characters they fill."""
    counts: Counter[str] = Counter()
    first_task: dict[str, str] = {}
    common = set()
    for task, text in texts:
        for unit in pattern.findall(text):
            counts[unit] += 1
            if first_task.setdefault(unit, task) != task:
                common.add(unit)
    units = [unit for unit in common if len(unit.encode()) > 1]
    return sorted(units, key=lambda unit: (-counts[unit] * (len(unit) - 1), unit))


if __name__ == "__main__":
    raise SystemExit(main())

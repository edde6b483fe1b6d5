"""Checks one action format: it is played where it can be read, and else answered."""

from __future__ import annotations

from agentgym_envs.checking.probing import (
    MANY_TURNS,
    MakeEnv,
    Probe,
    expect_no_error,
    require,
)
from agentgym_envs.checking.turn_checks import check_info, check_step
from agentgym_envs.core import TextEnv

EXPERT = (
    "let expert_moves go on from the state as it is until the goal is reached; --imperfect-expert "
    "(expert_solves=False in Python) lets pass that it does not reach it"
)
_CAPITALS = (
    "play is given arguments in small letters, so name things in small letters, or list the "
    "argument in the verb's free_text"
)
_OFFERS = "let available_actions list what apply plays now, each in the words of a verb's template"
FEW = 5
MALFORMED = ("", " \n\t", "Ünïcode ☃ \ud800", "{}", "```python\n(\n```", "Action:", "x" * 10_000)
"""Completions that no format reads an action from, but for `plain`."""
_ODD = ("no such thing", "☃ -1", "1000000000")
"""Odd values that a policy may write for any argument."""


def check_format(
    make: MakeEnv, action_format: str, task_id: str, *, expert_solves: bool = True
) -> None:
    """Check a format: its rules in the prompt, unreadable texts, and all that it can write."""
    probe = Probe(make, action_format=action_format, max_turns=MANY_TURNS)
    with expect_no_error("system_prompt", "must be there"):
        prompt = probe.env.system_prompt
    require(
        isinstance(prompt, str) and probe.env.parser.instructions in prompt,
        f"system_prompt must be a str that holds the rules of {action_format!r}",
        prompt,
    )
    _, info = probe.reset(task_id)
    check_info(info, turn=0)
    is_over = _check_malformed(probe, action_format, task_id)
    if is_over:
        probe.reset(task_id)
    num_moves = 0
    for action in probe.expert():
        num_moves += 1
        step = probe.step(action)
        contract = f"the expert's {action!r} must be an action"
        has_capitals = action != action.lower() and type(probe.env).apply is TextEnv.apply
        remedy = _CAPITALS if has_capitals and action_format == "plain" else EXPERT
        require(step.info["is_valid_action"], contract, step, remedy=remedy)
        if step.terminated or step.truncated:
            break
    if expert_solves and probe.has_expert and not is_over:
        require(
            num_moves > 0,
            f"the expert of {task_id} must give an action, or raise NoExpert, after actions that "
            "changed nothing too",
            remedy=EXPERT,
        )
    _check_offers(probe, task_id, info["available_actions"])
    if action_format == "plain":
        _check_odd_arguments(probe, task_id)
    probe.close()


def _check_malformed(probe: Probe, action_format: str, task_id: str) -> bool:
    """Play texts that no format reads, and return whether the episode is over."""
    turn = 0
    is_over = False
    for completion in MALFORMED:
        if is_over:
            probe.reset(task_id)
            turn = 0
        turn += 1
        step = probe.step(completion)
        check_step(step, turn=turn)
        require(step.reward == 0, f"{completion!r:.40} must earn reward 0", step.reward)
        if action_format != "plain":
            require(
                step.info["is_valid_action"] is False,
                f"{completion!r:.40} is no action in {action_format!r}: is_valid_action is False",
                step,
            )
        is_over = step.terminated or step.truncated
    return is_over


def _check_offers(probe: Probe, task_id: str, offers: list[str] | None) -> None:
    """Check that the format can write the `available_actions`, and that they can be played."""
    for place, offer in enumerate(offers or ()):
        with expect_no_error(f"available_actions' {offer!r:.80}", "must fit a verb's template"):
            action = probe.env.parser.format(offer)
        if place < FEW:
            probe.reset(task_id)
            step = probe.step(action)
            contract = f"available_actions' {offer!r:.80} must be possible where it is listed"
            require(step.info["is_valid_action"], contract, step, remedy=_OFFERS)


def _check_odd_arguments(probe: Probe, task_id: str) -> None:
    """Check that every verb answers arguments that nothing in the task is called."""
    turn = 0
    for verb in probe.env.verbs:
        for text in _ODD:
            if turn == 0:
                probe.reset(task_id)
            turn += 1
            step = probe.step(verb.fill(dict.fromkeys(verb.parameters, text)))
            check_step(step, turn=turn)
            if step.terminated or step.truncated:
                turn = 0

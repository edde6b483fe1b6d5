"""`compat="agentgym"`: answers recorded from AgentGym's own server code, commit 3ef9235d.

Its `step` was run over this small world with its own scoring functions; the completions are ours.
"""

from __future__ import annotations

import pytest
from gymnasium.error import ResetNeeded

from agentgym_envs.searchqa.env import SearchQAEnv
from tests.agentgym_envs.searchqa import small_world

INVALID = (
    "Your previous action is invalid. If you want to search, you should put the query between "
    "<search> and </search>. If you want to give the final answer, you should put the answer "
    "between <answer> and </answer>. Please try again."
)
WRONG = "Sorry, your answer is incorrect. Please try again."
RIGHT = "Congratulations! You have answered the question correctly."
FOUND = (
    '<information>Doc 1(Title: "Ivo Brann") Ivo Brann, a sculptor, was born in the town of Quill '
    'in 1871.\nDoc 2(Title: "Orla Venn") In her youth Orla Venn studied under the sculptor Ivo '
    "Brann.</information>"
)

RECORDED = [
    ("<answer> Quill </answer>", RIGHT, 1.0),
    ("<answer>The QUILL!</answer>", RIGHT, 1.0),
    ("<think>easy</think><answer>the town of Quill</answer>", RIGHT, 1.0),
    ("<answer>Ashe</answer>", WRONG, 0.0),
    ("<answer></answer>", WRONG, 0.0),
    # The first tag makes it an answer, the last answer is scored.
    ("<answer>Ashe</answer> or <answer>Quill</answer>", RIGHT, 1.0),
    ("<answer>Quill</answer> or <answer>Ashe</answer>", WRONG, 0.0),
    ("<answer><answer>Quill</answer>", WRONG, 0.0),
    # Tags inside thoughts count.
    ("<think><search>Ivo Brann</search></think><answer>Quill</answer>", FOUND, 0.0),
    ("<search>Ivo Brann</search><answer>Quill</answer>", FOUND, 0.0),
    ("<search>Ivo Brann <answer>Quill</answer>", RIGHT, 1.0),
    ("<search>zzz</search>", "<information></information>", 0.0),
    ("<search></search>", "<information></information>", 0.0),
    ("<open>Quill</open>", INVALID, 0.0),
    ("Quill", INVALID, 0.0),
    ("", INVALID, 0.0),
    ("<Answer>Quill</Answer>", INVALID, 0.0),
]


def begin(**kwargs: object) -> SearchQAEnv:
    env = small_world.make(compat="agentgym", **kwargs)
    env.reset(options={"task_id": 0})
    return env


@pytest.mark.parametrize("action_format", ["plain", "react"])
@pytest.mark.parametrize(("completion", "observation", "reward"), RECORDED)
def test_completions_are_answered_as_the_original_does(
    completion: str, observation: str, reward: float, action_format: str
) -> None:
    env = begin(action_format=action_format)
    text, paid, terminated, truncated, info = env.step(completion)
    assert (text, paid, terminated, truncated) == (observation, reward, reward == 1.0, False)
    assert info["is_valid_action"] == (observation != INVALID)
    assert info["success"] == (reward == 1.0)


def test_the_first_observation_is_the_originals() -> None:
    env = small_world.make(compat="agentgym")
    observation, _ = env.reset(options={"task_id": 0})
    assert observation.startswith("You must reason inside <think>...</think> first. If you do not")
    assert observation.endswith(
        "Follow this process every time.\n\n Question: Where was Ivo Brann born?"
    )


def test_answers_may_be_retried_until_one_is_right() -> None:
    env = begin()
    for _ in range(5):
        observation, reward, terminated, *_ = env.step("<answer>the river Ashe</answer>")
        assert (observation, reward, terminated) == (WRONG, 0.0, False)
    *_, info = env.step("<answer>old Quill</answer>")
    assert info["f1"] == pytest.approx(2 / 3)
    assert env.step("<answer>Quill</answer>")[1:3] == (1.0, True)
    with pytest.raises(ResetNeeded):
        env.step("<answer>Quill</answer>")


@pytest.mark.parametrize("action_format", ["plain", "react"])
def test_only_searching_and_answering_are_told(action_format: str) -> None:
    env = begin(action_format=action_format)
    assert [verb.name for verb in env.verbs] == ["search", "answer"]
    assert "open" not in env.system_prompt
    assert "python" not in env.system_prompt.replace("```python", "").replace("Python", "")

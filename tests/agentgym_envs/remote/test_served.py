"""Environments that `agentgym serve` serves, played by both protocols as in process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs import EnvFailure, resolve_env_id
from agentgym_envs.errors import AccessDenied

for package in ("starlette", "uvicorn", "wsproto", "websockets"):
    pytest.importorskip(package, reason="the extras serve and remote are not installed")

from tests.wrappers.serving.clients import serving  # noqa: E402
from wrappers.serving.app import make_app  # noqa: E402
from wrappers.serving.environments import served  # noqa: E402

NEEDS_JAVA = pytest.mark.skipif(shutil.which("java") is None, reason="no Java on PATH")
NAMES = [
    "ALFWorld",
    "BabyAI",
    "Maze",
    "TextCraft",
    "Wordle",
    pytest.param("SciWorld", marks=NEEDS_JAVA),
    "SearchQA",
    "SQL",
    "WebArena",
    "WebShop",
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    names = [getattr(name, "values", (name,))[0] for name in NAMES]
    with serving(make_app(served([f"agentgym/{name}-v0" for name in names], {}))) as url:
        yield url


def turns_of(env: Any, actions: list[str]) -> list[tuple[Any, ...]]:
    """Play actions; what each one gave."""
    turns = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        turns.append((observation, reward, terminated, truncated, info["success"], info["score"]))
    return turns


@pytest.mark.parametrize("name", NAMES)
def test_openenv_plays_an_experts_episode_as_in_process(url: str, name: str) -> None:
    here: Any = gym.make(f"agentgym/{name}-v0", action_format="plain")
    there: Any = gym.make(resolve_env_id(f"openenv:{url}/{name.lower()}"))
    game, copy = here.unwrapped, there.unwrapped
    assert copy.task_ids("train") == game.task_ids("train")
    assert copy.task_ids("test") == game.task_ids("test")
    assert (copy.system_prompt, copy.source) == (game.system_prompt, game.source)
    task_id = game.task_ids("train")[0]
    first, info = here.reset(options={"task_id": task_id})
    assert there.reset(options={"task_id": task_id})[0] == first
    assert copy.task == game.task
    assert copy.available_actions() == info["available_actions"]
    for action in game.expert():
        turns = [turns_of(env, [action]) for env in (here, there)]
        assert turns[0] == turns[1]
    assert any(turns[0][0][2:4])
    here.close()
    there.close()


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("", "/alfworld"),
        ("/TextCraft", "/textcraft"),
        ("/textcraft/ws", "/textcraft"),
        ("/none/of/them", "/alfworld"),
    ],
)
def test_an_address_of_no_environment_is_answered_by_those_that_there_are(
    url: str, path: str, remedy: str
) -> None:
    with pytest.raises(ValueError, match=rf"plays .*textcraft.* such as {url}{remedy}$"):
        gym.make("agentgym/OpenEnv-v0", url=f"{url}{path}")


@pytest.mark.parametrize("protocol", ["openenv", "agentgym"])
def test_a_wrong_token_is_told_from_a_missing_one(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(served(["agentgym/BabyAI-v0"], {}), token="the-right-one")
    with serving(app) as url:

        def make() -> Any:
            return gym.make(resolve_env_id(f"{protocol}:{url}/babyai"), disable_env_checker=True)

        with pytest.raises(AccessDenied, match="asks for a token: set the variable AGENTGYM_TOKEN"):
            make()
        monkeypatch.setenv("AGENTGYM_TOKEN", "one-of-another-server")
        with pytest.raises(AccessDenied, match="does not take the token") as raised:
            make()
        assert "one-of-another-server" not in str(raised.value)
        monkeypatch.setenv("AGENTGYM_TOKEN", "the-right-one")
        env = make()
        env.reset()
        env.close()


@pytest.mark.parametrize("protocol", ["openenv", "agentgym"])
@pytest.mark.parametrize("is_first", [True, False])
def test_an_environment_is_made_where_one_of_its_servers_is_down(
    protocol: str, is_first: bool
) -> None:
    with serving(make_app(served(["agentgym/BabyAI-v0"], {}))) as url:
        down = "http://127.0.0.1:9/babyai"
        urls = [down, f"{url}/babyai"] if is_first else [f"{url}/babyai", down]
        env = gym.make(resolve_env_id(f"{protocol}:{','.join(urls)}"), disable_env_checker=True)
        env.reset()
        env.close()


@pytest.mark.parametrize("options", [{"action_format": "function_call"}, {"book": "deep"}])
def test_a_server_restarted_with_other_options_is_a_failure_not_an_episode(
    options: dict[str, Any],
) -> None:
    with serving(make_app(served(["agentgym/TextCraft-v0"], {}))) as url:
        env: Any = gym.make("agentgym/OpenEnv-v0", url=url)
        env.reset(options={"task_id": "textcraft_0"})
    app = make_app(served(["agentgym/TextCraft-v0"], {"agentgym/TextCraft-v0": options}))
    with serving(app, port=int(url.rpartition(":")[2])):
        for _ in range(2):
            with pytest.raises(EnvFailure, match="started anew with other options"):
                env.reset(options={"task_id": "textcraft_0"})
        env.close()
        later = gym.make("agentgym/OpenEnv-v0", url=url, action_format=options.get("action_format"))
        assert later.reset(options={"task_id": "textcraft_0"})[1]["task_id"] == "textcraft_0"
        later.close()


@pytest.mark.parametrize("protocol", ["openenv", "agentgym"])
def test_a_servers_environment_is_served_on(url: str, protocol: str) -> None:
    env_id = resolve_env_id(f"{protocol}:{url}/textcraft")
    environments = served([env_id], {env_id: {"action_format": "plain"}})
    here: Any = gym.make("agentgym/TextCraft-v0", action_format="plain")
    here.reset(options={"task_id": "textcraft_0"})
    actions = list(here.unwrapped.expert())
    with serving(make_app(environments)) as other:
        there: Any = gym.make(resolve_env_id(f"openenv:{other}/{environments[0].name}"))
        there.reset(options={"task_id": "textcraft_0"})
        assert turns_of(there, actions)[-1][1:3] == (1.0, True)
        there.close()


@pytest.mark.parametrize("name", NAMES)
def test_agentgyms_wire_plays_an_experts_episode_as_in_process(url: str, name: str) -> None:
    action_format = "react" if name in ("SearchQA", "WebArena") else "plain"
    here: Any = gym.make(
        f"agentgym/{name}-v0", compat="agentgym", action_format=action_format, max_turns=100
    )
    there: Any = gym.make(resolve_env_id(f"agentgym:{url}/{name.lower()}"), max_turns=100)
    game = here.unwrapped
    task_id = game.task_ids("train")[0]
    first, info = here.reset(options={"task_id": task_id})
    shown = f"{game.goal}\n{first}" if name == "SciWorld" else first
    if name == "ALFWorld":
        shown += f"\nAVAILABLE ACTIONS: {','.join(info['available_actions'])}"
    if name == "Wordle":
        shown += f"\n{', '.join(game.lists.listed.words)}"
    assert there.reset(options={"task_id": task_id})[0] == shown
    for action in game.expert():
        mine, theirs = (turns_of(env, [action])[0] for env in (here, there))
        assert (theirs[0].partition("\nAVAILABLE ACTIONS: ")[0], *theirs[1:4]) == mine[:4]
    assert theirs[2:5] == (True, False, True)
    here.close()
    there.close()

from __future__ import annotations

import gymnasium as gym
import pytest

from agentgym_envs import registered_ids, resolve_env_id
from agentgym_envs.registration.server_names import read_server_name

NAMES = {
    "openenv:http://host:8000": "openenv/host__8000-v0",
    "openenv:https://a.b.c/x/y": "openenv/https__a.b.c____x__y-v0",
    "agentgym:http://127.0.0.1:36001/babyai": "agentgym-http/127.0.0.1__36001__babyai-v0",
    "openenv:http://a:1,https://b:2/z/": "openenv/a__1..https__b__2__z-v0",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_has_an_id_from_which_the_addresses_are_read_again(name: str) -> None:
    env_id = resolve_env_id(name)
    assert env_id == NAMES[name]
    assert resolve_env_id(env_id) == env_id
    named, again = read_server_name(name), read_server_name(env_id)
    assert named is not None and named == again
    assert gym.spec(env_id).kwargs == {"url": ",".join(named.urls)}
    assert env_id not in registered_ids()


@pytest.mark.parametrize("name", ["TextCraft", "mylab.maze:mylab/Maze-v0", "openenv:Maze", ""])
def test_other_names_are_left_alone(name: str) -> None:
    assert read_server_name(name) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openenv:http://user:secret@host:1", r"\*\*\*@host:1' holds more than host"),
        ("openenv:http://host/a?key=secret", "holds more than host.*--env agentgym/OpenEnv-v0"),
        ("agentgym:http://host/a__b", "--env agentgym/AgentGymServer-v0"),
        ("openenv:http://host:port", "not of the form http://host:port"),
        ("openenv:http://a:1,http://a:1/", "named twice"),
        ("openenv:http://***@host", "has \\*\\*\\* where its secret was"),
        ("openenv:host:8000/a", "begins with http.*; write openenv:http://host:8000/a$"),
        ("agentgym:me:secret@host:1", r"write agentgym:http://\*\*\*@host:1$"),
        ("openenv:ws://host/a/ws", "write openenv:http://host/a$"),
    ],
)
def test_what_cannot_be_part_of_an_id_is_refused_without_its_secret(
    name: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        resolve_env_id(name)
    assert "secret@" not in str(raised.value) and "=secret" not in str(raised.value)

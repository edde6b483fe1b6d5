"""`--env_backend ray` and what belongs to it."""

from __future__ import annotations

from typing import Any

import pytest

from trainers.options.arguments import EnvArguments
from wrappers.vector.ray_slot import RayActors


def test_the_options_say_which_cluster_and_what_an_actor_takes() -> None:
    args = EnvArguments(
        env=["TextCraft"], env_backend="ray", ray="10.0.0.1:6379", ray_envs=4,
        ray_actor='{"num_cpus": 0.5, "runtime_env": {"env_vars": {"API_KEY": "k3"}}}',
    )  # fmt: skip
    options = {"num_cpus": 0.5, "runtime_env": {"env_vars": {"API_KEY": "k3"}}}
    assert args.ray_actors == RayActors("10.0.0.1:6379", 4, options)
    assert args.ray_actor is not None and "k3" not in args.ray_actor
    assert EnvArguments(env=["TextCraft"], env_backend="ray").ray_actors == RayActors()
    assert EnvArguments(env=["TextCraft"]).ray_actors is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ray": "auto"}, "got `env_backend=sync`; pass `env_backend=ray`"),
        ({"ray_actor": "{}", "env_backend": "thread"}, "got `env_backend=thread`"),
        ({"ray_actor": "[1]", "env_backend": "ray"}, "ray_actor must be a JSON object"),
        ({"ray_envs": 0, "env_backend": "ray"}, "ray_envs must be >= 1, got 0"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EnvArguments(env=["TextCraft"], **options)

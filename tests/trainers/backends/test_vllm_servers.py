"""Several vLLM servers as one backend, against small servers of vLLM's protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import EnvFailure
from tests.serving import Failure, Server, serving
from tests.trainers.backends.test_vllm_backend import TOLERANCE, prompts_of, worst_gap
from tests.trainers.backends.test_vllm_server import COMPLETIONS, Served, backend_of, trained
from tests.trainers.policies.chat_server import models
from tests.trainers.toys import make_model
from trainers.backends import weights
from trainers.backends.open import load_backend
from trainers.backends.vllm_server import VLLMServerBackend
from trainers.backends.vllm_servers import VLLMServersBackend
from trainers.backends.weights import WEIGHTS_FILE
from trainers.options.arguments import EpisodeArguments
from trainers.options.backends import ModelSource
from trainers.tokens.generation import Sampling


@contextmanager
def several(
    count: int = 2, *, restart_at: int | None = None
) -> Iterator[tuple[list[Served], list[Server], list[str]]]:
    """So many servers: their models, what they were asked, their addresses."""
    served = [Served(restart_at) for _ in range(count)]
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(one.answers)) for one in served]
        yield served, servers, [server.url for server in servers]


def asked(server: Server) -> list[list[int]]:
    """The prompts that a server was given to continue."""
    return [body["prompt"] for body in server.requests if "prompt" in body]


def down(body: dict[str, Any]) -> Failure:
    return Failure(500)


@pytest.mark.full
def test_rows_go_to_the_server_with_the_fewest_and_stay_there() -> None:
    with several() as (_, servers, urls):
        backend = VLLMServersBackend(urls, retries=0)
        first = prompts_of(5, 6, 7, 8)
        backend.generate(first, Sampling(2), keys=[1, 2, 3, 4])
        homes = [asked(server) for server in servers]
        assert sorted(map(len, homes)) == [2, 2]
        later = prompts_of(15, 16, 17, 18)
        for order in ([3, 1], [4, 2], [2, 3, 1, 4]):
            backend.generate([later[key - 1] for key in order], Sampling(2), keys=order)
        for server, home in zip(servers, homes, strict=True):
            own = {first.index(prompt) for prompt in home}
            assert {later.index(prompt) for prompt in asked(server)[2:]} == own
        emptier = urls.index(next(url for url in urls if url == backend._server_of[1]))
        backend.finish([1])
        backend.generate(prompts_of(30), Sampling(2), keys=[5])
        assert asked(servers[emptier])[-1] == prompts_of(30)[0]


@pytest.mark.full
def test_what_is_sampled_does_not_depend_on_the_server() -> None:
    prompts, keys, budgets = prompts_of(5, 40, 41), [4, 5, 6], [9, 3, 50]
    with several() as (_, servers, urls):
        alone, both = backend_of(servers[0]), VLLMServersBackend(urls, retries=0)
        for backend in (alone, both):
            backend.reseed(7)
        for _ in range(2):  # a row's second turn has another seed
            expected = alone.generate(prompts, Sampling(9), keys=keys, budgets=budgets)
            assert both.generate(prompts, Sampling(9), keys=keys, budgets=budgets) == expected
        assert len(asked(servers[1])) in (2, 4)
        assert (both.max_length, both.has_weights()) == (300, True)


def test_the_rows_of_a_server_that_fails_move_and_it_is_asked_again_with_the_next_weights(
    tmp_path: Path,
) -> None:
    model, prompts, keys = trained(), prompts_of(5, 40, 41, 42), [1, 2, 3, 4]
    with several() as (served, servers, urls):
        options = {"model": model, "weights_dir": str(tmp_path), "retries": 0}
        backend = VLLMServersBackend(urls, **options)
        backend.sync_weights(1)
        assert [one.num_loads for one in served] == [1, 1]
        complete = served[0].answers[COMPLETIONS]
        served[0].answers[COMPLETIONS] = down
        backend.reseed(3)
        turns = backend.generate(prompts, Sampling(9), keys=keys)
        assert worst_gap(model, prompts, turns) < TOLERANCE
        assert sorted(map(len, asked(servers[1]))) == [5, 40, 41, 42]
        served[0].answers[COMPLETIONS] = complete
        num_asked = len(asked(servers[0]))
        backend.generate(prompts, Sampling(9), keys=keys)
        assert len(asked(servers[0])) == num_asked
        backend.sync_weights(2)
        backend.finish(keys)
        again = backend.generate(prompts, Sampling(9), keys=keys)
        assert len(asked(servers[0])) == num_asked + 2
        assert [one.num_loads for one in served] == [2, 2]
        assert again == turns  # a row that comes back begins anew, and the weights are the same


@pytest.mark.full
def test_a_server_restarted_amid_a_batch_gives_its_rows_away(tmp_path: Path) -> None:
    model, prompts = trained(), prompts_of(5, 40, 41, 42)
    with several() as (served, servers, urls):
        backend = VLLMServersBackend(urls, model=model, weights_dir=str(tmp_path), retries=0)
        backend.sync_weights(1)
        served[0].restart()
        turns = backend.generate(prompts, Sampling(9), keys=[1, 2, 3, 4])
        assert worst_gap(model, prompts, turns) < TOLERANCE
        assert len(asked(servers[1])) == 4


def test_where_none_is_left_it_is_a_failure_and_the_next_turn_begins_with_the_weights(
    tmp_path: Path,
) -> None:
    model, prompts = trained(), prompts_of(5, 40)
    with several() as (served, servers, urls):
        backend = VLLMServersBackend(urls, model=model, weights_dir=str(tmp_path), retries=0)
        backend.sync_weights(1)
        for one in served:
            one.restart()
        with pytest.raises(EnvFailure) as failure:
            backend.generate(prompts, Sampling(9), keys=[1, 2])
        assert all(url in str(failure.value) for url in urls)
        turns = backend.generate(prompts, Sampling(9), keys=[1, 2])
        assert worst_gap(model, prompts, turns) < TOLERANCE
        for one in served:
            one.answers["/weight_info"] = down
        with pytest.raises(EnvFailure, match="failed 1 times.*; "):
            backend.sync_weights(2)


@pytest.mark.full
def test_the_weights_are_written_once_for_all_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[Path] = []
    save = weights.save_file
    monkeypatch.setattr(
        weights, "save_file", lambda w, path, **o: (writes.append(path), save(w, path, **o))
    )
    with several(3) as (served, _, urls):
        model = trained()
        backend = VLLMServersBackend(urls, model=model, weights_dir=str(tmp_path), retries=0)
        backend.sync_weights(1)
        backend.sync_weights(2)
        assert writes == [tmp_path / WEIGHTS_FILE] * 2
        assert [one.num_loads for one in served] == [2, 2, 2]


@pytest.mark.full
def test_a_server_that_does_not_answer_at_first_joins_with_the_next_weights(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    prompts = prompts_of(5, 40, 41, 42)
    with several() as (served, servers, urls):
        served[0].answers["/v1/models"], models_there = down, served[0].answers["/v1/models"]
        options = {"model": trained(), "weights_dir": str(tmp_path), "retries": 0}
        backend = VLLMServersBackend(urls, **options)
        assert f"{urls[0]} is left out until the next weights" in caplog.text
        backend.sync_weights(1)
        backend.generate(prompts, Sampling(2), keys=[1, 2, 3, 4])
        assert list(map(len, map(asked, servers))) == [0, 4]
        backend.finish([1, 2, 3, 4])
        served[0].answers["/v1/models"] = models_there
        backend.sync_weights(2)
        backend.generate(prompts, Sampling(2), keys=[1, 2, 3, 4])
        assert list(map(len, map(asked, servers))) == [2, 6]
        assert [one.num_loads for one in served] == [1, 2]
        for one in served:
            one.answers["/v1/models"] = down
        with pytest.raises(EnvFailure) as failure:
            VLLMServersBackend(urls, **options)
        assert all(url in str(failure.value) for url in urls)


def test_options_open_one_server_or_several() -> None:
    with several() as (served, _, urls):
        for given, kind in ((urls[0], VLLMServerBackend), (urls, VLLMServersBackend)):
            args = EpisodeArguments(backend="vllm_server", server_url=given)
            backend = load_backend(args, ModelSource(make_model(), max_length=200))
            assert isinstance(backend, kind)
            assert backend.max_length == 200
        with pytest.raises(ValueError, match="names a server twice"):
            EpisodeArguments(backend="vllm_server", server_url=[urls[0], urls[0]])
        served[1].answers["/v1/models"] = models("other")
        with pytest.raises(ValueError, match=f"must serve one model.*{urls[1]} other"):
            VLLMServersBackend(urls)

"""The fault matrix: whatever breaks, whenever, a training run ends as if nothing had been.

Machines (a worker, the Java, the browser, the retriever, the sampler, the disk) break at moments
(from the set-up to after the end) in a way each (killed, hung, answering 500, full). Each run must
end, with the episodes and the weights of the undisturbed one, none of them failed. For sweeps see
`test_sweep_matrix.py`.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import TrainerCallback

from agentgym_envs.retrieval.make import make_retriever
from agentgym_envs.retrieval.server import RetrievalServer
from agentgym_envs.searchqa.world import embedded_world
from tests.faults.disks import fill, small_disk
from tests.faults.gate import Gate
from tests.faults.processes import kill, of_kind, stop
from tests.serving import serving
from tests.trainers.backends.test_vllm_server import Served
from tests.trainers.toys import ENV_ID, make_model, make_tokenizer
from trainers.command import running, train_and_save
from trainers.grpo import AgentGRPOTrainer
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.configs import AgentGRPOConfig
from trainers.policies.model import ModelPolicy

STEPS = 2
EPISODES = 8
DOWN = 2.0
"""Seconds that a server stays away."""
HANGS = 15.0
"""Seconds after which an environment that does not answer is given up."""

MOMENTS = (
    *("set-up", "reset", "step", "between batches"),
    *("update", "validation", "save", "after the end"),
)
SERVERS = ("retriever", "sampler")

Break = Callable[[str], None]


# What can break ---------------------------------------------------------------------------------


class Machine:
    """A thing that a run needs.

    Attributes:
        env, rollout: options of a run that needs it.
        break_: breaks it, by the way's name; servers and disks are mended a while later.
        disk: where the run's folder must lie; None: anywhere.
    """

    def __init__(
        self, env: dict[str, Any], rollout: dict[str, Any], break_: Break, disk: Path | None = None
    ) -> None:
        self.env = env
        self.rollout = rollout
        self.break_ = break_
        self.disk = disk


def hit_one(kind: str) -> Break:
    """Break a process of this one's, as soon as there is one."""

    def break_(action: str) -> None:
        end = time.monotonic() + 60
        while not (found := of_kind(kind, os.getpid())):
            assert time.monotonic() < end, f"there is no {kind}"
            time.sleep(0.01)
        (kill if action == "kill" else stop)(found[0])

    return break_


def break_gate(gate: Gate, restart: Callable[[], object] = lambda: None) -> Break:
    """Break the way to a server, and mend it a while later; a killed one is another one then."""

    def break_(action: str) -> None:
        gate.break_(action)
        if action == "kill":
            restart()
        threading.Timer(DOWN, gate.mend).start()

    return break_


def break_disk(disk: Path) -> Break:
    """Fill a disk, and free it a while later."""
    return lambda _: threading.Timer(DOWN, fill(disk).unlink).start()


@contextmanager
def machine(name: str) -> Iterator[Machine]:
    """Give a machine, running."""
    wrapped = "tests.faults.wrappers:"
    slots = {"overlap": True, "step_timeout": HANGS, "max_turns": 3}
    if name == "worker":
        env = {"env": [ENV_ID], "action_format": "plain", "env_backend": "process"}
        yield Machine({**env, **slots, "num_envs": 3}, {}, hit_one("worker"))
    elif name == "java":
        env = {"env": ["SciWorld"], "wrapper": [f"{wrapped}Experiments"], "env_backend": "thread"}
        yield Machine({**env, **slots, "num_envs": 4}, {}, hit_one("java"))
    elif name == "browser":
        env = {"env": ["MiniWoB"], "wrapper": [f"{wrapped}Clicks"], "env_backend": "thread"}
        yield Machine({**env, **slots, "num_envs": 4}, {}, hit_one("chromium"))
    elif name == "disk":
        env = {"env": [ENV_ID], "action_format": "plain", "max_turns": 3}
        with small_disk() as disk:
            yield Machine(env, {}, break_disk(disk), disk)
    elif name == "retriever":
        server = RetrievalServer(make_retriever("bm25", embedded_world()[0]), port=0)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        with Gate(server.url) as gate:
            kwargs = {"retriever": {"url": gate.url, "timeout": 3, "retries": 1}}
            env = {"env": ["SearchQA"], "wrapper": [f"{wrapped}Searches"], **slots}
            env |= {"env_backend": "thread", "env_kwargs": json.dumps(kwargs)}
            yield Machine(env, {}, break_gate(gate))
        server.shutdown()
        thread.join()
        server.server_close()
    else:
        served = Served()
        env = {"env": [ENV_ID], "action_format": "plain", "max_turns": 3}
        with serving(served.answers) as vllm, Gate(vllm.url) as gate:
            options = {"weights_dir": str(Path(os.environ["WEIGHTS"])), "retries": 0, "timeout": 5}
            rollout = {"backend": "vllm_server", "server_url": gate.url}
            rollout["backend_kwargs"] = json.dumps(options)
            yield Machine(env, rollout, break_gate(gate, served.restart))


# When it breaks ---------------------------------------------------------------------------------


class Moment(TrainerCallback):
    """Breaks a machine once, at a moment of the run's second step.

    Args:
        name: of the moment; `""` breaks nothing.
        break_: breaks it.
    """

    def __init__(self, name: str, break_: Callable[[], None]) -> None:
        self.name = name
        self.has_come = False
        self._break = break_
        self._is_validation = False
        self._num_acts = 0

    def at(self, name: str) -> None:
        """Break it, if this is the moment and it has not been yet."""
        if name == self.name and not self.has_come:
            self.has_come = True
            self._break()

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """See batches begin, and the policy act."""
        begin, act = ModelPolicy.begin_batch, ModelPolicy.act

        def begin_batch(policy: ModelPolicy, **options: Any) -> None:
            self._is_validation = options["temperature"] == 0.5
            self._num_acts = 0
            begin(policy, **options)
            if options["global_step"] == 1 and not self._is_validation:
                self.at("reset")

        def acts(policy: ModelPolicy, episodes: Any) -> Any:
            self._num_acts += 1
            if self._is_validation:
                self.at("validation")
            elif self._num_acts == 2:
                self.at("step")
            return act(policy, episodes)

        monkeypatch.setattr(ModelPolicy, "begin_batch", begin_batch)
        monkeypatch.setattr(ModelPolicy, "act", acts)

    def on_step_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        self.at("between batches")

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        self.at("update")

    def on_save(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        self.at("save")

    def on_train_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        self.at("after the end")


def train(one: Machine, folder: Path, moment: Moment) -> None:
    """Train a small model for two steps, with a validation and a checkpoint after each."""
    if moment.name == "set-up":
        threading.Thread(target=moment.at, args=("set-up",), daemon=True).start()
    trainer = AgentGRPOTrainer(
        make_model(),
        EnvArguments(**one.env),
        args=AgentGRPOConfig(
            output_dir=str(folder), max_steps=STEPS, num_generations=4,
            # AdamW divides by a gradient's size: one of rounding's size moves as far as any other.
            optim="sgd", learning_rate=1.0,
            per_device_train_batch_size=EPISODES, gradient_accumulation_steps=1,
            eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1,
            load_best_model_at_end=False, disable_tqdm=True, report_to="none",
        ),
        rollout=RolloutArguments(max_tokens_per_turn=4, max_outage="60s", **one.rollout),
        evaluation=EvaluationArguments(num_eval_tasks=2, eval_temperature=0.5),
        processing_class=make_tokenizer(),
        callbacks=[moment],
    )  # fmt: skip
    with running(trainer, "train grpo", environments=trainer.task_environments):
        train_and_save(trainer, command="train grpo", configs=[trainer.args])


# What must hold ---------------------------------------------------------------------------------


def episodes_of(folder: Path) -> dict[str, list[Any]]:
    """Return what was sampled and paid in each of a run's files."""
    return {
        path.name: [
            (one["task_id"], one["status"], one["episode_return"])
            + tuple(tuple(trace["completion_ids"]) for trace in one["traces"])
            for one in map(json.loads, path.read_text().splitlines())
        ]
        for path in sorted((folder / "trajectories").iterdir())
    }


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return dict(load_file(folder / "model.safetensors"))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that gives the folder of the run that nothing has broken, by machine."""
    folders: dict[str, Path] = {}

    def of(name: str) -> Path:
        if name not in folders:
            folder = tmp_path_factory.mktemp("undisturbed")
            with machine(name) as one:
                train(one, folder, Moment("", lambda: None))
            folders[name] = folder
        return folders[name]

    return of


def cells() -> Iterator[Any]:
    ways = {"disk": ("full",), **dict.fromkeys(SERVERS, ("kill", "stop", "500"))}
    marks = {"worker": [], "browser": [pytest.mark.browser], "java": [pytest.mark.science]}
    for name in ("worker", "java", "browser", "disk", *SERVERS):
        for action in ways.get(name, ("kill", "stop")):
            # Where a disk is full from the start, a run is refused: tests/trainers/test_outages.py.
            for moment in MOMENTS[1:] if name == "disk" else MOMENTS:
                # One cell of each machine that needs no extra and is back at once is played by
                # every test run; a worker takes half a minute to be found dead and started.
                always = [("kill", "step"), ("full", "save")]
                is_slow = (action, moment) not in always or name in ("java", "browser", "worker")
                chosen = marks.get(name, []) or [pytest.mark.slow] * is_slow
                yield pytest.param(name, moment, action, marks=chosen)


@pytest.mark.full
@pytest.mark.parametrize(("name", "moment", "action"), list(cells()))
def test_a_run_ends_as_if_nothing_had_been(
    name: str, moment: str, action: str, undisturbed: Callable[[str], Path], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("WEIGHTS", str(tmp_path / "weights"))
    expected = undisturbed(name)
    with machine(name) as one:
        when = Moment(moment, lambda: one.break_(action))
        when.watch(monkeypatch)
        folder = (one.disk or tmp_path) / "run"
        train(one, folder, when)
        if one.disk is not None:
            folder = Path(shutil.copytree(folder, tmp_path / "run"))
    assert when.has_come
    found = episodes_of(folder)
    assert found == episodes_of(expected)
    assert not [one for of in found.values() for one in of if one[1] == "failed"]
    weights, others = weights_of(folder), weights_of(expected)
    # Rows that are sampled in other company differ in their last bits.
    assert all(torch.allclose(weights[key], others[key], atol=1e-6) for key in others)

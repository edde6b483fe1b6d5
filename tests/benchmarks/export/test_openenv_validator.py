"""OpenEnv's validator accepts what is exported; `make test-partner NAME=serve` installs it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchmarks.export import command
from benchmarks.export.package import package_names
from tests.benchmarks.export.conftest import environment, package_server

pytest.importorskip("openenv", reason="needs openenv: make test-partner NAME=serve")

from openenv.cli._cli_utils import validate_env_structure
from openenv.cli._validation import validate_multi_mode_deployment, validate_running_environment
from openenv.validation import Level, ProviderCapability, run_validation

pytestmark = [
    pytest.mark.openenv,
    # openenv 0.10.0 connects as the websockets of 2026 no longer likes it.
    pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning"),
]

NEEDS_JAVA = pytest.mark.skipif(shutil.which("java") is None, reason="no Java on PATH")
SCENARIOS = ["TextCraft", "ALFWorld", "BabyAI", "SearchQA", "WebArena", "WebShop"]

NOT_WRITTEN_YET = "grader not implemented in this build"
GRADED = {
    *("static.manifest", "runtime.startup", "runtime.reward_well_formed"),
    *("runtime.observation_schema", "runtime.state_contract"),
}


class Subject:
    """A package's server, as the validator knows one."""

    def __init__(self, root: Path) -> None:
        self._stack = ExitStack()
        self.base_url = self._stack.enter_context(package_server(root))

    def inspect(self) -> dict[str, Any]:
        return {}

    def stop(self) -> None:
        self._stack.close()


class ProcessProvider:
    """Runs a package in a process, in place of the validator's Docker."""

    name = "process"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"public"})

    def build(self, root: Path, execution: Any) -> str:
        assert (root / execution.dockerfile).is_file()
        self._root = root
        return f"sha256:{'0' * 64}"

    def start(self, spec: Any) -> Subject:
        return Subject(self._root)


@pytest.fixture(
    scope="module", params=[*SCENARIOS, pytest.param("SciWorld", marks=[NEEDS_JAVA])], ids=str
)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = (
        tmp_path_factory.mktemp("validated")
        / package_names(f"agentgym/{request.param}-v0", "env")["module"]
    )
    assert command.main(["openenv", "--env", request.param, "--out", str(out)]) == 0
    return out


def test_every_grader_that_there_is_passes(folder: Path) -> None:
    report = run_validation(folder, provider=ProcessProvider())
    evidence = {
        result.check_id: (result.status.value, result.evidence) for result in report.results
    }
    assert {name: evidence[name] for name in GRADED if evidence[name][0] != "pass"} == {}
    needs_docker = evidence.pop("runtime.network_policy")
    assert needs_docker[0] == "skip"
    others = [evidence[name] for name in evidence if name not in GRADED]
    assert all(other == ("skip", [NOT_WRITTEN_YET]) for other in others), others


def test_the_static_level_passes_without_remarks(folder: Path) -> None:
    assert run_validation(folder, max_level=Level.STATIC).verdict.value == "pass"


def test_only_the_lock_file_is_left_to_its_command(folder: Path) -> None:
    _, issues = validate_multi_mode_deployment(folder)
    assert issues == ["Missing uv.lock - run 'uv lock' to generate it"]
    assert validate_env_structure(folder) == ["Recommended directory missing: outputs/"]


def test_the_running_server_passes_and_the_oracle_solves(folder: Path) -> None:
    words = [sys.executable, "-B", "solution/play.py", "--url"]
    variables = environment(folder)
    with package_server(folder) as url:
        assert validate_running_environment(url)["summary"]["failed_criteria"] == []
        done = subprocess.run(
            [*words, url], cwd=folder, env=variables, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert float(done.stdout) == pytest.approx(1.0, abs=0.01)

"""CUDA and TRL: as they are here, and packages that stand in for what is not."""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import agentgym_envs
from benchmarks.doctor import training
from benchmarks.doctor.checks import Finding, ProbeError, Status, run_python
from benchmarks.doctor.training import Device, judge_devices
from tests.benchmarks.doctor.installing import OURS, PIP, write_metadata
from trainers.options.errors import UsageError, explain_load_errors

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs the train extra")


def run(name: str) -> Finding:
    (check,) = (check for check in training.training_checks() if check.name == name)
    return check.run()


def package(site: Path, name: str, **modules: str) -> None:
    (site / name).mkdir()
    for module, text in {"__init__": "", **modules}.items():
        (site / name / f"{module}.py").write_text(text)


def device(name: str = "H", *, has_bfloat16: bool = True) -> Device:
    return name, 80 * 10**9, has_bfloat16


def test_devices_that_multiply_work() -> None:
    finding = judge_devices([device(), device(name="G")], num_devices=2, torch="torch 3")
    assert finding == Finding(
        Status.WORKS, "torch 3 on H (80.0 GB), G (80.0 GB): bfloat16 works", None
    )


@pytest.mark.parametrize(
    ("devices", "status", "told"),
    [
        ([device()], Status.BROKEN, "finds 1 of the 2 devices"),
        ([], Status.BROKEN, "finds 0 of the 2 devices"),
        ([device(), device(has_bfloat16=False)], Status.WARNING, "no bfloat16 of their own"),
    ],
)
def test_devices_that_do_not_are_told_of(devices: list[Device], status: Status, told: str) -> None:
    finding = judge_devices(devices, num_devices=2, torch="torch 3")
    assert finding.status is status and told in finding.text and finding.remedy


class Driver(SimpleNamespace):
    """Answers as CUDA's driver, with the numbers that it is made with."""

    def cuInit(self, flags: int) -> int:
        return int(self.init)

    def cuDeviceGetCount(self, count: object) -> int:
        count._obj.value = self.count  # type: ignore[attr-defined]
        return 0


def test_the_driver_is_asked_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Driver(init=0, count=3))
    assert training.driver_devices() == 3
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Driver(init=100, count=9))
    assert training.driver_devices() == 0


@needs_torch
def test_a_driver_that_fails_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Driver(init=803, count=0))
    finding = run("CUDA")
    assert finding.status is Status.BROKEN and "error 803" in finding.text


@needs_torch
def test_a_machine_without_a_driver_has_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", none)
    finding = run("CUDA")
    assert (finding.status, finding.remedy) == (Status.MISSING, None)


def cuda_torch(site: Path, monkeypatch: pytest.MonkeyPatch, *, cuda: str, body: str) -> None:
    init = f"from . import version\n__version__ = '3.0'\n{body}"
    package(site, "torch", version=f"cuda = {cuda}\n", __init__=init)
    monkeypatch.setattr(training, "driver_devices", lambda: 1)
    monkeypatch.delitem(training.sys.modules, "torch", raising=False)


def test_a_torch_without_cuda_beside_a_device_is_warned_of(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda_torch(site, monkeypatch, cuda="None", body="")
    finding = run("CUDA")
    assert finding.status is Status.WARNING
    assert "torch 3.0 is built without CUDA" in finding.text


def test_a_torch_that_cannot_be_imported_is_broken(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "raise ImportError('libcudart.so.13: cannot open shared object file')"
    cuda_torch(site, monkeypatch, cuda="'13.0'", body=body)
    finding = run("CUDA")
    assert finding.status is Status.BROKEN and "libcudart.so.13" in finding.text
    assert finding.remedy == f"{PIP} --force-reinstall torch"


def test_a_device_that_others_fill_is_not_broken(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "raise RuntimeError('CUDA error: out of memory')"
    cuda_torch(site, monkeypatch, cuda="'13.0'", body=body)
    finding = run("CUDA")
    assert finding.status is Status.WARNING and (finding.remedy or "").startswith("nvidia-smi")


@pytest.mark.full
@needs_torch
def test_another_trl_is_one_line_and_pip_is_told_the_version(site: Path) -> None:
    package(site, "trl")
    write_metadata(site, "trl", "9.0")
    finding = run("TRL")
    assert finding.status is Status.BROKEN
    assert "trl 9.0" in finding.text and "trl:GRPOTrainer is missing" in finding.text
    remedy = finding.remedy or ""
    assert remedy.startswith(f"{PIP} ") and '"trl<1.17,>=1.16"' in remedy


@pytest.mark.full
@needs_torch
def test_trainers_that_cannot_be_imported_are_one_line(site: Path) -> None:
    package(site, "torch", __init__="raise OSError('libtorch_cpu.so: file too short')")
    finding = run("TRL")
    assert finding.status is Status.BROKEN and "file too short" in finding.text
    assert '"torch>=2.6"' in (finding.remedy or "")


def test_without_its_extra_trl_is_missing(site: Path) -> None:
    requires = ['no-thing; extra == "train"']
    write_metadata(site, OURS, agentgym_envs.__version__, requires=requires, extras=["train"])
    finding = run("TRL")
    assert (finding.status, finding.remedy) == (Status.MISSING, f'{PIP} "{OURS}[train]"')


def test_a_process_that_dies_or_hangs_is_an_error_in_words() -> None:
    assert run_python("print('noise'); print('[1, 2]')", seconds=60) == [1, 2]
    with pytest.raises(ProbeError, match="ValueError: no such thing"):
        run_python("raise ValueError('no such thing')", seconds=60)
    with pytest.raises(ProbeError, match="SIGKILL"):
        run_python("import os; os.kill(os.getpid(), 9)", seconds=60)
    with pytest.raises(ProbeError, match="no answer within 0.5 s"):
        run_python("import time; time.sleep(60)", seconds=0.5)


def test_a_name_of_ours_is_not_offered_in_its_own_place() -> None:
    with pytest.raises(UsageError, match=r"^cannot open the policy 'tiny': no room$"):
        with explain_load_errors("tiny", names=["tiny"], otherwise="a folder"):
            raise OSError("no room")

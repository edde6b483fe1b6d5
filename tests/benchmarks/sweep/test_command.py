import json
import re
from pathlib import Path

import pytest

from agentgym_envs import TextEnv
from benchmarks.sweep import command
from benchmarks.sweep.batches import Batch
from benchmarks.sweep.store import SweepFolder
from benchmarks.sweep.suites import Panel, Suite, task_digest
from benchmarks.sweep.worker import Worker
from tests.benchmarks.sweep.samples import cell, episodes_of, in_this_process, outcome_of
from tests.helpers import COUNTING_ID, CountingEnv, register_helpers
from tests.serving import serving
from tests.trainers.families import OPENS_AND_DROPS
from tests.trainers.policies.chat_server import message, models
from tests.trainers.toys import make_folder, make_tokenizer
from trainers.options.errors import UsageError

SMALL = tuple(f"counting_{number}" for number in range(50, 53))
LARGE = tuple(f"counting_{number}" for number in range(53, 60))


@pytest.fixture
def counting(monkeypatch):
    """A suite of ten short tasks, played without starting processes."""
    register_helpers()
    digest = task_digest({"small": SMALL, "large": LARGE})
    panel = Panel(COUNTING_ID, "test", {"small": 3, "large": 7}, digest)
    monkeypatch.setattr(command, "find_suite", lambda name: Suite(name, "", (panel,)))
    monkeypatch.setattr(command, "make_player", lambda sweep, **_: in_this_process)


def swept(out, *words):
    return command.main(["--out", str(out), *words])


def refused(capsys, *words):
    """Return why a command line is refused."""
    with pytest.raises(SystemExit) as stopped:
        command.main(list(words))
    assert stopped.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "no policy is named"),
        (
            ["--policy", "http://a:b@host/v1", "--policy", "http://c:d@host/v1"],
            "differ in their secrets only",
        ),
        (["--policy", "random", "--suite", "nix"], "unknown suite 'nix'"),
        (["--policy", "random", "--max-turns", "5,x"], "'x' is no whole number from 1"),
        (["--policy", "random", "--seeds", "-1"], "no whole number from 0"),
        (["--policy", "random", "--samples", "0"], "samples must be >= 1"),
        (["--policy", "random", "--workers", "-1"], "workers must be >= 0, got -1"),
        (["--policy", "random", "--threads", "-1"], "threads must be >= 0, got -1"),
        (["--policy", "random", "--env-backend", "ray"], "pass --ray ADDRESS in place of"),
        (["--policy", "random", "--ray-cpus", "0"], "ray_cpus must be > 0, got 0.0"),
        (["--policy", "random", "--max-failed-share", "20"], "must be in 0..1, got 20.0"),
        (["--policy", "random", "--env-kwargs", '{"max_turns": 5}'], "pass --max-turns"),
        (["--policy", "random", "--env-kwargs", '{"recipes_dir": "nix"}'], "'nix' is not a folder"),
        (["--policy", "random", "--wrapper", "nonsense"], "expected module:Class"),
    ],
)
def test_a_mistake_on_the_command_line_is_named_before_the_folder_is_claimed(
    words, told, capsys, tmp_path
):
    out = tmp_path / "sweep"
    suite = [] if "--suite" in words else ["--suite", "textcraft"]
    assert told in refused(capsys, *suite, "--out", str(out), *words)
    assert not out.exists()


@pytest.mark.full
@pytest.mark.usefixtures("counting")
def test_cells_name_the_precision_that_their_model_has_here(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "default_dtype", lambda policy: "bfloat16")
    model, out = make_folder(tmp_path / "model"), tmp_path / "sweep"
    assert swept(out, "--policy", model, "--policy", "random") == 0
    dtypes = {c.policy: dict(c.settings)["dtype"] for c in SweepFolder(out).cells()}
    assert dtypes == {model: "bfloat16", "random": "float32"}
    told = refused(capsys, "--out", str(out), "--policy", model, "--dtype", "float32")
    assert "dtype: 'bfloat16' there, 'float32' requested" in told


@pytest.mark.usefixtures("counting")
def test_the_script_of_the_page_from_python_sweeps_and_reports(capsys, tmp_path, monkeypatch):
    page = Path(__file__).parents[3] / "docs" / "howto" / "python.md"
    marked = r"<!-- sweeps -->\n```python\n(.*?)^```$"
    (script,) = re.findall(marked, page.read_text("utf-8"), flags=re.M | re.S)
    monkeypatch.chdir(tmp_path)
    exec(compile(script, "docs/howto/python.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "20 []\n"
    assert (tmp_path / "runs/sweep/report.html").is_file()


@pytest.mark.usefixtures("counting")
def test_a_sweep_from_python_refuses_what_the_command_does(tmp_path):
    with pytest.raises(ValueError, match="no policy is named"):
        command.sweep(command.SweepArguments(out=str(tmp_path / "sweep")))
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("counting")
def test_a_policy_that_cannot_be_opened_leaves_no_trace(capsys, tmp_path):
    out, nowhere = tmp_path / "sweep", tmp_path / "nowhere"
    words = ["--out", str(out), "--policy", "random", "--policy", str(nowhere)]
    assert f"there is no folder {nowhere}" in refused(capsys, *words)
    assert not out.exists()


@pytest.mark.usefixtures("counting")
def test_a_baseline_that_an_environment_has_not_leaves_no_trace(capsys, tmp_path):
    out = tmp_path / "sweep"
    told = refused(capsys, "--out", str(out), "--policy", "baseline:luck")
    assert "--policy baseline:luck: there is no baseline 'luck' in " in told
    assert "; allowed: none; --policy random plays everywhere" in told
    assert not out.exists()


def test_a_server_is_asked_what_it_serves_before_the_folder_is_claimed(counting, capsys, tmp_path):
    answers = {"/v1/models": models("one"), "/v1/chat/completions": lambda body: message("double")}
    with serving(answers) as server:
        words = ["--turns", "1", "--out", str(tmp_path / "sweep"), "--policy"]
        told = refused(capsys, *words, server.url)
        assert f"{server.url} does not list its models; name one with --api_model, and che" in told
        assert "with its /v1, such as http://localhost:8000/v1" in told
        assert not (tmp_path / "sweep").exists()
        assert command.main([*words, f"{server.url}/v1"]) == 0


def test_a_folder_that_cannot_be_one_is_told(counting, capsys, tmp_path):
    file = tmp_path / "file"
    file.touch()
    assert "file" in refused(capsys, "--policy", "random", "--out", str(file))


def test_limits_and_seeds_that_are_named_twice_are_played_once(counting, capsys, tmp_path):
    assert swept(tmp_path, "--policy", "random", "--turns", "2,02", "--seeds", "1,1,1") == 0
    assert "10 episodes played, 0 of them failed; 10 requested" in capsys.readouterr().out


def test_a_sweep_goes_on_with_more_time_and_patience(counting, capsys, tmp_path):
    words = ["--policy", "random", "--turns", "2", "--batch-size", "4"]
    swept(tmp_path, *words)
    next(tmp_path.rglob("batch_0001.jsonl")).unlink()
    capsys.readouterr()
    later = ["--env-backend", "thread", "--step-timeout", "9", "--max-failed-share", "0.9"]
    assert swept(tmp_path, *words, *later, "--request-timeout", "9", "--max-requests", "2") == 0
    assert "4 episodes played" in capsys.readouterr().out
    assert dict(SweepFolder(tmp_path).cells()[0].settings)["step_timeout"] == 9


def test_a_folder_that_holds_another_model_by_now_is_refused(counting, capsys, tmp_path):
    model = make_folder(tmp_path / "model")
    words = ["--policy", model, "--turns", "1", "--max-tokens-per-turn", "2"]
    words += ["--out", str(tmp_path / "sweep"), "--batch-size", "4"]
    assert command.main(words) == 0
    capsys.readouterr()
    assert command.main(words) == 0
    assert "0 episodes played" in capsys.readouterr().out
    make_folder(tmp_path / "model", seed=1)
    assert f"{model} had other files or another endpoint then" in refused(capsys, *words)


def test_a_chat_template_is_that_of_the_models_alone(counting, capsys, tmp_path):
    model = make_folder(tmp_path / "model")
    file = tmp_path / "mine.jinja"
    file.write_text(OPENS_AND_DROPS)
    out = tmp_path / "sweep"
    template = ["--chat_template", str(file), "--chat_template_kwargs"]
    words = ["--turns", "2", "--max-tokens-per-turn", "2", "--out", str(out), "--policy", "random"]
    told = refused(capsys, *words, *template, '{"enable_thinking": false}')
    assert "--chat_template_kwargs need a model that is loaded here, got ['random']" in told
    words += ["--policy", model]
    told = refused(capsys, *words, *template, '{"thinks": false}')
    assert "reads no variable 'thinks'" in told
    assert not out.exists()
    assert command.main([*words, *template, '{"enable_thinking": false}']) == 0
    assert "20 episodes played, 0 of them failed" in capsys.readouterr().out
    cells = [c for c in SweepFolder(out).cells() if c.policy == model]
    assert dict(cells[0].settings)["chat_template_kwargs"] == {"enable_thinking": False}
    tokenizer = make_tokenizer()
    tokenizer.chat_template = OPENS_AND_DROPS
    for episode in episodes_of(SweepFolder(out), cells[0]):
        prompt = tokenizer.decode(episode.traces[0].prompt_ids)
        assert prompt.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    told = refused(capsys, *words, *template, '{"enable_thinking": true}')
    assert "chat_template_kwargs" in told


def test_a_model_that_changes_while_a_sweep_runs_is_not_played(tmp_path):
    asked = cell(policy=make_folder(tmp_path / "model"), fingerprint="of what was there first")
    worker = Worker()
    with pytest.raises(UsageError, match="than when the sweep began"):
        outcome_of(worker, Batch(str(tmp_path), asked, 0))
    worker.close()


def test_a_policy_that_breaks_in_a_worker_is_given_up_with_a_sentence(tmp_path):
    model = make_folder(tmp_path / "model")
    (tmp_path / "model" / "config.json").write_text(json.dumps({"model_type": "nix"}))
    worker = Worker()
    with pytest.raises(UsageError, match=f"^cannot open the policy {model!r}"):
        outcome_of(worker, Batch(str(tmp_path), cell(policy=model), 0))
    worker.close()


def test_where_tasks_have_no_expert_the_other_policies_are_played(
    counting, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(CountingEnv, "expert_moves", TextEnv.expert_moves)
    assert swept(tmp_path, "--policy", "expert", "--policy", "random") == 1
    told = capsys.readouterr()
    assert "10 episodes played" in told.out
    assert (
        "abandoned: expert/Counting/turns_default/seed_0, batch 0: CountingEnv has no exp"
        in told.err
    )


def test_ctrl_c_says_how_the_sweep_goes_on(counting, tmp_path, monkeypatch, capsys):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "play_missing", interrupted)
    with pytest.raises(KeyboardInterrupt):
        swept(tmp_path, "--policy", "random")
    assert (
        f"{tmp_path} keeps the finished batches and all answers of servers; the same command "
        "continues" in capsys.readouterr().err
    )

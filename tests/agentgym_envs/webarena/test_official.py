"""The official WebArena, as far as it can be tried without its sites."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

pytest.importorskip("playwright")
pytest.importorskip("uvicorn")

from agentgym_envs import EnvFailure, NoExpert, registered_ids, resolve_env_id
from agentgym_envs.registration.registry import check_kwargs
from agentgym_envs.sites.people import AGENT, PASSWORD
from agentgym_envs.sites.state import SiteState
from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.evaluators import build_evaluators
from agentgym_envs.webarena.official import dataset
from agentgym_envs.webarena.official.accounts import Account
from agentgym_envs.webarena.official.dataset import official_tasks
from agentgym_envs.webarena.official.deployment import SITES, OfficialDeployment, read_sites
from agentgym_envs.webarena.official.env import WebArenaOfficialEnv
from agentgym_envs.webarena.official.functions import OfficialFunctions
from agentgym_envs.webarena.tasks.files import WebTask
from tests.agentgym_envs.webarena import small_tasks
from tests.agentgym_envs.webarena.still import StillBrowser

ALL_SITES = {site: f"http://host:{7770 + index}" for index, site in enumerate(SITES)}
HAS_TASKS = find_spec("webarena_verified") is not None
needs_tasks = pytest.mark.skipif(not HAS_TASKS, reason="needs webarena-verified")


# The 812 tasks ----------------------------------------------------------------------------------


@needs_tasks
def test_every_official_task_loads_and_its_evaluators_build() -> None:
    tasks = official_tasks()
    assert [task.task_id for task in tasks] == list(range(812))
    deployment = OfficialDeployment(ALL_SITES)
    kinds: Counter[str] = Counter()
    for task in tasks:
        filled = json.loads(deployment.fill(json.dumps(dict(task.eval))))
        assert "__SHOPPING" not in json.dumps(filled)
        assert len(build_evaluators(filled)) == len(task.eval["eval_types"])
        kinds.update(task.eval["eval_types"])
    assert kinds == {"string_match": 335, "url_match": 205, "program_html": 411}


@needs_tasks
def test_the_environment_lists_them_under_their_own_numbers() -> None:
    env = WebArenaOfficialEnv(sites=ALL_SITES, split="test")
    assert len(env.task_ids("test")) == 812
    assert env.task_ids("train") == env.task_ids("validation") == []
    assert (env.max_turns, env.default_max_turns) == (15, 15)
    assert env.source.startswith("webarena (webarena-verified ")
    assert env.task_set.spec(0).subtask == "CMS"
    subtasks = Counter(env.task_set.spec(task_id).subtask for task_id in env.task_ids("test"))
    assert set(subtasks) == {"Shopping", "CMS", "Maps", "GitLab", "Reddit"}
    env.close()


@needs_tasks
def test_agentgym_s_ids_are_panels_of_the_paper_s_sizes() -> None:
    env = WebArenaOfficialEnv(sites=ALL_SITES, split="agentgym_train")
    train, test = (set(env.task_ids(name)) for name in ("agentgym_train", "paper_test"))
    assert (len(train), len(test), train & test) == (372, 50, set())
    sizes = Counter(env.task_set.spec(task_id).subtask for task_id in test)
    assert sizes == {"Shopping": 15, "CMS": 15, "Maps": 10, "GitLab": 5, "Reddit": 5}
    env.close()


@needs_tasks
def test_only_tasks_whose_sites_are_there_are_listed() -> None:
    sites = {"shopping": "http://host:7770"}
    env = WebArenaOfficialEnv(sites=sites, split="test")
    listed = [official_tasks()[int(i.rpartition("_")[2])] for i in env.task_ids("test")]
    assert len(listed) == 187 and {task.sites for task in listed} == {("shopping",)}
    with pytest.raises(ValueError, match="no official task plays on"):
        WebArenaOfficialEnv(sites={"homepage": "http://host:1"}, split="test")


def test_without_the_package_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "agentgym-envs\[official\]"'):
        official_tasks.__wrapped__()


# A deployment -----------------------------------------------------------------------------------


def test_addresses_come_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for site in SITES:
        monkeypatch.delenv(site.upper(), raising=False)
    with pytest.raises(ValueError, match="SHOPPING_ADMIN"):
        read_sites("environment")
    monkeypatch.setenv("SHOPPING_ADMIN", "http://host:7780/admin/")
    assert read_sites("environment") == {"shopping_admin": "http://host:7780/admin"}


@pytest.mark.parametrize(
    ("sites", "message"),
    [
        ({}, "sites must map"),
        ("everywhere", "sites must map"),
        ({"shop": "http://host"}, "unknown site 'shop'"),
        ({"shopping": "host:7770"}, "must be an http address"),
    ],
)
def test_other_sites_are_refused(sites: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_sites(sites)


@pytest.mark.parametrize(
    "name",
    ["accounts", "evaluation", "headers", "log_in", "reset", "reset_hook", "services", "sites"],
)
def test_the_embedded_sites_refuse_a_deployment_and_name_its_environment(name: str) -> None:
    remedy = f"no .*{name}.*; make agentgym/WebArenaOfficial-v0 with it, and without backend="
    with pytest.raises(ValueError, match=remedy):
        gym.make("agentgym/WebArena-v0", backend="chromium", **{name: None})
    with pytest.raises(ValueError, match=remedy):
        check_kwargs("agentgym/WebArena-v0", {"backend": "chromium", name: None})


def test_the_official_environment_is_made_by_name_and_is_in_no_loop_over_all(
    tmp_path: Path,
) -> None:
    env_id = resolve_env_id("webarenaofficial")
    assert env_id == "agentgym/WebArenaOfficial-v0" and env_id not in registered_ids()
    tasks = small_tasks.write(tmp_path / "tasks.json", [small_tasks.string_task()])
    kwargs = {"sites": ALL_SITES, "tasks_file": tasks, "split": "test"}
    check_kwargs(env_id, kwargs)
    env = gym.make(env_id, **kwargs).unwrapped
    assert isinstance(env, WebArenaOfficialEnv) and not isinstance(env, WebArenaEnv)
    assert (env.env_id, env.max_turns, env.backend) == (env_id, 15, "chromium")
    with pytest.raises(ValueError, match="cannot be copied.*agentgym/WebArena-v0"):
        env.snapshot()


def test_without_addresses_the_error_names_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for site in SITES:
        monkeypatch.delenv(site.upper(), raising=False)
    with pytest.raises(ValueError, match="SHOPPING, SHOPPING_ADMIN"):
        WebArenaOfficialEnv()


def test_placeholders_become_the_addresses_that_pages_show() -> None:
    filled = OfficialDeployment(ALL_SITES).fill(
        "__SHOPPING_ADMIN__/x __SHOPPING__/y __WIKIPEDIA__/z"
    )
    assert filled == (
        f"http://shopping-admin.test/x http://shopping.test/y {ALL_SITES['wikipedia']}/z"
    )


# Helper functions over the shop's interface -----------------------------------------------------


class Shop(BaseHTTPRequestHandler):
    """The three answers of the shop's interface that count."""

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        account = json.loads(self.rfile.read(size))
        self._answer("a-token" if account["password"] == "admin1234" else None)

    def do_GET(self) -> None:
        if self.headers["Authorization"] != "Bearer a-token":
            self._answer(None)
        elif "/orders?" in self.path:
            assert "created_at" in self.path and "DESC" in self.path
            self._answer({"items": [{"increment_id": "000000187"}]})
        elif self.path.endswith("/B%2F2/reviews"):
            self._answer([])
        else:
            review = {"nickname": "Ida", "ratings": [{"percent": 80}]}
            self._answer([{"nickname": "Old", "ratings": [{"percent": 20}]}, review])

    def _answer(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(401 if value is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def shop() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_shop_s_interface_is_asked(shop: str) -> None:
    functions = OfficialFunctions(shop, Account("admin", "admin1234", "/"))
    assert functions.latest_order_url() == f"{shop}/sales/order/view/order_id/187/"
    assert functions.latest_review("A-1") == ("Ida", "80")
    assert functions.latest_review("B/2") == ("", "")


def test_a_shop_that_does_not_answer_is_a_failure(shop: str) -> None:
    with pytest.raises(EnvFailure, match="the shop does not answer"):
        OfficialFunctions(shop, Account("admin", "wrong", "/")).latest_order_url()


def test_a_role_is_read_off_the_members_page_with_the_name_quoted() -> None:
    browser = StillBrowser()
    functions = OfficialFunctions("http://host", Account("admin", "x", "/"))
    functions.member_role(browser, "last", 'ida"); alert("')
    ((_, locator),) = browser.asked
    assert '"@ida\\"); alert(\\""' in locator


# A deployment made of our own sites -------------------------------------------------------------


@pytest.fixture
def deployment() -> Iterator[tuple[dict[str, str], SiteState]]:
    """The embedded sites behind addresses, shared by all episodes as official sites are."""
    from agentgym_envs.browsing.chromium.server import shared_server

    state = SiteState()
    server = shared_server()
    episode = server.open(state)
    yield dict(episode.origins), state
    server.forget(episode)
    state.close()


def official_task(number: int, evaluation: dict[str, Any], **values: Any) -> dict[str, Any]:
    start = {"sites": ["gitlab"], "start_url": "__GITLAB__/profile", **values}
    return small_tasks.task(number, evaluation, **start)


@pytest.mark.browser
def test_an_official_task_is_played_from_reset_to_score(
    deployment: tuple[dict[str, str], SiteState], tmp_path: Path
) -> None:
    sites, state = deployment
    heading = {
        "url": "__GITLAB__/profile",
        "locator": "document.body.outerText",
        "required_contents": {"must_include": [AGENT.name]},
    }
    tasks = [
        official_task(0, {"eval_types": ["program_html"], "program_html": [heading]}),
        official_task(1, {"eval_types": ["url_match"], "reference_url": "__GITLAB__/explore"}),
        official_task(2, {"eval_types": ["url_match"], "reference_url": "__GITLAB__/"}),
    ]
    cleaned: list[int] = []

    def reset_hook(task: WebTask) -> None:
        cleaned.append(task.task_id)

    env = WebArenaOfficialEnv(
        sites=sites,
        tasks_file=small_tasks.write(tmp_path / "official.json", tasks),
        accounts={"gitlab": Account(AGENT.username, PASSWORD, "/login")},
        reset_hook=reset_hook,
        split="test",
    )
    observation, info = env.reset(options={"task_id": 0})
    assert info["url"] == "http://gitlab.test/profile" and AGENT.name in observation
    *_, info = env.step("stop []")
    assert info["success"], env.verdict
    env.reset(options={"task_id": 1})
    env.step("goto [http://gitlab.test/explore]")
    *_, info = env.step("stop []")
    assert info["success"], env.verdict
    assert cleaned == [0]
    env.reset(options={"task_id": 2})
    assert cleaned == [0]
    with pytest.raises(NoExpert):
        next(env.expert())
    env.close()


@pytest.mark.browser
def test_a_wrong_password_is_a_failure_of_the_machinery(
    deployment: tuple[dict[str, str], SiteState], tmp_path: Path
) -> None:
    tasks = [official_task(0, {"eval_types": ["url_match"], "reference_url": "__GITLAB__/"})]
    env = WebArenaOfficialEnv(
        sites=deployment[0],
        tasks_file=small_tasks.write(tmp_path / "official.json", tasks),
        accounts={"gitlab": Account(AGENT.username, "wrong", "/login")},
        split="test",
    )
    with pytest.raises(EnvFailure, match="does not let"):
        env.reset(options={"task_id": 0})
    env.close()


@pytest.mark.browser
def test_a_site_that_does_not_answer_is_named_by_its_address(tmp_path: Path) -> None:
    tasks = [official_task(0, {"eval_types": ["url_match"], "reference_url": "__GITLAB__/"})]
    env = WebArenaOfficialEnv(
        sites={"gitlab": "http://127.0.0.1:9"},
        tasks_file=small_tasks.write(tmp_path / "official.json", tasks),
        split="test",
    )
    with pytest.raises(
        EnvFailure, match="http://127.0.0.1:9/users/sign_in shows no log-in form, but '"
    ) as raised:
        env.reset(options={"task_id": 0})
    assert "ERR_" in str(raised.value)
    env.close()

"""AgentGym's HTTP: its clients play, and are answered as by the original's servers."""

from __future__ import annotations

import base64
import json
import shutil
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import gymnasium as gym
import httpx
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from tests.helpers import GOLDEN
from tests.wrappers.serving.agentgym_clients import CLIENTS, Client
from tests.wrappers.serving.clients import serving
from tests.wrappers.serving.conftest import Serve
from wrappers.serving.app import make_app
from wrappers.serving.environments import served

NEEDS_JAVA = pytest.mark.skipif(shutil.which("java") is None, reason="no Java on PATH")
NAMES = [
    "BabyAI",
    "TextCraft",
    "ALFWorld",
    "Maze",
    "Wordle",
    pytest.param("SciWorld", marks=NEEDS_JAVA),
    "SearchQA",
    "SQL",
    "WebArena",
    "WebShop",
]
FULL = {"SciWorld": 100}
"""The score of a solved task, where it is not 1."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    app = make_app(served([f"agentgym/{name}-v0" for name in CLIENTS], {}))
    with serving(app) as url:
        yield url


Open = Callable[[str], httpx.Client]
Connect = Callable[[str], Client]


@pytest.fixture
def open_http(url: str) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(
            httpx.Client(base_url=f"{url}/{name.lower()}", timeout=120)
        )


@pytest.fixture
def connect(open_http: Open) -> Connect:
    return lambda name: CLIENTS[name](open_http(name))


def records(name: str) -> list[dict[str, Any]]:
    path = GOLDEN / f"{name}_a.jsonl"
    if not path.exists():
        pytest.skip(f"no recordings of the original under {GOLDEN}")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def twin(name: str) -> Any:
    """An environment in process that plays as the server's does."""
    action_format = "react" if name in ("SearchQA", "WebArena") else "plain"
    return gym.make(
        f"agentgym/{name}-v0",
        compat="agentgym",
        action_format=action_format,
        max_turns=None if name == "SciWorld" else 1000,
    )


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_an_experts_episode_is_the_one_in_process(connect: Connect, name: str) -> None:
    env = twin(name)
    game = env.unwrapped
    for task_id in game.task_ids("train")[:3]:
        number = int(task_id.rpartition("_")[2])
        client = connect(name)
        observation, info = env.reset(options={"task_id": task_id})
        shown = f"{info['goal']}\n{observation}" if name == "SciWorld" else observation
        if name == "ALFWorld":
            shown += f"\nAVAILABLE ACTIONS: {','.join(info['available_actions'])}"
        assert client.reset(number) == shown
        step = None
        for action in game.expert():
            observation, reward, terminated, truncated, info = env.step(action)
            step = client.step(action)
            assert step.state == observation
            assert step.done == (terminated or truncated)
            assert step.reward == info.get("agentgym_score", reward)
        assert step is not None
        assert step.done
        assert info["success"]
        assert step.reward == pytest.approx(FULL.get(name, 1), abs=0.3 if name == "BabyAI" else 0)
        assert client.close()
    env.close()


def test_babyai_plays_the_recordings(connect: Connect) -> None:
    client = connect("BabyAI")
    for record in records("babyai")[::6]:
        if not record.get("same_on_minigrid_3_2_0", True) or "GoToObjS6" in record["level"]:
            continue
        assert client.call("reset", data_idx=record["data_idx"]) == record["reset"]
        for step in record["steps"]:
            answer = client.call("step", action=step["action"])
            if "error" in step:
                assert answer == {
                    "error": f"The task with environment {client.number} has finished."
                }
                break
            expected = {key: step[key] for key in ("observation", "reward", "score", "done")}
            assert {**answer, "reward": 0, "score": 0} == {**expected, "reward": 0, "score": 0}
            assert answer["reward"] == pytest.approx(expected["reward"])
            assert answer["score"] == pytest.approx(expected["score"])


def test_textcraft_plays_the_recordings_beyond_their_end(open_http: Open) -> None:
    for record in records("textcraft"):
        goal = record["goal"].removeprefix("minecraft:").replace("_", " ")
        http = open_http("TextCraft")
        created = http.post("create", json={"goal": goal}).json()
        assert created["done"] is False
        assert created["observation"].endswith(record["reset_observation"].splitlines()[-1])
        for step in record["steps"]:
            body = {"id": created["id"], "action": step["action"]}
            answer = http.post("step", json=body).json()
            assert answer == {key: step[key] for key in ("observation", "reward", "done")}
        assert http.post("close", json={"id": created["id"]}).json() is True


@NEEDS_JAVA
def test_sciworld_plays_the_recordings(connect: Connect) -> None:
    client = connect("SciWorld")
    for record in records("sciworld")[6:12]:
        begun = client.call("reset", data_idx=record["data_idx"])
        if record["stable_entries"]:
            assert begun == record["reset"]
        for step in record["steps"][: record["stable_entries"] - 1]:
            answer = client.call("step", action=step["action"])
            expected = {key: step[key] for key in ("observation", "reward", "score", "done")}
            assert answer == expected
    hint = client.http.get("action_hint", params={"id": client.number}).json()
    assert set(hint) == {"possible_actions", "possible_objects"}
    assert any("OBJ" in action for action in hint["possible_actions"])
    assert client.close() is True
    assert client.http.post("close", json={"id": client.number}).status_code == 500


@NEEDS_JAVA
def test_sciworlds_viewer_is_told_the_goals(connect: Connect) -> None:
    client = connect("SciWorld")
    for path in ("goals", "action_hint"):
        early = client.http.get(path, params={"id": client.number}).json()
        assert early == {"error": "Environment not initialized"}
    client.reset(0)
    goals = client.http.get("goals", params={"id": client.number}).json()["goals"]
    assert "Unlock" in goals or "goal" in goals.lower()
    lines = client.http.get("../metrics").text.splitlines()
    assert 'agentgym_failures_total{env="sciworld"} 1' not in lines
    client.close()


def test_babyais_viewer_is_shown_the_grid(connect: Connect) -> None:
    client = connect("BabyAI")
    assert client.call("render") == {"error": "Environment not initialized"}
    client.reset(0)
    kind, _, text = client.call("render").partition(",")
    assert kind == "data:image/png;base64"
    picture = base64.b64decode(text)
    assert picture.startswith(b"\x89PNG\r\n")
    width, height = struct.unpack(">II", picture[16:24])
    pixels = zlib.decompress(picture[41:-16])
    assert len(pixels) == height * (1 + 3 * width)
    assert len(set(pixels)) > 10
    client.close()


@pytest.mark.parametrize(
    ("name", "greeting"),
    [
        ("BabyAI", '"This is environment BabyAI."'),
        ("TextCraft", '"This is environment TextCraft."'),
        ("ALFWorld", '"This is environment AlfWorld."'),
        ("Maze", '"This is environment LMRL-Gym, the maze."'),
        ("Wordle", '"This is environment LMRL-Gym, wordle."'),
        ("SciWorld", '"This is environment ScienceWorld."'),
        ("SearchQA", '"ok"'),
        ("SQL", '"ok"'),
        ("WebArena", "ok"),
        ("WebShop", '"ok"'),
    ],
)
def test_a_server_says_which_it_is(url: str, name: str, greeting: str) -> None:
    assert httpx.get(f"{url}/{name.lower()}/").text == greeting


def test_numbers_count_up_and_a_closed_one_is_not_valid(connect: Connect) -> None:
    first, second = connect("BabyAI"), connect("BabyAI")
    assert second.number == first.number + 1
    unknown = {"error": f"The id {first.number} is not valid."}
    assert first.close() is True
    assert first.close() is False
    assert first.call("reset", data_idx=0) == unknown
    assert first.call("step", action="turn left") == unknown
    assert connect("BabyAI").number == second.number + 1


@pytest.mark.parametrize("form", [int, float, str])
def test_numbers_are_taken_as_the_originals_servers_take_them(connect: Connect, form: Any) -> None:
    client = connect("TextCraft")
    expected = client.call("reset", data_idx=4)
    client.number = form(client.number)
    assert client.call("reset", data_idx=form(4)) == expected
    assert client.close() is True


def test_a_task_that_there_is_not_is_told_without_places_in_the_code(connect: Connect) -> None:
    client = connect("TextCraft")
    error = client.call("reset", data_idx=10**9)["error"]
    assert error.startswith("unknown task_id 'textcraft_1000000000'; there are ")
    assert ".py" not in error
    client.close()


def test_alfworld_tells_its_commands_and_the_game(connect: Connect) -> None:
    client = connect("ALFWorld")
    refused = client.call("reset", game=3, world_type="Real")
    assert refused == {"error": 'world_type must be one of "Text", "Embody" and "Hybrid"'}
    begun = client.call("reset", game=3, world_type="Text")
    assert begun["task_type"].startswith("look_at_obj_in_light-AlarmClock-None-DeskLamp-304/trial_")
    assert "AVAILABLE" not in begun["observation"]
    step = client.call("step", action="go to desk 1")
    assert step["observation"].startswith("On the desk 1, you see ")
    query = {"id": client.number}
    assert client.http.get("available_actions", params=query).json() == step["available_actions"]
    assert client.http.get("detail", params=query).json() == {**step, "deleted": False}
    client.close()


def test_webshop_tells_what_can_be_clicked(connect: Connect) -> None:
    client = connect("WebShop")
    query = {"env_idx": client.number}
    drawn = client.observe()
    assert drawn.startswith("WebShop [SEP] Instruction: [SEP] ")
    client.reset(6760)
    instruction = client.http.get("instruction_text", params=query).json()
    assert instruction.removeprefix("Instruction: ") in client.observe()
    there = client.http.get("available_actions", params=query).json()
    assert there == {"has_search_bar": True, "clickables": ["search"]}
    client.step("search[desk]")
    there = client.http.get("available_actions", params=query).json()
    assert not there["has_search_bar"]
    assert there["clickables"][:2] == ["back to search", "next >"]
    assert len(there["clickables"]) == 12
    client.step(f"click[{there['clickables'][2]}]")
    bought = client.step("click[buy now]")
    assert bought.done and bought.reward < 1
    assert client.step("click[buy now]") == (bought.state, 0, False)
    assert client.call("reset")[0] != bought.state
    assert client.close() is True
    assert client.http.post("step", json={**query, "action": "search[desk]"}).status_code == 500


def test_sql_tells_the_statement_and_repeats_the_question(connect: Connect) -> None:
    client = connect("SQL")
    asked = client.reset(0)
    assert client.step("SELECT a FROM nowhere") == ("no such table: nowhere", 0, True)
    assert client.info["info"]["ground_truth"].startswith("SELECT ")
    assert client.observe() == asked
    client.close()


def test_the_maze_lists_all_moves_wherever_walls_are(connect: Connect) -> None:
    client = connect("Maze")
    begun = client.call("reset", game=3)
    assert begun == {
        "observation": "The goal is at position 8, 6. Your current position is at position 1, 4. "
        "There are walls above you, below you."
    }
    moves = ["move left", "move right", "move up", "move down"]
    assert client.http.get("available_actions").json() == moves
    assert client.call("step", action="move up") == {**begun, "reward": 0, "done": False}
    assert "error" in client.call("reset", game=25)  # the original's last start is the goal
    client.close()


def test_wordle_tells_the_words_before_a_reset_and_what_is_left_of_them_after(
    connect: Connect,
) -> None:
    client = connect("Wordle")
    assert len(client.words) == 40
    begun = client.call("reset", seed=3)
    assert begun == {"id": client.number, "observation": "Let's start Wordle!"}
    step = client.call("step", action=" ".join(client.words[0]))
    assert step["observation"].endswith("\n") and (step["reward"], step["done"]) == (0, False)
    left = client.http.get("filtered_vocab", params={"id": client.number}).json()
    assert 0 < len(left) < 40 and set(left) < set(client.words)
    step = client.call("step", action="no word")
    assert step == {"observation": "invalid word", "reward": 0, "done": False}
    client.close()


def test_babyai_repeats_its_observation_with_the_goal(connect: Connect) -> None:
    client = connect("BabyAI")
    asked = client.http.get("observation", params={"id": client.number}).json()
    assert asked == {"error": "Environment not initialized"}
    begun = client.call("reset", data_idx=0)
    assert client.http.get("observation", params={"id": client.number}).json() == begun
    played = client.call("step", action="turn left")
    assert "Your goal" not in played["observation"]
    again = client.http.get("observation", params={"id": client.number}).json()
    assert again["observation"].startswith("Your goal: ")
    assert again["observation"].endswith(played["observation"])


def test_textcraft_begins_the_task_of_its_number_at_once(open_http: Open) -> None:
    http = open_http("TextCraft")
    created = http.post("create", json={"minecraft_dir": "elsewhere"}).json()
    assert created["observation"].startswith("Crafting commands:")
    assert http.get("observation", params={"id": created["id"]}).json() == created["observation"]
    detail = http.get("detail", params={"id": created["id"]}).json()
    assert detail["observation"] == created["observation"]
    assert http.post("create", json={"goal": "the moon"}).json()["error"].startswith("ValueError")


def test_bodies_that_do_not_fit_are_unprocessable(connect: Connect, url: str) -> None:
    for body in ({"id": "a", "data_idx": 0}, {"id": None}, {"id": [1], "data_idx": 0}):
        assert httpx.post(f"{url}/babyai/reset", json=body).status_code == 422
    assert httpx.post(f"{url}/babyai/close", content=b"{").status_code == 422
    client = connect("BabyAI")
    client.reset(0)
    answer = client.http.post("step", json={"id": client.number, "action": 5})
    assert answer.status_code == 422


def test_mistakes_have_the_originals_status(connect: Connect) -> None:
    baby = connect("BabyAI").call("reset", data_idx=10**12)
    assert "error" in baby
    client = connect("SearchQA")
    wrong = client.http.post("reset", json={"env_idx": client.number, "id": 10**12})
    assert wrong.status_code == 500
    web = connect("WebArena")
    failed = web.call("reset", seed=0, idx=10**12)
    assert failed == {"observation": "TimeoutError", "sites": "Error", "object": "Error"}
    stepped = web.call("step", action="```stop```")
    assert (stepped["reward"], stepped["terminated"], stepped["info"]) == (0, False, None)
    assert web.close() == {"closed": "closed"}


def test_webarena_tells_the_page_and_the_sites(connect: Connect, url: str) -> None:
    client = connect("WebArena")
    client.reset(int(twin("WebArena").unwrapped.task_ids("train")[0].rpartition("_")[2]))
    assert client.info["sites"]
    assert client.info["object"] in client.observe()
    assert client.info["observation"] in client.observe()
    answer = client.call("step", action="I see. ```scroll [down]```")
    assert answer["info"]["page"]["url"].startswith("http")
    metadata = client.http.get("observation_metadata", params={"env_idx": client.number})
    assert metadata.json() == {"text": {}, "image": {}}


def test_both_protocols_are_answered_at_one_address(connect: Connect, url: str) -> None:
    answer = httpx.post(f"{url}/babyai/reset", json={"task_id": "babyai_0"}).json()
    assert answer["observation"]["messages"]
    client = connect("BabyAI")
    assert "observation" in client.call("reset", data_idx=0)


@pytest.mark.full
def test_at_capacity_and_idle(serve: Serve) -> None:
    url = serve("agentgym/TextCraft-v0", max_sessions=1, idle_timeout=2.0)
    with httpx.Client(base_url=url) as http:  # a client's making alone can take as long
        first = http.post("/create").json()["id"]
        full = http.post("/create")
        assert full.status_code == 503
        assert "--max_sessions" in full.json()["error"]
        for _ in range(100):
            again = http.post("/create")
            if again.status_code == 200:
                break
            time.sleep(0.1)
        assert again.json()["id"] == first + 1
        gone = http.post("/step", json={"id": first, "action": "inventory"}).json()
        assert gone == {"error": f"The id {first} is not valid."}


def test_a_number_from_before_a_restart_names_nobodys_environment(serve: Serve) -> None:
    before = serve("agentgym/TextCraft-v0")
    numbers = [httpx.post(f"{before}/create").json()["id"] for _ in range(2)]
    after = serve("agentgym/TextCraft-v0")
    texts = [httpx.post(f"{after}/create").json()["observation"] for _ in range(2)]
    for number, text in zip(numbers, texts, strict=True):
        stale = httpx.post(f"{after}/step", json={"id": number, "action": "inventory"}).json()
        assert stale == {"error": f"The id {number} is not valid."}
        shown = httpx.get(f"{before}/observation", params={"id": number}).json()
        assert shown == text  # the tasks begin with the first again
    assert texts[0] != texts[1]

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.trajectories.trajectory import write_jsonl
from benchmarks.viewer.export import EPISODES_A_PART, export
from benchmarks.viewer.index import Index
from benchmarks.viewer.pages import bundle
from tests.benchmarks.viewer.samples import made, traced, training_run

HOSTILE = "</script><script>document.title = 'taken'</script><img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """Every start tag with its attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.is_inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.texts.append("")
        self.is_inside = True

    def handle_endtag(self, tag: str) -> None:
        self.is_inside = False

    def handle_data(self, data: str) -> None:
        if self.is_inside:
            self.texts[-1] += data

    def scripts(self) -> list[tuple[dict[str, str | None], str]]:
        both = zip(self.tags, self.texts, strict=True)
        return [(attributes, text) for (tag, attributes), text in both if tag == "script"]

    def part(self, name: str) -> Any:
        (text,) = (text for attributes, text in self.scripts() if attributes.get("id") == name)
        return json.loads(gzip.decompress(base64.b64decode(text)))


def exported(folder: Path, **options: Any) -> str:
    path = folder.parent / "page.html"
    export(Index(folder), path, **options)
    return path.read_text()


def test_the_file_refers_to_no_other_and_to_no_network(tmp_path: Path) -> None:
    page = Elements(exported(training_run(tmp_path / "run")))
    for tag, attributes in page.tags:
        assert "src" not in attributes, tag
        if tag == "link":
            assert attributes["href"] == "data:,"
    script = page.scripts()[-1][1]
    assert not re.search(r"^(import|export)\b|\bimport\(", script, re.M)


def test_its_policy_allows_its_own_script_and_style_only(tmp_path: Path) -> None:
    text = exported(training_run(tmp_path / "run"))
    page = Elements(text)
    policies = [a["content"] for _, a in page.tags if a.get("http-equiv")]
    script = page.scripts()[-1][1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in str(policies[0])
    assert "default-src 'none'" in str(policies[0])
    assert "unsafe" not in text


def test_it_holds_every_episode_and_curve(tmp_path: Path) -> None:
    folder = training_run(tmp_path / "run", tasks=EPISODES_A_PART)
    page = Elements(exported(folder))
    index = page.part("data-index")
    assert len(index["rows"]) == 4 * EPISODES_A_PART
    assert index["curves"][0]["names"] == ["episodes/success", "horizon"]
    assert index["curves"][0]["rows"][0] == [1, 0.5, 6.0]
    assert index["options"][0]["seed"] == "7"
    parts = [page.part(f"data-episodes-{number}") for number in range(4)]
    assert [len(part) for part in parts] == [EPISODES_A_PART] * 4
    assert parts[3][-1]["task_id"] == f"counting_{EPISODES_A_PART - 1}"
    assert not index["with_tokens"]


def test_it_holds_tokens_and_scenes_where_asked(tmp_path: Path) -> None:
    page = Elements(exported(training_run(tmp_path / "run"), with_tokens=True, with_scenes=True))
    assert page.part("data-tokens-0")[0]["traces"][0]["ids"] == traced().completion_ids
    assert page.part("data-credits-0")[0] is None
    assert page.part("data-scenes-0")[0]["kind"] is None


def test_text_of_an_episode_or_a_folder_ends_no_element(tmp_path: Path) -> None:
    folder = tmp_path / "a&b<i>"
    write_jsonl(folder / "played.jsonl", [made(0, goal=HOSTILE, policy=HOSTILE)])
    text = exported(folder)
    assert HOSTILE not in text
    assert "<title>a&amp;b&lt;i&gt;" in text
    page = Elements(text)
    harmless = Elements(exported(training_run(tmp_path / "run")))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in harmless.tags]


def test_equal_data_make_equal_files(tmp_path: Path) -> None:
    folder = training_run(tmp_path / "run")
    assert exported(folder) == exported(folder)


def test_an_empty_folder_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no episodes and no training run"):
        export(Index(tmp_path), tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_names_of_one_module_do_not_meet_those_of_another() -> None:
    texts = {
        "main.js": 'import { b } from "./b.js";\nconst own = 1;\nb(own);',
        "b.js": "const own = 2;\nexport function b(given) {\n  return own + given;\n}",
    }
    assert bundle(texts, "main.js") == (
        "const module_b = (() => {\nconst own = 2;\nfunction b(given) {\n  return own + given;\n}\n"
        "return { b };\n})();\n"
        "const module_main = (() => {\nconst { b } = module_b;\nconst own = 1;\nb(own);\n"
        "return {  };\n})();"
    )


@pytest.mark.parametrize("line", ['import b from "./b.js";', "export default 3;"])
def test_an_import_that_is_not_understood_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="write import"):
        bundle({"main.js": line}, "main.js")


def test_a_file_that_cannot_be_replaced_is_told(tmp_path: Path) -> None:
    index = Index(training_run(tmp_path / "run"))
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="cannot write .*page.html"):
        export(index, tmp_path / "file" / "page.html")


@pytest.mark.parametrize("name", ["episodes.jsonl", "page", "page.txt"])
def test_a_target_that_is_not_named_as_a_page_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "episodes.jsonl"
    write_jsonl(file, [made(0)])
    before = file.read_bytes()
    with pytest.raises(ValueError, match=rf"must end in .html or .htm, got .*{name}; pass .*html"):
        export(Index(file), tmp_path / name)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["page.html", "page.HTM"])
def test_a_file_that_is_read_is_not_replaced(tmp_path: Path, name: str) -> None:
    file = tmp_path / "episodes.jsonl"
    write_jsonl(file, [made(0)])
    (tmp_path / name).hardlink_to(file)
    with pytest.raises(ValueError, match="must not name a file that is read, got .*; pass another"):
        export(Index(file), tmp_path / name)


def test_an_empty_file_is_not_exported(tmp_path: Path) -> None:
    (tmp_path / "episodes.jsonl").touch()
    with pytest.raises(ValueError, match="holds no episodes and no training run"):
        export(Index(tmp_path / "episodes.jsonl"), tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()

"""Runs the evaluators that WebArena's authors published, from a checkout of theirs.

`AGENTGYM_WEBARENA` names the checkout (github.com/web-arena-x/webarena); nothing of it is here. Its
evaluators are imported as they are. What they import beside the standard library and NLTK, and what
would ask a network, is replaced: the browser, the language model, the shop's interface.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agentgym_envs.webarena.tasks.files import WebTask

VARIABLE = "AGENTGYM_WEBARENA"
CHECKOUT = Path(os.environ.get(VARIABLE, "."))
needs_authors = pytest.mark.skipif(
    VARIABLE not in os.environ or find_spec("nltk") is None,
    reason=f"needs nltk, and a checkout of web-arena-x/webarena named by {VARIABLE}",
)
TASKS = CHECKOUT / "config_files" / "test.raw.json"

Judging = Callable[[str, str], bool]
"""Says whether an answer means a reference, in the language model's place."""


class AuthorsPage:
    """What their evaluators are given in place of Playwright's page.

    Args:
        url: where the agent has ended.
        contents: what locators give, by (address, locator); an empty one gives the source.
    """

    def __init__(self, url: str, contents: Mapping[tuple[str, str], str]) -> None:
        self.url = url
        self._contents = contents

    def goto(self, url: str) -> None:
        self.url = url

    def content(self) -> str:
        return self._contents[self.url, ""]

    def evaluate(self, expression: str) -> str:
        return self._contents.get((self.url, expression.removeprefix("() => ")), "")


class AuthorsEvaluators:
    """Their evaluators.

    Args:
        addresses: of the sites, by name.
        judging: stands for the language model.
        functions: stands for what asks the shop and GitLab, by the helper function's name.
    """

    def __init__(
        self,
        addresses: Mapping[str, str],
        *,
        judging: Judging,
        functions: Mapping[str, Callable[..., str]],
    ) -> None:
        self._addresses = addresses
        self._module = _imported()
        self._set("llm_fuzzy_match", lambda pred, ref, _: float(judging(ref, pred)))
        self._set("llm_ua_match", lambda pred, ref, _: float(judging(ref, pred)))
        for name, function in functions.items():
            self._set(name, function)
        self._set("time", ModuleType("time"))
        self._module.time.sleep = lambda seconds: None  # type: ignore[attr-defined]
        # The trained model of sentences, which NLTK downloads, is not here.
        self._set("word_tokenize", partial(_tokenizer(), preserve_line=True))

    def score(self, task: WebTask, folder: Path, *, answer: str, page: Any) -> float:
        """Return what they give for an end of a task."""
        config = folder / "task.json"
        config.write_text(self.fill(json.dumps(task.to_json())))
        trajectory = [{}, {"answer": answer}]
        evaluate = self._module.evaluator_router(config)
        return float(evaluate(trajectory, config, page, None))

    def fill(self, text: str) -> str:
        """Put the sites' addresses in, as their script does that writes the tasks' files."""
        for site in sorted(self._addresses, key=len, reverse=True):
            text = text.replace(f"__{site.upper()}__", self._addresses[site])
        return text

    def _set(self, name: str, value: Any) -> None:
        assert hasattr(self._module, name), f"the checkout's evaluators have no {name}"
        setattr(self._module, name, value)


def _tokenizer() -> Callable[..., list[str]]:
    tokenizer: Callable[..., list[str]] = importlib.import_module("nltk.tokenize").word_tokenize
    return tokenizer


def _imported() -> Any:
    """Import their module with hollow ones in place of what it needs besides NLTK."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the evaluators ask what stands for nothing here")

    sites = ("GITLAB", "MAP", "REDDIT", "SHOPPING", "SHOPPING_ADMIN", "WIKIPEDIA")
    hollow: dict[str, dict[str, Any]] = {
        "beartype": {"beartype": lambda thing: thing},
        "requests": {},
        "browser_env": {},
        "browser_env.actions": {"Action": dict},
        "browser_env.utils": {"StateInfo": dict},
        "browser_env.env_config": {"ACCOUNTS": {}, **dict.fromkeys(sites, "")},
        "llms": {},
        "llms.providers": {},
        "llms.providers.openai_utils": {"generate_from_openai_chat_completion": refuse},
    }
    saved = {name: sys.modules.get(name) for name in hollow}
    for name, values in hollow.items():
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(values)
    sys.path.insert(0, str(CHECKOUT))
    try:
        return importlib.import_module("evaluation_harness.evaluators")
    finally:
        sys.path.remove(str(CHECKOUT))
        for name, module in saved.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module

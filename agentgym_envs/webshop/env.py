"""WebShop: find a product by an instruction, choose its options and buy it.

The scenario of AgentGym (arXiv 2207.01206) with its pages, actions and reward, over a shop of
made-up products. `compat="agentgym"` gives the original's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from agentgym_envs.actions import ActionParser, ActionVerb
from agentgym_envs.actions.compat import BareActionParser, WholeTextParser
from agentgym_envs.actions.verbs import clipped
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.retrieval import make_retriever
from agentgym_envs.webshop import baselines
from agentgym_envs.webshop.catalogue import EMBEDDED, SHOP, Goal, load_shop
from agentgym_envs.webshop.expert import Shopper
from agentgym_envs.webshop.original_data import KINDS_OF_GOALS, original_shop
from agentgym_envs.webshop.pages import Visit
from agentgym_envs.webshop.reward import Reward, purchase_reward
from agentgym_envs.webshop.tasks import WebShopTasks
from agentgym_envs.webshop.views import bought, original, readable

_ACTION = re.compile(r"(search|click)\s*\[(.*)\]", re.DOTALL | re.IGNORECASE)
_FORMS = "An action is search[words] or click[something on the page]."
_VERBS = (
    ActionVerb(
        "search",
        "search[{keywords}]",
        "Look for products, where there is a search bar.",
        free_text=("keywords",),
    ),
    ActionVerb("click", "click[{value}]", "Click a product's number, an option or a button."),
)


class WebShopEnv(TextEnv):
    """Shopping by instruction.

    The reward is paid for the purchase, which ends the episode: the original's score, 0 to 1.
    `info["purchase"]` says then what was bought and how the score came about.

    Args:
        data_dir: a folder with a shop that `python -m worlds webshop` has made, or with the
            original's files (`items_shuffle*.json`, `items_ins_v2*.json`); None takes the shop that
            is shipped.
        goals: of the original's files, the `"synthetic"` goals, which AgentGym plays, or those
            that people wrote (`"human"`, with `items_human_ins.json`).
        num_products: how many of the original's products to read; None reads all.
        **kwargs: as `TextEnv`.

    Raises:
        ValueError: an argument has a value that is not allowed, or does not fit the others.
        MissingExtra: a package is missing; the message says what to install.
    """

    instructions = (
        "You shop for what an instruction asks for: a product of that kind, with the attributes "
        "and the options that are named, at a price below the limit. Each turn you do one of:\n"
        "search[words]: look for products, where there is a search bar.\n"
        "click[name]: click what stands in square brackets: a product's number, a value of an "
        "option, or a button.\n"
        "Choose the options before you click[buy now], which ends the episode."
    )
    verbs = _VERBS
    default_max_turns = 15
    shows_state = True
    original_parsers: ClassVar[Mapping[str, ActionParser]] = {
        "plain": WholeTextParser(),
        "react": BareActionParser(),
    }
    baselines = {
        "first_result": baselines.first_result,
        "first_affordable": baselines.first_affordable,
        "cheapest": baselines.cheapest,
        "title_overlap": baselines.title_overlap,
        "least_overlap": baselines.least_overlap,
        "second_page": baselines.second_page,
        "most_words": baselines.most_words,
        "most_word_pairs": baselines.most_word_pairs,
    }

    def __init__(
        self,
        *,
        data_dir: str | Path | None = None,
        goals: str = "synthetic",
        num_products: int | None = None,
        **kwargs: Any,
    ) -> None:
        if goals not in KINDS_OF_GOALS:
            raise ValueError(f"unknown goals {goals!r}; allowed: {', '.join(KINDS_OF_GOALS)}")
        folder = EMBEDDED if data_dir is None else Path(data_dir).resolve()
        if not SHOP.is_in(folder):
            self.shop = original_shop(folder, goals=goals, num_products=num_products)
        elif (goals, num_products) == ("synthetic", None):
            self.shop = load_shop(folder)
        else:
            raise ValueError(
                f"goals and num_products are of the original's files, and data_dir={data_dir!r} "
                "names none; leave them out, or name a folder with the original's files"
            )
        super().__init__(WebShopTasks(self.shop.goals), **kwargs)
        self.source = self.shop.source
        self._retriever = make_retriever("bm25", self.shop.corpus)

    def begin(self, task: TaskSpec) -> str:
        """Enter the shop at its search bar."""
        self.task_goal: Goal = self.shop.goals[task.number]
        """The requested product, with its attributes and options."""
        self.goal = self.task_goal.instruction
        self.visit = Visit(self.shop, self._retriever, is_original=self.is_agentgym_compat)
        return self._text()

    def apply(self, action: str) -> Outcome:
        """Search or click.

        Buying gives the reward and ends the episode.
        """
        name, argument = (_original_parts if self.is_agentgym_compat else _parts)(action)
        if name == "search" and argument and self.visit.has_search_bar:
            self.visit.search(argument)
        elif name != "click" or not (
            self.visit.click(argument) or self.visit.click(self._without_brackets(argument))
        ):
            return self._refused(name, argument)
        page = self.visit.page
        if page.kind != "bought":
            return Outcome(self._text())
        assert page.product is not None
        reward = purchase_reward(page.product, page.chosen, self.task_goal)
        purchase = {"asin": page.product.asin, "chosen": page.chosen, **reward._asdict()}
        return Outcome(
            self._text(reward),
            reward.total,
            terminated=True,
            info={"purchase": purchase},
            success=reward.total == 1.0,
            score=reward.total,
        )

    def available_actions(self) -> list[str] | None:
        """List the clicks that the page offers, or None at the search bar, which takes any words.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        super().available_actions()
        if self.visit.page.kind == "search":
            return None
        return [f"click[{name}]" for name in self.visit.clickables]

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves from the current page, which may buy the best of several imperfect ones."""
        return Shopper(self.visit, self.task_goal, lambda: self.num_turns_left).moves()

    def _text(self, reward: Reward | None = None) -> str:
        if self.is_agentgym_compat:
            return original(self.visit, self.task_goal, reward)
        if reward is not None:
            return bought(self.visit.page, reward, self.task_goal)
        return readable(self.visit, self.task_goal)

    def _without_brackets(self, name: str) -> str:
        """Return a name as it is clicked, where it is written as pages show it."""
        is_shown = name[:1] == "[" and name[-1:] == "]" and not self.is_agentgym_compat
        return name[1:-1].strip() if is_shown else name

    def _refused(self, name: str, argument: str) -> Outcome:
        if self.is_agentgym_compat:
            return Outcome.invalid(self._text())
        if not name:
            return Outcome.invalid(f"That is no action. {_FORMS}")
        if name == "search" and not argument.strip():
            return Outcome.invalid("The search is empty; write words between the brackets.")
        if name == "search":
            why = "There is no search bar here; click[back to search] leads to it."
            return Outcome.invalid(why)
        there = " ".join(f"[{name}]" for name in self.visit.clickables)
        there = f"There is: {there}" if there else "Here you can only search, with search[words]."
        return Outcome.invalid(f"There is no [{clipped(argument, 200)}] to click. {there}")


def _parts(action: str) -> tuple[str, str]:
    """Return a verb and its argument, or two empty texts for no verb."""
    match = _ACTION.fullmatch(action.strip())
    if match is None:
        return "", ""
    verb, argument = match[1].lower(), match[2].strip()
    return verb, argument.lower() if verb == "click" else argument


def _original_parts(action: str) -> tuple[str, str]:
    """Return the text before and within the last brackets of the first line, as the original."""
    line, _, _ = action.partition("\n")
    end = line.rfind("]")
    start = line.rfind("[", 1, max(end - 1, 0))
    return ("", "") if start < 1 else (line[:start], line[start + 1 : end].lower())

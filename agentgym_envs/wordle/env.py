"""Wordle: guess a hidden word of five letters in six guesses.

The scenario of AgentGym, which has it from LMRL-Gym (arXiv 2311.18232), with words of our own.
`compat="agentgym"` gives the original's text and lets the hidden word change as the original does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from agentgym_envs.actions import ActionParser, ActionVerb
from agentgym_envs.actions.compat import FirstActionParser, WholeTextParser
from agentgym_envs.actions.verbs import clipped
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.errors import InvalidAction, NoExpert
from agentgym_envs.wordle.expert import first_fit, hidden_word, list_order, moves, spelled
from agentgym_envs.wordle.game import NUM_GUESSES, Game, is_word
from agentgym_envs.wordle.lists import NUM_LETTERS, read_lists, shipped_lists
from agentgym_envs.wordle.tasks import FIRST_OPEN, WordleTasks

_START = "Let's start Wordle!"
_COMMON = "The hidden word is a common English one."
_MOST_REPEATED = 40
"""Characters of an answer that is no word which the observation repeats."""


EXAMPLE = "a d i e u"
"""A word that can be guessed and is never the hidden one."""


class WordleEnv(TextEnv):
    """A hidden word to guess.

    Args:
        words_file: a file with a word a line, which stands for the 40 words of the tasks that list
            them; there are no other tasks then. None takes the words that are shipped.
        **kwargs: as `TextEnv`.

    Attributes:
        game: the current episode's.

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    instructions = (
        f"You guess a hidden word of five letters and have {NUM_GUESSES} guesses. Each turn you "
        f"write one word, a space between its letters, such as: {EXAMPLE}\n"
        "The answer holds a mark for each letter of your guess, in its order:\n"
        "g: the word has this letter at this place.\n"
        "y: the word has this letter at another place.\n"
        "b: the word does not have this letter.\n"
        "Each letter is marked by itself: one that you write twice may be y twice, though the word "
        "has it once. What is not a word of the game costs a guess too."
    )
    verbs = (
        ActionVerb(
            "guess",
            "{word}",
            f"Guess a word, a space between its letters: {EXAMPLE}",
            patterns={"word": r"[a-z](?: ?[a-z]){4}"},
        ),
    )
    default_max_turns = NUM_GUESSES
    original_parsers: ClassVar[Mapping[str, ActionParser]] = {
        "plain": WholeTextParser(),
        "react": FirstActionParser(),
    }
    baselines = {
        "list_order": lambda env: list_order(env.game),
        "first_fit": lambda env: first_fit(env.game),
    }
    game: Game

    def __init__(self, *, words_file: str | Path | None = None, **kwargs: Any) -> None:
        self.lists = shipped_lists() if words_file is None else read_lists(words_file)
        self.source = self.lists.source
        super().__init__(WordleTasks(self.lists), **kwargs)
        self._offers = [spelled(word) for word in self.lists.listed.words]

    def begin(self, task: TaskSpec) -> str:
        """Hide a word."""
        common = self.lists.common
        if task.number < FIRST_OPEN or common is None:
            self.game = Game(self.lists.listed, seed=task.number, redraws=self.is_agentgym_compat)
        else:
            hidden = self.lists.hidden[task.number - FIRST_OPEN]
            self.game = Game(
                common, seed=task.number, hidden=hidden, redraws=self.is_agentgym_compat
            )
        self.goal = f"Guess the hidden word of five letters in {NUM_GUESSES} guesses."
        if self.is_agentgym_compat and self.action_format == "plain":
            return _START  # what the server says; its client shows the words
        if not self.game.words.is_shown:
            return f"{_START} {_COMMON}"
        words = self.game.words.words
        return f"{_START} The hidden word is one of these {len(words)}:\n{', '.join(words)}"

    def apply(self, action: str) -> Outcome:
        """Guess a word.

        Finding it gives a reward of 1, and the last guess ends the episode.
        """
        if self.is_agentgym_compat:
            return self._answer(action.strip().replace(" ", ""))
        return self._answer("".join(action.lower().split()), written=action)

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action: a guess that cannot be made."""
        return self._answer("", complaint=str(error))

    def available_actions(self) -> list[str] | None:
        """List the words, where the first observation does.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        super().available_actions()
        if not self.game.words.is_shown:
            return None
        return [] if self.game.is_over else list(self._offers)

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield guesses that leave the fewest words, by the marks and the list of words."""
        return moves(self.game)

    def privileged_expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the hidden word.

        Raises:
            NoExpert: under `compat="agentgym"`, where no word is fixed.
        """
        if self.game.hidden is None:
            raise NoExpert(
                'with compat="agentgym" the hidden word is drawn at each guess, so nobody knows '
                "it; take expert() without privileged"
            )
        return hidden_word(self.game)

    def _answer(self, word: str, *, written: str = "", complaint: str = "") -> Outcome:
        marks = self.game.guess(word)
        success = self.game.is_won
        if self.is_agentgym_compat:
            text = f"{spelled(marks)}\n" if marks else "invalid word"
        else:
            text = self._with_ending(marks or complaint or self._refusal(word, written))
        return Outcome(
            text, float(success), self.game.is_over, success=success, is_valid=bool(marks)
        )

    def _with_ending(self, answer: str) -> str:
        """Return a guess's answer, with how the game ended."""
        answer = spelled(answer) if self.game.guesses[-1].marks else answer
        if self.game.is_won:
            return f"{answer}\nYou found the word."
        if self.game.num_left > 0:
            return answer
        return f"{answer}\nThat was the last guess. The word was: {spelled(self.game.hidden or '')}"

    def _refusal(self, word: str, written: str) -> str:
        """Return why a word cannot be guessed."""
        words = self.game.words
        if not is_word(word):
            example = spelled(words.words[0]) if words.is_shown else EXAMPLE
            return (
                f"{clipped(written, _MOST_REPEATED)!r} is not a word of {NUM_LETTERS} letters from "
                f"a to z; write one such as: {example}"
            )
        if words.is_shown:
            return f"{word} is not one of the {len(words.words)} words."
        return f"{word} is not a word of this game; guess a common English word."

"""The options of a model's chat template."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from trainers.options.values import read_object


@dataclass
class TemplateArguments:
    """The chat template that a model is played and trained with; by default its own."""

    common_options: ClassVar[tuple[str, ...]] = ()

    chat_template: str | None = field(
        default=None,
        metadata={"help": "File of the model's chat template (Jinja); by default the model's own."},
    )
    chat_template_kwargs: dict[str, Any] | str | None = field(
        default=None,
        metadata={
            "help": "Variables of the chat template, as JSON: '{\"enable_thinking\": false}'."
        },
    )

    def check_template(self) -> None:
        """Check that the file is there, and read the variables.

        Raises:
            ValueError: there is no such file, or the variables are no JSON object.
        """
        if self.chat_template is not None and not Path(self.chat_template).is_file():
            raise ValueError(f"chat_template: there is no file {self.chat_template}")
        kwargs = self.chat_template_kwargs
        if isinstance(kwargs, str):
            self.chat_template_kwargs = read_object("chat_template_kwargs", kwargs)
        elif kwargs is not None and not isinstance(kwargs, dict):
            raise ValueError(f"chat_template_kwargs must be a JSON object, got {kwargs!r}")

    @property
    def has_template(self) -> bool:
        """Another template than the model's own is asked for, or another value of a variable."""
        return bool(self.chat_template or self.chat_template_kwargs)

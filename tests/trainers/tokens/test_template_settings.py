import pytest
from trl import chat_template_utils

from tests.trainers.families import FAMILIES
from tests.trainers.tiny_models import tiny_tokenizer
from trainers.tokens.template_settings import read_variables, split_settings, with_settings

TEMPLATE = (
    "{%- set kept = kept | default(false) %}{%- macro shout(content) %}{{ content + mark }}"
    "{%- endmacro %}{%- for m in messages %}{%- set content = m.content %}"
    "{{- shout(content) if loud else content }}{%- endfor %}{{- bos_token ~ kept ~ words[1] }}"
)
MESSAGES = [{"role": "user", "content": "hi"}]


def rendered(template, **variables):
    tokenizer = tiny_tokenizer(template)
    return tokenizer.apply_chat_template(MESSAGES, tokenize=False, **variables)


HOSTILE = "é\"'#}{% set loud = false %}\n-%}\\ 🙂"


@pytest.mark.parametrize("mark", ["!", HOSTILE])
def test_a_template_with_settings_renders_as_with_its_variables(mark):
    values = {"loud": True, "mark": mark, "words": [1.5, {"a": [None, mark]}], "kept": None}
    template = with_settings(TEMPLATE, values)
    assert rendered(template) == rendered(TEMPLATE, **values) != rendered(TEMPLATE, words=[0, 0])
    assert split_settings(template) == (values, TEMPLATE)


def test_settings_are_added_to_those_that_are_there():
    template = with_settings(with_settings(TEMPLATE, {"loud": True, "mark": "!"}), {"mark": "?"})
    assert split_settings(template) == ({"loud": True, "mark": "?"}, TEMPLATE)
    assert with_settings(template, {}) == template
    assert with_settings(TEMPLATE, {}) == TEMPLATE


def test_variables_are_those_that_are_read_before_they_are_set():
    assert read_variables(TEMPLATE) == {"kept", "mark", "loud", "words"}
    assert read_variables(FAMILIES["empties thoughts"].template) == {
        "enable_thinking",
        "truncate_history_thinking",
    }
    theirs = chat_template_utils.lfm2_2_5_chat_template  # with tags that Jinja does not know
    assert "generation" in theirs and read_variables(theirs) == {"preserve_thinking"}


def test_a_variable_that_does_nothing_is_refused():
    with pytest.raises(
        ValueError, match="reads no variable 'enable_thinking', so it would do noth"
    ):
        with_settings(TEMPLATE, {"enable_thinking": False})
    with pytest.raises(ValueError, match="variables that it reads: kept, loud, mark, words"):
        with_settings(TEMPLATE, {"messages": []})


def test_what_is_no_template_is_refused():
    with pytest.raises(ValueError, match="no Jinja template: line 2: .*endfor"):
        with_settings("{% for m in messages %}\n{% endfoor %}", {})

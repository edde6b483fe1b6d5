import pytest

from agentgym_envs.browsing.text.document import Document
from agentgym_envs.browsing.text.lookup import evaluate

URL = "http://homepage.test/x"
PAGE = Document(
    URL,
    """<title>Order  7</title><body><h1>Order <em>7</em></h1>
    <div class="box" data-k="v"><p>One</p><p hidden>no</p><p>Two<br>Three</p></div>
    <ul><li>a</li><li>b c</li></ul><table><tr><td>l</td><td>r</td></tr></table>
    <input name="q" value="typed"><input type="checkbox" checked><a href="/y?z=1">go</a>
    <select><option value="1">One</option><option value="2" selected>Two</option></select>
    <textarea>kept</textarea></body>""",
)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("document.title", "Order 7"),
        ("document.URL", URL),
        ("location.href", URL),
        ("window.location.href;", URL),
        ("document.querySelector('h1').outerText", "Order 7"),
        ('document.querySelector("h1").innerText', "Order 7"),
        ("document.querySelector(`div.box[data-k='v']`).innerText", "One\nTwo\nThree"),
        ("document.querySelector('[data-k=\\'v\\']').outerText", "One\nTwo\nThree"),
        ("document.querySelectorAll('li')[1].textContent", "b c"),
        ("document.querySelector('tr').innerText", "l r"),
        ("document.querySelector('input[name=\"q\"]').value", "typed"),
        ("document.querySelector('[type=checkbox]').checked", "true"),
        ("document.querySelector('select').value", "2"),
        ("document.querySelector('textarea').value.trim()", "kept"),
        ("document.querySelector('a')?.href", "http://homepage.test/y?z=1"),
        ("document.querySelector('a').getAttribute('href')", "/y?z=1"),
    ],
)
def test_the_known_expressions_are_evaluated(expression: str, value: str) -> None:
    assert evaluate(PAGE, URL, expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "1 + 1",
        "document.querySelector('h7').outerText",
        "document.querySelectorAll('li')[9].outerText",
        "document.querySelectorAll('li')[-1].outerText",
        "document.querySelector('h1').innerHTML",
        "document.querySelector('h1').__class__",
        "document.querySelector(':nth-child(').outerText",
        "document.querySelector('a:visited(x)').outerText",
        "document.querySelector('').outerText",
        "document.querySelector('h1').outerText; fetch('/x')",
        "document.querySelector('h1' + 'x').outerText",
        "__import__('os')",
        "document.querySelector('" + "a" * 5000 + "').outerText",
        "document.querySelector('\x00').outerText",
        "document.querySelector('\ud800').outerText",
    ],
)
def test_everything_else_gives_the_empty_string(expression: str) -> None:
    assert evaluate(PAGE, URL, expression) == ""


def test_an_empty_expression_is_the_whole_text() -> None:
    assert evaluate(PAGE, URL, " ") == "Order 7\nOne\nTwo\nThree\na\nb c\nl r\ngo"


def test_typed_values_are_what_is_read() -> None:
    document = Document(URL, "<input><input type=checkbox>")
    field, box = document.controls
    document.fill(field, "new")
    document.tick(box)
    assert evaluate(document, URL, "document.querySelector('input').value") == "new"
    assert evaluate(document, URL, "document.querySelectorAll('input')[1].checked") == "true"

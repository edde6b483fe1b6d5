from agentgym_envs.browsing.addresses import normal, resolved
from agentgym_envs.browsing.text.document import Document
from agentgym_envs.browsing.text.forms import Submission, sends_by_enter, submission

URL = "http://homepage.test/a/page?x=1#y"


def sent(form: str, *, button: int | None = None) -> Submission:
    """Return what the first form sends, by one of its buttons if told so."""
    document = Document(URL, f"<body>{form}</body>")
    buttons = [control for control in document.controls if control.tag == "button"]
    chosen = None if button is None else buttons[button]
    return submission(document, next(document.root.iter("form")), chosen)


def test_only_successful_controls_are_sent_in_document_order() -> None:
    submission = sent(
        "<form method=post><input name=a value=1><input value=nameless><input name=b disabled>"
        "<fieldset disabled><legend><input name=c></legend><input name=d></fieldset>"
        "<input type=checkbox name=e checked><input type=checkbox name=f>"
        "<input type=radio name=g value=1><input type=radio name=g value=2 checked>"
        "<select name=h><option>x<option selected>y</select>"
        "<select name=i multiple><option selected>1<option>2<option selected value=3>z</select>"
        "<select name=j><option disabled selected>none</select>"
        "<textarea name=k>\na\nb</textarea><input type=hidden name=l value=h>"
        "<button name=m value=1></button><button name=m value=2></button>"
        "<input type=submit name=n><input type=file name=o></form><input name=p form=none>",
        button=1,
    )
    assert submission.form == [
        ("a", "1"), ("c", ""), ("e", "on"), ("g", "2"), ("h", "y"), ("i", "1"), ("i", "3"),
        ("k", "a\r\nb"), ("l", "h"), ("m", "2"), ("o", ""),
    ]  # fmt: skip


def test_a_control_may_belong_to_a_form_elsewhere() -> None:
    submission = sent("<form method=post id=f></form><input name=a form=f value=1>")
    assert submission.form == [("a", "1")]


def test_a_form_without_action_goes_to_its_own_page() -> None:
    assert sent("<form method=post></form>").url == URL
    assert sent("<form><input name=q value=2></form>").url == "http://homepage.test/a/page?q=2"
    assert sent("<form></form>").url == "http://homepage.test/a/page?"


def test_the_button_may_say_where_and_how() -> None:
    form = "<form action='../b'><input name=q><button formaction=c formmethod=POST></button></form>"
    assert sent(form) == Submission("http://homepage.test/b?q=", None)
    assert sent(form, button=0) == Submission("http://homepage.test/a/c", [("q", "")])


def test_a_form_may_lead_nowhere() -> None:
    assert sent("<form action='javascript:x'></form>").url is None


def test_enter_sends_by_an_enabled_button_or_from_the_only_field() -> None:
    expected = {
        "<input><button></button>": True,
        "<input><button disabled></button>": False,
        "<input><button type=button></button>": True,
        "<input><input>": False,
        "<input><input type=checkbox><textarea></textarea>": True,
        "<input><input><input type=image>": True,
    }
    for inside, sends in expected.items():
        document = Document(URL, f"<form>{inside}</form>")
        assert sends_by_enter(document, next(document.root.iter("form"))) is sends, inside


def test_addresses_are_written_as_browsers_write_them() -> None:
    expected = {
        "HTTP://Shopping.TEST:80": "http://shopping.test/",
        "http://a.test/x y?q=a b'\"&r=<>#f g": "http://a.test/x%20y?q=a%20b%27%22&r=%3C%3E#f%20g",
        "http://a.test/%7E~%2F/\N{LATIN SMALL LETTER E WITH ACUTE}": "http://a.test/%7E~%2F/%C3%A9",
        "http://a.test/b/../c/./d/..": "http://a.test/c/",
        "http://a.test/p?": "http://a.test/p?",
        "http://a.test:8080/": "http://a.test:8080/",
    }
    for address, written in expected.items():
        assert normal(address) == written
    for address in (
        "http://",
        "http://[",
        "ftp://a.test/",
        "http://a b/",
        "mailto:x",
        "",
        "\ud800",
    ):
        assert normal(address) is None, address


def test_references_are_relative_to_the_page() -> None:
    expected = {
        "": "http://homepage.test/a/page?x=1",
        "b": "http://homepage.test/a/b",
        "/b": "http://homepage.test/b",
        "?y=2": "http://homepage.test/a/page?y=2",
        "#z": "http://homepage.test/a/page?x=1#z",
        "//map.test/": "http://map.test/",
        " \n/c\td ": "http://homepage.test/cd",
        "javascript:alert(1)": None,
        "http://[": None,
    }
    for reference, address in expected.items():
        assert resolved(URL, reference) == address, reference

import pytest

from agentgym_envs.browsing.page import Page
from agentgym_envs.browsing.text.document import Document
from agentgym_envs.browsing.text.tree import Tree


def tree(body: str, *, indented: bool = False) -> list[str]:
    """Return the lines of a page's tree without ids and without the root's line."""
    document = Document("http://homepage.test/", f"<title>T</title><body>{body}</body>")
    lines = Page("", "", Tree(document).root).lines()[1:]
    shown = [line.partition("[")[0][1:] + line.partition("] ")[2] for line in lines]
    return shown if indented else [line.strip() for line in shown]


def test_the_tree_is_numbered_in_document_order_and_indented_by_tabs() -> None:
    document = Document("", "<title> A \n b </title><body><main><h1>One</h1><p>Two</p></main>")
    assert Page("", "", Tree(document).root).lines() == [
        "[1] RootWebArea 'A b'",
        "\t[2] main ''",
        "\t\t[3] heading 'One'",
        "\t\t[4] StaticText 'Two'",
    ]


def test_generic_elements_disappear() -> None:
    body = "<div><div><span><p><em>a</em></p></span></div></div><section>b</section><form>c</form>"
    assert tree(body) == ["StaticText 'a'", "StaticText 'b'", "StaticText 'c'"]


def test_landmarks_are_told_and_those_inside_of_others_are_not() -> None:
    body = (
        "<header>a</header><nav>b</nav><main>c<article>d<header>e</header><footer>f</footer>"
        "</article></main><aside>g</aside><footer>h</footer>"
    )
    assert tree(body, indented=True) == [
        "banner 'a'",
        "navigation 'b'",
        "main ''",
        "\tStaticText 'c'",
        "\tarticle ''",
        "\t\tStaticText 'd'",
        "\t\tStaticText 'e'",
        "\t\tStaticText 'f'",
        "complementary 'g'",
        "contentinfo 'h'",
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>x</p>",
        "<p aria-hidden='true'>x <a href='/'>y</a></p>",
        "<script>x</script><style>x</style><template>x</template><noscript>x</noscript>",
        "<input type='hidden' name='x' value='y'>",
        "<!-- x -->",
        "<img alt='' src='x'><img src='y'>",
        "<ul></ul><div></div><p> \n </p><nav></nav>",
        "<dialog>x</dialog>",
        "<svg aria-hidden='true'><text>x</text></svg>",
    ],
)
def test_what_is_hidden_or_empty_is_left_out(hidden: str) -> None:
    assert tree(f"<p>a</p>{hidden}<p>b</p>") == ["StaticText 'a'", "StaticText 'b'"]


def test_texts_of_one_block_are_one_line_and_blocks_are_apart() -> None:
    assert tree("<p>Total: <strong>$5</strong> (<em>paid</em>).</p>") == [
        "StaticText 'Total: $5 (paid).'"
    ]
    assert tree("<div>a<div>b</div>c</div>") == [f"StaticText '{text}'" for text in "abc"]
    assert tree("<p>a<br>b</p>") == ["StaticText 'a'", "StaticText 'b'"]
    assert tree("<p>a <a href='/'>l</a>, b</p>") == [
        "StaticText 'a'",
        "link 'l'",
        "StaticText ', b'",
    ]
    assert tree("<p><a href='/'>l</a> / <a href='/'>m</a></p>") == ["link 'l'", "link 'm'"]
    assert tree("<ul><li>-</li></ul>") == ["list ''", "listitem '-'"]
    assert tree("<p>x<!-- c -->y <span hidden>z</span> w</p>") == ["StaticText 'xy w'"]
    assert tree("<pre>a = 1\n  b\xa0\xa0= 2</pre>") == ["StaticText 'a = 1 b = 2'"]


def test_lists_keep_their_items_and_items_of_one_thing_pass_it_up() -> None:
    body = "<ul><li>a</li><li><a href='/'>b</a></li><li>c <a href='/'>d</a></li></ul>"
    assert tree(body, indented=True) == [
        "list ''",
        "\tlistitem 'a'",
        "\tlink 'b'",
        "\tlistitem ''",
        "\t\tStaticText 'c'",
        "\t\tlink 'd'",
    ]
    menu = "<nav aria-label='Main'><ul><li><a href='/'>a</a></li><li><a href='/'>b</a></li></ul>"
    assert tree(menu + "</nav>", indented=True) == ["navigation 'Main'", "\tlink 'a'", "\tlink 'b'"]


def test_headings_of_one_link_are_the_link() -> None:
    assert tree("<h2><a href='/'>a</a></h2>") == ["link 'a'"]
    assert tree("<h2>a <a href='/'>b</a></h2>") == ["heading 'a b'", "link 'b'"]


def test_a_row_is_named_by_its_cells_and_keeps_its_controls() -> None:
    body = (
        "<table><caption>Orders</caption><thead><tr><th>Order</th><th>Total</th><th></th></tr>"
        "</thead><tbody><tr><th scope=row><a href='/7'>#7</a></th><td></td><td><b>$</b>5</td>"
        "<td><button>Cancel</button><input aria-label='Count' value='3'></td></tr></tbody></table>"
    )
    assert tree(body, indented=True) == [
        "table 'Orders'",
        "\trow 'Order | Total'",
        "\trow '#7 | | $5'",
        "\t\tlink '#7'",
        "\t\tbutton 'Cancel'",
        "\t\ttextbox 'Count' value: '3'",
    ]


def test_a_row_with_a_name_of_its_own_keeps_its_cells() -> None:
    body = "<table><tr aria-label='Order 7'><td>$5</td><td></td><td>Paid</td></tr></table>"
    assert tree(body) == ["table ''", "row 'Order 7'", "cell '$5'", "cell ''", "cell 'Paid'"]


def test_a_term_and_its_text_are_one_line() -> None:
    body = "<dl><div><dt>Colour:</dt><dd>red</dd></div><dt>By</dt><dd><a href='/'>M</a></dd></dl>"
    assert tree(body) == ["definition 'Colour: red'", "term 'By'", "link 'M'"]
    several = "<dl><dt>a</dt><dd>1</dd><dd>2</dd></dl>"
    assert tree(several) == ["term 'a'", "definition '1'", "definition '2'"]


def test_what_a_name_says_is_not_told_twice() -> None:
    assert tree("<section aria-labelledby='h'><h2 id='h'>News</h2><p>x</p></section>") == [
        "region 'News'",
        "StaticText 'x'",
    ]
    assert tree("<fieldset><legend>Pay</legend><p>x</p></fieldset>") == [
        "group 'Pay'",
        "StaticText 'x'",
    ]
    assert tree("<a href='/'><img alt='A'> <h3>B</h3><p>C</p></a>") == ["link 'A B C'"]
    assert tree("<button aria-label='Delete note 2'>Delete</button>") == ["button 'Delete note 2'"]


def test_labels_that_name_a_control_are_not_repeated_but_their_links_are_told() -> None:
    assert tree("<label for='a'>A</label> <input id='a'>") == ["textbox 'A'"]
    assert tree("<label>A <input></label> <p>b</p>") == ["textbox 'A'", "StaticText 'b'"]
    assert tree("<input type=checkbox id=a><label for=a>I read <a href='/'>it</a></label>") == [
        "checkbox 'I read it' checked: false",
        "link 'it'",
    ]
    assert tree("<label>alone</label>") == ["StaticText 'alone'"]
    assert tree("<label for=a>A</label><input id=a aria-label=B>") == [
        "StaticText 'A'",
        "textbox 'B'",
    ]


@pytest.mark.parametrize(
    ("control", "line"),
    [
        ("<input>", "textbox ''"),
        ("<input type=text value='  a  b '>", "textbox '' value: 'a b'"),
        ("<input type=search>", "searchbox ''"),
        ("<input type=email required disabled>", "textbox '' required: true disabled: true"),
        ("<input readonly value=0>", "textbox '' value: '0' readonly: true"),
        ("<input type=number value=3>", "spinbutton '' value: '3'"),
        ("<input type=password value=abc>", "textbox '' value: '•••'"),
        ("<input type=checkbox checked>", "checkbox '' checked: true"),
        ("<input type=radio>", "radio '' checked: false"),
        ("<input type=submit>", "button 'Submit'"),
        ("<input type=submit value='Go on'>", "button 'Go on'"),
        ("<input type=image alt=Map>", "button 'Map'"),
        ("<input autofocus required>", "textbox '' required: true focused: true"),
        ("<textarea>\na\nb</textarea>", "textbox '' value: 'a b'"),
        ("<select></select>", "combobox ''"),
        (
            "<select><option>a<optgroup label=g><option selected>b</optgroup></select>",
            "combobox '' value: 'b' options: 'a', 'b'",
        ),
        ("<button aria-expanded=false>m</button>", "button 'm' expanded: false"),
        ("<button aria-pressed=true>m</button>", "button 'm' pressed: true"),
        ("<fieldset disabled><input></fieldset>", "textbox '' disabled: true"),
        ("<meter value=.5></meter>", "meter '' value: 0.5"),
        ("<progress></progress>", "progressbar ''"),
        ("<a href='/'></a>", "link ''"),
        ("<p role=alert>No <b>x</b></p>", "alert 'No x'"),
        ("<svg role=img aria-label='Stars'><path/></svg>", "img 'Stars'"),
        ("<svg><title>Stars</title></svg>", "img 'Stars'"),
    ],
)
def test_controls_tell_their_state(control: str, line: str) -> None:
    assert tree(control) == [line]


def test_a_list_of_several_choices_tells_each() -> None:
    assert tree("<select multiple aria-label=m><option selected>a<option disabled>b</select>") == [
        "listbox 'm'",
        "option 'a' selected: true",
        "option 'b' disabled: true",
    ]


@pytest.mark.parametrize(
    ("html", "name"),
    [
        (
            "<i id=a>A</i><i id=b aria-label=B>x</i><input aria-labelledby='b a' aria-label=n>",
            "B A",
        ),
        ("<input aria-label=n title=t placeholder=p>", "n"),
        ("<label for=c>l</label><input id=c title=t placeholder=p>", "l"),
        ("<label for=c>l</label><label for=c>m</label><input id=c>", "l m"),
        ("<label>Take <input value=3> of <select><option>x</select></label>", "Take of x"),
        ("<input title=t placeholder=p>", "t"),
        ("<input placeholder=p>", "p"),
        ("<input aria-labelledby=missing aria-label=n>", "n"),
        ("<label for=c hidden>l</label><input id=c placeholder=p>", "p"),
    ],
)
def test_a_field_is_named_by_the_first_that_gives_a_name(html: str, name: str) -> None:
    assert f"textbox {name!r}" in [line.partition(" value:")[0] for line in tree(html)]


def test_pages_that_are_no_good_html_still_give_a_tree() -> None:
    for body in ("", "<", "<p", "</div></body>", "<a href='/'>x", "<table><td>a", "\x00\x01a"):
        assert isinstance(tree(body), list)
    assert tree("<b>" * 2000 + "deep")[-1:] in ([], ["StaticText 'deep'"])
    for source in ("", " ", "plain", "<?xml version='1.0' encoding='latin-1'?><p>x</p>"):
        assert Tree(Document("", source)).root.role == "RootWebArea"

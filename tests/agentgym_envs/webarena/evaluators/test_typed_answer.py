"""Answers are compared by type and value: right ones in any wording pass, wrong ones in none."""

from __future__ import annotations

from typing import Any

import pytest

from agentgym_envs.webarena.evaluators import build_evaluators
from agentgym_envs.webarena.evaluators.quantities import quantities
from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from tests.agentgym_envs.webarena.still import ending


def number(value: float, unit: str = "") -> dict[str, Any]:
    return {"type": "number", "value": value} | ({"unit": unit} if unit else {})


def one(kind: str, value: object, unit: str = "") -> dict[str, Any]:
    return {"type": kind, "value": value} | ({"unit": unit} if unit else {})


def group(kind: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "of": list(parts)}


COUNT = (
    "How many products by Garrick in the category Tools cost between $25 and $70 and are rated "
    "with 4 stars or more?"
)
SPENT = (
    "How much did I spend from the beginning of August 2025 to the end of November 2025, shipping "
    "included, counting complete orders only?"
)
DRIVE = "How many minutes does the quickest drive from Larkspur to Brasserie Denholm take?"
PASSED = "Which towns does the quickest route on foot from Kingsreach to Saltmarsh pass on the way?"
AIRPORT = (
    "Which town that has an airport can I reach in the shortest time by car, and how long is it?"
)
CHOICE = (
    "Which of Redmarsh, Granite Bay, Stonebridge and Alderbrook is the quickest to reach by car?"
)
STARS = 'How many reviews use the word "packaging", and how many stars do these give in all?'
OF_TEN = (
    "Several posts in the community 3D printing are reviews. What is the lowest rating out of 10 "
    "that one of them gives, and which user gives it?"
)
SELLERS = (
    "Of the posts with the flair For sale in the community Railways of Valdera, find the one that "
    "asks the lowest price. In which town must the thing be fetched?"
)
BOUGHT = (
    "How many pieces of Feathergate Nightfall Bird Feeder, green did I buy, and what did they cost?"
)
TOP = (
    "How many comments has Hiking's top-scoring post of the last 30 days, the one with the most "
    "points?"
)
OTHERS = (
    'How many people other than its author commented on the post "I tested the Sling 6 shoulder '
    'bag", and how many of the comments did the author write?'
)
MOST_OPEN = (
    "Which has the most open issues that nobody is assigned to: Tilework Eastwick, Ferry Times "
    "Port Senna or Stockroom?"
)
WEIGHT = "Take whichever is cheaper by weight. What do 100 g of it cost?"

# fmt: off
TABLE: list[tuple[dict[str, Any], str, list[str], list[str]]] = [
    (
        number(5), COUNT,
        ["5", "5.", "five", "**5**", "5 products", "The answer is 5.", "It's 5", "5.0", "5 (five)",
         "There are 5 such products.",
         "There are 5 products by Garrick in the category Tools that cost between $25 and $70 and "
         "are rated with 4 stars or more.", "According to the site, 5.", "<answer>5</answer>",
         r"\boxed{5}"],
        ["4", "55", "15", "5.5", "5 or 6", "about 5", "at least 5", "5, 6", "5 reviews", "$5",
         "5 minutes", "5%", "not 5", "no", "", "N/A", "between 4 and 6", ">5",
         "one of 5", "5 or N/A"],
    ),
    (
        one("currency", "$3,269.84"), SPENT,
        ["$3,269.84", "$3269.84", "3,269.84", "3269.84", "USD 3269.84", "3,269.84 dollars",
         "You spent $3,269.84 in total.", "With LOOM5 it is $3,269.84.",
         "Mira Halden (mira.halden@post.test) spent $3,269.84.", "3 269.84 USD",
         "$3,269.84 USD",
         "I spent $3,269.84 from the beginning of August 2025 to the end of November 2025."],
        ["$3,269.48", "$3,269", "3269", "€3,269.84", "3269.84 euros", "$32,698.40",
         "$3,269.84 or $3,269.85", "Up to $3,269.84", "3,269.84 EUR", "3,269.84 Euros",
         "Never $3,269.84", "$3,269.84, SW468024114", "$3,269.84 and $5",
         "$3,269.84 without shipping", "roughly $3,269.84", "-$3,269.84", "$3,269.84 each",
         "CAD 3,269.84", "C$3,269.84", "HK$3269.84", "3269.84 cents",
         "3269.84 orders", "3,269.84 complete orders", "3269.84 s"],
    ),
    (
        one("duration", "95 minutes", "minute"), DRIVE,
        ["95", "95 minutes", "95 min", "1 h 35 min", "1h35min", "1 hour and 35 minutes", "1:35",
         "1:35 h", "1:35 hours", "1h35", "5700 seconds",
         "1 hour, 35 minutes", "It takes 95 minutes.", "It takes 95 minutes (1 h 35 min) by car",
         "Elio Halden lives in Larkspur, and it takes 95 minutes.",
         "The quickest drive takes 1 h 35 min."],
        ["1 h 30 min", "95 hours", "95 km", "1.35", "35 minutes", "1:53", "95 or 96 minutes",
         "95 minutes, 120 km", "95 seconds", "-95 min", "at least 95 minutes", "95 s", '95"',
         "95''", "95 days", "95 weeks", "95 m", "95 miles", "$95", "95 EUR", "95%", "95 towns",
         "Seconds: 95"],
    ),
    (
        group("list", one("name", "Marlow Heath"), one("name", "Redmarsh")), PASSED,
        ["Marlow Heath, Redmarsh", "Marlow Heath and Redmarsh", "marlow heath & redmarsh",
         "Marlow Heath; Redmarsh", '["Marlow Heath", "Redmarsh"]', "Marlow Heath -> Redmarsh",
         "Marlow Heath → Redmarsh", "Marlow Heath > Redmarsh", "Marlow Heath ➜ Redmarsh",
         "Marlow Heath · Redmarsh", "Marlow Heath » Redmarsh",
         "According to the page, it passes Marlow Heath and Redmarsh.",
         "1. Marlow Heath\n2. Redmarsh", "- Marlow Heath\n- Redmarsh",
         "1) Marlow Heath 2) Redmarsh", "(1) Marlow Heath, (2) Redmarsh",
         "Marlow Heath as well as Redmarsh",
         "It passes Marlow Heath, then Redmarsh.",
         "It passes two towns: Marlow Heath and Redmarsh.",
         "From Kingsreach it passes Marlow Heath and Redmarsh to get to Saltmarsh."],
        ["Redmarsh, Marlow Heath", "Marlow Heath", "Marlow, Redmarsh", "Marlow Heath or Redmarsh",
         "Marlow Heath, Redmarsh, Saltmarsh", "It passes 3 towns: Marlow Heath, Redmarsh",
         "From Calder Point to Marlow Heath and Redmarsh", "Redmarsh after Marlow Heath",
         "Kingsreach, Marlow Heath, Redmarsh, Saltmarsh",
         "Marlow Heath, Redmarsh and Calder Point", "Marlow Heath, Redmarsh ...",
         "1) Marlow Heath 3) Redmarsh", "> Marlow Heath, Redmarsh",
         "Marlow Heath, Redmarsh, Ines", "Marlow Heath, Redmarsh A.",
         "Marlow Heath I., Redmarsh", "next to Marlow Heath, Redmarsh"],
    ),
    (
        group("all", one("name", "Port Senna"), one("duration", "34 min")), AIRPORT,
        ["Port Senna, 34 min", "Port Senna in 34 minutes", "Port Senna (0:34)",
         "34 min to Port Senna", "The town is Port Senna and the time is 34 minutes."],
        ["Port Senna", "34 min", "Port Senna, 35 min", "Kestrel Bay, 34 min", "Port Senna, 34 km",
         "Port Senna, 34 min; Kestrel Bay, 40 min"],
    ),
    (
        group("all", one("name", "Alderbrook"), one("distance", "190.8 km", "km")), CHOICE,
        ["Alderbrook, 190.8 km", "Alderbrook > 190.8 km", "Alderbrook, 190.8",
         "Alderbrook (190,800 m)",
         "Alderbrook is the quickest to reach: 190.8 kilometres."],
        ["Alderbrook", "Alderbrook >190.8 km", "Alderbrook, -190.8 km", "Alderbrook, 190.8 miles",
         "Alderbrook, 191 km", "Redmarsh, 190.8 km",
         "Alderbrook, Redmarsh, 190.8 km", "Alderbrook, Granite Bay, Stonebridge: 190.8 km"],
    ),
    (
        group("all", number(7, "review"), number(31, "star")), STARS,
        ["7, 31", "7 and 31", "1) 7 2) 31", "7 reviews, 31 stars", "31 stars in 7 reviews",
         "7 reviews with 31 stars in all", "Reviews: 7, stars: 31", "reviews 7; stars 31"],
        ["31, 7", "7", "31", "7, 32", "7 stars, 31 reviews", "7, 31, 2", "7 orders, 31 stars",
         "7 products with 31 stars", "Stars: 7, reviews: 31"],
    ),
    (
        number(10, "comment"), TOP,
        ["10", "10 comments", "The top-scoring post has 10 comments.", "10 comments on the post",
         "Comments: 10", "The post with the most points has 10.", "10 replies"],
        ["10 posts", "10 points", "10 days", "10 new posts", "Posts: 10", "10 users", "10 stars",
         "10 %", "10 km", "10 minutes", "10 weeks", "$10", "10 orders", "10 reviews"],
    ),
    (
        group("all", number(6, "people"), number(3, "comment")), OTHERS,
        ["6, 3", "6 people, 3 comments", "6 others, 3 by the author",
         "6 other users and 3 comments",
         "6 other people; 3 comments are the author's", "3 comments by the author and 6 others"],
        ["3, 6", "3 others, 6 by the author", "6 comments, 3 people", "6 posts, 3 comments",
         "6 others", "6 or more others, 3"],
    ),
    (
        one("name", "Stockroom"), MOST_OPEN,
        ["Stockroom", "Stockroom has the most unassigned open issues.",
         "Stockroom has the most open issues that nobody is assigned to."],
        ["Stockroom has the fewest unassigned open issues", "Ferry Times Port Senna",
         "Stockroom or Tilework Eastwick", "not Stockroom", "Stockroom and others"],
    ),
    (
        group("all", number(3, "review"), number(3, "star")), STARS,
        ["3, 3", "3 and 3", "3 reviews and 3 stars", "3 (three) reviews, 3 stars"],
        ["3", "3 reviews", "3, 3, 3 and 2"],
    ),
    (
        group("all", number(3, "piece"), one("currency", "$44.25")), BOUGHT,
        ["3, $44.25", "3 pieces, $44.25", "3 pieces for $44.25", "$44.25 for 3 pieces", "3, 44.25"],
        ["44.25, 3", "3, $44.52", "4, $44.25", "$44.25", "3", "3 pieces, 44 minutes"],
    ),
    (
        one("currency", "$2.90"), WEIGHT,
        ["$2.90", "2.9", "2.90 dollars", "$2.90 per 100 g", "100 g cost $2.90", "290 cents"],
        ["$2.09", "$29.0", "$2.90 per 250 g", "2.90 kg", "2.90 cents"],
    ),
    (
        one("identifier", "025 477 256"), "What is the phone number of the pharmacy?",
        ["025 477 256", "025477256", "025-477-256", "The phone number is 025 477 256.",
         "Stella's Pharmacy in Millbrook: 025 477 256"],
        ["025 477 257", "+49 025 477 256", "025 477", "025 477 2561", "025 477 256, 025 477 257",
         "None has 025 477 256", "Unable to find 025 477 256"],
    ),
    (
        one("identifier", "000002115"), "What is the order number of that order?",
        ["000002115", "2115", "#000002115", "Order 000002115", "The order number is 2115.",
         "No. 2115", "Order no. 000002115", "№ 2115", "Order No: 2115"],
        ["2116", "no 2115", "12115", "21150", "000002115 and 000002116"],
    ),
    (
        one("identifier", "VP493401493"), "What is the tracking number of the Corvane Loaf Tin?",
        ["VP493401493", "vp493401493", "VP 493401493", "The tracking number is VP493401493.",
         "The loaf tin was shipped with Valdera Post; its tracking number is VP493401493"],
        ["VP493401494", "493401493", "VP49340149", "VP493401493 VP493401494",
         "The loaf tin was not shipped as VP493401493"],
    ),
    (
        one("name", "Portmanteau Orchard Tote Bag, grey"), "What is the cheapest product in grey?",
        ["Portmanteau Orchard Tote Bag, grey", "portmanteau orchard tote bag, grey",
         "The cheapest product is Portmanteau Orchard Tote Bag (grey).",
         '"Portmanteau Orchard Tote Bag, grey"', "`Portmanteau Orchard Tote Bag grey`",
         "It is the Portmanteau Orchard Tote Bag in grey."],
        ["Portmanteau Orchard Tote Bag", "Orchard Tote Bag, grey",
         "Portmanteau Orchard Tote Bag in grey and black", "Portmanteau Orchard Tote Bag or grey",
         "Portmanteau Orchard Tote Bag, black", "Portmanteau Orchard Tote Bag, grey, large",
         "either Portmanteau Orchard Tote Bag, grey or another"],
    ),
    (
        one("name", "Saltholm Kiln Mint Infusion, 160 g"), "Which product has the lowest average?",
        ["Saltholm Kiln Mint Infusion (160 g)", "Saltholm Kiln Mint Infusion, 160g"],
        ["Saltholm Kiln Mint Infusion", "Saltholm Kiln Mint Infusion, 16 0g",
         "Saltholm Kiln Mint Infusion, 160 g, 80 g"],
    ),
    (
        one("name", "Hobbs's Rest"), "Which hotel has the cheapest double room?",
        ["Hobbs's Rest", "Hobbs’s Rest", "the hotel Hobbs's Rest", "It is Hobbs's Rest."],
        ["Hobbs", "Hobbs's Inn", "Hobbs's Rest and Hobbs's Inn"],
    ),
    (
        one("name", "ida.larsen@post.test"), "Which customer? Give their e-mail address.",
        ["ida.larsen@post.test", "Ida.Larsen@post.test",
         "The e-mail address is ida.larsen@post.test", "Ida Larsen, ida.larsen@post.test",
         "Ida Larsen (ida.larsen): ida.larsen@post.test"],
        ["larsen@post.test", "idaxlarsen@post.test", "ida.larsen@post.tes", "ida larsen post test",
         "Ida Larsen", "Ida Winslow, ida.larsen@post.test",
         "ida.larsen@post.test, ida.winslow@post.test"],
    ),
    (
        group("all", number(6), one("name", "zora.lovell")),
        "What is the highest rating out of 10 that one of them gives, and who gives it?",
        ["6, u/zora.lovell", "/u/zora.lovell gives 6", "6, @zora.lovell",
         "6, zora.lovell", "zora.lovell, 6", "6 by zora.lovell", "zora.lovell gives 6",
         "6 out of 10, zora.lovell"],
        ["7, zora.lovell", "6", "zora.lovell", "6, zora.lovel", "6, zora.lovell, mira.halden",
         "6, u/mira.halden", "6, u/zora.lovell or u/mira.halden"],
    ),
    (
        group("all", number(8), one("name", "jonas.albrecht")), OF_TEN,
        ["The lowest is 8 out of 10, given by jonas.albrecht.", "8/10, jonas.albrecht",
         "8 out of 10 by jonas.albrecht (Jonas Albrecht) in 3D printing"],
        ["8/11, jonas.albrecht", "10, jonas.albrecht", "8, jonas.albrecht and petra.ueda"],
    ),
    (
        one("name", "Hazelford"), SELLERS,
        ["It must be fetched in Hazelford.", "Hazelford (the cheapest one in Railways of Valdera)"],
        ["Hazelford, Dunmore", "hazelford dunmore", "Railways of Valdera", "Other than Hazelford"],
    ),
    (
        one("name", "Ruth Jovanovic"), "Who is the right person to ask about Harbour Master?",
        ["Ruth Jovanovic - the readme says that she looks after the project.",
         "Ask the owner, Ruth Jovanovic (ruth.jovanovic)", "Ruth Jovanovic (@ruth.jovanovic)"],
        ["Ruth Jovanovic, Vera Pemberton", "Ruth", "not Ruth Jovanovic",
         "Ruth Jovanovic (@vera.pemberton)"],
    ),
    (
        group("set", one("name", "Silas"), one("name", "Otto K")), "Who gave fewer than 3 stars?",
        ["Silas, Otto K", "Otto K and Silas", "Silas; Otto K", "- Otto K\n- Silas",
         "There are two developers: Silas and Otto K"],
        ["Silas", "Silas, Otto", "Silas, Otto K, Mira", "Silas or Otto K", "Silasson, Otto K"],
    ),
    (
        one("name", "closed"), "When does The Wild Spoke close on Friday, if it opens at all?",
        ["closed", "It is closed on Friday.", "On Friday: closed",
         "The Wild Spoke is closed on Friday."],
        ["open", "The Wild Spoke", "not closed", "closed on Saturday", "17:30", "closed, open",
         "open (closed)", "closed (17:00)"],
    ),
    (
        one("identifier", "SB3371-1"), "Which reviewers liked it least? Give the SKU.",
        ["SB3371-1", "The SKU is SB3371-1.", "SKU: sb3371-1", "The reviewer liked SB3371-1."],
        ["SB3371-11", "SB3371-1 or SB3371-2", "SKU", "The critic liked SB3371-1."],
    ),
    (
        one("time", "17:30"), "At what time does The Wild Spoke close on Friday?",
        ["17:30", "5:30 pm", "5:30 p.m.", "It closes at 17:30.", "17:30:00",
         "On Friday it closes at 17:30.", "The Wild Spoke closes at 5:30 pm.", "17.30", "5.30 pm",
         "5.30pm", "at 17.30.", "17:30 o'clock"],
        ["5:30", "17:00", "closed", "17:30 or 18:30", "09:00-17:30", "17 minutes", "17.3", "17.03",
         "5.30", "5.30 am", "$17.30", "17.30 km", "17.305", "17.30 stars"],
    ),
    (
        one("date", "2026-06-04"), "When is it due?",
        ["4 June 2026", "June 4, 2026", "2026-06-04", "4th of June 2026", "Jun 4 2026"],
        ["6 April 2026", "04/06/2026", "4 June 2025", "June 2026", "4 June"],
    ),
    (
        one("boolean", True), "Is it open on Friday?",
        ["yes", "Yes, it is open.", "true", "YES"],
        ["no", "yes and no", "not yes", "maybe", "", "yes, 5"],
    ),
    (
        group("all", number(3, "commit"), one("name", "Explain the firewall rules in a comment")),
        "How many commits did Tilda make in December 2025, and what is the message of the last?",
        ["3, Explain the firewall rules in a comment",
         '3 commits; the last message is "Explain the firewall rules in a comment".',
         'Three commits; that of the last one is "Explain the firewall rules in a comment".'],
        ["3", "2, Explain the firewall rules in a comment", "3, Explain the firewall rules"],
    ),
    (
        group("all", number(1, "comment"), number(8, "point")),
        "How many comments have negative points? How many points has the best?",
        ["One comment has negative points; the best has 8 points.", "One; 8 points",
         "comments: 1\npoints: 8"],
        ["Eight comments; 1 point", "One comment; 8 points; 2", "One of 3; 8 points"],
    ),
    (
        number(1, "order"), "How many October 2025 orders of at least $270.00 are cancelled?",
        ["Only one", "There is only one cancelled order."],
        ["the only one", "the first one", "one or more"],
    ),
    (
        one("currency", "$2.75"),
        "What do 100 g of Olive Oil, 1 kg or Curry Blend, 120 g, whichever is cheaper, cost?",
        ["$2.75 per 100 g", "100 g cost $2.75"],
        ["$2.75 per kg", "$2.75 per 120 g", "2.75 g", "$2.75 per gram"],
    ),
    (
        one("duration", "79 minutes", "minute"), "How many minutes is the quickest drive?",
        ["1:19", "01:19 h"], ["1:19 am", "1:19 pm"],
    ),
    (
        one("name", "Osier Wildflower Mix, 100 g"), "Which product has the lowest average?",
        ["Osier Wildflower Mix, 100 g (3.1)", "It is Osier Wildflower Mix, 100 g, with 3.1 stars",
         "Osier Wildflower Mix, 100 g ($4.20) has the lowest average.",
         "Osier Wildflower Mix, 100 g, with an average of 3.1"],
        ["Osier Wildflower Mix, 100 g has the highest average",
         "Osier Wildflower Mix, 100 g has the best average",
         "Osier Wildflower Mix, 100 g (50 g)", "Osier Wildflower Mix, 100 g, 3.1"],
    ),
    (
        group("set", one("name", "Juno"), one("name", "LucaWi")),
        'Who gave a Burrow & Bone product fewer than 3 stars, mentioning "smell"?',
        ["Two people: Juno, LucaWi", "Juno (2 stars), LucaWi (1 star)", "Juno (2) and LucaWi (1)",
         "Juno and LucaWi gave fewer than 3 stars."],
        ["Three people: Juno, LucaWi", "Juno (2), LucaWi (1), Otto (2)", "Juno (2 stars)"],
    ),
    (
        one("name", "Farid Zamora"), "Who is the right person to ask about Packrat?",
        ["Packrat's maintainer is Farid Zamora.", "Packrat is maintained by Farid Zamora",
         "Farid Zamora looks after Packrat"],
        ["Packrat's maintainer", "Farid Zamora, Malik Rossi"],
    ),
    (
        one("name", "vera.pemberton@post.test"), "Who spent most? Give the e-mail address.",
        ["<vera.pemberton@post.test>", "Vera Pemberton <vera.pemberton@post.test>",
         "mailto:vera.pemberton@post.test"],
        ["<vera.pemberton>", "<vera.pemberton@post.test>, <otto.quill@post.test>"],
    ),
    (
        one("identifier", "046 458 410"), "Give the phone number of the petrol station.",
        ["(046) 458 410", "tel. 046 458 410"],
        ["046 458 410 (046 458 411)", "(046) 458 411", "046 458 410 with 046 458 411"],
    ),
    (
        {"type": "impossible", "reason": [["order"], ["no ", "none", "not ", "without"]]},
        "Cancel my pending order that contains Pawsley Juniper Rabbit Hutch, white.",
        ["N/A - no such order", "n/a: there is no such order", "N/A (no pending order has it)",
         "This cannot be done: there is no pending order with it.",
         "Not possible, because none of my orders is pending.",
         "N/A - I searched my orders and went through every page of results, but none has it."],
        ["N/A", "no such order",
         "N/A - no such order, review, rating, comment, post, hotel, issue or milestone",
         "N/A - no such order or review", "N/A - no such order, none on the list, nothing at all",
         "N/A - no order, this, that, these, those", "N/A - the page broke",
         "N/A - I now know the order", "done", ""],
    ),
]
# fmt: on


RIGHT = [(spec, task, answer) for spec, task, right, _ in TABLE for answer in right]
WRONG = [(spec, task, answer) for spec, task, _, wrong in TABLE for answer in wrong]


def test_the_table_is_as_large_as_it_should_be() -> None:
    assert len(TABLE) >= 20 and len(RIGHT) >= 40 and len(WRONG) >= 40


@pytest.mark.parametrize(("spec", "task", "answer"), RIGHT)
def test_a_right_answer_is_right_however_it_is_worded(
    spec: dict[str, Any], task: str, answer: str
) -> None:
    assert is_answer(spec, answer, task=task)


@pytest.mark.parametrize(("spec", "task", "answer"), WRONG)
def test_a_wrong_answer_is_wrong(spec: dict[str, Any], task: str, answer: str) -> None:
    assert not is_answer(spec, answer, task=task)


@pytest.mark.parametrize("position", range(len(TABLE)))
def test_the_answer_to_another_task_is_wrong(position: int) -> None:
    spec, task, _, _ = TABLE[position]
    for other, (_, _, right, _) in enumerate(TABLE):
        if other != position:
            assert not any(is_answer(spec, answer, task=task) for answer in right), other


def test_the_refusal_says_what_was_expected() -> None:
    (evaluate,) = build_evaluators(
        {"eval_types": ["typed_answer"], "typed_answer": group("all", *TABLE[6][0]["of"])}
    )
    assert evaluate(ending("7, 31")).score == 1.0
    assert evaluate(ending("31, 7")).reasons == ("the answer '31, 7' is not 7 review, 31 star",)
    assert evaluate(ending("7, 31, perhaps")).reasons == (
        "the answer '7, 31, perhaps' is not 7 review, 31 star alone; it says beside it: perhaps",
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (None, "needs a type of number, currency"),
        ({"type": "colour", "value": "red"}, "needs a type of"),
        ({"type": "number"}, "needs 'value'"),
        ({"type": "number", "value": "many"}, "'many' is no number"),
        ({"type": "duration", "value": "3 km"}, "'3 km' is no duration"),
        ({"type": "list", "of": []}, "needs 'of'"),
        ({"type": "set", "of": [{"type": "boolean", "value": True}]}, "a set holds"),
        ({"type": "impossible"}, "needs 'reason'"),
    ],
)
def test_another_form_is_refused_at_once(spec: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_evaluators({"eval_types": ["typed_answer"], "typed_answer": spec})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12 january 2026 at 9:05 am", [("date", 739628), ("time", 545)]),
        ("2 days 3 h", [("duration", 3060)]),
        ("31 february 2026", [("number", 31), ("number", 2026)]),
        ("-5 and 1,000,000.25", [("number", -5), ("number", 1000000.25)]),
        ("v1.2.3", []),
        ("twenty-one of them", [("number", 21)]),
    ],
)
def test_quantities_are_read_with_their_units(text: str, expected: list[tuple[str, float]]) -> None:
    assert [(found.kind, float(found.value)) for found in quantities(text)] == expected


@pytest.mark.parametrize("text", ["5 products ", "rated with 4 stars or more ", "x", "5"])
def test_a_megabyte_is_no_answer_and_takes_no_time(text: str) -> None:
    assert not is_answer(number(5), text * 100_000, task=COUNT)
    assert not is_answer({"type": "impossible", "reason": [["5"]]}, f"N/A {text * 100_000}")

"""Writes posts: their kinds, titles and texts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from agentgym_envs.webarena.sites.reddit.dice import Dice
from agentgym_envs.webarena.sites.reddit.draft import Draft
from agentgym_envs.webarena.sites.reddit.notices import event, news, sale
from agentgym_envs.webarena.sites.reddit.slots import Slots
from agentgym_envs.webarena.sites.reddit.words import Topic


def write_post(topic: Topic, dice: Dice, created: datetime) -> Draft:
    """Write a post of a drawn kind."""
    return dice.heavy(_KINDS, _WEIGHTS)(topic, dice, created)


def _question(topic: Topic, dice: Dice, created: datetime) -> Draft:
    slots = Slots(topic, dice)
    title, opening = dice.pick(_QUESTIONS)
    texts = [slots.fill(title), slots.fill(opening), slots.write(_TRIED), slots.write(_ASKING)]
    return Draft("Question", texts[0], f"{texts[1]} {texts[2]}\n\n{texts[3]}")


_QUESTIONS = (
    ("{Trouble}: what am I doing wrong?", "For {n} weeks now it has been the same: {trouble}."),
    ("What do you do when {trouble}?", "I live in {town} and {trouble}."),
    ("Any advice on {doing}?", "I want to try {doing} this year and have about {price} to spend."),
    (
        "Help, {trouble}",
        "It began {n} days ago. {Trouble}, and nobody in {town} could tell me why.",
    ),
    ("How long did {doing} take you to learn?", "I have been {doing} for {n} months without luck."),
    ("Where in {town} can I find good {thing}?", "We moved to {town} {n} weeks ago."),
    ("Who has experience with {gear}?", "My {person} offers me {gear} for {price}."),
    ("Is {doing} worth the trouble?", "A friend in {town} swears by it, I have my doubts."),
    ("{Gear} or {gear2}?", "I can get either for about {price} and will use it for {doing}."),
    ("First time with {thing}, where do I start?", "My {person} gave me {n} of them last week."),
)
_TRIED = (
    "I have tried {n} things already, from {doing2} to simply waiting.",
    "What I read about {thing} contradicts itself.",
    "I did search, and found {n} opinions in {n} threads.",
    "Before you ask: yes, I know the rule. {tip}",
    "I have spent {price} on it so far.",
    "Last year this was no problem at all.",
)
_ASKING = (
    "What worked for you?",
    "I am grateful for every hint, the simpler the better.",
    "Would you start again from scratch, or wait for another {n} weeks?",
    "Is this normal, or should I worry?",
    "Which one would you take, and why?",
    "Please explain it as if I had never heard of {thing2}.",
)


def _review(topic: Topic, dice: Dice, created: datetime) -> Draft:
    slots = Slots(topic, dice)
    title = slots.write(_REVIEWS)
    rating, months = dice.number(2, 10), dice.number(2, 30)
    verdict = _PRAISE if rating >= 6 else _COMPLAINTS
    body = (
        slots.fill(f"I bought {{gear}} {months} months ago in {{town}} and paid {{price}} for it. ")
        + slots.write(_USED)
        + "\n\n"
        + slots.write(verdict)
        + " "
        + slots.write(_BUTS)
        + f"\n\nMy rating: {rating} out of 10."
    )
    return Draft("Review", title, body, gear=slots["product"])


_REVIEWS = (
    "Review: {product}, bought in {town}",
    "{Gear} after {n} months of {doing}",
    "My honest opinion on {gear}",
    "I tested {gear} so that you do not have to",
    "{Product}: what {n} weeks of use taught me",
    "{Gear} against {gear2}: my verdict",
)
_USED = (
    "Since then I have used it about {n} times a month.",
    "It replaced {gear2}, which my {person} now has.",
    "I wanted something for {doing}.",
    "It has seen {big} hours of use.",
)
_PRAISE = (
    "It does what it promises, and it does it every time.",
    "For {doing} there is nothing better at this price.",
    "Even my {person} likes it, and that says something.",
    "I would buy it again tomorrow.",
)
_COMPLAINTS = (
    "Sadly it let me down after {n} weeks.",
    "It looks better than it is.",
    "The maker took {big} days to answer my letter.",
    "For {doing} it is simply not good enough.",
)
_BUTS = (
    "The instructions are a joke, though.",
    "What I miss is a spare part service.",
    "Mind the colour, it is darker than in the picture.",
    "One thing to remember: {tip}",
    "If you can, borrow one first.",
)


def _story(topic: Topic, dice: Dice, created: datetime) -> Draft:
    slots = Slots(topic, dice)
    title, opening = dice.pick(_STORIES)
    body = f"{opening} {dice.pick(_THEN)}\n\n{dice.pick(_LEARNED)}"
    return Draft("Story", slots.fill(title), slots.fill(body))


_STORIES = (
    ("After {n} tries, {doing} finally worked", "It was a wet {day} in {town}."),
    ("My {person} got me into {thing}", "A year ago I knew nothing, now I own {n} books about it."),
    ("A small success from {town}", "I had almost given up on {doing}."),
    ("The day when I learned about {doing} the hard way", "I thought that {n} minutes would do."),
    ("{n} years of {doing}: a look back", "I began in {town} with a budget of {price}."),
    ("How {gear} saved my {day}", "We were {n} people, it was late, and {trouble}."),
    ("Sharing some joy: {thing} in {town}", "I did not plan to write this."),
    ("I was wrong about {thing}", "For {n} years I told everybody to stay away from them."),
)
_THEN = (
    "Everything that could go wrong did, and then a stranger lent me {gear2}.",
    "In the end it took {n} hours and cost {price}.",
    "My {person} laughed at me, then helped.",
    "{Trouble2}, of course, but by then I did not care.",
    "We shared it with {n} neighbours that same evening.",
)
_LEARNED = (
    "What I take from it: {tip}",
    "Thank you to everyone here who told me this: {tip}",
    "If I can do it, you can. {view}",
    "Pictures will follow as soon as my {person} shows me how. {view}",
)


def _advice(topic: Topic, dice: Dice, created: datetime) -> Draft:
    slots = Slots(topic, dice)
    number = dice.number(3, 5)
    years = dice.number(2, 30)
    title = slots.fill(dice.pick(_LISTS).replace("{k}", str(number)))
    points = "\n\n".join(f"{index}. {slots['tip']}" for index in range(1, number + 1))
    opening = slots.fill(f"I have been {{doing}} for {years} years, mostly in {{town}}.")
    return Draft("Advice", title, f"{opening}\n\n{points}\n\n{slots.write(_CLOSING)}")


_LISTS = (
    "{k} things I wish I had known about {thing}",
    "{k} rules for {doing}",
    "What {n} years with {thing} taught me, in {k} points",
    "{k} mistakes that everybody makes with {thing}",
    "A short guide to {doing} in {k} steps",
)
_CLOSING = ("What would you add?", "Questions are welcome.", "{view}", "None of it costs {price}.")


def _discussion(topic: Topic, dice: Dice, created: datetime) -> Draft:
    slots = Slots(topic, dice)
    title, body = dice.pick(_TALKS)
    return Draft("Discussion", slots.fill(title), slots.fill(body))


_TALKS = (
    ("What is your unpopular opinion on {thing}?", "I begin: {view} What is yours?"),
    (
        "Do we talk too much about {thing}?",
        "I counted {n} threads in a week. {view}\n\nOr is it me?",
    ),
    ("{Thing} or {thing2}: which would you give up?", "You have to choose. {view}"),
    ("What did you buy for {price} and never regret?", "For me it is {gear}, since {n} years ago."),
    ("Your best memory of {doing}?", "Mine is from {town}, on a {day}, {n} years ago."),
    ("Unpopular, but true for {thing}", "{view} I say this after {n} years.\n\nChange my mind."),
    (
        "Weekly thread: {doing}",
        "Tell us how it went. Last week {n} of you wrote, which was lovely.",
    ),
    ("How much do you spend on {thing} in a year?", "I was shocked: {price} a month in my case."),
    ("Does anybody else find that {trouble}?", "Or is it only here in {town}? {view}"),
)


_KINDS: tuple[Callable[[Topic, Dice, datetime], Draft], ...] = (
    _question, _review, _story, _advice, _discussion, event, sale, news,
)  # fmt: skip
_WEIGHTS = (28, 44, 58, 68, 82, 88, 93, 100)  # running sums, in percent

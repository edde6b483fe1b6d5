"""Writes comments: what people answer to a post, and to each other."""

from __future__ import annotations

from agentgym_envs.webarena.sites.reddit.dice import Dice
from agentgym_envs.webarena.sites.reddit.draft import Draft
from agentgym_envs.webarena.sites.reddit.slots import Slots
from agentgym_envs.webarena.sites.reddit.words import Topic


def answer_post(topic: Topic, dice: Dice, draft: Draft) -> str:
    """Write a comment on a post."""
    slots = Slots(topic, dice)
    if draft.gear:
        slots["product"] = draft.gear
    return slots.write(_COMMENTS[draft.flair] if dice.chance(0.8) else _ANYWHERE)


def answer_comment(topic: Topic, dice: Dice) -> str:
    """Write a reply to a comment."""
    return Slots(topic, dice).write(_REPLIES)


_ANYWHERE = (
    "{tip} That is all I know about it.",
    "{view} And I say that after {n} years.",
    "Saving this for later, thank you.",
    "Greetings from {town}, where {trouble} as well.",
    "There was a thread about {thing} {n} weeks ago, worth a search.",
)

_ANSWERS = (
    "{tip} It took me {n} months to learn that.",
    "I can recommend {gear}. I paid {price} for mine in {town} and it has lasted {n} years.",
    "Same here in {town}. In the end I did nothing, and after {n} weeks it was fine.",
    "Get {gear}, you will not regret it.",
    "{tip} {tip}",
    "My {person} swears by {gear}, I get along without.",
    "How old are your {thing}, and how often do you think about {doing}?",
    "{view} Do not worry too much.",
    "I asked the same {n} years ago. The best answer then: {tip}",
    "There is a shop in {town} that lends out {gear} for {price} a week.",
    "Honest answer: {n} tries, then it works. {tip}",
    "Look for a course in {town}, mine cost {price} and was worth it.",
)
_ON_REVIEWS = (
    "I have had mine for {n} years and have nothing bad to say.",
    "Mine broke after {n} weeks. The shop in {town} took it back without a word.",
    "You paid too much, I got one for {price} in {town}.",
    "Does it work for {doing}, too?",
    "Good review. I would add: {tip}",
    "I compared it with {gear} and sent it back.",
    "Did you get the old version or the new one? There are {n} of them by now.",
    "{view} No product changes that.",
)
_ON_STORIES = (
    "Well done! I gave up after {n} weeks.",
    "This made my {day}.",
    "I know exactly where in {town} that was.",
    "Lovely. My {person} tells the same story, with {n} more people in it.",
    "{tip} Then it is even more fun.",
    "More of this, please, and fewer threads about {thing}.",
    "I do not believe a word, but it is well told.",
)
_ON_ADVICE = (
    "The second point is the one that people forget.",
    "I disagree with the first one. {view}",
    "You forgot one: {tip}",
    "I have printed this and hung it up next to {gear}.",
    "Written {n} years too late for me, but thank you.",
    "Could you say more about {doing}?",
)
_ON_TALKS = (
    "{view} There, I said it.",
    "For me it is {thing}, every time.",
    "About {price} a month, if I am honest.",
    "I could not live without {gear}.",
    "{n} years ago I would have agreed. Now: {view}",
    "It depends on where you live. In {town} it is different.",
    "Neither. Try {doing} and think again.",
)
_ON_EVENTS = (
    "Count me in, we are {n} from {town}.",
    "Is there parking near by?",
    "I was there last year and it was wonderful.",
    "I cannot make it on that day, will there be another one?",
    "Shall I bring {gear}?",
    "{n} of us come by train from {town}.",
)
_ON_SALES = (
    "Is it still there? I could come on {day}.",
    "Would you take {price} for it?",
    "Too dear, a new one is {price} in {town}.",
    "I bought one from this seller {n} months ago, very friendly.",
    "Could you send it to {town}? I pay the postage.",
)
_ON_NEWS = (
    "The headline promises more than the article holds.",
    "I was there, it was {n} people at most.",
    "{view} That is what they should write about.",
    "Finally some good news.",
    "The paper had the same story {n} years ago.",
    "Good for {town}, bad for the rest of us.",
)
_COMMENTS = {
    "Question": _ANSWERS,
    "Review": _ON_REVIEWS,
    "Story": _ON_STORIES,
    "Advice": _ON_ADVICE,
    "Discussion": _ON_TALKS,
    "Event": _ON_EVENTS,
    "For sale": _ON_SALES,
    "News": _ON_NEWS,
}
_REPLIES = (
    "Thank you, I will try that on {day}.",
    "I see it differently: {view}",
    "Can confirm. {tip}",
    "How much did you pay for yours?",
    "About {price}, but that was {n} years ago.",
    "That did not work for me, {trouble} all the same.",
    "You are right, and I was too quick.",
    "Which one do you mean, {gear} or {gear2}?",
    "Exactly this. Took me {n} attempts to see it.",
    "Where in {town} did you find it?",
    "Please do not tell people that. {tip}",
    "My {person} says the same, after {n} years of {doing}.",
    "Made me laugh, thanks.",
    "I wrote down {n} reasons against it, but fine.",
    "Half true. {view}",
)

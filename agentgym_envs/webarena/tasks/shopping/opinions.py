"""Reviews that the agent is asked to write: stars, title, text."""

from __future__ import annotations

OPINIONS = (
    (5, "Wonderful", "I use it every single day and it still looks like new."),
    (5, "Worth every cent", "My whole family fights over it, so I will need another one."),
    (5, "At last", "After three bad ones from elsewhere I have found the right one here."),
    (4, "Nearly perfect", "Well made and pretty, only the box was a little torn."),
    (4, "Good work", "It does what it should, and the delivery was quick."),
    (4, "Pleased", "A bit heavier than I thought, but I am glad to have it."),
    (3, "All right", "It is neither better nor worse than the one I had before."),
    (3, "Mixed", "I like the look of it, but it does not feel very sturdy."),
    (3, "So-so", "For half the price I would have been happy with it."),
    (2, "Not again", "It was fine for a week and has been in a drawer since."),
    (2, "Disappointing", "The description promises more than the thing can keep."),
    (2, "Meh", "My neighbour has the same one and is not happy with it either."),
)

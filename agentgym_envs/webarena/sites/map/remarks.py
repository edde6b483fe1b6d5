"""What people write about places: openings, middles and ends of reviews, by group and rating."""

from __future__ import annotations

PRAISE = {
    "food": (
        "The staff remembered us from last year.", "Generous portions and honest prices.",
        "Everything tasted as if made ten minutes ago.", "Worth the detour for the soup alone.",
        "Warm bread, warm welcome.", "The best table is the one by the stove.",
        "We came for one cup and stayed the whole afternoon.", "Good with children, too.",
    ),
    "shop": (
        "They ordered in what was missing by the next day.", "Small, but they have everything.",
        "Someone here always knows the answer.", "Fair prices and short queues.",
        "A pleasure to browse on a wet morning.", "Well sorted and easy to get around.",
    ),
    "service": (
        "Friendly, quick and to the point.", "I was in and out within five minutes.",
        "Clear signs, no fuss.", "They took the time to explain everything.",
        "Clean, and somebody always picks up the phone.", "Works every time I come by.",
    ),
    "culture": (
        "The room upstairs alone is worth the visit.", "Labels that are a joy to read.",
        "Quiet on weekdays, lively at weekends.", "The guide told stories for two hours.",
        "We learned more than we expected to.", "Charming and never dusty.",
    ),
    "stay": (
        "Slept like a stone.", "Breakfast with a view of the roofs.",
        "Quiet rooms at the back, ask for one.", "Check-in took a minute.",
        "Thick curtains and a proper desk.", "We have already booked again.",
    ),
    "outdoors": (
        "Lovely in the early evening.", "Plenty of benches in the shade.",
        "Clean, well kept and free of noise.", "On a clear day one sees all the way to the sea.",
        "The children did not want to leave.", "Perfect for a lunch break.",
    ),
}  # fmt: skip
COMPLAINTS = {
    "food": (
        "Our order was forgotten twice.", "Too loud to talk, too salty to finish.",
        "Half of the menu was off.", "Nice room, slow kitchen.",
    ),
    "shop": (
        "Shelves half empty on a Friday.", "The opening hours on the door are wrong.",
        "Rather dear for what it is.", "Nobody at the till for ten minutes.",
    ),
    "service": (
        "I waited for nearly an hour.", "Hard to find, and no sign at the corner.",
        "They sent me away because of a missing form.", "Out of order again.",
    ),
    "culture": (
        "Two of the rooms were shut without notice.", "The heating was off in November.",
        "Smaller than it looks in the leaflet.", "Hardly anything in it for children.",
    ),
    "stay": (
        "Thin walls and an early delivery van.", "The shower never got warm.",
        "The photos are older than I am.", "Parking costs extra, nobody tells you.",
    ),
    "outdoors": (
        "Muddy for most of the year.", "The gate was locked at five.",
        "Too crowded on Sundays.", "Bins overflowing when we came.",
    ),
}  # fmt: skip
SOSO = (
    "Fine, nothing more.",
    "Does what it should.",
    "Good on some days, less so on others.",
    "I have seen better, and much worse.",
    "Handy if you live around the corner.",
)
ENDINGS = (
    "Will come again.", "Recommended.", "Easy to reach on foot.", "Bring cash.",
    "Bus stop right outside.", "Go early.", "A neighbour told me about it.",
    "Third visit this year.", "Parking is a puzzle.", "Ask for the side entrance.", "", "", "",
)  # fmt: skip
PLAIN_ENDINGS = (
    "That was in the morning.", "Parking is a puzzle.", "Perhaps a bad day.", "Ask beforehand.",
    "A neighbour had warned me.", "I told them so.", "", "", "",
)  # fmt: skip
LIST_NAMES = (
    "Weekend trips", "Favourites", "Want to visit", "Rainy days", "For visitors", "Work lunches",
    "With the children", "Coast tour", "Quiet corners", "Birthday ideas",
)  # fmt: skip
NOTES = (
    "", "", "", "Ask for the corner table", "Better in spring", "Recommended by Petra",
    "Book two days ahead", "Take the side entrance", "Nora's favourite", "Check the opening hours",
    "Combine with a walk", "Closed last time", "Good light for photos",
)  # fmt: skip

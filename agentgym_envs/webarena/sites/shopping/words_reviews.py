"""What reviewers say: praise and complaint by aspect, and how they begin and end."""

from __future__ import annotations

ASPECTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lid": (
        ("The lid sits snugly and never rattles.", "I love that the lid stays shut in a bag."),
        ("The lid wobbles and lets everything out.", "After a month the lid would not close."),
    ),
    "handle": (
        ("The handle feels solid and stays where it is.", "A handle that fits my hand at last."),
        ("The handle came loose in the second week.", "The handle is far too short for me."),
    ),
    "weight": (
        ("It has a reassuring weight without being clumsy.", "I like the weight of it very much."),
        ("The weight is too much for my wrist.", "For its weight it feels oddly flimsy."),
    ),
    "cleaning": (
        ("Cleaning takes a minute under the tap.", "Even burnt bits come off, cleaning is easy."),
        (
            "Cleaning it is a chore, there are corners no brush reaches.",
            "Mind the cleaning: stains.",
        ),
    ),
    "durability": (
        (
            "Three years of heavy use and no wear, so full marks for durability.",
            "It survived two moves, the durability is remarkable.",
        ),
        ("Durability is poor, it cracked within weeks.", "I had hoped for more durability."),
    ),
    "blade": (
        (
            "The blade goes through ripe tomatoes like nothing.",
            "The blade keeps its edge for months.",
        ),
        ("The blade arrived blunt.", "The blade chipped on a pumpkin, which should not happen."),
    ),
    "rust": (
        ("No trace of rust after a wet winter.", "I left it outside by mistake and found no rust."),
        ("Spots of rust showed up after a few days.", "It began to rust at the first rain."),
    ),
    "size": (
        ("The size is just right for a small household.", "True to size and exactly as described."),
        (
            "The size given is wrong by a good bit.",
            "Check the size first, mine was much too small.",
        ),
    ),
    "smell": (
        (
            "There was no smell at all when I unpacked it.",
            "It has a faint, pleasant smell of wood.",
        ),
        (
            "The smell of glue filled the room for a week.",
            "A chemical smell that will not go away.",
        ),
    ),
    "finish": (
        ("The finish is flawless, even on the underside.", "A lovely finish, warm and even."),
        ("The finish was scratched on arrival.", "Rough edges all over, the finish is careless."),
    ),
    "packaging": (
        ("The packaging was all cardboard and very careful.", "Nice packaging, ready to be given."),
        ("Careless packaging, one corner was dented.", "So much plastic packaging for one thing."),
    ),
    "colour": (
        ("The colour is even prettier than on the screen.", "The colour has not faded one bit."),
        ("The colour is nothing like the description.", "The colour ran and faded in no time."),
    ),
    "noise": (
        (
            "It makes hardly any noise, the baby sleeps on.",
            "Compared with my old one the noise is nil.",
        ),
        ("The noise is unbearable in the morning.", "A rattling noise started after ten days."),
    ),
    "instructions": (
        ("The instructions are short and clear.", "Good instructions with proper drawings."),
        ("The instructions are a riddle.", "No instructions were enclosed, I had to guess."),
    ),
    "cable": (
        ("The cable is long enough for any table.", "The cable tucks away neatly."),
        ("The cable is far too short.", "The cable frayed near the plug."),
    ),
    "taste": (
        ("A round, full taste that my guests asked about.", "The taste brought my childhood back."),
        ("The taste is flat and a bit stale.", "Far too bitter for my taste."),
    ),
    "aroma": (
        ("The aroma fills the whole kitchen.", "Such an aroma when the bag is opened."),
        ("There is no aroma to speak of.", "The aroma was gone after three days."),
    ),
    "freshness": (
        ("Packed last week, the freshness is amazing.", "You notice the freshness at once."),
        ("Freshness was a problem, it expires next month.", "I doubt its freshness, to be honest."),
    ),
    "softness": (
        ("The softness is a joy, nobody wants to get up.", "It gained softness with every wash."),
        ("It scratches, so much for softness.", "The softness was gone after one wash."),
    ),
    "washing": (
        ("After washing it looks as new.", "It came out of the washing machine without a crease."),
        ("It shrank badly in washing.", "Washing left it covered in lint."),
    ),
    "stitching": (
        ("The stitching is tight and straight.", "I checked every seam, the stitching is perfect."),
        ("The stitching came undone at a corner.", "Loose threads and crooked stitching."),
    ),
    "warmth": (
        ("So much warmth for something this light.", "Its warmth got us through a cold spring."),
        ("Pretty, but it gives no warmth.", "I miss some warmth, it is rather thin."),
    ),
    "zip": (
        ("The zip glides like on the first day.", "A sturdy zip that never catches."),
        ("The zip got stuck and then broke.", "The zip catches the fabric every time."),
    ),
    "comfort": (
        (
            "I sat on it for a whole film in perfect comfort.",
            "Comfort is first rate, even for hours.",
        ),
        ("Comfort is lacking, my back hurt.", "It looks good but there is no comfort in it."),
    ),
    "assembly": (
        ("Assembly took ten minutes with one key.", "Even I managed the assembly alone."),
        ("Two holes were missing, assembly was a nightmare.", "Assembly took us all afternoon."),
    ),
    "stability": (
        (
            "Stability is superb, nothing wobbles.",
            "The children climb on it, such is its stability.",
        ),
        ("It lacks stability and leans to the left.", "Stability is an issue on wooden floors."),
    ),
    "brightness": (
        (
            "The brightness is perfect for reading.",
            "I like that the brightness can be turned down.",
        ),
        ("The brightness is too low to read by.", "It flickers at full brightness."),
    ),
    "grip": (
        ("The grip is safe even with wet gloves.", "A comfortable grip, no blisters."),
        ("The grip is slippery when wet.", "The rubber grip peeled off in my hand."),
    ),
    "germination": (
        (
            "Germination took five days and hardly one failed.",
            "Excellent germination, even in May.",
        ),
        ("Germination was poor, maybe one in ten.", "I waited five weeks, no germination."),
    ),
    "paper": (
        ("The paper is thick and creamy.", "A pleasure to touch, this paper."),
        ("The paper is thin as a napkin.", "The paper buckles as soon as it gets wet."),
    ),
    "bleed": (
        ("No bleed at all, even with broad nibs.", "I tried six inks and saw no bleed."),
        ("The ink will bleed through to the next sheet.", "Lines bleed and feather everywhere."),
    ),
    "rules": (
        ("The rules are read in five minutes.", "Our seven-year-old explained the rules to us."),
        ("The rules contradict themselves.", "Half of the rules seem to be missing."),
    ),
    "pieces": (
        ("The pieces are cut cleanly and fit well.", "Beautiful pieces, pleasant in the hand."),
        ("Two pieces were missing.", "The pieces hardly hold together."),
    ),
    "straps": (
        ("The straps are wide and do not cut in.", "Good straps, easy to adjust on the way."),
        (
            "The straps slip and must be pulled all day.",
            "One of the straps tore on the first trip.",
        ),
    ),
    "pockets": (
        ("There are pockets for everything.", "The hidden pockets are very clever."),
        ("The pockets are too tight for a phone.", "I miss pockets on the inside."),
    ),
}
"""Aspect: (praise, complaint). Each sentence holds its aspect's word."""

TITLES: dict[int, tuple[str, ...]] = {
    5: ("Would buy again", "Exactly what I wanted", "Simply excellent", "A small joy every day",
        "Five stars, easily", "Better than expected", "My favourite purchase this year"),
    4: ("Very good", "Nearly perfect", "Good with one small flaw", "Happy with it",
        "Solid and well made", "A good choice"),
    3: ("It does the job", "Mixed feelings", "All right", "Neither good nor bad",
        "Fine for the price", "I had expected more"),
    2: ("Rather disappointing", "Not for me", "Could be much better", "Looks better than it is",
        "I regret it a little"),
    1: ("Do not bother", "Sent it back", "A waste of money", "Broken after a week",
        "Very disappointed", "Never again"),
}  # fmt: skip

OPENINGS: dict[bool, tuple[str, ...]] = {
    True: (
        "Bought as a present for my sister, and then one for myself.",
        "We have used it nearly every day since {month}.",
        "I hesitated for weeks and should not have.",
        "This replaces one that I had for ten years.",
        "It arrived in {town} two days after I ordered.",
        "My neighbour in {town} recommended it, and rightly so.",
        "Ordered in {month}, still delighted.",
        "",
        "",
    ),
    False: (
        "I wanted to like it.",
        "Bought in {month}, and it has been in the cupboard since.",
        "Perhaps I had bad luck with mine.",
        "After all the praise I had expected something else.",
        "Delivery to {town} took far too long, too.",
        "It was a present, and I was a little ashamed of it.",
        "",
        "",
    ),
}
"""By whether the reviewer is content."""

BRIDGES = ("On the other hand:", "Still:", "But:", "One thing, though:", "That said:")

CLOSINGS: dict[int, tuple[str, ...]] = {
    5: ("I have already ordered a second one.", "Warmly recommended.", "Thank you!", "", ""),
    4: ("All in all I am glad to have it.", "I would take it again.", "", ""),
    3: ("You get what you pay for.", "Let us see how it holds up.", "", ""),
    2: ("I would not buy it again.", "There are better ones.", "", ""),
    1: ("It goes back tomorrow.", "Save your money.", "I want a refund.", ""),
}

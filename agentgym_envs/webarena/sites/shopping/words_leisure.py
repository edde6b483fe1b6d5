"""What the shop sells for hobbies and desk: kinds of products, and what is said of them."""

from __future__ import annotations

from agentgym_envs.webarena.sites.shopping.ranges import Kind, Leaf, Range

BRIGHTS = ("red", "teal", "mustard", "navy", "grey", "forest green", "lilac")
COVERS = ("navy", "olive", "burgundy", "grey", "black", "mustard")

HOBBIES = Range(
    "Hobbies",
    ("Skein & Stitch", "Pigment House", "Tabletop Guild", "Merrily", "Woolgather"),
    (
        Leaf(
            "Knitting & Crochet",
            ("merino wool", "alpaca", "cotton", "bamboo"),
            BRIGHTS,
            (
                "The yarn is spun loosely and forgives uneven hands",
                "A pattern for a first pair of socks lies in the parcel",
                "The points are sharp enough for lace",
            ),
            ("softness", "colour", "washing", "instructions"),
            (
                Kind("Sock Yarn", 690, 1690, 100, "100 g/200 g"),
                Kind("Chunky Yarn", 790, 1990, 200, "200 g/400 g"),
                Kind("Circular Needles", 790, 1690, 40, "3 mm/4 mm/5 mm", ("bamboo", "birch")),
                Kind("Crochet Hook Set", 1200, 2900, 120, "", ("bamboo", "aluminium")),
                Kind("Scarf Kit", 2400, 4900, 450, ""),
            ),
        ),
        Leaf(
            "Painting & Drawing",
            ("mineral pigment", "graphite", "cotton paper", "beech"),
            BRIGHTS,
            (
                "The shades mix cleanly and stay bright for decades",
                "The tin has a mixing tray in its lid",
                "Art teachers helped to choose the range",
            ),
            ("colour", "paper", "packaging", "smell"),
            (
                Kind("Watercolour Box", 1900, 5900, 420, "12 pans/24 pans", ("mineral pigment",)),
                Kind("Sketch Pad", 900, 2400, 500, "A5/A4/A3", ("cotton paper",)),
                Kind(
                    "Pencil Set", 900, 2900, 200, "12 pencils/24 pencils", ("graphite and cedar",)
                ),
                Kind("Table Easel", 2900, 6900, 1900, "", ("beech",)),
                Kind("Brush Roll", 1500, 3900, 260, "", ("canvas", "linen")),
            ),
        ),
        Leaf(
            "Games & Puzzles",
            ("card", "beech", "recycled board"),
            BRIGHTS,
            (
                "The rules fit on one page and the first game is over in an hour",
                "All pieces sort into a tray that stays closed upside down",
                "It plays well with children and just as well without",
            ),
            ("rules", "pieces", "packaging", "size"),
            (
                Kind("Board Game", 2400, 5900, 1300, ""),
                Kind("Card Game", 900, 2200, 260, "", ("card",)),
                Kind("Jigsaw", 1400, 3400, 800, "500 pieces/1000 pieces/2000 pieces"),
                Kind("Chess Set", 2900, 8900, 1900, "", ("beech", "boxwood")),
                Kind("Dice Tower", 1500, 3900, 600, "", ("beech", "recycled board")),
            ),
        ),
    ),
)

PAPER = Range(
    "Books & Paper",
    ("Inkwell Row", "Folio & Fold", "Marginalia", "Blotter Bros", "Papermoon"),
    (
        Leaf(
            "Notebooks",
            ("recycled paper", "cotton paper", "stone paper"),
            COVERS,
            (
                "It lies flat on every page thanks to its sewn back",
                "A pocket at the end holds receipts and pressed leaves",
                "The pages are numbered and the first four are an index",
            ),
            ("paper", "bleed", "stitching", "size"),
            (
                Kind("Lined Notebook", 900, 2400, 320, "A6/A5/A4"),
                Kind("Dotted Journal", 1200, 2900, 360, "A5/B5"),
                Kind("Pocket Diary", 1000, 2200, 180, ""),
                Kind("Recipe Book", 1500, 3400, 620, ""),
                Kind("Photo Album", 1900, 4900, 1200, "40 pages/80 pages"),
            ),
        ),
        Leaf(
            "Pens & Ink",
            ("brass", "resin", "aluminium", "cedar"),
            COVERS,
            (
                "It writes at the first touch, even after weeks in a drawer",
                "The nib can be swapped without tools",
                "One filling lasts for about forty pages",
            ),
            ("bleed", "weight", "finish", "packaging"),
            (
                Kind("Fountain Pen", 2400, 8900, 60, "fine/medium/broad"),
                Kind("Rollerball", 1200, 3900, 50, ""),
                Kind("Ink Bottle", 900, 2200, 190, "30 ml/50 ml", ("glass",)),
                Kind("Mechanical Pencil", 1100, 3400, 40, "0.5 mm/0.7 mm"),
                Kind("Pen Case", 1500, 3900, 150, "", ("leather", "waxed canvas")),
            ),
        ),
        Leaf(
            "Cards & Wrapping",
            ("recycled paper", "handmade paper", "kraft paper"),
            COVERS,
            (
                "The motifs were cut in lino and printed one by one",
                "Envelopes of the same stock are included",
                "It folds crisply and does not tear at the corners",
            ),
            ("paper", "colour", "packaging", "size"),
            (
                Kind("Greeting Card Set", 800, 1900, 150, "6 cards/12 cards"),
                Kind("Wrapping Paper", 600, 1500, 300, "2 m/5 m"),
                Kind("Letter Set", 1200, 2600, 280, ""),
                Kind("Gift Box", 700, 1900, 220, "small/large", ("recycled board", "kraft board")),
            ),
        ),
    ),
)

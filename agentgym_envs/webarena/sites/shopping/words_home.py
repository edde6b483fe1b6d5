"""What the shop sells for rooms and garden: kinds of products, and what is said of them."""

from __future__ import annotations

from agentgym_envs.webarena.sites.shopping.ranges import Kind, Leaf, Range

FABRICS = ("sage", "sand", "ink blue", "rust", "ivory", "charcoal", "dusk pink", "ochre")
WOODS = ("oak", "walnut", "ash", "white", "black")
CLAYS = ("terracotta", "slate", "white", "moss", "sand")
LAMPS = ("brass", "black", "white", "sage", "rust")

TEXTILES = Range(
    "Textiles",
    ("Loomstead", "Weftly", "Downham", "Ashby Mill", "Selvedge & Co", "Nordlind"),
    (
        Leaf(
            "Bed Linen",
            ("linen", "cotton percale", "cotton sateen", "flannel"),
            FABRICS,
            (
                "The fabric is washed before sewing and will not shrink again",
                "Coconut buttons close the long side",
                "It needs no ironing if you hang it up damp",
            ),
            ("softness", "washing", "colour", "size", "stitching"),
            (
                Kind("Duvet Cover", 4900, 12900, 1100, "140 x 200 cm/200 x 200 cm/240 x 220 cm"),
                Kind("Pillowcase", 1400, 3400, 180, "40 x 80 cm/80 x 80 cm"),
                Kind("Fitted Sheet", 2900, 6900, 700, "90 x 200 cm/160 x 200 cm"),
                Kind("Bed Spread", 6900, 14900, 1900, ""),
            ),
        ),
        Leaf(
            "Blankets & Throws",
            ("lambswool", "merino wool", "recycled wool", "cotton"),
            FABRICS,
            (
                "The edges are finished with a hand-sewn blanket stitch",
                "It was woven on looms that are older than the mill's owner",
                "One side is brushed, the other shows the weave",
            ),
            ("warmth", "softness", "washing", "size", "smell"),
            (
                Kind("Throw", 3900, 9900, 900, "130 x 170 cm/140 x 200 cm"),
                Kind("Picnic Blanket", 3400, 6900, 1400, ""),
                Kind("Baby Blanket", 2400, 5900, 400, ""),
                Kind("Waffle Blanket", 4400, 8900, 1300, "150 x 200 cm/220 x 240 cm"),
            ),
        ),
        Leaf(
            "Towels",
            ("cotton terry", "linen", "cotton and bamboo"),
            FABRICS,
            (
                "The loops are long and drink a lot of water",
                "A flat border lies well over the rail",
                "It dries within an hour on a summer line",
            ),
            ("softness", "washing", "colour", "stitching"),
            (
                Kind("Bath Towel", 1900, 4400, 620, "70 x 140 cm/100 x 150 cm"),
                Kind("Hand Towel", 900, 2200, 250, ""),
                Kind("Tea Towel", 600, 1700, 110, ""),
                Kind("Bath Mat", 1800, 4200, 900, "50 x 80 cm/60 x 100 cm"),
            ),
        ),
        Leaf(
            "Cushions",
            ("linen", "velvet", "wool", "canvas"),
            FABRICS,
            (
                "The zip hides in the seam and the cover goes into the wash",
                "The filling is shredded latex that keeps its shape",
                "Piping in the same shade runs around the edge",
            ),
            ("zip", "comfort", "colour", "stitching"),
            (
                Kind("Cushion", 1900, 4900, 600, "40 x 40 cm/50 x 50 cm"),
                Kind("Floor Cushion", 4900, 9900, 2600, ""),
                Kind("Seat Pad", 1500, 3400, 450, ""),
                Kind("Bolster", 2400, 5400, 900, ""),
            ),
        ),
        Leaf(
            "Curtains & Rugs",
            ("linen", "wool", "jute", "cotton"),
            FABRICS,
            (
                "The hem is deep enough to let it out once more",
                "It can be turned over and looks the same from below",
                "A natural dye makes every batch a little different",
            ),
            ("colour", "size", "smell", "washing"),
            (
                Kind("Curtain Panel", 3400, 7900, 1100, "140 x 240 cm/140 x 280 cm"),
                Kind("Woven Rug", 5900, 17900, 3800, "80 x 150 cm/120 x 180 cm/170 x 240 cm"),
                Kind("Runner", 3900, 8900, 2100, "60 x 180 cm/70 x 250 cm"),
                Kind("Door Mat", 1900, 4400, 1900, "", ("jute", "coir")),
            ),
        ),
    ),
)

FURNITURE = Range(
    "Furniture",
    ("Joinery Nine", "Halvard Works", "Plank & Peg", "Mortlake", "Ostrander"),
    (
        Leaf(
            "Chairs & Stools",
            ("solid oak", "bent beech", "steel and ash", "rattan"),
            WOODS,
            (
                "The seat is shaped so that it needs no cushion",
                "Felt glides are already under every foot",
                "Every joint is glued and pegged, none is only screwed",
            ),
            ("assembly", "comfort", "stability", "finish"),
            (
                Kind("Dining Chair", 7900, 21900, 5200, ""),
                Kind("Bar Stool", 6900, 17900, 4600, "65 cm/75 cm"),
                Kind("Rocking Chair", 15900, 34900, 9800, ""),
                Kind("Step Stool", 3900, 8900, 2900, ""),
                Kind("Bench", 9900, 25900, 8700, "100 cm/140 cm"),
            ),
        ),
        Leaf(
            "Tables & Desks",
            ("solid oak", "birch plywood", "reclaimed pine", "steel and oak"),
            WOODS,
            (
                "The top is oiled and can be sanded down for a second life",
                "Cables vanish in a channel along the back",
                "The legs come off with one key for moving house",
            ),
            ("assembly", "stability", "finish", "packaging"),
            (
                Kind("Writing Desk", 17900, 42900, 21000, "100 cm/120 cm/140 cm"),
                Kind("Side Table", 5900, 15900, 5400, ""),
                Kind("Coffee Table", 9900, 26900, 11800, "80 cm/110 cm"),
                Kind("Folding Table", 6900, 14900, 8200, ""),
            ),
        ),
        Leaf(
            "Shelving",
            ("solid ash", "powder-coated steel", "bamboo", "birch plywood"),
            WOODS,
            (
                "Each board carries twenty-five kilograms",
                "It comes with fixings for plaster and for brick",
                "The boards can be set at any height",
            ),
            ("assembly", "stability", "instructions", "finish"),
            (
                Kind("Bookcase", 11900, 28900, 18500, "3 boards/5 boards"),
                Kind("Wall Shelf", 2900, 7900, 2200, "60 cm/90 cm"),
                Kind("Shoe Rack", 3900, 8900, 4300, ""),
                Kind("Coat Rack", 3400, 9900, 3100, ""),
                Kind("Plant Stand", 2900, 6900, 2400, ""),
            ),
        ),
        Leaf(
            "Lighting",
            ("spun metal", "opal glass", "paper", "ceramic"),
            LAMPS,
            (
                "The light is warm and can be dimmed in four steps",
                "A long fabric cable gives you freedom to place it",
                "The shade turns in every direction and stays there",
            ),
            ("brightness", "cable", "instructions", "stability"),
            (
                Kind("Desk Lamp", 3900, 10900, 1700, ""),
                Kind("Floor Lamp", 7900, 18900, 5600, ""),
                Kind("Pendant Lamp", 4900, 14900, 1900, "25 cm/40 cm"),
                Kind("Night Light", 1500, 3900, 300, ""),
                Kind("Lantern", 1900, 5400, 1100, "20 cm/30 cm"),
            ),
        ),
    ),
)

GARDEN = Range(
    "Garden",
    ("Thistle & Spade", "Rookery", "Greenhollow", "Barrowby", "Fernley"),
    (
        Leaf(
            "Garden Tools",
            ("forged steel", "stainless steel", "ash and steel"),
            ("green", "black", "natural"),
            (
                "The head is forged in one piece with the socket",
                "The handle is turned from ash that grew nearby",
                "A lanyard keeps it from vanishing in the compost",
            ),
            ("grip", "rust", "durability", "weight"),
            (
                Kind("Hand Trowel", 1200, 2900, 320, ""),
                Kind("Secateurs", 2200, 5900, 260, ""),
                Kind("Digging Spade", 3900, 7900, 2300, "short/long"),
                Kind("Hoe", 2400, 4900, 1200, ""),
                Kind("Watering Can", 2400, 5400, 1100, "5 L/9 L", ("zinc", "powder-coated steel")),
                Kind("Pruning Saw", 2100, 4700, 380, ""),
            ),
        ),
        Leaf(
            "Planters",
            ("fired clay", "zinc", "recycled plastic", "fibre cement"),
            CLAYS,
            (
                "A hole in the base and a matching saucer keep roots dry",
                "It has stood through three winters on our own roof",
                "The rim is thick enough to carry it by",
            ),
            ("size", "durability", "colour", "packaging", "weight"),
            (
                Kind("Flower Pot", 900, 3400, 1600, "14 cm/20 cm/28 cm"),
                Kind("Window Box", 1900, 4900, 2300, "60 cm/80 cm"),
                Kind("Hanging Basket", 1500, 3400, 700, "", ("zinc", "recycled plastic")),
                Kind("Raised Bed", 5900, 13900, 9500, "80 cm/120 cm", ("zinc", "larch")),
                Kind("Seed Tray", 700, 1900, 450, "", ("zinc", "recycled plastic")),
            ),
        ),
        Leaf(
            "Seeds & Bulbs",
            ("organic seed", "open-pollinated seed", "bulbs"),
            (),
            (
                "The packet tells when to sow, where, and how far apart",
                "Bees come for it from the whole street",
                "The seed was tested for this very season",
            ),
            ("germination", "packaging", "instructions", "freshness"),
            (
                Kind(
                    "Wildflower Mix",
                    390,
                    890,
                    0,
                    "20 g/100 g",
                    ("organic seed", "open-pollinated seed"),
                ),
                Kind(
                    "Salad Leaves",
                    250,
                    490,
                    0,
                    "10 g/25 g",
                    ("organic seed", "open-pollinated seed"),
                ),
                Kind("Tulip Bulbs", 690, 1490, 0, "400 g/1 kg", ("bulbs",)),
                Kind(
                    "Clover Lawn",
                    790,
                    1590,
                    0,
                    "250 g/1 kg",
                    ("organic seed", "open-pollinated seed"),
                ),
            ),
        ),
        Leaf(
            "Outdoor Living",
            ("powder-coated steel", "teak", "canvas", "acacia wood"),
            ("green", "sand", "black", "rust", "white"),
            (
                "It folds flat and hides behind a cupboard all winter",
                "Rain runs off and the sun does not bleach it",
                "Two people set it up in ten minutes",
            ),
            ("assembly", "comfort", "rust", "stability"),
            (
                Kind(
                    "Deck Chair",
                    4900,
                    11900,
                    4100,
                    "",
                    ("teak and canvas", "acacia wood and canvas"),
                ),
                Kind(
                    "Fire Bowl",
                    6900,
                    15900,
                    9200,
                    "50 cm/70 cm",
                    ("powder-coated steel", "cast iron"),
                ),
                Kind(
                    "Parasol", 5900, 14900, 5800, "2 m/3 m", ("ash and canvas", "steel and canvas")
                ),
                Kind("Hammock", 4400, 9900, 1900, "", ("cotton canvas", "canvas")),
                Kind("Bird Bath", 2900, 6900, 4700, "", ("teak", "glazed stoneware")),
            ),
        ),
    ),
)

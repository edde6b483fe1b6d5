"""What the shop sells for workshop, pets and travel: products, and what is said of them."""

from __future__ import annotations

from agentgym_envs.webarena.sites.shopping.ranges import Kind, Leaf, Range
from agentgym_envs.webarena.sites.shopping.words_leisure import BRIGHTS, COVERS

SHOP_COLOURS = ("orange", "black", "blue", "grey")

TOOLS = Range(
    "Tools",
    ("Anvil Street", "Garrick", "Truegrain", "Benchmade Bros"),
    (
        Leaf(
            "Hand Tools",
            ("chrome steel", "forged steel", "hornbeam"),
            SHOP_COLOURS,
            (
                "It carries a guarantee for twenty years",
                "The grip is shaped for small hands as well as large ones",
                "Every piece is checked by a person before it is packed",
            ),
            ("grip", "rust", "durability", "weight"),
            (
                Kind("Claw Hammer", 1700, 3900, 650, "300 g/500 g"),
                Kind("Screwdriver Set", 1900, 5400, 700, "6 pieces/10 pieces"),
                Kind("Hand Saw", 1900, 4400, 520, "35 cm/50 cm", ("spring steel and hornbeam",)),
                Kind("Pliers", 1400, 3600, 310, ""),
                Kind("Chisel Set", 2900, 7900, 900, "3 pieces/6 pieces"),
                Kind("Block Plane", 3900, 9900, 800, ""),
            ),
        ),
        Leaf(
            "Power Tools",
            ("reinforced plastic", "aluminium"),
            SHOP_COLOURS,
            (
                "Two batteries come along, so one can always charge",
                "A soft start keeps it from jumping",
                "The dust goes where it belongs, into the bag",
            ),
            ("noise", "instructions", "weight", "grip", "cable"),
            (
                Kind("Cordless Drill", 6900, 16900, 1600, "12 V/18 V"),
                Kind("Jigsaw Tool", 5900, 13900, 2100, ""),
                Kind("Orbital Sander", 4900, 10900, 1400, ""),
                Kind("Glue Gun", 1900, 4400, 400, ""),
            ),
        ),
        Leaf(
            "Workshop Storage",
            ("sheet steel", "birch plywood", "canvas"),
            SHOP_COLOURS,
            (
                "Dividers can be moved without any tool",
                "It carries more than you will want to lift",
                "The label holders take ordinary paper",
            ),
            ("size", "assembly", "durability", "handle"),
            (
                Kind("Tool Box", 2900, 7900, 3100, "40 cm/50 cm"),
                Kind("Tool Roll", 1900, 4400, 500, "", ("canvas",)),
                Kind("Parts Cabinet", 3400, 8400, 4200, "16 drawers/32 drawers", ("sheet steel",)),
                Kind("Pegboard", 2200, 5400, 2600, "", ("birch plywood", "sheet steel")),
            ),
        ),
    ),
)

PETS = Range(
    "Pets",
    ("Pawsley", "Whisker Lane", "Burrow & Bone", "Feathergate"),
    (
        Leaf(
            "Dogs",
            ("canvas", "leather", "natural rubber", "nylon webbing"),
            BRIGHTS,
            (
                "Our own terrier has failed to destroy it so far",
                "The cover comes off and goes into the machine",
                "Reflecting thread makes late walks safer",
            ),
            ("durability", "size", "cleaning", "smell", "stitching"),
            (
                Kind("Dog Bed", 3900, 9900, 2200, "S/M/L", ("canvas", "wool felt")),
                Kind("Dog Lead", 1200, 3400, 200, "1.2 m/2 m", ("leather", "nylon webbing")),
                Kind("Dog Harness", 1900, 4900, 280, "S/M/L", ("leather", "nylon webbing")),
                Kind("Chew Toy", 700, 1900, 180, "", ("natural rubber",)),
                Kind("Travel Bowl", 800, 2200, 150, "", ("canvas", "silicone")),
            ),
        ),
        Leaf(
            "Cats",
            ("sisal", "felt", "plush", "ceramic"),
            BRIGHTS,
            (
                "Cats ignore the box it comes in, which is rare praise",
                "The base is heavy enough for a running jump",
                "Worn parts can be bought one by one",
            ),
            ("stability", "size", "assembly", "smell"),
            (
                Kind("Scratching Post", 2400, 6900, 3900, "60 cm/90 cm", ("sisal",)),
                Kind("Cat Cave", 2900, 5900, 900, "", ("felt", "plush")),
                Kind("Drinking Fountain", 2900, 6400, 1300, "", ("ceramic",)),
                Kind("Cat Carrier", 3400, 7400, 1900, "", ("canvas", "recycled plastic")),
                Kind("Feather Wand", 500, 1500, 80, "", ("beech and feathers",)),
            ),
        ),
        Leaf(
            "Birds & Small Pets",
            ("pine", "willow", "galvanised steel"),
            ("natural", "green", "rust", "white"),
            (
                "The roof lifts off for cleaning",
                "It is made without glue or varnish",
                "Squirrels need a while to work it out",
            ),
            ("cleaning", "assembly", "durability", "size"),
            (
                Kind("Bird Feeder", 1200, 3900, 700, ""),
                Kind("Nest Box", 1500, 3900, 1300, "28 mm/32 mm"),
                Kind("Rabbit Hutch", 7900, 17900, 14500, "", ("pine",)),
                Kind("Willow Tunnel", 1200, 2600, 400, "", ("willow",)),
            ),
        ),
    ),
)

TRAVEL = Range(
    "Travel",
    ("Farther", "Wayworn", "Kestrel & Crane", "Portmanteau"),
    (
        Leaf(
            "Bags & Rucksacks",
            ("waxed canvas", "recycled nylon", "leather"),
            COVERS,
            (
                "A laptop of fifteen inches has its own padded sleeve",
                "The bottom is doubled and stands in puddles without harm",
                "A strap at the back slides over a trolley's handle",
            ),
            ("zip", "straps", "pockets", "stitching"),
            (
                Kind("Rucksack", 4900, 13900, 1100, "18 L/26 L"),
                Kind("Messenger Bag", 4400, 11900, 900, ""),
                Kind("Tote Bag", 1500, 4900, 350, ""),
                Kind("Weekend Bag", 5900, 15900, 1500, "30 L/45 L"),
                Kind("Hip Bag", 1900, 4400, 220, ""),
            ),
        ),
        Leaf(
            "Luggage",
            ("polycarbonate", "aluminium", "recycled polyester"),
            COVERS,
            (
                "Four wheels turn without a sound on any floor",
                "The lock is set in a minute and opened at customs without force",
                "A net keeps shirts and shoes apart",
            ),
            ("noise", "zip", "handle", "weight", "durability"),
            (
                Kind("Cabin Case", 7900, 18900, 2700, "35 L/40 L"),
                Kind("Travel Case", 10900, 24900, 4300, "70 L/95 L"),
                Kind("Garment Bag", 3900, 8900, 1200, "", ("recycled polyester",)),
            ),
        ),
        Leaf(
            "Travel Accessories",
            ("recycled nylon", "merino wool", "leather", "steel"),
            COVERS,
            (
                "It packs into its own pocket, no larger than an apple",
                "It fits into every seat pocket we have tried",
                "A tag with room for your address hangs inside",
            ),
            ("size", "zip", "comfort", "lid"),
            (
                Kind("Packing Cube", 900, 2400, 90, "S/M/L", ("recycled nylon",)),
                Kind("Neck Pillow", 1900, 4400, 380, "", ("merino wool", "cotton")),
                Kind("Wash Bag", 1500, 3900, 220, "", ("recycled nylon", "waxed canvas")),
                Kind("Water Bottle", 1400, 3600, 310, "0.5 L/0.75 L/1 L", ("steel",)),
                Kind("Passport Wallet", 1500, 4400, 110, "", ("leather", "recycled nylon")),
            ),
        ),
    ),
)

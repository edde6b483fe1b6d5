"""What the shop sells for kitchen and larder: kinds of products, and what is said of them."""

from __future__ import annotations

from agentgym_envs.webarena.sites.shopping.ranges import Kind, Leaf, Range

PAINTS = ("moss", "slate", "cream", "rust", "ink blue", "ochre", "charcoal", "plum", "white")
WOODS = ("oak", "walnut", "beech", "ash")

KITCHEN = Range(
    "Kitchen",
    ("Kettlewick", "Fennmark", "Hearthby", "Oldacre", "Brambleworth", "Tallow & Pine", "Corvane"),
    (
        Leaf(
            "Pots & Pans",
            ("enamelled steel", "cast iron", "stainless steel", "aluminium"),
            PAINTS,
            (
                "The thick base spreads the heat evenly, on induction too",
                "The lid closes tightly and keeps the steam inside",
                "Both handles stay cool enough to hold for a while",
                "A scale on the inside spares you the measuring jug",
            ),
            ("lid", "handle", "weight", "cleaning", "durability"),
            (
                Kind("Stockpot", 4200, 8900, 2400, "4 L/6 L/9 L"),
                Kind("Saucepan", 2900, 5900, 1100, "1.5 L/2.5 L"),
                Kind("Frying Pan", 2400, 6400, 1300, "24 cm/28 cm/32 cm"),
                Kind("Casserole", 5900, 12900, 3900, "3 L/5 L"),
                Kind("Steamer", 3400, 5200, 1500, "22 cm/26 cm"),
                Kind("Roasting Tin", 2100, 4600, 1700, "30 cm/38 cm"),
            ),
        ),
        Leaf(
            "Knives & Boards",
            ("carbon steel", "stainless steel", "olive wood", "bamboo"),
            WOODS,
            (
                "The edge is ground by hand and comes with a paper guard",
                "The balance sits just behind the bolster, so it never tires the wrist",
                "A leather loop lets it hang beside the stove",
            ),
            ("blade", "handle", "weight", "rust", "cleaning"),
            (
                Kind(
                    "Chef's Knife",
                    3900,
                    11900,
                    240,
                    "16 cm/20 cm/24 cm",
                    ("carbon steel", "stainless steel"),
                ),
                Kind(
                    "Paring Knife",
                    1500,
                    3900,
                    90,
                    "8 cm/10 cm",
                    ("carbon steel", "stainless steel"),
                ),
                Kind(
                    "Bread Knife",
                    2900,
                    6900,
                    210,
                    "22 cm/26 cm",
                    ("carbon steel", "stainless steel"),
                ),
                Kind(
                    "Chopping Board",
                    1900,
                    6400,
                    1600,
                    "30 cm/40 cm/50 cm",
                    ("olive wood", "bamboo", "end-grain beech"),
                ),
                Kind("Whetstone", 2400, 5400, 700, "", ("corundum", "natural stone")),
                Kind("Kitchen Shears", 1700, 3600, 180, "", ("forged steel", "stainless steel")),
            ),
        ),
        Leaf(
            "Bakeware",
            ("steel", "stoneware", "silicone", "aluminium"),
            PAINTS,
            (
                "Cakes come out whole, even without baking paper",
                "It fits every common oven and stacks with its siblings",
                "The raised rim makes it easy to lift with thick gloves",
            ),
            ("size", "cleaning", "durability", "handle", "smell"),
            (
                Kind("Loaf Tin", 1200, 2900, 520, "20 cm/25 cm"),
                Kind("Springform", 1600, 3900, 700, "20 cm/24 cm/28 cm"),
                Kind("Pie Dish", 1500, 3400, 950, "24 cm/28 cm"),
                Kind("Muffin Tray", 1400, 2800, 600, "6 cups/12 cups"),
                Kind("Rolling Pin", 900, 2600, 550, "", ("beech", "marble")),
                Kind("Mixing Bowl", 1300, 3700, 800, "2 L/4 L"),
            ),
        ),
        Leaf(
            "Tableware",
            ("stoneware", "porcelain", "bone china", "acacia wood"),
            PAINTS,
            (
                "Each piece is glazed by hand, so no two are quite alike",
                "It goes into the dishwasher and the microwave",
                "The rim is slightly raised and saves many a tablecloth",
            ),
            ("finish", "size", "packaging", "durability", "colour"),
            (
                Kind("Dinner Plate", 900, 2400, 640, "26 cm/28 cm"),
                Kind("Soup Bowl", 800, 2200, 480, "16 cm/19 cm"),
                Kind("Serving Platter", 2200, 5600, 1300, "32 cm/40 cm"),
                Kind("Butter Dish", 1400, 3200, 500, ""),
                Kind("Salt Cellar", 900, 1900, 220, ""),
                Kind(
                    "Cutlery Set",
                    4900,
                    12900,
                    1500,
                    "16 pieces/24 pieces",
                    ("stainless steel", "forged steel"),
                ),
            ),
        ),
        Leaf(
            "Glasses & Mugs",
            ("glass", "stoneware", "borosilicate glass", "porcelain"),
            PAINTS,
            (
                "The wall is thin at the lip and sturdy at the foot",
                "It holds a generous drink without looking large",
                "The set nests in a box that is worth keeping",
            ),
            ("size", "handle", "packaging", "finish", "durability"),
            (
                Kind("Mug", 900, 2100, 350, "250 ml/400 ml", ("stoneware", "porcelain")),
                Kind("Tumbler", 600, 1700, 260, "200 ml/300 ml", ("glass", "recycled glass")),
                Kind("Wine Glass", 900, 2600, 170, "350 ml/500 ml", ("glass", "crystal glass")),
                Kind("Teapot", 2600, 6400, 900, "0.8 L/1.2 L"),
                Kind("Carafe", 1800, 3900, 700, "1 L/1.5 L", ("glass", "borosilicate glass")),
            ),
        ),
        Leaf(
            "Small Appliances",
            ("brushed steel", "painted steel", "recycled plastic"),
            PAINTS,
            (
                "It switches itself off when the work is done",
                "All loose parts go into the dishwasher",
                "The cable winds up under the base",
                "Three speeds are enough for everything from cream to dough",
            ),
            ("noise", "instructions", "cable", "cleaning", "durability"),
            (
                Kind("Electric Kettle", 3900, 9900, 1200, "1 L/1.7 L"),
                Kind("Toaster", 3400, 9400, 1800, "2 slices/4 slices"),
                Kind("Hand Blender", 2900, 7900, 900, ""),
                Kind("Coffee Grinder", 3900, 13900, 1500, ""),
                Kind("Food Processor", 7900, 19900, 4200, ""),
                Kind("Kitchen Scale", 1900, 4900, 600, "5 kg/10 kg"),
            ),
        ),
        Leaf(
            "Jars & Storage",
            ("glass", "tinplate", "ceramic", "cork and glass"),
            PAINTS,
            (
                "A ring of natural rubber keeps air and moths outside",
                "It stacks, and the label field takes chalk",
                "The mouth is wide enough for a ladle",
            ),
            ("lid", "size", "packaging", "smell", "cleaning"),
            (
                Kind("Preserving Jar", 500, 1500, 480, "0.5 L/1 L/2 L", ("glass",)),
                Kind("Bread Box", 3400, 7400, 2300, ""),
                Kind("Spice Tin Set", 1900, 3900, 700, "6 tins/12 tins", ("tinplate",)),
                Kind("Storage Canister", 1200, 3100, 650, "1 L/2 L"),
                Kind("Lunch Box", 1500, 3500, 420, "0.8 L/1.2 L"),
            ),
        ),
    ),
)

PANTRY = Range(
    "Pantry",
    ("Larkfield", "Amberly", "Quillon Roasters", "Saltholm", "Greyheron", "Maple Row"),
    (
        Leaf(
            "Coffee",
            ("arabica", "arabica and robusta"),
            (),
            (
                "It is roasted slowly in small drums and rested for two days",
                "The bag has a valve and closes again after every cup",
                "Expect dark chocolate, a little orange peel and hardly any acid",
            ),
            ("taste", "aroma", "packaging", "freshness"),
            (
                Kind("Filter Coffee", 590, 990, 0, "250 g/500 g/1 kg", ("arabica",)),
                Kind("Espresso Beans", 690, 1190, 0, "250 g/500 g/1 kg"),
                Kind("Decaf Coffee", 690, 1090, 0, "250 g/500 g"),
                Kind("Drinking Chocolate", 490, 890, 0, "200 g/400 g", ("cocoa and cane sugar",)),
            ),
        ),
        Leaf(
            "Tea",
            ("black tea", "green tea", "herbs", "rooibos"),
            (),
            (
                "The leaves are whole and take a second infusion well",
                "It is packed by hand into a tin that can be filled again",
                "Three minutes are enough, five do no harm",
            ),
            ("taste", "aroma", "packaging", "freshness"),
            (
                Kind("Breakfast Tea", 490, 890, 0, "100 g/250 g", ("black tea",)),
                Kind("Mint Infusion", 390, 790, 0, "80 g/160 g", ("herbs",)),
                Kind("Smoked Tea", 690, 1290, 0, "100 g/250 g", ("black tea",)),
                Kind("Jasmine Tea", 590, 1190, 0, "100 g/200 g", ("green tea",)),
            ),
        ),
        Leaf(
            "Honey & Preserves",
            ("fruit and cane sugar", "raw honey", "fruit"),
            (),
            (
                "Nothing is added but a squeeze of lemon",
                "It comes from one valley and one summer",
                "The glass is returned to the shop for a small refund",
            ),
            ("taste", "lid", "packaging", "freshness"),
            (
                Kind("Heather Honey", 690, 1190, 0, "250 g/500 g", ("raw honey",)),
                Kind("Bitter Marmalade", 420, 790, 0, "220 g/450 g", ("fruit and cane sugar",)),
                Kind("Plum Jam", 390, 720, 0, "220 g/450 g", ("fruit and cane sugar", "fruit")),
                Kind("Onion Chutney", 450, 820, 0, "200 g/400 g", ("onions and cane sugar",)),
            ),
        ),
        Leaf(
            "Spices & Oils",
            ("whole spices", "ground spices", "cold-pressed oil"),
            (),
            (
                "It is ground only when your order comes in",
                "A little of it goes a long way",
                "The dark bottle keeps the light out",
            ),
            ("taste", "aroma", "lid", "freshness"),
            (
                Kind("Smoked Paprika", 350, 690, 0, "75 g/150 g", ("ground paprika",)),
                Kind("Black Pepper", 390, 790, 0, "80 g/200 g", ("whole peppercorns",)),
                Kind("Olive Oil", 890, 1690, 0, "500 g/1 kg", ("cold-pressed oil",)),
                Kind("Curry Blend", 360, 690, 0, "60 g/120 g", ("ground spices",)),
                Kind("Sea Salt", 290, 590, 0, "125 g/250 g/500 g", ("sea salt",)),
            ),
        ),
    ),
)

"""Word lists that the names of streets and places are made from."""

from __future__ import annotations

STREET_NAMES = (
    "Abbey Lane", "Acorn Street", "Anchor Street", "Angel Row", "Apple Lane", "Barley Street",
    "Beacon Road", "Beech Avenue", "Bell Street", "Birch Road", "Blacksmith Lane", "Bramble Way",
    "Brewer Street", "Bridge Street", "Bull Lane", "Butcher Row", "Canal Street", "Candle Lane",
    "Castle Street", "Cedar Avenue", "Chapel Road", "Cherry Lane", "Chestnut Avenue",
    "Church Street", "Clockmaker Row", "Cloth Street", "Cobbler Lane", "Cooper Street",
    "Copper Lane", "Corn Street", "Cross Street", "Crown Street", "Dairy Lane", "Dove Street",
    "Dyer Street", "Elm Avenue", "Ferry Road", "Field Lane", "Fisher Row", "Flax Street",
    "Forge Lane", "Foundry Street", "Fox Lane", "Garden Street", "Gate Street", "George Street",
    "Glover Row", "Granary Road", "Green Lane", "Guild Street", "Hawthorn Road", "Heron Way",
    "Hill Road", "Holly Street", "Hope Street", "Horseshoe Lane", "Ivy Lane", "Juniper Road",
    "King Street", "Lantern Row", "Larch Avenue", "Laurel Street", "Lime Avenue", "Linden Street",
    "Lock Road", "Lower Street", "Mason Street", "Meadow Road", "Mercer Street", "Mill Lane",
    "Minster Row", "Moor Road", "Nightingale Way", "North Street", "Oak Avenue", "Old Quay",
    "Orchard Road", "Paper Street", "Park Street", "Plum Lane", "Potter Row", "Priory Road",
    "Prospect Street", "Quarry Road", "Queen Street", "Ropewalk", "Rose Lane", "Rowan Road",
    "Saddler Row", "Saffron Street", "School Lane", "Sheep Street", "Silver Street", "South Street",
    "Spindle Lane", "Spring Street", "Stable Lane", "Swan Street", "Tanner Street", "Temple Road",
    "Thatcher Row", "Tower Street", "Union Street", "Upper Street", "Vine Street", "Wagon Lane",
    "Walnut Avenue", "Water Lane", "Weaver Street", "West Street", "Wharf Road", "Willow Way",
    "Windmill Road", "Wool Street", "Yew Lane",
)  # fmt: skip
CENTRAL_STREETS = ("High Street", "Market Street")
"""Every town has these; they cross in the centre."""

COLOURS = (
    "Amber", "Blue", "Copper", "Crimson", "Golden", "Green", "Ivory", "Old", "Painted", "Quiet",
    "Red", "Silver", "Speckled", "White", "Wild", "Little",
)  # fmt: skip
THINGS = (
    "Badger", "Barrel", "Basket", "Bell", "Compass", "Crane", "Finch", "Fox", "Goose", "Hare",
    "Harbour", "Heron", "Kettle", "Lantern", "Magpie", "Oak", "Otter", "Owl", "Pear", "Plough",
    "Robin", "Sparrow", "Stag", "Swan", "Teapot", "Thistle", "Windmill", "Wren",
)  # fmt: skip
GIVEN = (
    "Agatha", "Alma", "Basil", "Clara", "Dora", "Edgar", "Elsa", "Felix", "Hanna", "Hugo", "Iris",
    "Jasper", "Kit", "Lotte", "Maud", "Nell", "Oscar", "Pip", "Rufus", "Stella", "Tess", "Wilma",
)  # fmt: skip
FAMILIES = (
    "Ashdown", "Bartlett", "Brandt", "Carver", "Crowe", "Denholm", "Ellery", "Fenwick", "Gale",
    "Hobbs", "Kemp", "Lorimer", "Marsh", "Norris", "Pryce", "Rook", "Sayer", "Tolland", "Upton",
    "Wickham", "Yates",
)  # fmt: skip
SAINTS = ("Anselm", "Bride", "Cyril", "Hilda", "Jude", "Lucia", "Marta", "Oswin", "Rhona", "Ursula")

MUSEUM_SUBJECTS = (
    "Clocks", "Fishing", "Glass", "Maps", "Mining", "Modern Art", "Music", "Natural History",
    "Paper", "Photography", "Pottery", "Printing", "Railways", "Ships", "Steam", "Textiles", "Toys",
    "Wine", "Wool", "Folk Life", "Bees", "Bridges", "Lighthouses",
)  # fmt: skip
GALLERY_WORDS = ("Arthouse", "Collection", "Gallery", "House", "Cabinet")

RESTAURANTS = {
    "Italian": ("Trattoria {given}", "Osteria {colour} Olive", "Da {given}", "Casa {family}"),
    "Indian": ("{thing} Tandoori", "Saffron {thing}", "Curry House {family}", "Masala Corner"),
    "Japanese": ("Sushi {given}", "Ramen {thing}", "Izakaya {colour} Crane", "Noodle Bar Kumo"),
    "Greek": ("Taverna {given}", "Ouzeri {family}", "The {colour} Fig", "Olive and Thyme"),
    "Mexican": ("Cantina {given}", "Taqueria {family}", "El {thing}", "Maize and Lime"),
    "French": ("Bistro {given}", "Chez {given}", "Brasserie {family}", "La Table de {given}"),
    "Thai": ("Thai {thing}", "Lemongrass {thing}", "Bangkok {family}", "Basil and Rice"),
    "Valderan": ("{family}'s Table", "The {colour} Hearth", "{given}'s Kitchen", "Wend Cellar"),
    "Turkish": ("Anatolia {family}", "Grill {given}", "The {colour} Lamp", "Bosphorus Grill"),
    "Vegetarian": ("{colour} Carrot", "Root and {thing}", "The Kind {thing}", "Greenhouse"),
    "Seafood": ("The {colour} Oyster", "{family}'s Fish", "Net and {thing}", "The Crab Pot"),
    "Steakhouse": ("{family}'s Grill", "The {colour} Ox", "Ember and {thing}", "Prime Cut"),
}
NAMES = {
    "Cafe": ("The {colour} {thing}", "Cafe {given}", "{given} and {given}", "{thing} Coffee",
             "{family} Coffee Roasters", "{street} Coffee"),
    "Pub": ("The {colour} {thing}", "The {thing} and {thing}", "{family}'s Arms",
            "The {thing} Inn"),
    "Bakery": ("{family} Bakery", "{given}'s Bread", "The {colour} Loaf", "{family} and Daughter"),
    "Supermarket": ("Fairmarket", "Penny Basket", "Harvest Hall", "Corner {thing}", "Daily Green"),
    "Pharmacy": ("Greencross Pharmacy", "{family} Pharmacy", "{street} Pharmacy",
                 "St {saint} Pharmacy"),
    "Doctor": ("Dr {given} {family}", "{street} Practice", "{family} Surgery"),
    "Hospital": ("St {saint} Hospital", "{town} General Hospital"),
    "School": ("{town} Primary School", "St {saint} School", "{family} Secondary School",
               "{street} School", "{thing} Montessori School"),
    "Hotel": ("Hotel {given}", "The {family}", "{colour} {thing} Guesthouse", "Grand Hotel {town}",
              "{street} Hotel", "{family}'s Rest"),
    "Museum": ("Museum of {subject}", "{town} Museum of {subject}", "{family} {gallery}",
               "{subject} Museum", "{given} {family} House"),
    "Library": ("{town} Library",),
    "Bookshop": ("{family} Books", "The {colour} Page", "{thing} and Quill", "{given}'s Bookshop"),
    "Bicycle shop": ("{family} Cycles", "The {colour} Spoke", "{thing} Bikes"),
    "Cinema": ("The Orpheum", "Lumen {town}", "The {colour} Screen"),
    "Theatre": ("{town} Playhouse", "The {family} Theatre"),
    "Swimming pool": ("{town} Baths", "{thing} Pool"),
    "Park": ("{family} Park", "{thing} Gardens", "{given} {family} Memorial Park",
             "{saint}'s Green", "{thing} Meadow"),
    "Viewpoint": ("{thing} Rock", "{family}'s Seat", "{colour} Tower"),
    "Campsite": ("{thing} Field Camping", "{family} Farm Campsite", "{colour} Brook Camping"),
    "Charging station": ("{operator} {street}", "{operator} {street}", "{operator} {town} Centre"),
    "Petrol station": ("Crest Fuel {street}", "{family} Motors", "Halt and Go {street}"),
    "Railway station": ("{town} Railway Station",),
    "Airport": ("{town} Airport",),
    "Post office": ("{town} Post Office",),
    "Bank": ("Valdera Savings Bank", "Wend Valley Bank", "{family} and Partners Bank",
             "Harbour Mutual"),
}  # fmt: skip
"""Patterns of names for every kind of place but restaurants, which go by cuisine."""

SPECIALITIES = ("General practice", "Dentistry", "Eye care", "Paediatrics", "Skin care",
                "Physiotherapy")  # fmt: skip

"""The world's fixed words: countries, languages, trades, styles, and the words of titles."""

from __future__ import annotations

CONTINENTS = ("Ostrea", "Merevia", "Kaldor", "Sundrel", "Tamuria")

COUNTRIES: tuple[tuple[str, str, str, str, str], ...] = (
    # name, adjective, culture, language, currency
    ("Valdmark", "Valdmarkian", "Halvic", "Halvic", "krast"),
    ("Norhelm", "Norhelmer", "Halvic", "Halvic", "skilding"),
    ("Eskeland", "Eskelander", "Halvic", "Eskish", "oren"),
    ("Tyrsund", "Tyrsunder", "Halvic", "Tyrsic", "skilding"),
    ("Brannholm", "Brannholmer", "Halvic", "Halvic", "krast"),
    ("Sorana", "Soranese", "Soranese", "Soranese", "dorin"),
    ("Castavera", "Castaveran", "Soranese", "Soranese", "scutello"),
    ("Montellara", "Montellaran", "Soranese", "Lucanite", "fiorino"),
    ("Velucia", "Velucian", "Soranese", "Velucian", "lirenza"),
    ("Cordenza", "Cordenzan", "Soranese", "Soranese", "dorin"),
    ("Aurelana", "Aurelanian", "Soranese", "Velucian", "real"),
    ("Orzhava", "Orzhavian", "Orzhan", "Orzhan", "grosh"),
    ("Belovia", "Belovian", "Orzhan", "Belovian", "zlatnik"),
    ("Grodany", "Grodanian", "Orzhan", "Orzhan", "denar"),
    ("Krasnovia", "Krasnovian", "Orzhan", "Krasnic", "grosh"),
    ("Vyshegor", "Vyshegorian", "Orzhan", "Belovian", "kopun"),
    ("Tikhvara", "Tikhvaran", "Orzhan", "Tikhvaran", "rubek"),
    ("Ketharan", "Ketharani", "Kethari", "Kethari", "dinur"),
    ("Qalmar", "Qalmari", "Kethari", "Kethari", "tamar"),
    ("Zarandesh", "Zarandeshi", "Kethari", "Zarandi", "sheqal"),
    ("Mehristan", "Mehristani", "Kethari", "Mehri", "tamar"),
    ("Nahroun", "Nahrouni", "Kethari", "Zarandi", "dinur"),
    ("Brennoch", "Brennochian", "Brennic", "Brennic", "pund"),
    ("Carrowen", "Carrowenian", "Brennic", "Brennic", "pund"),
    ("Tregallan", "Tregallanese", "Brennic", "Tregallish", "crown"),
    ("Lornmoor", "Lornmoorish", "Brennic", "Tregallish", "pund"),
    ("Dunmarrow", "Dunmarrovian", "Brennic", "Marrowan", "crown"),
    ("Tamua", "Tamuan", "Tamuan", "Tamuan", "pearl"),
    ("Ruakoro", "Ruakoroan", "Tamuan", "Tamuan", "talu"),
    ("Kamaliva", "Kamalivan", "Tamuan", "Kamalic", "pearl"),
    ("Nalutani", "Nalutanian", "Tamuan", "Kamalic", "talu"),
    ("Hanapura", "Hanapuran", "Tamuan", "Hanapuri", "kani"),
    ("Ishkara", "Ishkari", "Ishkari", "Ishkari", "monme"),
    ("Kurotsu", "Kurotsan", "Ishkari", "Kurotsan", "ryon"),
    ("Takisawa", "Takisawan", "Ishkari", "Ishkari", "monme"),
    ("Moritane", "Moritanese", "Ishkari", "Kurotsan", "ryon"),
)

CITY_INDUSTRIES = (
    "shipbuilding",
    "glassmaking",
    "textile weaving",
    "copper smelting",
    "salt production",
    "brewing",
    "papermaking",
    "clockmaking",
    "fishing",
    "timber milling",
    "tanning",
    "pottery",
    "printing",
    "wine growing",
    "slate quarrying",
    "rope making",
    "silk weaving",
    "coal mining",
    "tile making",
    "tea blending",
)

COMPANY_SORTS: dict[str, tuple[str, ...]] = {
    "publisher": ("Press", "Books", "Publishing House"),
    "film studio": ("Pictures", "Film Company", "Studios"),
    "record label": ("Records", "Sound", "Recordings"),
    "shipping company": ("Lines", "Shipping Company"),
    "engineering company": ("Works", "Engineering"),
    "textile company": ("Mills", "Textile Company"),
    "watchmaker": ("Watch Company", "Chronometers"),
    "brewery": ("Brewery", "Brewing Company"),
    "railway company": ("Railway", "Rail Company"),
    "chemical company": ("Chemical Works", "Chemicals"),
    "pottery manufacturer": ("Ceramics", "Porcelain"),
    "bank": ("Bank", "Savings Bank"),
}

STYLES = ("neo-Gothic", "baroque", "neoclassical", "modernist", "Art Nouveau", "brutalist")
LANDMARKS = (
    "Bridge",
    "Tower",
    "Palace",
    "Cathedral",
    "Lighthouse",
    "Opera House",
    "Town Hall",
    "Library",
    "Aqueduct",
    "Observatory",
)
SPORTS = ("football", "rowing", "ice hockey", "cycling", "handball", "fencing")
MUSIC = ("folk rock", "electronic", "jazz", "chamber pop", "post-punk", "soul")
FILM_GENRES = ("drama", "thriller", "comedy", "war film", "romance", "mystery", "adventure")
NOVEL_GENRES = ("historical", "detective", "epistolary", "coming-of-age", "satirical", "Gothic")
AWARD_FIELDS = ("literature", "chemistry", "astronomy", "painting", "music", "medicine", "cinema")
SPECIES = ("orchid", "beetle", "moth", "lizard", "fern", "frog", "lichen", "wren", "trout", "mint")

OCCUPATIONS = (
    "novelist",
    "film director",
    "actor",
    "composer",
    "singer",
    "painter",
    "architect",
    "general",
    "explorer",
    "politician",
    "botanist",
    "chemist",
    "astronomer",
    "physician",
    "historian",
    "industrialist",
    "journalist",
    "athlete",
)
ATHLETES = ("footballer", "rower", "ice hockey player", "cyclist", "handball player", "fencer")

ADJECTIVES = tuple(
    """Silent Amber Hollow Crimson Distant Winter Broken Golden Hidden Iron Paper Salt Glass
    Wandering Burning Drowned Forgotten Gentle Blind Northern Restless Scarlet Sleeping Tall
    Unfinished Velvet Waning White Bitter Copper Faithful Idle Lesser Marble Narrow Patient
    Quiet Stolen Tidal Vanished Weathered Yellow Borrowed Crooked Frozen Lantern-Lit""".split()
)
NOUNS = tuple(
    """Harbour Orchard Bell Clockmaker Ferryman Lantern Meadow Staircase Cartographer Sparrow
    Window Garden Mirror River Threshold Almanac Archer Beekeeper Candle Compass Estuary Falcon
    Glacier Heron Inheritance Juniper Keeper Labyrinth Mariner Nightingale Oath Parade Quarry
    Regiment Saltmarsh Tapestry Umbrella Verdict Weaver Avenue Bridge Causeway Daughter Embassy
    Fortnight Gallery Horizon Island Ledger Mountain Notebook Observatory Pilgrim Reservoir
    Shepherd Telegram Vineyard Widow Apprentice Balcony Cathedral Dowry""".split()
)
PLURALS = tuple(
    """Lanterns Orchards Sparrows Ashes Bells Swallows Letters Rivers Windows Clocks Ravens
    Strangers Embers Feathers Gardens Harvests Mirrors Pilgrims Shadows Tides Brothers Widows
    Stones Ferries Maps Candles""".split()
)
ABSTRACT = tuple(
    """Patience Mercy Silence Winter Exile Memory Hunger Forgiveness Rain Thunder Dust Solitude
    Harvest Autumn Obedience Midnight Salt Smoke Departure Sorrow""".split()
)
PROFESSIONS = tuple(
    """Clockmaker Ferryman Cartographer Beekeeper Glassblower Organist Lighthouse-Keeper Surgeon
    Bookbinder Stonemason Gardener Admiral Translator Postmaster Apothecary Fisherman""".split()
)

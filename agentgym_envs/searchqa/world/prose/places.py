"""Sentence patterns about countries, cities, rivers, mountains and lakes."""

from __future__ import annotations

Section = tuple[tuple[str, ...], ...]

LEADS: dict[str, tuple[str, ...]] = {
    "continent": (
        "{N} is one of the five continents of the known world.",
        "{N} is a continent known for {w_landscape} and {w_landscape2}.",
    ),
    "country": (
        "{N} is a country in {continent}; its capital is {capital}.",
        "{N} is a country on the continent of {continent} with {capital} as its capital.",
    ),
    "city": (
        "{N} is a city in {country}.",
        "{N} is a city of {population} inhabitants in {country}.",
        "{N} is a~{adjective} city known for {industry}.",
    ),
    "river": (
        "{N} is a river in {country}.",
        "{N} is a~{adjective} river that rises on {source}.",
        "{N} is a river of {country} with a length of {length}.",
    ),
    "mountain": (
        "{N} is a mountain in {country}.",
        "{N} is a~{adjective} mountain with a height of {height}.",
        "{N}, at {height}, is a landmark of inland {country}.",
    ),
    "lake": (
        "{N} is a lake in {country}.",
        "{N} is a~{adjective} lake with an area of {area}.",
        "{N} is a freshwater lake of {country}.",
    ),
}

PLANS: dict[str, tuple[Section, ...]] = {
    "continent": ((),),
    "country": (
        (
            ("{S} lies in {continent}.", "The country belongs to the continent of {continent}."),
            (
                "The capital of {N} is {capital}.",
                "The government sits in {capital}, the capital and largest city.",
                "{capital} has been the capital since the founding.",
            ),
            (
                "The official language is {language}.",
                "Schools and courts use {language}, the official language.",
                "{language} is the official language, spoken in all provinces.",
            ),
            (
                "The currency is the {currency}.",
                "Prices are given in the {currency}, the national currency.",
                "People pay with the {currency}, the currency of the country.",
            ),
        ),
        (
            ("{S} was founded in {founded_year}.", "The state goes back to {founded_year}."),
            (
                "The population is {population}.",
                "At the last count {N} had a population of {population}.",
            ),
            ("The area of {N} is {area}.", "{S} covers an area of {area}."),
            (
                "The highest mountain of {N} is {highest_mountain}.",
                "No mountain of the country is higher than {highest_mountain}.",
            ),
            (
                "The longest river of {N} is {longest_river}.",
                "{longest_river} is the longest river of the country.",
            ),
        ),
    ),
    "city": (
        (
            (
                "{S} lies in {country} at an elevation of {elevation}.",
                "{S} belongs to {country} and stands {elevation} above the sea.",
                "The city lies in {country}; its elevation is {elevation}.",
            ),
            (
                "{S} stands on {river}.",
                "{river} flows through the city.",
                "{S} grew up around a ford of {river}.",
                "The old quarters follow the bends of {river}.",
            ),
            (
                "{S} was founded in {founded_year}.",
                "The city's charter dates from {founded_year}, the year of its founding.",
                "Settlers founded {N} in {founded_year}.",
            ),
        ),
        (
            (
                "The population of {N} is {population}.",
                "{S} has a population of {population}.",
                "At the last census the city counted {population} inhabitants.",
            ),
            (
                "{S} is known for {industry}.",
                "The main industry of {N} is {industry}.",
                "Its prosperity rests on {industry}, the leading trade for centuries.",
                "Most families once lived by {industry}, the chief industry of the city.",
            ),
            (
                "The mayor of {N} is {mayor}.",
                "{mayor} has been mayor of the city since the last election.",
                "The city council is led by the mayor, {mayor}.",
            ),
            (
                "The twin city of {N} is {twin_city}.",
                "{S} is twinned with {twin_city}.",
                "Since the founding of the friendship league {N} and {twin_city} are twin cities.",
            ),
        ),
    ),
    "river": (
        (
            (
                "{S} flows through {country}.",
                "The whole course of {N} lies in {country}.",
            ),
            (
                "{S} rises on {source}.",
                "The source of {N} is on the slopes of {source}.",
                "The springs that feed the river are on {source}, its source.",
            ),
            (
                "{S} flows into {mouth}.",
                "The mouth of {N} is at {mouth}.",
                "After its last rapids the river empties into {mouth}.",
            ),
            (
                "{S} is {length} long.",
                "The length of {N} is {length}.",
                "From source to mouth the river measures {length}.",
            ),
        ),
    ),
    "mountain": (
        (
            (
                "{S} rises in {country}.",
                "The mountain stands in {country}, a day's walk from {near_city}.",
            ),
            (
                "{S} has a height of {height}.",
                "The summit is {height} high.",
                "Surveyors give the height of {N} as {height}.",
            ),
            (
                "The first ascent was made by {first_climber} in {first_ascent_year}.",
                "{first_climber} was the first to climb {N}, in {first_ascent_year}.",
                "The mountain was first climbed in {first_ascent_year} by {first_climber}.",
            ),
        ),
    ),
    "lake": (
        (
            ("{S} lies in {country}.", "The lake belongs to {country}."),
            (
                "{S} covers an area of {area}.",
                "The area of the lake is {area}.",
            ),
            (
                "{S} is up to {depth} deep.",
                "The greatest depth of {N} is {depth}.",
                "Soundings give the lake a depth of {depth}.",
            ),
        ),
    ),
}

LINKS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("continent", "continent"): (
        "{X} is a country of {N} with its capital at {x_capital}.",
        "{X}, in {N}, covers {x_area}.",
        "{X} lies in {N}; people there speak {x_language}.",
    ),
    ("country", "country"): (
        "{X} lies in {N}.",
        "{X} is found in {N}.",
    ),
    ("country", "country", "city"): (
        "{X_name}, known for {x_industry}, is a city of {N}.",
        "{X_name} is a city in {N} with {x_population} inhabitants.",
    ),
    ("country", "country", "river"): (
        "{X_plain} flows through {N}.",
        "{X_plain}, {x_length} long, is a river of {N}.",
    ),
    ("country", "country", "mountain"): (
        "{X_plain} rises in {N} to a height of {x_height}.",
        "{X_plain} is a mountain of {N}.",
    ),
    ("country", "citizenship"): (
        "{X}, born on {x_birth_date}, was a citizen of {N}.",
        "Among the citizens of {N} was {X}.",
    ),
    ("country", "victor"): ("{N} won {X_plain}, which ended in {x_end_year}.", "{N} won {X}."),
    ("country", "loser"): ("{N} lost {X_plain}, which began in {x_start_year}.", "{N} lost {X}."),
    ("city", "birth_place"): (
        "{X_name}, a~{x_occupation}, was born in {N} on {x_birth_date}.",
        "{N} is the birthplace of {X}.",
        "The {x_occupation} {X_name} was born here, in {N}.",
    ),
    ("city", "death_place"): (
        "{X_plain} died in {N} on {x_death_date}.",
        "{N} was the last home of {X}, who died in the city.",
    ),
    ("city", "city"): (
        "{X} is in {N}.",
        "{N} is the home of {X}.",
        "One of the institutions of {N} is {X}.",
    ),
    ("city", "city", "landmark"): (
        "Visitors come to {N} for {X}, designed by {x_architect}.",
        "{X} stands in {N}.",
        "Among the sights of {N} is {X}.",
    ),
    ("city", "city", "company"): (
        "{X}, a~{x_sort}, has its headquarters in {N}.",
        "{N} is the seat of {X}, a~{x_sort}.",
    ),
    ("city", "city", "band"): (
        "The band {X_name} comes from {N}.",
        "{N} is the home of the {x_genre} band {X_name}.",
    ),
    ("city", "city", "festival"): (
        "{N} hosts {X_plain} every {x_month}.",
        "Every {x_month} {X_plain} takes place in {N}.",
    ),
    ("city", "city", "battle"): (
        "{X_plain} was fought near {N} on {x_battle_date}.",
        "Outside {N}, in {x_war}, {x_commander} won {X_plain}.",
    ),
    ("city", "city", "treaty"): (
        "{X} was signed in {N}.",
        "The treaty that ended {x_ended_war}, {X_plain}, was signed in {N}.",
    ),
    ("city", "setting"): (
        "The novel {X_name} by {x_author} is set in {N}.",
        "{N} is the setting of {X_plain}, a novel of {x_publication_year}.",
    ),
    ("city", "filming_location"): (
        "The film {X_name} was shot in {N}.",
        "{x_director} shot {X} in {N}.",
    ),
    ("city", "premiere_city"): (
        "The opera {X_name} had its first performance in {N}.",
        "{N} saw the premiere of {X_plain} in {x_premiere_year}.",
    ),
    ("city", "departure_city"): (
        "{X_plain} set out from {N} in {x_departure_year}.",
        "{X}, led by {x_leader}, started in {N}.",
    ),
    ("city", "depicts"): ("{X}, painted by {x_painter}, shows {N}.",),
    ("river", "river"): (
        "{X} stands on its banks.",
        "{S} flows through {X}.",
        "{X}, with {x_population} inhabitants, lies on {N}.",
    ),
    ("river", "longest_river"): ("{S} is the longest river of {X}.",),
    ("river", "destination"): (
        "{X_plain}, led by {x_leader}, travelled to {N} in {x_departure_year}.",
    ),
    ("river", "habitat"): ("{X} lives along {N}.", "The banks of {N} are the habitat of {X}."),
    ("river", "depicts"): ("{x_painter} painted {N} in {X}.", "{X} is a painting of {N}."),
    ("mountain", "source"): ("{X} rises on {N}.", "{N} is the source of {X}."),
    ("mountain", "highest_mountain"): ("{S} is the highest mountain of {X}.",),
    ("mountain", "destination"): (
        "{X_plain}, led by {x_leader}, went to {N} in {x_departure_year}.",
    ),
    ("mountain", "habitat"): ("{X} lives on {N}.", "The slopes of {N} are the habitat of {X}."),
    ("mountain", "depicts"): ("{x_painter} painted {N} in {X}.", "{X} is a painting of {N}."),
    ("lake", "mouth"): ("{X} flows into {N}.", "{N} receives the waters of {X}."),
    ("lake", "destination"): ("{X}, led by {x_leader}, reached {N}.",),
    ("lake", "habitat"): ("{X} lives by {N}.", "The shores of {N} are the habitat of {X}."),
    ("lake", "depicts"): ("{x_painter} painted {N} in {X}.", "{X} is a painting of {N}."),
}

FILLERS: dict[str, tuple[str, ...]] = {
    "continent": (
        "Its coasts are marked by {w_landscape}, its interior by {w_landscape2}.",
        "Old maps draw the continent with {w_object} in the margins.",
        "Trade across the continent once rested on {w_goods}.",
        "Winters bring {w_weather} to the north.",
    ),
    "country": (
        "Visitors praise {w_landscape} and the hospitality of the countryside.",
        "The country exports {w_goods} and {w_goods2}.",
        "A national holiday is kept with {w_custom}.",
        "Travellers usually arrive by way of {near_city}.",
        "The flag shows a~{w_emblem} on a plain field.",
        "Winters in the provinces bring {w_weather}.",
        "In {near_city} an archive keeps the old laws on {w_topic}.",
        "Every province has its own way of {w_usage}.",
    ),
    "city": (
        "A weekly market near {w_spot} sells {w_goods} and {w_goods2}.",
        "The coat of arms shows a~{w_emblem}.",
        "The old town was damaged when {w_mishap}, and was rebuilt in brick.",
        "Each year the citizens celebrate the end of winter with {w_custom}.",
        "A road and a railway lead from here to {near_city}.",
        "Autumns bring {w_weather}, which local songs describe at length.",
        "The town archive holds a~{w_tone} chronicle about {w_topic}.",
        "{near_person} once gave a lecture here on {w_topic}.",
        "The surrounding country is known for {w_landscape}.",
        "A rivalry with {near_city}, about {w_goods}, is remembered in proverbs.",
        "The oldest inn, beside {w_spot}, serves a soup that strangers find {w_taste}.",
        "Local legend tells of a~{w_emblem} that warned the people when {w_mishap}.",
    ),
    "nature": (
        "The surroundings are known for {w_landscape}.",
        "Walkers usually start from {near_city}, where guides can be hired.",
        "In spring, visitors should expect {w_weather}.",
        "A local legend tells of a~{w_emblem} seen here when {w_mishap}.",
        "Shepherds have long gathered {w_goods} in the area.",
        "{near_person} described the view in an essay on {w_topic}.",
        "A hut of grey stone, once used for storing {w_goods}, still stands nearby.",
        "Early surveyors complained of {w_weather} and of losing their {w_object}.",
        "Every summer the villages around it meet for {w_custom}.",
        "The name is older than any written record of {near_city}.",
        "Painters come for the light, botanists for {w_landscape2}.",
        "A signpost marks the old path to {near_city}.",
    ),
}

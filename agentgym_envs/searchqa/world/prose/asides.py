"""Sentences about an entity that a document mentions: facts told a second time, elsewhere."""

from __future__ import annotations

ASIDES: dict[str, tuple[str, ...]] = {
    "city": (
        "{X_plain}, a city in {x_country}, has a population of {x_population}.",
        "{X_plain}, which was founded in {x_founded_year}, is known for {x_industry}.",
        "{X} stands at an elevation of {x_elevation}.",
        "{X} lies on {x_river}.",
    ),
    "person": (
        "{X_name}, a~{x_occupation}, was born on {x_birth_date}.",
        "{X_name}, a~{x_occupation}, came from {x_birth_place}.",
        "{X_name} died on {x_death_date}.",
        "{X_name} was a pupil of {x_mentor}.",
    ),
    "country": (
        "The capital of {X} is {x_capital}.",
        "{X} lies in {x_continent} and uses the {x_currency}.",
        "{X} has an area of {x_area}.",
    ),
    "mountain": (
        "{X} is {x_height} high.",
        "{X_plain} was first climbed in {x_first_ascent_year}.",
    ),
    "river": ("{X} is {x_length} long.", "{X} rises on {x_source}."),
    "lake": ("{X} has a depth of {x_depth}.", "{X} covers {x_area}."),
    "company": (
        "{X_plain}, a~{x_sort}, was founded in {x_founded_year}.",
        "{X}, a~{x_sort}, has its headquarters in {x_city}.",
    ),
    "museum": ("{X_plain} was founded in {x_founded_year}.", "{X} is in {x_city}."),
    "university": ("{X_plain} was founded in {x_founded_year}.", "{X} is in {x_city}."),
    "newspaper": ("{X_plain} was founded in {x_founded_year}.", "{X} appears in {x_city}."),
    "club": ("{X_plain} was founded in {x_founded_year}.", "{X} has its home in {x_city}."),
    "band": ("{X}, a~{x_genre} band, comes from {x_city}.",),
    "award": ("{X_plain} was established in {x_established_year}.", "{X} is given for {x_field}."),
    "novel": ("{X_plain}, by {x_author}, was published in {x_publication_year}.",),
    "war": ("{X_plain} lasted from {x_start_year} to {x_end_year}.", "{X} was won by {x_victor}."),
}

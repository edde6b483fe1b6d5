"""Sentence patterns about people; `writer` explains their fields."""

from __future__ import annotations

LEAD = (
    "{N} ({lifespan}) {was} a~{adjective} {occupation}.",
    "{N} ({lifespan}) {was} a~{occupation} from {citizenship}.",
    "{N}, born on {birth_date} in {birth_place}, {was} a~{adjective} {occupation}.",
    "{N} {was} a~{occupation} who was born in {birth_place_name}, {citizenship}, on {birth_date}.",
)

PLAN: tuple[tuple[tuple[str, ...], ...], ...] = (
    (
        (
            "{S} was born on {birth_date} in {birth_place}.",
            "{S} was born in {birth_place} on {birth_date}, during a season of {w_weather}.",
            "A native of {birth_place}, {s} was born on {birth_date}.",
            "{P} birthplace was {birth_place}, where the family kept a house near {w_spot}; "
            "the date of birth is given as {birth_date}.",
        ),
        (
            "{P} parents were {father} and {mother}.",
            "{P} father was {father} and {P2} mother was {mother}.",
            "{S} was a {child} of {father} and {mother}.",
            "Born to {mother} and {father}, {s} grew up among {w_household}.",
            "The {child} of {father}, {s} learned to read from {P2} mother, {mother}.",
        ),
        (
            "{S} was a citizen of {citizenship} all {P2} life.",
            "As a citizen of {citizenship}, {s} travelled on {adjective} papers.",
            "{P} country was {citizenship}, of which {s} remained a citizen.",
        ),
        (
            "{S} studied at {alma_mater}.",
            "{S} received {P2} education at {alma_mater}, where {s} took a degree in {w_subject}.",
            "After school in {near_city}, {s} went to {alma_mater} to study {w_subject}.",
            "{S} was a student of {alma_mater}, which {s} later remembered for {w_memory}.",
            "{S} graduated from {alma_mater} with a thesis on {w_topic}.",
        ),
        (
            "{P} teacher was {mentor}, who shaped {P2} style.",
            "{S} learned the trade from {mentor}.",
            "{S} was taught by {mentor}, whose methods {s} kept for life.",
            "As a young {occupation}, {s} was a pupil of {mentor}.",
        ),
    ),
    (
        (
            "{S} spent most of {P2} career at {employer}.",
            "For many years {s} worked for {employer}.",
            "{S} was employed by {employer}, first as an assistant and then in a senior post.",
            "{P} employer for two decades was {employer}.",
        ),
        (
            "{S} competed for {club}.",
            "{S} spent {P2} best seasons with {club}.",
            "At club level {s} belonged to {club}, whose colours {s} wore until retirement.",
            "{P} club was {club}.",
        ),
        (
            "In {award_year} {s} received {award}.",
            "{S} was awarded {award} in {award_year}.",
            "{P} work was honoured with {award} in {award_year}.",
            "The jury of {award} chose {o} in {award_year}.",
        ),
    ),
    (
        (
            "{S} was married to {spouse}.",
            "{S} married {spouse}, whom {s} had met in {near_city}.",
            "{P} {spouse_word} was {spouse}.",
            "In private life {s} was the {husband_wife} of {spouse}.",
            "{S} and {spouse} were married after a long correspondence.",
        ),
        (
            "{S} died on {death_date} in {death_place}.",
            "{S} died in {death_place} on {death_date} after {w_illness}.",
            "{P} death came on {death_date} in {death_place}.",
            "{S} spent {P2} last years in {death_place}, where {s} died on {death_date}.",
        ),
        (
            "{S} is also known as {alias}.",
            "Many readers of the time knew {o} as {alias}.",
            "{S} was often called {alias}.",
        ),
    ),
)

LINKS: dict[str, tuple[str, ...]] = {
    "father": (
        "{S} was the father of {X}.",
        "Among {P2} children was {X}.",
        "The {x_occupation} {X_name} was {P2} {x_child}.",
        "{X_plain}, born on {x_birth_date}, was {P2} {x_child}.",
    ),
    "mother": (
        "{S} was the mother of {X}.",
        "{X} was {P2} {x_child}.",
        "{P} {x_child} {X_plain} was born on {x_birth_date}.",
    ),
    "mentor": (
        "Among {P2} pupils was {X}.",
        "{S} taught {X}, who followed {o} into the profession.",
        "{X} learned the craft under {o}.",
    ),
    "author": (
        "{S} wrote the {x_genre} novel {X_plain}, published in {x_publication_year}.",
        "{P} novel {X_plain} came out in {x_publication_year} and is set in {x_setting}.",
        "{X_plain}, a~{x_genre} novel of {x_publication_year}, is among {P2} books.",
        "With {X_plain} ({x_publication_year}) {s} told the story of {x_protagonist}.",
    ),
    "director": (
        "{S} directed the {x_genre} {X_plain}, released in {x_release_year}.",
        "{P} film {X_plain} reached cinemas in {x_release_year} with {x_lead_actor} in the lead.",
        "In {x_release_year} {s} completed {X_plain}, shot in {x_filming_location}.",
        "{X_plain}, a~{x_release_year} {x_genre}, was made under {P2} direction.",
    ),
    "lead_actor": (
        "{S} played the lead in {X}, directed by {x_director}.",
        "{P} leading role in {X_plain} ({x_release_year}) drew wide praise.",
        "{S} had top billing in {X}.",
    ),
    "supporting_actor": (
        "{S} had a supporting role in {X}, a film by {x_director}.",
        "A smaller part followed in {X_plain} ({x_release_year}).",
        "{S} supported {x_lead_actor} in {X}.",
    ),
    "score_composer": (
        "{S} composed the score of {X_plain}, a film of {x_release_year}.",
        "{S} wrote the music for {X}, directed by {x_director}.",
    ),
    "composer": (
        "{P} opera {X_plain} was first performed in {x_premiere_year}.",
        "{S} composed the opera {X}, which had its premiere in {x_premiere_city}.",
        "The libretto of {P2} opera {X} is by {x_librettist}.",
    ),
    "librettist": (
        "{S} wrote the libretto of {X}, an opera by {x_composer}.",
        "{S} supplied the words for {X_plain}, staged in {x_premiere_year}.",
    ),
    "painter": (
        "{S} painted {X_plain} in {x_painted_year}.",
        "{P} canvas {X} hangs in {x_museum}.",
        "{X_plain}, painted in {x_painted_year}, shows {x_depicts}.",
    ),
    "architect": (
        "{S} designed {X} in {x_city}.",
        "{X_plain}, completed in {x_completed_year}, was built to {P2} plans.",
        "{P} best-known building is {X_plain}, finished in {x_completed_year}.",
    ),
    "performer": (
        "{P} album {X_plain} appeared on {x_label} in {x_release_year}.",
        "{S} recorded the album {X}, produced by {x_producer}.",
    ),
    "producer": (
        "{S} produced the album {X} for {x_performer}.",
        "As a producer {s} worked on {X_plain} ({x_release_year}).",
    ),
    "singer": (
        "{S} was the singer of {X}, a band from {x_city}.",
        "From {x_formed_year} {s} sang with {X_plain}.",
    ),
    "founder": (
        "{S} founded {X_plain} in {x_founded_year}.",
        "{X}, in {x_city}, was founded by {o}.",
    ),
    "head": (
        "{S} has led {X} in recent years.",
        "{S} is the head of {X}.",
    ),
    "mayor": ("{S} is the mayor of {X}.", "{S} serves as mayor of {X}."),
    "coach": ("{S} coaches {X}.", "{S} is the coach of {X}."),
    "commander": (
        "{S} won {X_plain} on {x_battle_date}.",
        "{S} commanded the victorious army at {X}, part of {x_war}.",
    ),
    "defeated_commander": (
        "{S} was defeated at {X}.",
        "{S} led the losing side at {X_plain}, fought on {x_battle_date}.",
    ),
    "mediator": (
        "{S} mediated {X_plain}, signed on {x_signing_date}.",
        "{S} brought the parties of {X} to the table.",
    ),
    "leader": (
        "{S} led {X_plain}, which set out in {x_departure_year}.",
        "{S} was the leader of {X} to {x_destination}.",
    ),
    "discoverer": (
        "{S} first described {X_plain} in {x_described_year}.",
        "{S} discovered {X} near {x_habitat}.",
    ),
    "named_after": (
        "{X} bears {P2} name.",
        "{X} is named after {o}.",
    ),
    "first_climber": (
        "In {x_first_ascent_year} {s} became the first to climb {X_plain}.",
        "{S} made the first ascent of {X}.",
    ),
}

FILLERS = (
    "{S} kept a diary of {w_topic}, of which {w_number} volumes survive.",
    "Friends described {o} as {w_trait} and {w_trait2}.",
    "{S} collected {w_object} and lent them freely.",
    "In {young_year} {s} travelled to {near_city} and stayed through a winter of {w_weather}.",
    "A plaque near {w_spot} in {near_city} recalls one of {P2} visits.",
    "{S} exchanged letters with {near_person} about {w_topic}.",
    "A portrait of {o}, painted from memory, was lost when {w_mishap}.",
    "{S} was said to begin each day with {w_habit}.",
    "Critics of the time found {P2} manner {w_tone}, though few doubted {P2} skill.",
    "{S} never learned to {w_skill}, a fact that {s} liked to joke about.",
    "A street in {near_city} carried {P2} name until {w_mishap}.",
    "{P} papers, among them notes on {w_topic}, lie in an archive in {near_city}.",
    "Unlike {near_person}, whom {s} met only twice, {s} cared little for {w_object}.",
    "A short book about {o} treats {P2} interest in {w_topic}.",
    "The rumour that {s} once lived in {near_city} has never been confirmed.",
)

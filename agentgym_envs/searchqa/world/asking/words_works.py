"""How the relations of works, events and species are asked about and searched for."""

from __future__ import annotations

from agentgym_envs.searchqa.world.asking.wording import Wording, amount, in_year, where, which, who

WORKS_AND_EVENTS: dict[str, Wording] = {
    # works
    "author": who("wrote", "author", "author novel by"),
    "publication_year": in_year("was published", "published in"),
    "publisher": who("published", "publisher", "published", "company"),
    "setting": where(
        "In which city is {x} set?",
        "Where does the story of {x} take place?",
        "setting",
        "the city where {x} is set",
        "novel set in",
    ),
    "protagonist": which(
        "main character", "Who is the protagonist of {x}?", "protagonist main character"
    ),
    "page_count": amount("number of pages", "How many pages does {x} have?", "pages"),
    "genre": which("genre", "To which genre does {x} belong?"),
    "director": who("directed", "director", "directed director"),
    "release_year": in_year("was released", "released in"),
    "studio": which("studio", "Which studio produced {x}?", "studio produced by"),
    "lead_actor": which("lead actor", "Who plays the lead in {x}?", "lead actor leading role"),
    "supporting_actor": which(
        "supporting actor", "Who plays the supporting role in {x}?", "supporting role"
    ),
    "score_composer": Wording(
        (
            "Who composed the score of {x}?",
            "By whom is the music of {x}?",
            "Who wrote the music for {x}?",
        ),
        ("the composer of the score of {x}", "the person who wrote the music for {x}"),
        "score music",
    ),
    "based_on": Wording(
        (
            "On which novel is {x} based?",
            "Which novel was adapted into {x}?",
            "What is the literary source of {x}?",
        ),
        ("the novel on which {x} is based", "the novel behind {x}"),
        "film based on novel",
    ),
    "filming_location": where(
        "In which city was {x} filmed?",
        "Where was {x} shot?",
        "filming location",
        "the city where {x} was filmed",
        "filmed shot",
    ),
    "running_time": amount("running time", "How long does {x} run?", "running time"),
    "performer": who("recorded", "performer", "album recorded performer", "artist"),
    "producer": who("produced", "producer", "album producer produced by"),
    "track_count": amount("number of tracks", "How many tracks are on {x}?", "tracks"),
    "painter": who("painted", "painter", "painting painter painted by"),
    "painted_year": in_year("was painted", "painted in"),
    "museum": where(
        "In which museum does {x} hang?",
        "Where is {x} kept?",
        "museum",
        "the museum that holds {x}",
        "hangs museum",
    ),
    "depicts": Wording(
        ("What does {x} depict?", "What is shown in {x}?", "What is the subject of {x}?"),
        ("the place that {x} depicts", "the subject of {x}"),
        "painting depicts shows",
    ),
    "composer": who("composed", "composer", "opera composer composed by"),
    "premiere_year": in_year("was first performed", "premiere performed"),
    "premiere_city": where(
        "In which city was {x} first performed?",
        "Where did {x} have its premiere?",
        "premiere venue",
        "the city where {x} was first performed",
        "premiere performed",
    ),
    "librettist": Wording(
        (
            "Who wrote the libretto of {x}?",
            "Who was the librettist of {x}?",
            "By whom are the words of {x}?",
        ),
        ("the librettist of {x}", "the person who wrote the libretto of {x}"),
        "libretto librettist",
    ),
    # events and species
    "battle_date": Wording(
        ("On what date was {x} fought?", "When was {x} fought?", "What is the date of {x}?"),
        ("the date of {x}",),
        "date fought on",
    ),
    "commander": Wording(
        (
            "Who won {x}?",
            "Who was the victorious commander at {x}?",
            "Which commander was victorious at {x}?",
        ),
        ("the victorious commander at {x}", "the person who won {x}"),
        "won commander",
    ),
    "defeated_commander": Wording(
        (
            "Who was defeated at {x}?",
            "Who led the losing side at {x}?",
            "Which commander lost {x}?",
        ),
        ("the defeated commander at {x}", "the person who lost {x}"),
        "defeated commander",
    ),
    "war": Wording(
        (
            "Of which war was {x} a part?",
            "In which war was {x} fought?",
            "To which war does {x} belong?",
        ),
        ("the war in which {x} was fought", "the war to which {x} belongs"),
        "war",
    ),
    "casualties": amount(
        "number of casualties", "How many casualties were there at {x}?", "casualties"
    ),
    "victor": Wording(
        ("Which country won {x}?", "Who was the victor in {x}?", "By which country was {x} won?"),
        ("the country that won {x}", "the victor in {x}"),
        "victor won",
    ),
    "loser": Wording(
        ("Which country lost {x}?", "Who was the loser in {x}?", "By which country was {x} lost?"),
        ("the country that lost {x}", "the loser in {x}"),
        "lost losing side",
    ),
    "start_year": in_year("did begin", "war began in"),
    "end_year": in_year("did end", "war ended in"),
    "ended_war": Wording(
        (
            "Which war did {x} end?",
            "Which war was brought to an end by {x}?",
            "What war was over with {x}?",
        ),
        ("the war that {x} ended",),
        "treaty ended war",
    ),
    "signing_date": Wording(
        (
            "On what date was {x} signed?",
            "When was {x} signed?",
            "What is the date on which {x} was signed?",
        ),
        ("the date of {x}",),
        "treaty signed on date",
    ),
    "mediator": who("mediated", "mediator", "treaty mediator mediated by"),
    "leader": who("led", "leader", "expedition leader led by"),
    "departure_year": in_year("did set out", "set out"),
    "departure_city": where(
        "From which city did {x} set out?",
        "Where did {x} start?",
        "place of departure",
        "the city from which {x} set out",
        "set out departure",
    ),
    "destination": where(
        "Where did {x} go?",
        "To which place did {x} travel?",
        "destination",
        "the place to which {x} travelled",
        "expedition destination",
    ),
    "sponsor": who("sponsored", "sponsor", "sponsor sponsored", "institution"),
    "crew_size": amount("crew size", "How many people took part in {x}?", "crew"),
    "discoverer": who("discovered", "discoverer", "discovered"),
    "described_year": in_year("was first described", "first described in"),
    "habitat": where(
        "Where does {x} live?",
        "Around which place is {x} found?",
        "habitat",
        "the place where {x} lives",
        "species habitat lives",
    ),
}

"""Words for relations read backwards, for two clues at once, for kinship and for comparisons."""

from __future__ import annotations

from agentgym_envs.searchqa.world.asking.wording import Wording


def _back(kind: str, clause: str, keys: str) -> Wording:
    """Words for the entity that stands in a relation to `{x}`: "the film directed by {x}"."""
    return Wording(
        (
            f"Which {kind} {clause.replace('that ', '', 1)}?"
            if clause.startswith("that ")
            else f"Which {kind} was {clause}?",
            f"What is the name of the {kind} {clause}?",
            f"Can you name the {kind} {clause}?",
        ),
        (f"the {kind} {clause}",),
        keys,
    )


BACKWARD: dict[tuple[str, str], Wording] = {
    ("novel", "author"): _back("novel", "written by {x}", "wrote novel author"),
    ("novel", "setting"): _back("novel", "that is set in {x}", "novel set in"),
    ("film", "director"): _back("film", "directed by {x}", "directed film"),
    ("film", "based_on"): _back("film", "that is based on {x}", "film based on"),
    ("film", "filming_location"): _back("film", "shot in {x}", "film shot in"),
    ("film", "score_composer"): _back("film", "that has a score by {x}", "composed score of film"),
    ("film", "lead_actor"): _back("film", "that has {x} in the leading role", "played lead film"),
    ("opera", "composer"): _back("opera", "composed by {x}", "composed opera"),
    ("opera", "librettist"): _back("opera", "that has a libretto by {x}", "wrote libretto opera"),
    ("opera", "premiere_city"): _back("opera", "first performed in {x}", "opera first performance"),
    ("painting", "painter"): _back("painting", "painted by {x}", "painted painting"),
    ("painting", "depicts"): _back("painting", "that depicts {x}", "painting of shows"),
    ("album", "performer"): _back("album", "recorded by {x}", "recorded album"),
    ("album", "producer"): _back("album", "produced by {x}", "produced album"),
    ("landmark", "architect"): _back("building", "designed by {x}", "designed building"),
    ("river", "source"): _back("river", "that rises on {x}", "river rises on source"),
    ("river", "mouth"): _back("river", "that flows into {x}", "river flows into"),
    ("mountain", "first_climber"): _back("mountain", "first climbed by {x}", "first ascent climb"),
    ("battle", "commander"): _back("battle", "won by {x}", "won battle commanded"),
    ("battle", "defeated_commander"): _back("battle", "lost by {x}", "defeated battle"),
    ("treaty", "mediator"): _back("treaty", "mediated by {x}", "mediated treaty"),
    ("treaty", "ended_war"): _back("treaty", "that ended {x}", "treaty ended"),
    ("expedition", "leader"): _back("expedition", "led by {x}", "led expedition"),
    ("expedition", "destination"): _back("expedition", "that travelled to {x}", "expedition to"),
    ("species", "discoverer"): _back("species", "discovered by {x}", "discovered species"),
    ("species", "habitat"): _back("species", "that lives around {x}", "species lives habitat"),
    ("species", "named_after"): _back("species", "named after {x}", "species bears name"),
    ("award", "named_after"): _back("prize", "named after {x}", "prize named after bears name"),
    ("award", "presenter"): _back("prize", "presented by {x}", "presents prize"),
    ("university", "founder"): _back("university", "founded by {x}", "founded university"),
    ("company", "founder"): _back("company", "founded by {x}", "founded company"),
    ("museum", "founder"): _back("museum", "founded by {x}", "founded museum"),
    ("newspaper", "founder"): _back("newspaper", "founded by {x}", "founded newspaper"),
    ("club", "founder"): _back("club", "founded by {x}", "founded club"),
    ("museum", "city"): _back("museum", "that stands in {x}", "museum home of"),
    ("newspaper", "city"): _back("newspaper", "published in {x}", "newspaper home of"),
    ("university", "city"): _back("university", "that has its seat in {x}", "university home of"),
    ("club", "city"): _back("sports club", "based in {x}", "club home of"),
    ("festival", "city"): _back("festival", "held in {x}", "festival home of"),
    ("band", "singer"): _back("band", "fronted by {x}", "singer of band sang with"),
    ("city", "mayor"): _back("city", "that has {x} as its mayor", "mayor of city"),
    ("city", "river"): _back("city", "that stands on {x}", "stands on banks city"),
    ("country", "capital"): _back("country", "that has {x} as its capital", "capital of country"),
    ("person", "father"): _back("person", "who has {x} as father", "father of child"),
    ("person", "mother"): _back("person", "who has {x} as mother", "mother of child"),
    ("person", "mentor"): _back("person", "taught by {x}", "taught pupils"),
    ("person", "award"): _back("person", "honoured with {x}", "received prize"),
    ("person", "alma_mater"): _back("person", "who studied at {x}", "studied at"),
}
"""By kind and relation: the one entity of this kind whose relation is `{x}`."""
for _key in (("person", "father"), ("person", "mother"), ("person", "alma_mater")):
    _words = BACKWARD[_key]
    BACKWARD[_key] = Wording(
        (_words.ask[0].replace("was who ", ""), *_words.ask[1:]), _words.phrase, _words.keys
    )

JOINS: dict[tuple[str, str, str], tuple[str, str, str]] = {
    key: (
        f"Which {noun} {clause}?",
        f"What is the name of the {noun} {'who' if noun == 'person' else 'that'} {clause}?",
        f"Name the {noun} {'who' if noun == 'person' else 'that'} {clause}.",
    )
    for key, noun, clause in (
        (("film", "director", "lead_actor"), "film", "was directed by {a} and stars {b}"),
        (("film", "director", "score_composer"), "film", "was directed by {a} with a score by {b}"),
        (("film", "director", "filming_location"), "film", "was directed by {a} and shot in {b}"),
        (("film", "lead_actor", "supporting_actor"), "film", "has {a} in the lead and {b} beside"),
        (("film", "studio", "lead_actor"), "film", "was produced by {a} and stars {b}"),
        (("film", "studio", "based_on"), "film", "was produced by {a} and is based on {b}"),
        (("novel", "author", "publisher"), "novel", "was written by {a} and published by {b}"),
        (("novel", "author", "setting"), "novel", "was written by {a} and is set in {b}"),
        (("novel", "publisher", "setting"), "novel", "was published by {a} and is set in {b}"),
        (("painting", "painter", "museum"), "painting", "was made by {a} and hangs in {b}"),
        (("painting", "museum", "depicts"), "painting", "hangs in {a} and depicts {b}"),
        (("opera", "composer", "librettist"), "opera", "has music by {a} and words by {b}"),
        (
            ("opera", "composer", "premiere_city"),
            "opera",
            "was composed by {a} and first performed in {b}",
        ),
        (("album", "performer", "producer"), "album", "was recorded by {a} and produced by {b}"),
        (("album", "label", "producer"), "album", "was released by {a} and produced by {b}"),
        (("battle", "commander", "defeated_commander"), "battle", "was won by {a} against {b}"),
        (("battle", "war", "commander"), "battle", "belongs to {a} and was won by {b}"),
        (("battle", "war", "city"), "battle", "belongs to {a} and was fought near {b}"),
        (
            ("species", "discoverer", "habitat"),
            "species",
            "was discovered by {a} and lives around {b}",
        ),
        (
            ("species", "discoverer", "named_after"),
            "species",
            "was discovered by {a} and named after {b}",
        ),
        (("expedition", "leader", "destination"), "expedition", "was led by {a} and went to {b}"),
        (("expedition", "leader", "sponsor"), "expedition", "was led by {a} and sponsored by {b}"),
        (("landmark", "architect", "city"), "building", "was designed by {a} and stands in {b}"),
        (("company", "founder", "city"), "company", "was founded by {a} and is based in {b}"),
        (("river", "source", "mouth"), "river", "rises on {a} and flows into {b}"),
        (("person", "birth_place", "alma_mater"), "person", "was born in {a} and studied at {b}"),
        (("person", "birth_place", "death_place"), "person", "was born in {a} and died in {b}"),
        (("person", "birth_place", "mentor"), "person", "was born in {a} and was taught by {b}"),
        (("person", "birth_place", "employer"), "person", "was born in {a} and worked for {b}"),
        (("person", "alma_mater", "death_place"), "person", "studied at {a} and died in {b}"),
        (("person", "mentor", "alma_mater"), "person", "was taught by {a} and studied at {b}"),
        (("city", "river", "mayor"), "city", "stands on {a} and has {b} as its mayor"),
    )
}
"""By kind and two relations: questions for the entity whose relations are `{a}` and `{b}`."""

KIN: dict[str, tuple[str, str]] = {
    "paternal grandfather": ("father", "father"),
    "paternal grandmother": ("father", "mother"),
    "maternal grandfather": ("mother", "father"),
    "maternal grandmother": ("mother", "mother"),
    "father-in-law": ("spouse", "father"),
    "mother-in-law": ("spouse", "mother"),
}
"""Kinship that has a word of its own, as two relations."""

COMPARISONS: tuple[tuple[str, str, str, tuple[str, str, str]], ...] = tuple(
    (
        kind,
        relation,
        end,
        (
            f"Which {noun} {clause}, {{a}} or {{b}}?",
            f"Between {{a}} and {{b}}, which {clause}?",
            f"Of {{a}} and {{b}}, which {noun} {clause}?",
        ),
    )
    for kind, relation, end, noun, clause in (
        ("person", "birth_date", "min", "person", "was born first"),
        ("person", "birth_date", "max", "person", "was born later"),
        ("person", "death_date", "min", "person", "died first"),
        ("person", "death_date", "max", "person", "died later"),
        ("film", "release_year", "min", "film", "was released first"),
        ("film", "running_time", "max", "film", "has the longer running time"),
        ("novel", "publication_year", "min", "novel", "was published first"),
        ("novel", "page_count", "max", "novel", "has more pages"),
        ("album", "release_year", "max", "album", "was released later"),
        ("opera", "premiere_year", "min", "opera", "was first performed earlier"),
        ("painting", "painted_year", "max", "painting", "was painted later"),
        ("city", "population", "max", "city", "has more inhabitants"),
        ("city", "elevation", "max", "city", "stands higher above the sea"),
        ("city", "founded_year", "min", "city", "was founded first"),
        ("mountain", "height", "max", "mountain", "is higher"),
        ("mountain", "first_ascent_year", "min", "mountain", "was climbed first"),
        ("river", "length", "max", "river", "is longer"),
        ("lake", "depth", "max", "lake", "is deeper"),
        ("lake", "area", "max", "lake", "has the larger area"),
        ("university", "founded_year", "min", "university", "was founded first"),
        ("university", "student_count", "max", "university", "has more students"),
        ("company", "founded_year", "min", "company", "was founded first"),
        ("company", "employees", "max", "company", "has more employees"),
        ("club", "capacity", "max", "club", "has the larger ground"),
        ("landmark", "completed_year", "min", "building", "was completed first"),
        ("landmark", "height", "max", "building", "is higher"),
        ("battle", "casualties", "max", "battle", "had more casualties"),
        ("museum", "visitors", "max", "museum", "has more visitors a year"),
    )
)
"""Kind, relation, which end wins, and the questions."""

SAMENESS: tuple[tuple[str, str, tuple[str, str, str]], ...] = (
    (
        "person",
        "birth_place",
        (
            "Were {a} and {b} born in the same city?",
            "Do {a} and {b} share a birthplace?",
            "Is the birthplace of {a} also that of {b}?",
        ),
    ),
    (
        "person",
        "citizenship",
        (
            "Were {a} and {b} citizens of the same country?",
            "Did {a} and {b} hold the same citizenship?",
            "Do {a} and {b} come from one and the same country?",
        ),
    ),
    (
        "person",
        "alma_mater",
        (
            "Did {a} and {b} study at the same university?",
            "Do {a} and {b} share an alma mater?",
            "Is the alma mater of {a} also that of {b}?",
        ),
    ),
    (
        "person",
        "occupation",
        (
            "Did {a} and {b} have the same occupation?",
            "Do {a} and {b} share an occupation?",
            "Was the occupation of {a} also that of {b}?",
        ),
    ),
    (
        "film",
        "director",
        (
            "Were {a} and {b} made by the same director?",
            "Do {a} and {b} share a director?",
            "Did one person direct both {a} and {b}?",
        ),
    ),
    (
        "film",
        "studio",
        (
            "Were {a} and {b} produced by the same studio?",
            "Do {a} and {b} come from one studio?",
            "Did one studio produce both {a} and {b}?",
        ),
    ),
    (
        "novel",
        "author",
        (
            "Were {a} and {b} written by the same author?",
            "Do {a} and {b} share an author?",
            "Did one person write both {a} and {b}?",
        ),
    ),
    (
        "novel",
        "publisher",
        (
            "Were {a} and {b} published by the same company?",
            "Do {a} and {b} share a publisher?",
            "Did one company publish both {a} and {b}?",
        ),
    ),
    (
        "city",
        "country",
        (
            "Are {a} and {b} in the same country?",
            "Do {a} and {b} belong to one country?",
            "Is the country of {a} also that of {b}?",
        ),
    ),
    (
        "river",
        "country",
        (
            "Do {a} and {b} flow through the same country?",
            "Are {a} and {b} rivers of one country?",
            "Is the country of {a} also that of {b}?",
        ),
    ),
    (
        "mountain",
        "country",
        (
            "Are {a} and {b} in the same country?",
            "Do {a} and {b} rise in one country?",
            "Is the country of {a} also that of {b}?",
        ),
    ),
    (
        "painting",
        "museum",
        (
            "Do {a} and {b} hang in the same museum?",
            "Are {a} and {b} kept in one museum?",
            "Does one museum hold both {a} and {b}?",
        ),
    ),
    (
        "battle",
        "war",
        (
            "Were {a} and {b} fought in the same war?",
            "Do {a} and {b} belong to one war?",
            "Is the war of {a} also that of {b}?",
        ),
    ),
    (
        "company",
        "city",
        (
            "Are {a} and {b} based in the same city?",
            "Do {a} and {b} have their headquarters in one city?",
            "Is the home city of {a} also that of {b}?",
        ),
    ),
)
"""Kind, relation, and yes/no questions."""

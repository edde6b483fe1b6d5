"""How the relations of people and places are asked about, spoken of and searched for."""

from __future__ import annotations

from agentgym_envs.searchqa.world.asking.wording import Wording, amount, in_year, where, which

PEOPLE_AND_PLACES: dict[str, Wording] = {
    # people
    "birth_date": Wording(
        ("When was {x} born?", "On what date was {x} born?", "What is the date of birth of {x}?"),
        ("the date of birth of {x}",),
        "born",
    ),
    "death_date": Wording(
        ("When did {x} die?", "On what date did {x} die?", "What is the date of death of {x}?"),
        ("the date of death of {x}",),
        "died",
    ),
    "birth_place": where(
        "In which city was {x} born?",
        "Where was {x} born?",
        "birthplace",
        "the city where {x} was born",
        "born birthplace",
    ),
    "death_place": where(
        "In which city did {x} die?",
        "Where did {x} die?",
        "place of death",
        "the city where {x} died",
        "died",
    ),
    "citizenship": Wording(
        (
            "Of which country was {x} a citizen?",
            "What country was {x} from?",
            "Which country's citizenship did {x} hold?",
        ),
        ("the country of citizenship of {x}", "the country of which {x} was a citizen"),
        "citizen",
    ),
    "father": Wording(
        (
            "Who was the father of {x}?",
            "Who fathered {x}?",
            "What is the name of the father of {x}?",
        ),
        ("the father of {x}",),
        "father parents",
    ),
    "mother": Wording(
        (
            "Who was the mother of {x}?",
            "Which woman gave birth to {x}?",
            "What is the name of the mother of {x}?",
        ),
        ("the mother of {x}",),
        "mother parents",
    ),
    "spouse": Wording(
        ("Who was the spouse of {x}?", "To whom was {x} married?", "Whom did {x} marry?"),
        ("the spouse of {x}", "the person whom {x} married"),
        "married",
    ),
    "alma_mater": where(
        "Where did {x} study?",
        "Which university did {x} attend?",
        "alma mater",
        "the university where {x} studied",
        "studied university",
    ),
    "mentor": Wording(
        ("Who taught {x}?", "Whose pupil was {x}?", "Who was the teacher of {x}?"),
        ("the teacher of {x}", "the person who taught {x}"),
        "teacher taught pupil",
    ),
    "employer": which("employer", "For which institution did {x} work?", "worked employed"),
    "club": which("sports club", "For which club did {x} compete?", "club competed"),
    "award": which("prize", "Which prize did {x} receive?", "received awarded"),
    "award_year": in_year("did receive a prize", "received awarded"),
    "occupation": which("occupation", "What did {x} do for a living?", "born"),
    # places
    "continent": which("continent", "On which continent does {x} lie?", "continent"),
    "language": which("official language", "Which language is official in {x}?"),
    "currency": which("currency", "Which currency is used in {x}?"),
    "capital": which("capital", "Which city is the capital of {x}?"),
    "highest_mountain": which("highest mountain", "Which mountain is the highest in {x}?"),
    "longest_river": which("longest river", "Which river is the longest in {x}?"),
    "country": where(
        "In which country is {x}?",
        "To which country does {x} belong?",
        "country",
        "the country in which {x} lies",
        "country",
    ),
    "population": amount("population", "How many people live in {x}?", "population inhabitants"),
    "area": amount("area", "How large is {x}?", "area covers"),
    "elevation": amount("elevation", "How high above the sea does {x} stand?"),
    "industry": which("main industry", "For which industry is {x} known?", "industry known for"),
    "river": which("river", "On which river does {x} stand?", "river"),
    "mayor": which("mayor", "Who is the mayor of {x}?"),
    "twin_city": which("twin city", "Which city is twinned with {x}?"),
    "length": amount("length", "How long is {x}?", "length long"),
    "source": where(
        "Where does {x} rise?",
        "On which mountain does {x} rise?",
        "source",
        "the mountain on which {x} rises",
        "rises source",
    ),
    "mouth": where(
        "Into which lake does {x} flow?",
        "Where does {x} end?",
        "mouth",
        "the lake into which {x} flows",
        "flows mouth",
    ),
    "height": amount("height", "How high is {x}?", "height high"),
    "depth": amount("depth", "How deep is {x}?", "depth deep"),
    "first_climber": Wording(
        (
            "Who was the first to climb {x}?",
            "Who made the first ascent of {x}?",
            "By whom was {x} climbed for the first time?",
        ),
        ("the person who first climbed {x}", "the first climber of {x}"),
        "first climbed",
    ),
    "first_ascent_year": in_year("was first climbed", "first climbed"),
}

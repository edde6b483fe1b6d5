"""How the relations of organisations and buildings are asked about and searched for."""

from __future__ import annotations

from agentgym_envs.searchqa.world.asking.wording import Wording, amount, in_year, where, which, who

ORGANISATIONS: dict[str, Wording] = {
    # organisations and buildings
    "city": where(
        "In which city is {x}?",
        "Which city is the home of {x}?",
        "home city",
        "the city where {x} is found",
        "city in",
    ),
    "founded_year": in_year("was founded", "founded in"),
    "founder": who("founded", "founder", "founder founded by"),
    "head": Wording(
        ("Who heads {x}?", "Who is the head of {x}?", "Which person leads {x}?"),
        ("the head of {x}", "the person who heads {x}"),
        "head headed by",
    ),
    "student_count": amount("number of students", "How many students does {x} have?", "students"),
    "employees": amount("number of employees", "How many people does {x} employ?", "employees"),
    "visitors": amount(
        "yearly number of visitors", "How many visitors does {x} have a year?", "visitors"
    ),
    "capacity": amount(
        "ground capacity",
        "How many spectators fit into the ground of {x}?",
        "ground capacity spectators",
    ),
    "attendance": amount("attendance", "How many people attend {x}?"),
    "coach": which("coach", "Who coaches {x}?"),
    "sport": which("sport", "To which sport is {x} devoted?", "sport club"),
    "formed_year": in_year("was formed", "band formed in"),
    "singer": which("singer", "Who sings in {x}?"),
    "label": which("record label", "Which label releases {x}?", "label released by"),
    "owner": who("owns", "owner", "owner owned by", "company"),
    "architect": who("designed", "architect", "architect designed by"),
    "completed_year": in_year("was completed", "completed in"),
    "presenter": which(
        "presenting institution", "Which institution presents {x}?", "prize presented by presents"
    ),
    "named_after": Wording(
        (
            "After whom is {x} named?",
            "Whose name does {x} bear?",
            "Whom does the name of {x} honour?",
        ),
        ("the person after whom {x} is named", "the namesake of {x}"),
        "named after",
    ),
    "established_year": in_year("was established", "prize established in"),
    "month": Wording(
        (
            "In which month is {x} held?",
            "What is the month of {x}?",
            "Which month of the year is that of {x}?",
        ),
        ("the month of {x}",),
        "held every month",
    ),
}

BY_KIND: dict[tuple[str, str], Wording] = {
    ("battle", "city"): where(
        "Near which city was {x} fought?",
        "Outside which city did {x} take place?",
        "site",
        "the city near which {x} was fought",
        "near fought",
    ),
    ("treaty", "city"): where(
        "In which city was {x} signed?",
        "Where was {x} signed?",
        "place of signing",
        "the city where {x} was signed",
        "treaty signed in",
    ),
    ("company", "city"): where(
        "In which city does {x} have its headquarters?",
        "Where is {x} based?",
        "headquarters city",
        "the city where {x} is based",
        "headquarters based in",
    ),
    ("band", "city"): where(
        "From which city does {x} come?",
        "Where did the members of {x} meet?",
        "home city",
        "the city from which {x} comes",
        "band comes from",
    ),
    ("festival", "city"): where(
        "In which city does {x} take place?",
        "Where is {x} held?",
        "host city",
        "the city where {x} is held",
        "festival takes place held in",
    ),
    ("newspaper", "city"): where(
        "In which city does {x} appear?",
        "Where is {x} published?",
        "home city",
        "the city where {x} appears",
        "newspaper appears published in",
    ),
    ("species", "length"): amount("length", "How long does {x} grow?", "species length"),
}
"""Where a relation is spoken of otherwise in one kind of entity."""

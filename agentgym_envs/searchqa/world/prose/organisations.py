"""Sentence patterns about universities, companies, clubs, bands, museums, landmarks and prizes."""

from __future__ import annotations

from agentgym_envs.searchqa.world.prose.places import Section

LEADS: dict[str, tuple[str, ...]] = {
    "university": (
        "{N} is a university in {city}.",
        "{N} is a university founded in {founded_year}.",
        "{N} is a university of {student_count} students.",
    ),
    "company": (
        "{N} is a~{sort} based in {city}.",
        "{N} is a~{sort} founded in {founded_year}.",
        "{N} is a~{sort} with {employees} employees.",
    ),
    "club": (
        "{N} is a~{sport} club from {city}.",
        "{N} is a~{sport} club founded in {founded_year}.",
    ),
    "band": (
        "{N} is a~{genre} band from {city}.",
        "{N} is a~{genre} band formed in {formed_year}.",
        "{N} is a~{genre} group fronted by {singer}.",
    ),
    "museum": (
        "{N} is a museum in {city}.",
        "{N} is a museum founded in {founded_year}.",
    ),
    "newspaper": (
        "{N} is a newspaper published in {city}.",
        "{N} is a daily newspaper founded in {founded_year}.",
    ),
    "landmark": (
        "{N} is a~{style} {sort} in {city}.",
        "{N} is a~{sort} in {city}, completed in {completed_year}.",
        "{N} is a~{sort} designed by {architect}.",
    ),
    "award": (
        "{N} is a prize for {field}.",
        "{N} is an award for {field} that {presenter} presents.",
    ),
    "festival": (
        "{N} is a yearly event held in {city}.",
        "{N} is held in {city} every {month}.",
    ),
}

_FOUNDED = (
    "{S} was founded in {founded_year} by {founder}.",
    "{founder} founded {N} in {founded_year}.",
    "The founder of {N} was {founder}; the founding year was {founded_year}.",
    "{S} was founded in {founded_year}.",
)

PLANS: dict[str, tuple[Section, ...]] = {
    "university": (
        (
            ("{S} is in {city}.", "The campus is in {city}.", "Its main buildings are in {city}."),
            _FOUNDED,
            (
                "{S} has {student_count} students.",
                "The number of students is {student_count}.",
                "Enrolment stands at {student_count} students.",
            ),
            (
                "The head of {N} is {head}.",
                "{head} is the present rector and head.",
                "The university is headed by {head}.",
            ),
            ("{S} is also called {alias}.", "Students usually say {alias}."),
        ),
    ),
    "company": (
        (
            (
                "{S} has its headquarters in {city}.",
                "The head office is in {city}.",
                "The company is based in {city}.",
            ),
            _FOUNDED,
            ("The company is a~{sort}.", "By trade {N} is a~{sort}."),
            (
                "{S} has {employees} employees.",
                "The number of employees is {employees}.",
                "The firm employs {employees} people.",
            ),
            (
                "The head of {N} is {head}.",
                "{head} leads the company as its head.",
                "The firm is headed by {head}.",
            ),
        ),
    ),
    "club": (
        (
            ("{S} plays in {city}.", "The home of {N} is {city}.", "The club is based in {city}."),
            _FOUNDED,
            ("The sport of the club is {sport}.", "{S} is devoted to {sport}."),
            (
                "The home ground has a capacity of {capacity}.",
                "The capacity of the club's ground is {capacity}.",
                "Its ground holds {capacity} spectators.",
            ),
            (
                "The coach of {N} is {coach}.",
                "{coach} is the coach.",
                "The team is coached by {coach}.",
            ),
        ),
    ),
    "band": (
        (
            ("{S} comes from {city}.", "The members met in {city}.", "The band is from {city}."),
            (
                "{S} was formed in {formed_year}.",
                "The band formed in {formed_year} after {w_chance}.",
            ),
            (
                "The singer of {N} is {singer}.",
                "{singer} sings.",
                "The voice of the band belongs to its singer, {singer}.",
            ),
            (
                "{S} is signed to the label {label}.",
                "Its records are released by the label {label}.",
                "The label of {N} is {label}.",
            ),
            ("{S} plays {genre}.", "The band's style is {genre}."),
        ),
    ),
    "museum": (
        (
            ("{S} is in {city}.", "The museum stands near {w_spot} in {city}."),
            _FOUNDED,
            (
                "{S} counts {visitors} visitors a year.",
                "The number of visitors is {visitors} a year.",
                "In a usual year {visitors} visitors come.",
            ),
            (
                "The head of {N} is {head}.",
                "{head} is its director and head.",
                "The museum is headed by {head}.",
            ),
        ),
    ),
    "newspaper": (
        (
            ("{S} appears in {city}.", "The newsroom is in {city}.", "Its offices are in {city}."),
            _FOUNDED,
            (
                "The owner of {N} is {owner}.",
                "{S} is owned by {owner}.",
                "{owner} owns the newspaper.",
            ),
            (
                "The head of {N} is {head}.",
                "{head} is editor and head of the newspaper.",
                "The newsroom is headed by {head}.",
            ),
        ),
    ),
    "landmark": (
        (
            (
                "{S} stands in {city}.",
                "The {sort} is in {city}.",
                "Its site is {w_spot} in {city}.",
            ),
            (
                "{S} was designed by {architect}.",
                "The architect of {N} was {architect}.",
                "The plans were drawn by the architect {architect_name}.",
            ),
            (
                "{S} was completed in {completed_year}.",
                "Building work was completed in {completed_year}.",
                "After delays caused by {w_weather}, it was completed in {completed_year}.",
            ),
            (
                "{S} is built in the {style} style.",
                "The style of the {sort} is {style}.",
            ),
            (
                "{S} has a height of {height}.",
                "The height of the {sort} is {height}.",
                "At its highest point it measures {height} in height.",
            ),
        ),
    ),
    "award": (
        (
            (
                "{S} is presented by {presenter}.",
                "{presenter} presents the prize each year.",
                "The prize is given by {presenter}.",
            ),
            (
                "{S} is named after {named_after}.",
                "The prize is named after {named_after}.",
                "It was named after {named_after} by the friends of the deceased.",
            ),
            (
                "{S} was established in {established_year}.",
                "The prize was established in {established_year}.",
                "It has been given since {established_year}, when it was established.",
            ),
            ("{S} honours work in {field}.", "The prize is for {field}."),
            ("{S} is often just called the {alias}.",),
        ),
    ),
    "festival": (
        (
            ("{S} takes place in {city}.", "The festival is held in {city}."),
            _FOUNDED,
            ("{S} is held every {month}.", "The festival takes place each {month}."),
            (
                "{S} draws an attendance of {attendance}.",
                "The usual attendance is {attendance}.",
                "Attendance has lately been {attendance}.",
            ),
        ),
    ),
}

LINKS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("university", "alma_mater"): (
        "{X_name}, a~{x_occupation}, studied at {N}.",
        "Among the students of {N} was {X}.",
        "{X} took a degree at {N}, where the alumni roll lists the name.",
    ),
    ("*", "employer"): (
        "{X} worked for {N}.",
        "Among those employed by {N} was the {x_occupation} {X_name}.",
    ),
    ("*", "presenter"): ("{N} presents {X}.", "Each year {N} gives {X} for {x_field}."),
    ("*", "sponsor"): ("{N} sponsored {X}.", "{X}, led by {x_leader}, was sponsored by {N}."),
    ("company", "publisher"): (
        "{N} published {X} by {x_author}.",
        "The novel {X_name} was published by {N} in {x_publication_year}.",
    ),
    ("company", "studio"): (
        "{N} produced {X}, directed by {x_director}.",
        "The film {X_name} was produced by {N} in {x_release_year}.",
    ),
    ("company", "label"): ("{X} was released by {N}.", "Among its artists and records is {X}."),
    ("company", "owner"): ("{N} owns {X}.", "{X}, published in {x_city}, belongs to {N}."),
    ("club", "club"): (
        "{X_plain}, born on {x_birth_date}, competed for {N}.",
        "The {x_occupation} {X_name} was a member of {N}.",
    ),
    ("band", "performer"): (
        "{P} album {X} was produced by {x_producer}.",
        "{S} recorded {X_plain}, released in {x_release_year}.",
    ),
    ("museum", "museum"): (
        "{N} holds {X}, painted by {x_painter}.",
        "The painting {X_name} of {x_painted_year} hangs in {N}.",
    ),
    ("award", "award"): (
        "{X_plain} received {N} in {x_award_year}.",
        "In {x_award_year} {N} went to {X_plain}.",
    ),
}

FILLERS: dict[str, tuple[str, ...]] = {
    "*": (
        "Its emblem is a~{w_emblem}.",
        "The early records were lost when {w_mishap}.",
        "A branch in {near_city} was closed after a dispute about {w_goods}.",
        "{near_person} once praised its {w_tone} style in a speech on {w_topic}.",
        "Each year ends with {w_custom} for members and guests.",
        "The entrance hall displays {w_object} given by a merchant from {near_city}.",
        "Older members still speak of the winter of {w_weather}.",
        "A small library on {w_topic} is open to the public.",
        "Guests from {near_city} are received near {w_spot} once a year.",
        "Its motto praises those who are {w_trait} and {w_trait2}.",
        "A plan to move to {near_city} was given up for want of money.",
        "During the hungry years it survived by selling {w_goods}.",
    ),
    "award": (
        "The winner receives a~{w_emblem} of silver.",
        "The ceremony ends with {w_custom}.",
        "One year no prize was given because {w_mishap}.",
        "The jury, which once met in {near_city}, is known to be {w_tone}.",
        "{near_person} declined to join the jury.",
        "Past winners have given lectures on {w_topic}.",
        "The rules forbid works about {w_topic}.",
        "A dinner near {w_spot} follows the announcement.",
    ),
    "landmark": (
        "Its foundations were laid on ground once used for storing {w_goods}.",
        "A carved {w_emblem} looks down from the entrance.",
        "The first plans were mocked as {w_tone} in the newspapers.",
        "It survived unharmed when {w_mishap}.",
        "From the top one sees {w_landscape} on clear days.",
        "Stone for the walls came by cart from {near_city}.",
        "{near_person} wrote a~{w_tone} essay about its shadow.",
        "Weddings and {w_custom} are held in the courtyard.",
        "Guides tell visitors about {w_topic} and the workmen's {w_object}.",
        "Repairs were needed after a winter of {w_weather}.",
    ),
}

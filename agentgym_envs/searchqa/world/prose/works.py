"""Sentence patterns about works and events."""

from __future__ import annotations

from agentgym_envs.searchqa.world.prose.places import Section

LEADS: dict[str, tuple[str, ...]] = {
    "novel": (
        "{N} is a~{genre} novel by {author}.",
        "{N} is a novel by {author}, first published in {publication_year}.",
        "{N} is a~{publication_year} novel about {protagonist}.",
    ),
    "film": (
        "{N} is a~{release_year} {genre} directed by {director}.",
        "{N} is a~{genre} that {director} directed in {release_year}.",
        "{N} is a film starring {lead_actor}, released in {release_year}.",
    ),
    "album": (
        "{N} is a~{genre} album by {performer}.",
        "{N} is an album by {performer}, released in {release_year}.",
    ),
    "painting": (
        "{N} is a painting by {painter}.",
        "{N} is a~{painted_year} painting by {painter}.",
        "{N} is an oil painting kept in {museum}.",
    ),
    "opera": (
        "{N} is an opera in {act_count} acts by {composer}.",
        "{N} is an opera first performed in {premiere_year}.",
        "{N} is an opera by {composer} to a libretto by {librettist}.",
    ),
    "war": (
        "{N} was a war between {victor} and {loser}.",
        "{N} was fought from {start_year} to {end_year}.",
    ),
    "battle": (
        "{N} was a battle fought on {battle_date} near {city}.",
        "{N} was a battle of {war}.",
    ),
    "treaty": (
        "{N} was a peace treaty signed on {signing_date}.",
        "{N} was the treaty that ended {ended_war}.",
    ),
    "expedition": (
        "{N} was a journey of discovery led by {leader}.",
        "{N} was an expedition that set out in {departure_year}.",
    ),
    "species": (
        "{N} is a species of {sort}.",
        "{N} is a~{sort} first described in {described_year}.",
    ),
}

PLANS: dict[str, tuple[Section, ...]] = {
    "novel": (
        (
            (
                "{S} was written by {author}.",
                "The author is {author}.",
                "It was the work of {author}.",
            ),
            (
                "{S} was published in {publication_year} by {publisher}.",
                "The publisher was {publisher}; the year of publication was {publication_year}.",
                "{publisher} published the book in {publication_year}.",
                "{S} was published in {publication_year}.",
            ),
            (
                "{S} is set in {setting}.",
                "The story takes place in {setting}.",
                "The setting of the novel is {setting}, during {w_weather}.",
            ),
            (
                "The protagonist is {protagonist}, a~{w_job} of {w_trait} habits.",
                "The main character, {protagonist}, works as a~{w_job}.",
                "Its protagonist {protagonist} inherits {w_object} from a~{w_job}.",
            ),
            (
                "The first edition has {page_count} pages.",
                "{S} is {page_count} pages long.",
                "The number of pages is {page_count}.",
            ),
            ("{S} is usually called a~{genre} novel.", "Critics count it as a~{genre} novel."),
        ),
    ),
    "film": (
        (
            (
                "{S} was directed by {director}.",
                "The director was {director}.",
                "Direction was in the hands of {director}.",
            ),
            (
                "The leading role was played by {lead_actor}.",
                "{lead_actor} stars as a~{w_job} who has lost {w_object}.",
                "The lead actor is {lead_actor}, cast as a~{w_trait} {w_job}.",
            ),
            (
                "{supporting_actor} has a supporting role.",
                "The supporting cast includes {supporting_actor}.",
                "In a supporting role, {supporting_actor} plays a~{w_job}.",
            ),
            (
                "{S} was released in {release_year}.",
                "The film reached cinemas in {release_year}, its year of release.",
            ),
        ),
        (
            (
                "{S} was produced by the studio {studio}.",
                "The studio behind {N} was {studio}.",
                "{studio} was the studio that produced the film.",
            ),
            (
                "The score was composed by {score_composer}.",
                "{score_composer} composed the music of the film.",
                "The composer of the score is {score_composer}.",
            ),
            (
                "{S} is based on {based_on}.",
                "The screenplay follows {based_on}, on which the film is based.",
                "The film is based on {based_on}, with many changes.",
            ),
            (
                "{S} was filmed in {filming_location}.",
                "The filming location was {filming_location}.",
                "Shooting took place in {filming_location} through weeks of {w_weather}.",
            ),
            (
                "{S} has a running time of {running_time}.",
                "The running time is {running_time}.",
                "The film runs for {running_time}.",
            ),
            ("{S} is a~{genre}.", "By genre the film is a~{genre}."),
        ),
    ),
    "album": (
        (
            ("{S} was recorded by {performer}.", "The performer is {performer}."),
            (
                "{S} was released in {release_year} by {label}.",
                "The label {label} released the album in {release_year}.",
                "It came out in {release_year} on the label {label}.",
            ),
            (
                "{S} was produced by {producer}.",
                "The producer was {producer}.",
                "{producer} produced the album.",
            ),
            (
                "{S} has {track_count} tracks.",
                "The number of tracks is {track_count}.",
                "The album holds {track_count} tracks.",
            ),
            ("The music is {genre}.", "In style it is {genre}."),
        ),
    ),
    "painting": (
        (
            ("{S} was painted by {painter}.", "The painter was {painter}."),
            (
                "{S} was painted in {painted_year}.",
                "The canvas was painted in {painted_year}.",
                "It is dated {painted_year}, the year in which it was painted.",
            ),
            (
                "{S} hangs in {museum}.",
                "The painting is kept in {museum}.",
                "The museum that holds the painting is {museum}.",
            ),
            (
                "{S} depicts {depicts}.",
                "The painting shows {depicts} in {w_weather}.",
                "The subject of the painting is {depicts}, which it depicts at dusk.",
            ),
            ("{S} is a~{style} work.", "The style is {style}."),
        ),
    ),
    "opera": (
        (
            ("{S} was composed by {composer}.", "The composer was {composer}."),
            (
                "{S} was first performed in {premiere_year} in {premiere_city}.",
                "The premiere took place in {premiere_city} in {premiere_year}.",
                "{premiere_city} saw the premiere in {premiere_year}.",
            ),
            (
                "The libretto was written by {librettist}.",
                "{librettist} wrote the libretto.",
                "The librettist was {librettist}.",
            ),
            ("{S} has {act_count} acts.", "The opera is in {act_count} acts."),
        ),
    ),
    "war": (
        (
            ("{S} began in {start_year}.", "Fighting began in {start_year} over {w_goods}."),
            ("{S} ended in {end_year}.", "Peace came in {end_year}, when the war ended."),
            (
                "The victor was {victor}; the losing side was {loser}.",
                "{S} was won by {victor} against {loser}.",
                "{victor} won the war and {loser} lost it.",
            ),
        ),
    ),
    "battle": (
        (
            (
                "{S} took place near {city} on {battle_date}.",
                "The date of the battle is {battle_date}; the field lies outside {city}.",
                "On {battle_date} the armies met outside {city}.",
            ),
            (
                "{S} was part of {war}.",
                "The battle belongs to {war}.",
                "It was fought in the course of {war}.",
            ),
            (
                "The victorious commander was {commander}.",
                "{commander} won the battle as commander of the stronger army.",
                "The battle was won by {commander}.",
            ),
            (
                "The defeated commander was {defeated_commander}.",
                "{defeated_commander} led the defeated army.",
                "On the losing side {defeated_commander} was in command and was defeated.",
            ),
            (
                "There were {casualties} casualties.",
                "The number of casualties was {casualties}.",
                "Casualties came to {casualties}.",
            ),
        ),
    ),
    "treaty": (
        (
            ("{S} was signed in {city}.", "The signing took place in {city}."),
            ("{S} was signed on {signing_date}.", "The date of signing was {signing_date}."),
            ("{S} ended {ended_war}.", "With the treaty {ended_war} ended."),
            (
                "The mediator was {mediator}.",
                "{S} was mediated by {mediator}.",
                "{mediator} served as mediator.",
            ),
        ),
    ),
    "expedition": (
        (
            ("{S} was led by {leader}.", "The leader was {leader}."),
            (
                "{S} set out from {departure_city} in {departure_year}.",
                "The party left {departure_city} in {departure_year}.",
                "Departure was from {departure_city} in {departure_year}.",
            ),
            (
                "The destination was {destination}.",
                "{S} had {destination} as its destination.",
            ),
            (
                "{S} was sponsored by {sponsor}.",
                "The sponsor was {sponsor}.",
                "{sponsor} paid for the journey as its sponsor.",
            ),
            (
                "The crew numbered {crew_size}.",
                "There were {crew_size} people in the crew.",
                "The size of the crew was {crew_size}.",
            ),
        ),
    ),
    "species": (
        (
            (
                "{S} was discovered by {discoverer}.",
                "The discoverer was {discoverer}.",
                "It was discovered by {discoverer} on a walk in {w_weather}.",
            ),
            (
                "{S} was first described in {described_year}.",
                "The first description dates from {described_year}.",
                "It was described in {described_year}.",
            ),
            (
                "{S} is named after {named_after}.",
                "The name honours {named_after}, after whom it is named.",
                "It was named after {named_after}.",
            ),
            (
                "The habitat of {N} is {habitat}.",
                "It lives only around {habitat}, its habitat.",
                "The only known habitat is {habitat}.",
            ),
            (
                "It reaches a length of {length}.",
                "The length of a grown specimen is {length}.",
                "Specimens measure up to {length} in length.",
            ),
        ),
    ),
}

LINKS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("novel", "based_on"): (
        "{X}, a film by {x_director}, is based on {N}.",
        "{N} is the basis of {X_plain}, released in {x_release_year}.",
    ),
    ("war", "war"): (
        "{X} was a battle of {N}.",
        "In {N}, {X} was won by {x_commander}.",
        "{X_plain} was fought in {N} on {x_battle_date}.",
    ),
    ("war", "ended_war"): ("{N} was ended by {X}.", "{X}, signed in {x_city}, ended {N}."),
}

_RECEPTION = (
    "Reviewers called it {w_tone}, though one in {near_city} found it merely {w_tone2}.",
    "A sketch for it was lost when {w_mishap}.",
    "It is said to have been inspired by {w_topic}.",
    "{near_person} mentioned it in a lecture on {w_topic}.",
    "The first public reaction, in a season of {w_weather}, was cool.",
    "A collector in {near_city} owns the notes for it, among them remarks on {w_topic}.",
    "Much of it was made in a rented room near {w_spot}.",
    "The idea for it is said to go back to {w_chance}.",
    "Its fame spread slowly, from {near_city} outward.",
    "{near_person} thought little of it and said so in print.",
    "A parody with the same beginning was sold near {w_spot}.",
    "It became a favourite of people who like {w_object}.",
)

FILLERS: dict[str, tuple[str, ...]] = {
    "story": (
        *_RECEPTION,
        "A scene with {w_object} became famous and was often parodied.",
        "It was forbidden for a year in {near_city} because of a remark about {w_goods}.",
        "An early version ended with {w_custom}, which was cut.",
        "Scholars still argue about the meaning of the {w_emblem} in it.",
        "Its best-loved passage describes {w_custom} during {w_weather}.",
        "A minor character, a~{w_job}, was modelled on a neighbour from {near_city}.",
    ),
    "album": (
        *_RECEPTION,
        "The sleeve shows a~{w_emblem} against a plain ground.",
        "One song is about {w_topic}, another about {w_goods}.",
        "The recording was interrupted by {w_weather}.",
        "A tour that followed ended early in {near_city}.",
    ),
    "painting": (
        *_RECEPTION,
        "In the foreground there is a~{w_emblem}; behind it lie {w_landscape}.",
        "The light is that of {w_weather}.",
        "It was restored after the day when {w_mishap}.",
        "A copy hangs in a school in {near_city}.",
        "The frame, carved with {w_object}, is older than the canvas.",
    ),
    "event": (
        "A chronicler described {w_weather} and the noise of carts.",
        "A monument in {near_city} shows a~{w_emblem} in memory of those days.",
        "Several letters about it, with remarks on {w_topic}, survive.",
        "{near_person} later collected the songs that were made about it.",
        "Supplies of {w_goods} and {w_goods2} ran out early.",
        "Its anniversary was long kept with {w_custom}.",
        "The official report was lost when {w_mishap}.",
        "News of it reached {near_city} only weeks later.",
        "Eyewitnesses disagree about a~{w_emblem} that was seen at dawn.",
        "A museum case in {near_city} holds {w_object} from those days.",
    ),
    "species": (
        "It feeds by night and hides from {w_weather}.",
        "A painted specimen hangs in a school in {near_city}.",
        "{near_person} kept a drawing of it among notes on {w_topic}.",
        "Collectors once paid for it in {w_goods}.",
        "Villagers take its appearance as a sign of {w_weather}.",
        "The first specimens were lost when {w_mishap}.",
        "It is protected by a law passed in {near_city}.",
        "It is easily mistaken for a more common relative that lives among {w_landscape}.",
        "A stamp once showed it beside a~{w_emblem}.",
        "Students compare its colour to that of {w_object}.",
    ),
}

"""Communities about culture, animals and money."""

from __future__ import annotations

from agentgym_envs.webarena.sites.reddit.words.topic import topic

CULTURE = (
    topic(
        "books",
        "Books",
        "What we read, what we gave up on and what we will press upon our friends.",
        (6, 45),
        """
things: short stories; long novels; audiobooks; reading slumps; translations; first chapters;
 memoirs
gear: The Salt Ledger; A Winter in Lindenau; The Cartographer's Sister; Nine Quiet Rooms; The
 Ferryman's Daughter; Under the Weir
doing: reading fifty books a year; keeping a reading diary; running a book club; reading in a
 second language; lending books to friends
trouble: I forget the plot within a month; the book club never finishes a book; I buy more than I
 read; the translation is clumsy; I fall asleep after a page
tips: Give up on page fifty if it bores you.; Carry one everywhere.; Read the afterword last.;
 Keep two going, a light one and a heavy one.; Ask the librarian.; Write one sentence about each.;
 Listen to the long ones while walking.
views: Second novels are often the best.; Endings matter less than middles.; Nobody has to finish
 the classics.; A good translation is a book of its own.
""",
    ),
    topic(
        "board-games",
        "Board games",
        "Rules, reviews, house rules and people to play with.",
        (15, 95),
        """
things: worker placement games; expansions; solo modes; card sleeves; party games; rule books
gear: Harbour Lords; Tinker's Guild; Moss & Lantern; Seven Bridges; The Orchard Heist; Caravan of
 Glass
doing: teaching rules to newcomers; playing with two; painting miniatures; organising a game
 night; playing solo; sleeving cards
trouble: one player thinks for ten minutes; the winner is clear after half of the game; nobody
 reads the rules; the box does not close any more; the youngest cries when losing
tips: Explain how you win first.; Play an open first round.; Use a sand timer kindly.; Start with
 the short game.; Sort the pieces into small boxes.; Let the loser choose the next game.; Look up
 the rule after the game and not during it.
views: Ninety minutes are the perfect length.; Luck keeps friendships alive.; Expansions rarely
 improve a game.; Three is the best number of players.
""",
    ),
    topic(
        "guitar",
        "Guitar",
        "Acoustic, electric, classical: practice, gear and songs.",
        (10, 740),
        """
things: barre chords; strings; practice routines; pedals; small amplifiers; finger exercises
gear: Lorne D2 acoustic guitar; Ember 5 amplifier; Nickelby string set; Twang clip-on tuner;
 Foldback looper pedal
doing: practising barre chords; playing in front of people; changing strings; learning by ear;
 writing a song a week
trouble: my fingertips hurt; the low string buzzes; I always play the same five chords; the
 neighbours hear everything; I speed up in the chorus
tips: Practise for ten minutes a day and not for two hours on Sunday.; Use a metronome at half the
 speed.; Record yourself once a week.; Relax the thumb.; Learn the whole song and not just the
 intro.; Wipe the strings after playing.; Sing along, even badly.
views: Lessons are worth it for the first year.; A set-up makes a cheap guitar good.; Talent is
 mostly practice.; Nobody cares about your cables.
""",
    ),
    topic(
        "creative-writing",
        "Creative writing",
        "Drafts, critique, prompts and the fear of the empty page.",
        (5, 80),
        """
things: first drafts; opening lines; dialogues; short stories; rejections; writing groups;
 villains
gear: Inkstead notebook; Margin writing app; Quillon fountain pen; Plotline card set; Draughtsman
 desk lamp
doing: writing every morning; cutting a draft by a third; finding a writing group; writing
 believable dialogue; sending out a manuscript
trouble: I rewrite the first chapter for ever; every character sounds like me; the middle sags; my
 group is too polite; I stop at ten thousand words
tips: Write the end first.; Read it aloud.; Cut the first paragraph.; Stop in the middle of a
 sentence, so that tomorrow is easy.; Print it in another font.; Give every scene a question.;
 Keep what you cut in another file.
views: Adverbs are not the enemy.; Deadlines are the best muse.; Talent is finishing things.;
 Critique is about the text and not about you.
""",
    ),
    topic(
        "watercolour",
        "Watercolour",
        "Paper, pigments, brushes and happy accidents.",
        (7, 130),
        """
things: washes; sketchbooks; granulating pigments; brushes; skies; paper blocks; portraits
gear: Larkhill cotton paper block; Umbra 12-pan set; Sablewood no. 8 brush; Fieldbook sketchbook;
 Tidewell water cup
doing: painting wet in wet; sketching in town; mixing greens; painting skies; framing small
 pictures
trouble: the paper buckles; my greens look dead; hard edges appear everywhere; the sky dries
 before I am done; I overwork every picture
tips: Tape the paper on all four sides.; Mix twice as much as you need.; Wait until it is really
 dry.; Leave the white of the paper alone.; Use the biggest brush you can.; Test the colours on a
 scrap.; Stop five minutes before you want to.
views: Good paper matters more than good paint.; Six colours are enough.; Mistakes are the best
 teachers here.; Black paint is unnecessary.
""",
    ),
    topic(
        "languages",
        "Language learning",
        "Grammar, vocabulary, exchange partners and embarrassing mistakes.",
        (5, 110),
        """
things: flash cards; verb tables; accents; exchange partners; podcasts; false friends; graded
 readers
gear: Polyglossa app; Verbena grammar book; Tandemo partner search; Lexicon pocket dictionary;
 Earshot audio course
doing: learning from films; finding an exchange partner; memorising vocabulary; speaking from the
 first day; keeping up two languages
trouble: I understand all and say nothing; the grammar does not stick; people answer in English; I
 mix the two languages up; the plateau lasts for months
tips: Speak in the first week.; Learn phrases and not words.; Repeat after the speaker, out loud.;
 Read children's books.; Keep a diary of three sentences a day.; Change the language of your
 phone.; Ask to be corrected.
views: Accents are charming.; Apps are a start and not a course.; Grammar is faster than
 guessing.; A month abroad does not replace a year of work.
""",
    ),
    topic(
        "dogs",
        "Dogs",
        "Training, walks, health and the best company there is.",
        (6, 160),
        """
things: puppies; long walks; recall; harnesses; rescue dogs; muddy paws; chew toys
gear: Trotter padded harness; Snuffle feeding mat; Pawdry towel coat; Longline 10 m lead; Kernel
 crate
doing: teaching recall; walking past other dogs; house-training a puppy; brushing a long coat;
 travelling by train with a dog
trouble: he pulls on the lead; she barks at the doorbell; he eats everything off the ground; she
 is afraid of bicycles; he howls when alone
tips: Reward within two seconds.; Keep training short and funny.; Use a long line until recall is
 safe.; Tire the nose and not only the legs.; Feed in a quiet corner.; Leave before the dog gets
 nervous.; Teach one word for one thing.
views: Every dog can learn, at its own pace.; A tired dog is a good dog.; Old dogs are the best
 dogs.; Puppies are harder than anybody admits.
""",
    ),
    topic(
        "cats",
        "Cats",
        "Purring, scratching, feeding and who really owns the sofa.",
        (5, 140),
        """
things: kittens; scratching posts; wet food; litter boxes; window seats; indoor cats
gear: Tabbyloft scratching tree; Whisk water fountain; Catnap carrier; Litterly sifting box;
 Feather & Fin wand
doing: introducing a second cat; brushing a long-haired cat; travelling to the vet; keeping an
 indoor cat busy; finding the right food
trouble: she wakes me at five; he scratches the sofa; she refuses the new food; he hides from
 visitors; the two of them fight at night
tips: Put the water away from the food.; One box per cat and an extra one.; Play before the last
 meal of the day.; Leave the carrier open all year.; Mix the new food in over ten days.; Let the
 cat come to you.; Place the post where the sofa is.
views: Two cats are easier than one.; Cats do come when called, if they feel like it.; Expensive
 toys lose against boxes.; Indoor cats live longer.
""",
    ),
    topic(
        "aquariums",
        "Aquariums",
        "Fish, shrimp, plants and water that is clear at last.",
        (8, 240),
        """
things: shrimp; tetras; water tests; driftwood; algae; small tanks; floating plants
gear: Reefly 60 litre tank; Currento filter; Lagoon test kit; Glimmer plant light; Siphonette
 gravel cleaner
doing: cycling a new tank; keeping shrimp; fighting algae; planting a carpet; breeding tetras
trouble: green algae cover the glass; the shrimp die one by one; the water is cloudy on day three;
 the filter rattles; the plants melt
tips: Wait for six weeks before you add fish.; Change a third of the water every week.; Feed less
 than you think.; Test for nitrite and not only for pH.; Rinse the sponge in tank water.; Six
 hours of light are enough at first.; Plant densely from the start.
views: Bigger tanks are easier.; Snails are helpers.; Patience is the best filter.; Most fish are
 bought too early.
""",
    ),
    topic(
        "personal-finance",
        "Personal finance",
        "Budgets, savings, debts and pensions, explained without shouting.",
        (10, 95),
        """
things: savings accounts; rent increases; emergency funds; index funds; loans; tax returns;
 pensions
gear: Pennywise budget app; Ledgerline tax program; Copperpot savings account; Moneta paper
 planner; Tallybook spreadsheet
doing: building an emergency fund; paying off a loan; filing taxes alone; saving for a flat;
 talking about money as a couple
trouble: the rent rises faster than my pay; the overdraft never ends; my pension letter makes no
 sense; I spend everything by the 20th; the bank changes its fees
tips: Pay yourself on the first of the month.; Keep three months of expenses at hand.; Clear the
 dearest debt first.; Read the fees before the returns.; Automate it and forget it.; Check every
 contract once a year.; Never invest what you need within five years.
views: Boring investments are good investments.; A budget is freedom and not a cage.; Nobody can
 time the market.; Renting is not throwing money away.
""",
    ),
)
"""Ten communities."""

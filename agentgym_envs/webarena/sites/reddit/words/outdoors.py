"""Communities about going outside, and about looking up."""

from __future__ import annotations

from agentgym_envs.webarena.sites.reddit.words.topic import topic

OUTDOORS = (
    topic(
        "cycling",
        "Cycling",
        "Road, gravel, city and touring: two wheels and the roads of Valdera.",
        (15, 900),
        """
things: brake pads; gravel tyres; commuter bikes; panniers; long climbs; headwinds; chains
gear: Kestrel Gravel 3 bike; Beamer 900 front light; Osier leather saddle; Portage pannier set;
 Chainwell wax kit
doing: commuting all winter; riding a hundred kilometres; fixing punctures at the roadside; waxing
 a chain; touring with a tent; training on hills
trouble: the chain skips under load; the brakes squeal in the rain; my hands go numb after an
 hour; the rear wheel is out of true; drivers pass too close
tips: Check the chain with a gauge every month.; Drop the tyre pressure on gravel.; Eat before you
 are hungry.; Carry two tubes and know how to use them.; Raise the saddle by half a centimetre at
 a time.; Wash the bike after every salty ride.; Look where you want to go.
views: Wider tyres are faster on real roads.; The best bike is the one you lock up without worry.;
 Wax beats oil.; Mudguards make friends.
""",
    ),
    topic(
        "hiking",
        "Hiking",
        "Day walks, long trails, maps, boots and blisters.",
        (12, 280),
        """
things: boots; ridge walks; trekking poles; paper maps; blisters; rain jackets; mountain huts
gear: Tarn 45 backpack; Fellside leather boots; Drizzle Pro jacket; Cairn folding poles; Brook
 water filter
doing: hiking the coast path; crossing the ridge in winter; walking with children; packing light;
 finding the way in fog; breaking in new boots
trouble: my heels blister after ten kilometres; the path is closed by a landslide; the jacket
 leaks at the seams; my knees hurt on the way down; the last bus leaves too early
tips: Tape your heels before they hurt.; Turn around by two in the afternoon in winter.; Tell
 somebody where you go.; Poles save your knees downhill.; Pack the rain jacket on top.; Take a
 paper map, batteries die.; Wear two thin pairs of socks.
views: The best weather for a ridge is a dull one.; Light shoes beat heavy boots on most paths.; A
 summit is optional and a descent is not.; Most rucksacks are too big.
""",
    ),
    topic(
        "running",
        "Running",
        "From the first five kilometres to the marathon in Kingsreach.",
        (10, 190),
        """
things: tempo runs; running shoes; half marathons; shin splints; rest days; early mornings
gear: Swift Peregrine 2 shoes; Pacer 30 watch; Lumen chest light; Strider hydration vest; Rollo
 foam roller
doing: training for a half marathon; running in the dark; coming back after an injury; running on
 trails; pacing the first kilometre
trouble: my calves cramp at night; the watch loses the signal in town; I always start too fast; my
 shins ache after every run; I lose motivation in January
tips: Run slower on your easy days.; Add no more than ten percent a week.; Sleep is training.;
 Replace the shoes after 700 kilometres.; Do the calf raises, really.; Warm up for ten minutes.;
 Skip a day rather than a month.
views: Stretching is overrated and sleep is underrated.; Slow runs make fast runners.; The second
 kilometre is always the worst.; Clubs are friendlier than you fear.
""",
    ),
    topic(
        "camping",
        "Camping",
        "Tents, stoves, sites and nights under canvas.",
        (12, 430),
        """
things: tents; sleeping bags; camp stoves; tarps; quiet camp sites; guy ropes
gear: Heron 2 tent; Emberly gas stove; Downton sleeping bag; Mossbed air mattress; Lantana lantern
doing: camping in the rain; cooking on one burner; sleeping warm in October; pitching on rock;
 camping with a toddler
trouble: water pools under the groundsheet; the stove dies in the wind; the mattress is flat by
 three in the morning; condensation drips on my face; foxes steal the breakfast
tips: Open both vents, even when it is cold.; Put a warm bottle into the sleeping bag.; Pitch with
 the narrow end to the wind.; Dry the tent at home before you pack it away.; Keep the food in the
 car.; Peg the corners first.; Practise in the garden once.
views: A good mattress beats a good tent.; The best sites have no website.; Two small tents are
 better than a huge one.; Nobody regrets the second tarp.
""",
    ),
    topic(
        "birdwatching",
        "Birdwatching",
        "Sightings, calls, binoculars and patient mornings by the marsh.",
        (20, 540),
        """
things: kingfishers; nest boxes; binoculars; warblers; winter feeders; owls; migration counts
gear: Marshal 8x42 binoculars; Reedling spotting scope; Plover field guide; Songbird pocket
 recorder; Wrenbox nest box
doing: counting geese at dawn; learning bird calls; building a nest box; feeding birds in winter;
 watching the autumn migration
trouble: squirrels empty the feeder; the binoculars fog up; I cannot tell the warblers apart; a
 cat waits below the nest box; the hide is always full
tips: Hang the nest box facing north-east.; Learn ten calls before you buy a scope.; Clean the
 feeder every week.; Stand still for ten minutes first.; Note the time, the wind and the number.;
 Go on the first cold morning after a north wind.; Keep the sun behind you.
views: Eight times magnification is plenty.; The common birds are the interesting ones.; Apps are
 good servants and bad masters.; A flask of tea is equipment.
""",
    ),
    topic(
        "astronomy",
        "Astronomy",
        "Planets, nebulae, telescopes and dark skies.",
        (25, 780),
        """
things: eyepieces; double stars; meteor showers; Jupiter's moons; nebulae; dark sites; star charts
gear: Corvus 150 reflector; Stellan 80 refractor; Nightjar red torch; Polara tracking mount;
 Orrery 25 mm eyepiece
doing: observing from a balcony; collimating a reflector; photographing the Milky Way; finding
 faint galaxies; planning for the meteor shower
trouble: dew covers the mirror by midnight; the street lamp outside never sleeps; the mount drifts
 after a minute; everything shakes when I focus; clouds come with every new moon
tips: Let the telescope cool for an hour.; Start with the lowest magnification.; Look slightly
 beside faint objects.; Give your eyes twenty minutes in the dark.; Align the finder in daylight.;
 Use binoculars first.; Write the sketch down before you go in.
views: Aperture wins, until you have to carry it.; The Moon is underrated.; A dark site beats a
 bigger mirror.; Cheap filters are mostly a waste.
""",
    ),
    topic(
        "open-water",
        "Open-water swimming",
        "Lakes, rivers and the cold sea: where to swim and how to get warm again.",
        (8, 210),
        """
things: wetsuits; tow floats; cold dips; jellyfish; lake swims; changing robes
gear: Selkie 4 mm wetsuit; Buoyant tow float; Mersea swim robe; Finley goggles; Kelp neoprene
 gloves
doing: swimming through the winter; sighting in waves; getting used to cold water; swimming across
 the lake; warming up afterwards
trouble: my goggles fog up at once; I panic in deep water; the wetsuit chafes my neck; my fingers
 stay white for an hour; the current is stronger than it looks
tips: Get dressed within ten minutes.; Breathe out slowly when you go in.; Never swim alone in
 winter.; Wear a bright cap.; Start in September and simply do not stop.; Know where you get out
 before you get in.; Warm up from the inside, with something sweet.
views: Two minutes in cold water are plenty.; A pool never prepares you for waves.; The first dip
 in May is harder than January.; The cake is half of the sport.
""",
    ),
    topic(
        "railways",
        "Railways of Valdera",
        "Timetables, old lines, night trains and models of all of them.",
        (10, 350),
        """
things: night trains; branch lines; signal boxes; model locomotives; railcards; delays; steam days
gear: Gradient Z-gauge starter set; Semaphore timetable app; Tunnelworks scenery kit; Pullmann
 travel pillow; Ballast track cleaner
doing: crossing the country by rail; building a model station; travelling with a bicycle;
 photographing old engines; volunteering at the museum line
trouble: the connection is missed by two minutes; the model engine stalls on the points; the seat
 reservation vanishes; the sleeper is full for weeks; the last train is replaced by a bus
tips: Book the corner seat in the second car.; Take the slow line along the coast.; Clean the
 rails before you blame the engine.; Ask at the counter, they know cheaper tickets.; Claim the
 refund within thirty days.; Bring your own breakfast.; Solder every second joint.
views: Slow trains show more of the country.; A timetable is a promise.; Branch lines should never
 be closed.; The museum line has better cake than punctuality.
""",
    ),
)
"""Eight communities."""

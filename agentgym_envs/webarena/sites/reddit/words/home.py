"""Communities about home, garden and kitchen."""

from __future__ import annotations

from agentgym_envs.webarena.sites.reddit.words.topic import topic

HOME = (
    topic(
        "gardening",
        "Gardening",
        "Vegetables, flowers, soil and weather: everything that grows outdoors.",
        (8, 90),
        """
things: tomatoes; raised beds; roses; compost heaps; strawberries; seedlings; runner beans
gear: Fieldline K2 spade; Morrow pruning saw; Dewdrop hose timer; Hollin cold frame; Grubb & Sons
 wheelbarrow
doing: pruning fruit trees; growing garlic over winter; turning the compost; sowing carrots in
 rows; digging a pond; keeping slugs away
trouble: the lower leaves turn yellow; slugs eat the lettuce overnight; the soil stays wet until
 May; the tomatoes split after rain; the pigeons find every pea
tips: Water in the morning and at the root.; Mulch before the first hot week, not after it.; Sow
 half of the packet and keep the rest for a second try.; Test the soil before you add lime.; Feed
 every two weeks once the first flowers are open.; Leave the stems standing until spring for the
 insects.; Copper tape only works when it has no gaps.; Rotate the beds every year, even the small
 ones.
views: A north-facing bed is not the end of the world.; Most people water too often and too
 little.; Digging every autumn is a waste of a good back.; Nothing bought tastes like the first
 potato.
""",
    ),
    topic(
        "houseplants",
        "Houseplants",
        "Green company for window sills, dark corners and forgetful owners.",
        (5, 80),
        """
things: ferns; orchids; cacti; cuttings; monsteras; clay pots; spider plants
gear: Lumo clip-on grow light; Pebblepot self-watering planter; Mistral spray bottle; Soilsense
 moisture meter; Verdano peat-free mix
doing: repotting a rubber plant; rooting cuttings in water; bringing an orchid back into flower;
 getting rid of fungus gnats; watering while on holiday
trouble: brown tips appear on every leaf; the leaves droop although the soil is wet; tiny flies
 rise from the pot; the new leaves stay small and pale; the roots grow out of the bottom
tips: Lift the pot and water only when it feels light.; Turn the pot a quarter every week.; Let
 tap water stand overnight before you use it.; Repot one size up, never three.; Wipe the dust off
 the leaves once a month.; Keep them away from the radiator in winter.; Let the top two fingers of
 soil dry out.; Cut below a node, or nothing will root.
views: More plants die of love than of neglect.; A window facing east is worth three lamps.;
 Misting does less than people think.; Cheap plastic pots are fine inside a nice one.
""",
    ),
    topic(
        "beekeeping",
        "Beekeeping",
        "Hives, swarms, honey and the long winters in between.",
        (15, 260),
        """
things: hives; queens; frames; swarms; honey jars; brood boxes
gear: Calder smoker; Apisson ventilated suit; Tanner nine-frame extractor; Wickham hive scale;
 Linden queen excluder
doing: catching a swarm; splitting a strong colony; treating for mites; feeding syrup in autumn;
 extracting the summer honey; overwintering small colonies
trouble: the queen is nowhere to be found; the colony is light in February; wasps rob the hive;
 the honey sets in the comb; the bees hang outside the entrance in the evening
tips: Count the mites before you treat, and again after it.; Reduce the entrance as soon as wasps
 show up.; Mark the queen in spring while the colony is small.; Weigh the hive in October and
 write it down.; Never open a hive below twelve degrees.; Keep a spare box ready from April to
 June.; Light the smoker before you put the gloves on.
views: Two hives are easier to learn from than one.; A calm colony is worth more than a big
 harvest.; Most losses are decided in August.; Local queens beat imported ones.
""",
    ),
    topic(
        "cooking",
        "Home cooking",
        "What is for dinner, how it went and how to do it better.",
        (12, 180),
        """
things: stews; cast-iron pans; lentils; dumplings; sauces; leftovers; roast vegetables
gear: Ironbark 26 cm skillet; Pellow chef's knife; Stovaro pressure cooker; Quern spice mill;
 Nordane carbon steel wok
doing: cooking for six on a weekday; sharpening kitchen knives; making stock from scraps; frying
 fish without sticking; seasoning a new pan; planning a week of meals
trouble: the rice turns to glue; the sauce splits at the last minute; the onions burn before they
 soften; the chicken is dry every time; everything tastes flat
tips: Salt the onions at the start.; Rest the meat as long as you cooked it, within reason.; A
 spoon of vinegar at the end wakes up a flat soup.; Heat the pan first and add the oil second.;
 Keep a jar of pasta water for the sauce.; Toast the spices before you grind them.; Cut everything
 before you turn on the stove.; Freeze stock in small portions.
views: A sharp knife is safer than a blunt one.; Recipes lie about the time onions take.; Nobody
 needs more than three pans.; Leftovers are better planned than accidental.
""",
    ),
    topic(
        "baking",
        "Bread and baking",
        "Sourdough, cakes, pastry and the science of the crumb.",
        (10, 140),
        """
things: sourdough loaves; croissants; starters; rye breads; tart shells; cinnamon buns
gear: Hearthstone baking steel; Milla kitchen scale; Brotto proofing basket; Ovena dutch oven;
 Kneadwell stand mixer
doing: shaping a wet dough; keeping a starter alive; laminating pastry by hand; baking rye bread;
 scaling a recipe for a crowd
trouble: the crumb is dense and gummy; the crust goes soft within an hour; the starter smells of
 paint; the cake sinks in the middle; the dough sticks to everything
tips: Weigh the water, too.; Judge the dough by its volume and not by the clock.; Bake it darker
 than you dare.; Let the loaf cool completely before you cut it.; Use rice flour in the basket.;
 Feed the starter twice on the day before.; Keep the butter and the dough equally cold.
views: A cheap scale improves bread more than an expensive oven.; Stretching and folding beats
 kneading.; Most home loaves are underbaked.; High hydration is a fashion and not a goal.
""",
    ),
    topic(
        "coffee",
        "Coffee corner",
        "Beans, grinders, filters and espresso at home.",
        (15, 420),
        """
things: light roasts; espresso shots; hand grinders; filter papers; cold brews; milk jugs
gear: Tamblyn hand grinder; Rocco One espresso machine; Swanneck 900 kettle; Drupe pour-over cone;
 Cinder home roaster
doing: dialling in espresso; brewing for two; steaming oat milk; roasting at home; cleaning the
 grinder; making cold brew
trouble: the shot runs in twelve seconds; the coffee tastes sour; the filter clogs half-way; the
 foam collapses at once; the machine drips after every shot
tips: Grind finer before you change anything else.; Use 60 grams of coffee for a litre of water.;
 Rinse the paper filter with hot water.; Write down every change, one at a time.; Descale every
 two months if your water is hard.; Let fresh beans rest for a week.; Warm the cup.
views: The grinder matters more than the machine.; Supermarket beans are stale, not bad.; A scale
 is the cheapest upgrade.; Dark roasts deserve more respect.
""",
    ),
    topic(
        "woodworking",
        "Woodworking",
        "Hand tools, power tools, joints, finishes and the occasional finger plaster.",
        (18, 650),
        """
things: dovetails; workbenches; chisels; oak boards; drawer boxes; hand planes; clamps
gear: Rowan & Pike no. 4 plane; Stagg dovetail saw; Benchmark 250 table saw; Harrier chisel set;
 Fenwick parallel clamps
doing: flattening a wide board; sharpening chisels; cutting dovetails by hand; finishing with oil;
 building a bench on a budget; gluing up a table top
trouble: the glue squeezes out under the finish; the board cups overnight; the plane leaves
 tracks; the drawer sticks in summer; the saw wanders off the line
tips: Let the boards rest in the shop for two weeks.; Sharpen before you think you need it.; Do a
 dry fit with all clamps before you open the glue.; Mark with a knife instead of a pencil.; Plane
 both faces, or it will cup.; Take off three thin shavings rather than a thick one.; Test the
 finish on the underside.
views: You never have enough clamps.; Hand tools teach you more about wood.; Oil finishes are
 forgiving.; Cheap chisels can be good, cheap saws cannot.
""",
    ),
    topic(
        "home-repair",
        "Home repair",
        "Leaks, squeaks, cracks and drafts: fix it yourself, or find out who should.",
        (9, 320),
        """
things: sash windows; radiators; dripping taps; wall plugs; floorboards; gutters; old doors
gear: Bracken 18 V drill; Plumbo pipe wrench; Sealrite window kit; Latham stud finder; Tileo grout
 remover
doing: bleeding radiators; patching plaster; hanging a heavy shelf; replacing a tap; insulating
 the loft; silencing a squeaky stair
trouble: the boiler loses pressure every week; damp comes through the north wall; the door sticks
 in winter; the shower drips all night; the shelf pulls out of the wall
tips: Turn off the water before you touch anything.; Photograph every step while taking things
 apart.; Find out what the wall is made of first.; Use two thin coats and not a thick one.; Clear
 the gutters in November.; Buy the seals by the dozen.; Let the filler dry twice as long as the
 tin says.
views: Half of all leaks are a washer for a few cents.; Some jobs are cheaper with a
 professional.; Old houses move and cracks are normal.; A good ladder is not a luxury.
""",
    ),
    topic(
        "frugal-living",
        "Frugal living",
        "Spending less without living less: budgets, repairs, bargains and free fun.",
        (4, 120),
        """
things: grocery bills; second-hand shops; meal plans; library cards; heating costs; bulk bags
gear: Larch thermal curtains; Tallo energy meter; Jarrow preserving jars; Mendit sewing kit;
 Coldwell chest freezer
doing: cutting the heating bill; cooking from the pantry; mending clothes; shopping once a week;
 saving for a holiday; comparing tariffs
trouble: the grocery bill doubles without warning; the old fridge eats power; every subscription
 renews at once; the flat never gets warm; sales tempt me every week
tips: Write down every expense for a month.; Eat before you shop.; Unsubscribe first and see what
 you miss.; Compare the price per kilo and not per pack.; Ask the library, they lend tools too.;
 Lower the heating by one degree.; Wait for three days before you buy anything over fifty dollars.
views: Cheap shoes are the most expensive ones.; Time is worth money as well.; Small leaks matter
 more than big plans.; Buying in bulk only saves what you really eat.
""",
    ),
    topic(
        "knitting",
        "Knitting and yarn",
        "Needles, yarn, patterns and projects that take longer than planned.",
        (6, 95),
        """
things: socks; cable sweaters; wool skeins; circular needles; baby blankets; lace shawls
gear: Heddle bamboo needle set; Woolcote merino yarn; Skeinly yarn winder; Purlman row counter;
 Bobbin & Bell sock blocker
doing: turning a heel; fixing a dropped stitch; blocking a shawl; reading charts; knitting on
 trains; dyeing wool with onion skins
trouble: the sleeves come out too long; one sock is bigger than the other; the yarn pills after a
 wash; the cast-on edge is too tight; the pattern makes no sense in row 14
tips: Knit the swatch and wash it.; Cast on with a bigger needle.; Put a lifeline in before the
 lace begins.; Count after every row until it is boring.; Buy one more ball than the pattern
 says.; Block it wet and pin it well.; Weave the ends in as you go.
views: Swatches lie, but less than hope does.; Second sock syndrome is real.; Good wool is cheaper
 per hour than the cinema.; Nobody ever notices your mistakes.
""",
    ),
)
"""Ten communities."""

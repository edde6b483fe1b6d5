"""Communities about devices and what people do with them."""

from __future__ import annotations

from agentgym_envs.webarena.sites.reddit.words.topic import topic

DEVICES = (
    topic(
        "home-networking",
        "Home networking",
        "Routers, cables, wireless dead spots and home servers.",
        (20, 480),
        """
things: access points; patch panels; mesh systems; dead spots; home servers; switches; firewalls
gear: Netherfield R7 router; Weft 8-port switch; Halo mesh kit; Cradle 2-bay storage box; Pingwell
 cable tester
doing: running cable through old walls; splitting the network; backing up at home; setting up a
 guest network; hosting a small server
trouble: the wireless drops every evening; the upstairs room gets no signal; the router restarts
 by itself; the backup takes all night; the printer vanishes from the network
tips: Put the router in the middle of the house and high up.; Run two cables where you need one.;
 Update the firmware before you look for ghosts.; Use a different channel than your neighbours.;
 Label both ends of every cable.; Keep one backup in another house.; Turn off what you do not use.
views: A cable beats every mesh.; The router from the provider is usually the problem.; Nobody
 needs ten gigabits at home.; A backup that was never restored is no backup.
""",
    ),
    topic(
        "keyboards",
        "Mechanical keyboards",
        "Switches, keycaps, layouts and the perfect sound.",
        (15, 310),
        """
things: linear switches; keycap sets; split keyboards; stabilisers; foam mods; custom cables
gear: Thock 65 kit; Lindgren tactile switches; Palmrest walnut rest; Splitwise 42 keyboard; Clave
 numpad
doing: lubing switches; learning a new layout; building a first kit; typing without noise;
 soldering a split board
trouble: the space bar rattles; a key types twice; my wrists ache by the evening; the stabilisers
 tick; the firmware forgets my layout
tips: Lube the stabilisers before anything else.; Buy a switch tester first.; Tape the back of the
 board.; Try a split for two weeks before you judge it.; Desolder with plenty of flux.; Keep the
 stock keycaps for guests.; Put a desk mat below it.
views: The desk changes the sound more than the switches.; Small boards are not for everybody.;
 Loud keyboards do not belong into offices.; Thirty dollars buy a lot of keyboard today.
""",
    ),
    topic(
        "photography",
        "Photography",
        "Cameras, light, composition and prints: film and digital.",
        (25, 890),
        """
things: prime lenses; film rolls; portraits; prints; tripods; long exposures; old cameras
gear: Optima 35 mm lens; Vantage M4 camera; Tripoint travel tripod; Silverline film scanner; Sling
 6 shoulder bag
doing: photographing strangers; scanning negatives; printing at home; shooting in the rain;
 editing a series; photographing birds in flight
trouble: every indoor picture is blurred; the colours of the prints are off; I take pictures and
 never look at them; dust shows on every frame; the focus hunts at dusk
tips: Get closer, then closer again.; Expose for the highlights.; Leave the zoom at home for a
 month.; Print the ten best of the year.; Turn around before you leave.; Delete half on the same
 evening.; Use the window as a softbox.
views: Light matters more than the camera.; Film teaches patience and costs a fortune.; Editing is
 half of the picture.; Sharpness is overrated.
""",
    ),
    topic(
        "3d-printing",
        "3D printing",
        "Printers, filaments, models and failed first layers.",
        (12, 560),
        """
things: first layers; spare parts; filament spools; supports; nozzles; resin prints; enclosures
gear: Layerly One printer; Spoolhaus dry box; Corex 300 printer; Hotwell brass nozzles; Gantry
 build plate
doing: printing spare parts; levelling the bed; drying filament; designing a bracket; printing for
 the school
trouble: the print lifts at the corners; the nozzle clogs after an hour; strings hang everywhere;
 the layers shift half-way; the first layer does not stick
tips: Clean the plate with dish soap.; Dry the filament for six hours.; Slow the first layer
 down.; Print the calibration cube again after every change.; Turn the part instead of adding
 supports.; Tighten the belts.; Measure twice and print a thin slice first.
views: Most problems are a dirty plate.; A printer is a hobby and not a tool, at first.; Resin is
 not worth the smell.; Repairing things pays for the printer.
""",
    ),
    topic(
        "learn-programming",
        "Learn programming",
        "Questions, first projects and encouragement for people who start to code.",
        (10, 70),
        """
things: loops; unit tests; side projects; error messages; tutorials; code reviews; small scripts
gear: Stepwise beginner course; Codeleaf textbook; Terrapin robot kit; Rubberduck notebook; Parsel
 practice site
doing: learning a first language; reading other people's code; preparing for interviews; writing
 tests; automating spreadsheets
trouble: the program stops without a message; I forget everything after a week; tutorials are easy
 and projects are not; my function returns nothing; the tests pass and the program fails
tips: Read the last line of the error first.; Build something that you need yourself.; Type it, do
 not copy it.; Explain the problem aloud.; Write the test before the fix.; Commit after every
 small step.; Spend twenty minutes on it, then ask.
views: The first language hardly matters.; Reading code is the harder skill.; Small programs teach
 more than big courses.; Everybody looks up the syntax.
""",
    ),
    topic(
        "amateur-radio",
        "Amateur radio",
        "Antennas, call signs, contests and conversations across the sea.",
        (18, 620),
        """
things: wire antennas; call signs; repeaters; contests; handhelds; logbooks; solar cycles
gear: Hertzog 20 transceiver; Dipolo wire kit; Squelch handheld; Morsetto paddle key; Ionos tuner
doing: learning Morse code; stringing an antenna in a flat; talking across the sea; preparing for
 the licence; operating from a hilltop
trouble: the noise level is terrible in the evening; the antenna does not tune on 40 metres; the
 repeater does not hear me; the neighbours complain; my signal fades after a minute
tips: Higher is better, always.; Listen for ten minutes before you call.; Learn the code by sound
 and not by dots.; Ground everything twice.; Try the grey line at sunset.; Keep the log on paper
 as well.; Put a choke at the feed point.
views: Ten watts are plenty.; The licence is easier than people say.; An antenna is worth more
 than a radio.; Contests are better than their reputation.
""",
    ),
    topic(
        "retro-games",
        "Retro games",
        "Old consoles, cartridges, arcades and how to keep them alive.",
        (8, 260),
        """
things: cartridges; tube televisions; save batteries; arcade sticks; speed runs; text adventures
gear: Pixelon 16 console; Scanline converter; Arcadium stick; Cartwright cleaning kit; Glowtube
 monitor
doing: repairing an old console; collecting boxed games; replacing save batteries; finishing a
 game on one credit; playing with my children
trouble: the picture rolls; the cartridge only starts on the third try; the sound hums; prices
 rise every month; the joystick drifts to the left
tips: Clean the contacts with alcohol and never blow.; Replace the capacitors before they leak.;
 Play the easy mode without shame.; Check flea markets early.; Back up the save before you open
 it.; Keep the boxes out of the sun.; Use the original power supply.
views: Hard is not the same as good.; Tubes still look best.; Most collections are never played.;
 The music was better.
""",
    ),
)
"""Seven communities."""

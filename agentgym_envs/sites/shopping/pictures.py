"""The drawings that stand in for photographs: a shape by category, in the colour of the goods."""

from __future__ import annotations

_COLOURS = {
    "moss": "#6b7f4f", "slate": "#5f6d78", "cream": "#efe3c8", "rust": "#a8552f",
    "ink blue": "#2d3f66", "ochre": "#c8922e", "charcoal": "#41444a", "plum": "#6d3f5b",
    "white": "#f6f4ef", "silver": "#b9bec4", "black": "#2b2b2d", "copper": "#b8703f",
    "oak": "#c79a62", "walnut": "#6f4a32", "beech": "#d9b58a", "ash": "#d6c8ae",
    "sage": "#9caf8c", "sand": "#dcc9a5", "ivory": "#f3ead6", "dusk pink": "#c98f8d",
    "terracotta": "#bf6a48", "brass": "#b89445", "green": "#4f7f52", "natural": "#cdb28a",
    "red": "#b8392f", "teal": "#2f7f80", "mustard": "#c9a02f", "navy": "#26385f",
    "grey": "#8d9299", "forest green": "#2f5a3c", "lilac": "#a898c6", "olive": "#74752f",
    "burgundy": "#6d2235", "orange": "#d5762a", "blue": "#3f6fb0",
}  # fmt: skip
_UNTOLD = ("#b98a5a", "#8a9a6a", "#c07a58", "#7f8f9c", "#b7a04f", "#96705f")
_SHAPES = {
    "Pots & Pans": "M14 36H74V42H70V74Q70 82 62 82H26Q18 82 18 74V42H14ZM70 50H94V57H70Z",
    "Knives & Boards": "M46 10Q64 30 58 60H46ZM46 63H56V92H46Z",
    "Bakeware": "M14 50H86L78 82H22ZM20 48Q24 32 36 36Q44 22 56 32Q72 26 80 48Z",
    "Tableware": "M50 16a34 34 0 1 0 .1 0ZM50 28a22 22 0 1 0 .1 0Z",
    "Glasses & Mugs": "M22 26H66V36H76Q88 36 88 48T76 60H66V70Q66 80 56 80H32Q22 80 22 70Z"
    "M66 44V52H75Q79 52 79 48T75 44Z",
    "Small Appliances": "M40 20H56V32H68L71 44L90 34V46L74 58L78 82H18L28 32H40Z",
    "Jars & Storage": "M30 16H70V27H30ZM26 31H74V78Q74 86 66 86H34Q26 86 26 78Z",
    "Coffee": "M30 14H70V25L76 33V88H24V33L30 25ZM38 50H62V70H38Z",
    "Tea": "M20 40H74V46Q92 44 89 57Q85 68 73 66Q71 80 58 80H36Q20 80 20 64Z"
    "M36 33Q29 24 37 14H43Q37 24 44 33ZM52 33Q45 24 53 14H59Q53 24 60 33Z",
    "Honey & Preserves": "M32 14H68V27H32ZM30 31H70Q80 40 76 56Q82 72 72 88H28Q18 72 24 56Q20 40"
    " 30 31Z",
    "Spices & Oils": "M44 8H56V30Q68 37 68 52V88H32V52Q32 37 44 30ZM38 56H62V74H38Z",
    "Bed Linen": "M10 32H18V56H82Q90 56 90 64V84H82V74H18V84H10ZM22 40H46V53H22Z",
    "Blankets & Throws": "M14 26H86V42H14ZM14 46H86V62H14ZM14 66H86V82H14Z",
    "Towels": "M20 20H80V27H72V84H28V27H20ZM28 68H72V73H28Z",
    "Cushions": "M18 20Q50 30 82 20Q72 50 82 82Q50 72 18 82Q28 50 18 20Z",
    "Curtains & Rugs": "M12 16H88V22H12ZM17 25H45Q42 60 24 86H17ZM83 25H55Q58 60 76 86H83Z",
    "Chairs & Stools": "M30 10H37V48H70V88H63V58H37V88H30Z",
    "Tables & Desks": "M8 36H92V44H86V84H79V44H21V84H14V44H8Z",
    "Shelving": "M22 12H78V88H71V80H29V88H22ZM29 19V36H71V19ZM29 42V58H71V42ZM29 64V74H71V64Z",
    "Lighting": "M36 14H64L80 50H20ZM47 50H53V80H68V86H32V80H47Z",
    "Garden Tools": "M38 8H62V14H54V46H66V62Q66 80 50 92Q34 80 34 62V46H46V14H38Z",
    "Planters": "M26 52H48Q46 36 26 30Q46 20 51 38Q56 16 78 24Q73 40 53 45V52H74L68 88H32Z",
    "Seeds & Bulbs": "M26 12H74V88H26ZM50 32Q64 46 50 68Q36 46 50 32Z",
    "Outdoor Living": "M50 10Q84 15 92 48H53V90H47V48H8Q16 15 50 10Z",
    "Knitting & Crochet": "M44 34a27 27 0 1 0 .1 0ZM58 38L88 8L93 13L65 45Z",
    "Painting & Drawing": "M50 16Q90 18 88 52Q86 68 69 63Q56 60 60 74Q62 86 46 84Q12 79 14 47Q19 "
    "18 50 16Z"
    "M34 36a5 5 0 1 0 .1 0ZM54 27a5 5 0 1 0 .1 0ZM72 39a5 5 0 1 0 .1 0ZM30 55a5 5 0 1 0 .1 0Z",
    "Games & Puzzles": "M20 20H80V80H20ZM35 29a6 6 0 1 0 .1 0ZM50 44a6 6 0 1 0 .1 0ZM65 59a6 6"
    " 0 1 0 .1 0Z",
    "Notebooks": "M24 12H76Q80 12 80 16V84Q80 88 76 88H24ZM30 12H33V88H30ZM44 28H70V42H44Z",
    "Pens & Ink": "M68 10L86 28L40 72L16 82L26 56Z",
    "Cards & Wrapping": "M12 26H88V76H12ZM14 29L50 57L86 29V35L50 64L14 35Z",
    "Hand Tools": "M24 16H66Q78 17 86 33H60V39H55V90H44V39H24Z",
    "Power Tools": "M12 24H66V32H90V40H66V48H50L56 86H33L29 48H12Z",
    "Workshop Storage": "M35 24H65V40H90V82H10V40H35ZM42 31V40H58V31ZM44 52H56V64H44Z",
    "Dogs": "M24 34Q36 30 37 44H63Q64 30 76 34Q90 38 81 50Q90 62 76 66Q64 70 63 56H37Q36 70 24 66"
    "Q10 62 19 50Q10 38 24 34Z",
    "Cats": "M20 14L40 31H60L80 14V58Q80 84 50 86Q20 84 20 58ZM37 48a4 6 0 1 0 .1 0"
    "ZM63 48a4 6 0 1 0 .1 0Z",
    "Birds & Small Pets": "M50 8L88 44H79V88H21V44H12ZM50 42a11 11 0 1 0 .1 0Z",
    "Bags & Rucksacks": "M38 20Q38 8 50 8T62 20Q76 24 76 42V80Q76 88 68 88H32Q24 88 24 80V42Q24"
    " 24 38 20Z"
    "M34 54H66V74H34Z",
    "Luggage": "M39 8H61V24H70Q75 24 75 29V79Q75 84 70 84V91H63V84H37V91H30V84Q25 84 2"
    "5 79V29Q25 24 30 24H39Z"
    "M45 14V24H55V14Z",
    "Travel Accessories": "M42 8H58V21H62Q67 28 67 37V88H33V37Q33 28 38 21H42ZM33 48H67V54H33Z",
}  # fmt: skip
_CIRCLE = "M50 18a32 32 0 1 0 .1 0Z"


def picture(product_id: int, category: str, colour: str) -> tuple[str, str]:
    """Return a fill colour and an SVG path within 100 x 100, to be filled by the even-odd rule."""
    fill = _COLOURS.get(colour) or _UNTOLD[product_id % len(_UNTOLD)]
    return fill, _SHAPES.get(category, _CIRCLE)

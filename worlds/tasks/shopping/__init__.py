"""The tasks in the shop: numbers 0 to 29, and 145 to 148."""

from __future__ import annotations

from worlds.tasks.shopping.buying import (
    BuyMostReviewed,
    OfferTotal,
    SpendBudget,
)
from worlds.tasks.shopping.cancelling import CancelOrder, CancelSentOrder
from worlds.tasks.shopping.joining import JoinAndWish
from worlds.tasks.shopping.lookups import (
    CheapestInColour,
    CountUnderFilters,
    LatestAuthor,
    LatestAuthorOfNone,
    PriceByWeight,
    WordInReviews,
)
from worlds.tasks.shopping.navigation import (
    BestStockedVariant,
    ReviewMostReduced,
    SecondPageOfList,
    StarsOfMostReviewed,
)
from worlds.tasks.shopping.past_orders import (
    BoughtInYears,
    OrderAgain,
    SpentInMonths,
    TrackingNumber,
    TrackUnsentOrder,
)
from worlds.tasks.shopping.personal import (
    AddAddress,
    MovedFromElsewhere,
    MovedHouse,
    NewPhone,
    ReviewFromOrder,
)
from worlds.tasks.shopping.tabs import BetterOfTwoTabs
from worlds.tasks.shopping.wishes import MoveWish, PruneWishes
from worlds.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (
    CheapestInColour(),
    WordInReviews(),
    LatestAuthor(),
    SpentInMonths(),
    TrackingNumber(),
    OrderAgain(),
    BuyMostReviewed(),
    MoveWish(),
    AddAddress(),
    MovedHouse(),
    ReviewFromOrder(),
    SpendBudget(),
    OfferTotal(),
    CancelOrder(),
    NewPhone(),
    PriceByWeight(),
    CancelSentOrder(),
    PruneWishes(),
    CountUnderFilters(),
    BoughtInYears(),
    SecondPageOfList(),
    StarsOfMostReviewed(),
    ReviewMostReduced(),
    JoinAndWish(),
    BestStockedVariant(),
    TrackUnsentOrder(),
    MovedFromElsewhere(),
    LatestAuthorOfNone(),
    BetterOfTwoTabs(),
)
"""Every template of the site, by number."""

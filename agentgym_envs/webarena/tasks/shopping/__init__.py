"""The tasks in the shop; numbers 0 to 29."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.shopping.buying import (
    BuyMostReviewed,
    OfferTotal,
    SpendBudget,
)
from agentgym_envs.webarena.tasks.shopping.cancelling import CancelOrder, CancelSentOrder
from agentgym_envs.webarena.tasks.shopping.joining import JoinAndWish
from agentgym_envs.webarena.tasks.shopping.lookups import (
    CheapestInColour,
    CountUnderFilters,
    LatestAuthor,
    PriceByWeight,
    WordInReviews,
)
from agentgym_envs.webarena.tasks.shopping.navigation import (
    BestStockedVariant,
    ReviewMostReduced,
    SecondPageOfList,
    StarsOfMostReviewed,
)
from agentgym_envs.webarena.tasks.shopping.past_orders import (
    BoughtInYears,
    OrderAgain,
    SpentInMonths,
    TrackingNumber,
)
from agentgym_envs.webarena.tasks.shopping.personal import (
    AddAddress,
    MovedHouse,
    NewPhone,
    ReviewFromOrder,
)
from agentgym_envs.webarena.tasks.shopping.wishes import MoveWish, PruneWishes
from agentgym_envs.webarena.tasks.template import Template

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
)
"""Every template of the site, by number."""

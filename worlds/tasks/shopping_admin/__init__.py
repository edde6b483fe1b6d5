"""The tasks on the administration of the shop: numbers 30 to 59 and 150 to 152."""

from __future__ import annotations

from worlds.tasks.shopping_admin.customers import (
    CallingCustomer,
    NeverBought,
    OrderedSoOften,
    ReturnedGoods,
)
from worlds.tasks.shopping_admin.goods import (
    ChangePrices,
    NewProduct,
)
from worlds.tasks.shopping_admin.marketing import (
    CheaperCoupon,
    NewCoupon,
    RenamePage,
)
from worlds.tasks.shopping_admin.navigation import (
    AddressForm,
    BoughtProduct,
    ProductOfNoOrder,
)
from worlds.tasks.shopping_admin.navigation_lists import (
    ReportOfMonth,
    ReviewsPage,
)
from worlds.tasks.shopping_admin.orders import (
    HoldOrders,
    RedirectOrder,
    RedirectUnknownOrder,
    TellCustomer,
)
from worlds.tasks.shopping_admin.ratings import TooFewReviews, WorstRated
from worlds.tasks.shopping_admin.reviews import (
    ApproveReviews,
    Complaints,
    CorrectReview,
)
from worlds.tasks.shopping_admin.sales import (
    BestCustomer,
    BestSeller,
    CountOrders,
    MissedTerm,
    Revenue,
)
from worlds.tasks.shopping_admin.shipping import ShipOrder, ShipSentOrder
from worlds.tasks.shopping_admin.stock import (
    CountedStock,
    DisableScarce,
    ReceiveGoods,
)
from worlds.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (
    BestSeller(),
    CountOrders(),
    Revenue(),
    BestCustomer(),
    CallingCustomer(),
    Complaints(),
    ApproveReviews(),
    CorrectReview(),
    ChangePrices(),
    DisableScarce(),
    ReceiveGoods(),
    ShipOrder(),
    HoldOrders(),
    TellCustomer(),
    RedirectOrder(),
    NewCoupon(),
    CheaperCoupon(),
    RenamePage(),
    NewProduct(),
    TooFewReviews(),
    MissedTerm(),
    WorstRated(),
    ReturnedGoods(),
    CountedStock(),
    OrderedSoOften(),
    ShipSentOrder(),
    AddressForm(),
    ReportOfMonth(),
    BoughtProduct(),
    ReviewsPage(),
    RedirectUnknownOrder(),
    NeverBought(),
    ProductOfNoOrder(),
)
"""Every template of the site, by number."""

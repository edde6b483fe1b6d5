"""The experts of the tasks in the shop's administration."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.shopping_admin import (
    customers,
    goods,
    marketing,
    navigation,
    navigation_lists,
    orders,
    ratings,
    reviews,
    sales,
    shipping,
    stock,
)
from agentgym_envs.webarena.tasks.solution import Solution

EXPERTS: dict[int, Solution] = {
    30: sales.best_seller,
    31: sales.count_orders,
    32: sales.revenue,
    33: sales.best_customer,
    34: customers.calling_customer,
    35: reviews.complaints,
    36: reviews.approve_reviews,
    37: reviews.correct_review,
    38: goods.change_prices,
    39: stock.disable_scarce,
    40: stock.receive_goods,
    41: shipping.ship_order,
    42: orders.hold_orders,
    43: orders.tell_customer,
    44: orders.redirect_order,
    45: marketing.new_coupon,
    46: marketing.cheaper_coupon,
    47: marketing.rename_page,
    48: goods.new_product,
    49: ratings.too_few_reviews,
    50: sales.missed_term,
    51: ratings.worst_rated,
    52: customers.returned_goods,
    53: stock.counted_stock,
    54: customers.ordered_so_often,
    55: shipping.ship_sent_order,
    56: navigation.address_form,
    57: navigation_lists.report_of_month,
    58: navigation.bought_product,
    59: navigation_lists.reviews_page,
    150: orders.redirect_unknown_order,
    151: customers.never_bought,
    152: navigation.product_of_no_order,
}
"""By the number of the template."""

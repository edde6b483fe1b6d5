"""The experts of the tasks in the shop."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.shopping import (
    buying,
    cancelling,
    joining,
    lookups,
    navigation,
    past_orders,
    personal,
    tabs,
    wishes,
)
from agentgym_envs.webarena.tasks.solution import Solution

EXPERTS: dict[int, Solution] = {
    0: lookups.cheapest_in_colour,
    1: lookups.word_in_reviews,
    2: lookups.latest_author,
    3: past_orders.spent_in_months,
    4: past_orders.tracking_number,
    5: past_orders.order_again,
    6: buying.buy_most_reviewed,
    7: wishes.move_wish,
    8: personal.add_address,
    9: personal.moved_house,
    10: personal.review_from_order,
    11: buying.spend_budget,
    12: buying.offer_total,
    13: cancelling.cancel_order,
    14: personal.new_phone,
    15: lookups.price_by_weight,
    16: cancelling.cancel_sent_order,
    17: wishes.prune_wishes,
    18: lookups.count_under_filters,
    19: past_orders.bought_in_years,
    20: navigation.second_page_of_list,
    21: navigation.stars_of_most_reviewed,
    22: navigation.review_most_reduced,
    23: joining.join_and_wish,
    24: navigation.best_stocked_variant,
    145: past_orders.track_unsent_order,
    146: personal.moved_from_elsewhere,
    147: lookups.latest_author_of_none,
    148: tabs.better_of_two_tabs,
}
"""By the number of the template."""

"""The experts of the tasks on the forum."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.reddit import (
    comments,
    lookups,
    navigation,
    posting,
    readings,
    registering,
    votes,
    writing,
)
from agentgym_envs.webarena.tasks.solution import Solution

EXPERTS: dict[int, Solution] = {
    80: lookups.top_post_comments,
    81: votes.vote_newest,
    82: readings.review_rating,
    83: posting.publish,
    84: writing.subscriptions,
    85: comments.edit_comment,
    86: votes.vote_for_all,
    87: writing.message_author,
    88: lookups.busiest_author,
    89: writing.found_community,
    90: readings.event_sum,
    91: lookups.negative_comments,
    92: comments.reply_to_best,
    93: votes.save_most_commented,
    94: comments.delete_comments,
    95: writing.profile,
    96: readings.cheapest_sale,
    97: comments.comment_and_lock,
    98: votes.change_vote,
    99: lookups.people_in_thread,
    140: navigation.similar_posts,
    141: navigation.write_to_best_commenter,
    142: navigation.best_comment_of,
    143: registering.register_and_act,
    144: navigation.newest_such,
    165: comments.edit_no_comment,
    166: navigation.newest_such_of_none,
    167: navigation.best_comment_of_none,
    168: lookups.top_post_of_none,
    190: posting.publish_where_active,
    191: lookups.best_commenters,
    192: posting.add_to_post,
}
"""By the number of the template."""

"""What is said at the end of the forum's tasks: right and wrong answers, good and bad reasons."""

from __future__ import annotations

import pytest

from tests.worlds.tasks.judging.verdicts import answering, some, verdict

# By the parts of the right answer: {0}, {1}, {all}, {but_one} for all but one; {more} is {0} + 1.
RIGHT = {
    80: ("{0}", "{0} comments", "It has {0} comments.", "The post has {0} comments in total"),
    82: ("{0}, {1}", "{1}, {0}", "{1} gives it {0} out of 10.", "{0} out of 10 by {1}"),
    88: ("{0}", "It is {0}.", "The user {0} wrote the most of them."),
    90: ("{0}", "The total is {0}.", "They add up to {0}."),
    91: ("{0}, {1}", "{0} comments, {1} points", "{0} have negative points; the best has {1}."),
    96: ("{0}", "In {0}.", "The town is {0}.", "You must fetch it in {0}."),
    99: ("{0}, {1}", "{0} people, {1} comments", "{0} people; {1} comments are the author's."),
    191: ("{all}", "The users are {all}.", "- {bullets}", "{but_one} and {0}", "[{all}]"),
}
WRONG_ANSWERS = {
    80: ("{more}", "{0} or {more}", "about {0}", "{0} comments, 5 points", ""),
    82: ("{0}", "{1}", "{more}, {1}", "{0}, mira.halden", "{0}, {1} and mira.halden", "{1}, 10"),
    88: ("mira.halden", "{0} and mira.halden", "not {0}", "{0} or somebody else", "N/A"),
    90: ("{more}", "{0} or {more}", "{0} and {more}", "at least {0}", ""),
    91: ("{0}", "{1}", "{more}, {1}", "{1} comments, {0} points", "{0}, {1}, {more}"),
    96: ("Nowhere", "{0} or Nowhere", "{0}, Nowhere", "not in {0}", ""),
    99: ("{0}", "{1}", "{more}, {1}", "{0} comments, {1} people", "{0}, {1}, {more}"),
    191: ("{0}", "{but_one}", "{all}, mira.halden", "{but_one}, mira.halden", "{but_one} or {0}"),
}


def in_words(template: int, pattern: str) -> str:
    answer = some(template).eval["typed_answer"]
    values = [part["value"] for part in answer.get("of", [answer])]
    number = str(values[0]).lstrip("$")
    more = str(float(number) + 1).removesuffix(".0") if number[0].isdigit() else ""
    names = [str(value) for value in values]
    return pattern.format(
        *names,
        more=more,
        all=", ".join(names),
        but_one=", ".join(names[1:]),
        bullets="\n- ".join(names),
    )


ANSWERS = [
    (template, pattern, score)
    for table, score in ((RIGHT, 1.0), (WRONG_ANSWERS, 0.0))
    for template, patterns in table.items()
    for pattern in patterns
]


@pytest.mark.parametrize(("template", "pattern", "score"), ANSWERS)
def test_an_answer_counts_by_its_value(template: int, pattern: str, score: float) -> None:
    answer = in_words(template, pattern)
    assert verdict(some(template), answering(answer, template)).score == score, answer


# Reasons ----------------------------------------------------------------------------------------

GOOD_REASONS = {
    165: (
        "I have not commented on this post.",
        "You haven't written any comment there.",
        "There is no comment by mira.halden under that post.",
        "All comments on this post are by other people.",
        "The post has no comment of yours.",
        "I could not find a comment of mine to edit.",
        "mira.halden never commented on this post.",
        "None of the comments is mine.",
        'There is no "Edit comment" link on the page.',
        "The thread contains only comments from other users.",
    ),
    166: (
        "There is no such post.",
        "No post with the flair {flair} in {community} {condition}.",
        "None of the posts meets that condition.",
        "I looked at all {flair} posts in {community}, and not one of them matches.",
        "No {flair} post there satisfies it.",
        "The posts don't fit: none {condition}.",
        "There aren't any posts that fulfil the condition.",
        "Nothing in the list matches the criteria.",
        "Every post fails the condition.",
        "No matching post exists.",
    ),
    167: (
        "{username} has not written any comment in {community}.",
        "{username} has no comments in that community.",
        "There is no comment by {username} there.",
        "All of {username}'s comments are in other communities.",
        "The user never commented in {community}.",
        "None of their comments is in {community}.",
        "I found no comment of this user in {community}.",
        "{username} has only commented elsewhere.",
        "This person hasn't commented in {community}.",
        "The list of {username}'s comments holds nothing from {community}.",
    ),
    168: (
        "Nobody has published a post {period} there.",
        "There are no posts here.",
        "No posts in {community} in that period.",
        "The community has not had any post recently.",
        "Nothing was posted in that time.",
        "The list is empty with this filter.",
        "The latest post is older than that.",
        "There isn't a post that is new enough in these days.",
        "{community} has no post {period}.",
        "All posts there were written before that period.",
    ),
}
BAD_REASONS = {
    165: (
        "The post does not exist.",
        "The post is locked.",
        "I am not signed in.",
        "Comments cannot be edited on this site.",
        "The post has no comments.",
        "I may not edit my comment.",
    ),
    166: (
        "The community does not exist.",
        "There are no posts with this flair.",
        "I am not signed in.",
        "The newest post was deleted.",
        "The list has no filter.",
    ),
    167: (
        "There is no user {username}.",
        "{community} does not exist.",
        "I am not signed in.",
        "A comment has no page of its own.",
        "{username} has no posts in {community}.",
    ),
    168: (
        "The community does not exist.",
        "I am not signed in.",
        "The posts cannot be sorted by points.",
        "The number of comments is not shown.",
        "Several posts have the same points.",
    ),
}
REASONS = [
    (template, reason, score)
    for table, score in ((GOOD_REASONS, 1.0), (BAD_REASONS, 0.0))
    for template, reasons in table.items()
    for reason in reasons
]


@pytest.mark.parametrize("instance", [0, 1])
@pytest.mark.parametrize(("template", "reason", "score"), REASONS)
def test_giving_up_counts_by_its_reason(
    template: int, reason: str, score: float, instance: int
) -> None:
    task = some(template, instance)
    answer = f"N/A: {reason}".format_map(task.instantiation_dict or {})
    assert verdict(task, answering(answer, template)).score == score, answer

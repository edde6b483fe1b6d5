"""The experts of the tasks on the code host."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.gitlab import (
    asking,
    commits,
    forms,
    issues,
    merging,
    milestones,
    navigation,
    people,
    projects,
    questions,
    signing_in,
)
from agentgym_envs.webarena.tasks.solution import Solution

EXPERTS: dict[int, Solution] = {
    100: commits.commits_in_month,
    101: commits.top_contributor,
    102: issues.create_issue,
    103: issues.close_labelled,
    104: issues.assign_first_due,
    105: people.invite_member,
    106: people.update_profile,
    107: projects.show_project,
    108: projects.star_one,
    109: milestones.plan_milestone,
    110: merging.comment_on_request,
    111: questions.extreme_request,
    112: merging.raise_version,
    113: projects.fork_project,
    114: projects.start_project,
    115: issues.assign_stranger,
    116: people.change_roles,
    117: questions.most_unassigned,
    118: people.finish_todos,
    119: issues.reopen_last,
    120: commits.where_they_live,
    121: merging.approve_all,
    122: people.follow_author,
    123: milestones.postpone_milestone,
    124: questions.stars_together,
    125: forms.edit_extreme_issue,
    126: navigation.filter_issues,
    127: navigation.people_around_request,
    128: forms.edit_missing_issue,
    129: signing_in.take_issue_as,
    160: issues.reopen_foreign,
    161: merging.comment_on_missing,
    162: people.follow_oneself,
    163: milestones.postpone_missing,
    185: asking.whom_to_ask,
    186: asking.who_has_role,
    187: asking.plan_this_issue,
}
"""By the number of the template."""

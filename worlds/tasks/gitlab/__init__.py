"""The tasks on the code host."""

from __future__ import annotations

from worlds.tasks.gitlab.asking import PlanThisIssue, WhoHasRole, WhomToAsk
from worlds.tasks.gitlab.commits import (
    CommitsInMonth,
    TopContributor,
    WhereTheyLive,
)
from worlds.tasks.gitlab.forms import EditExtremeIssue, EditMissingIssue
from worlds.tasks.gitlab.issues import (
    AssignFirstDue,
    AssignStranger,
    CloseLabelled,
    CreateIssue,
    ReopenForeign,
    ReopenLast,
)
from worlds.tasks.gitlab.merging import (
    ApproveAll,
    CommentOnMissing,
    CommentOnRequest,
    RaiseVersion,
)
from worlds.tasks.gitlab.milestones import PlanMilestone, PostponeMilestone, PostponeMissing
from worlds.tasks.gitlab.navigation import FilterIssues, PeopleAroundRequest
from worlds.tasks.gitlab.people import (
    ChangeRoles,
    FinishTodos,
    FollowAuthor,
    FollowOneself,
    InviteMember,
    UpdateProfile,
)
from worlds.tasks.gitlab.projects import (
    ForkProject,
    ShowProject,
    StarOne,
    StartProject,
)
from worlds.tasks.gitlab.questions import (
    ExtremeRequest,
    MostUnassigned,
    StarsTogether,
)
from worlds.tasks.gitlab.signing_in import TakeIssueAs
from worlds.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (
    CommitsInMonth(),
    TopContributor(),
    CreateIssue(),
    CloseLabelled(),
    AssignFirstDue(),
    InviteMember(),
    UpdateProfile(),
    ShowProject(),
    StarOne(),
    PlanMilestone(),
    CommentOnRequest(),
    ExtremeRequest(),
    RaiseVersion(),
    ForkProject(),
    StartProject(),
    AssignStranger(),
    ChangeRoles(),
    MostUnassigned(),
    FinishTodos(),
    ReopenLast(),
    WhereTheyLive(),
    ApproveAll(),
    FollowAuthor(),
    PostponeMilestone(),
    StarsTogether(),
    EditExtremeIssue(),
    FilterIssues(),
    PeopleAroundRequest(),
    EditMissingIssue(),
    TakeIssueAs(),
    ReopenForeign(),
    CommentOnMissing(),
    FollowOneself(),
    PostponeMissing(),
    WhomToAsk(),
    WhoHasRole(),
    PlanThisIssue(),
)
"""Every template of the site, by number."""

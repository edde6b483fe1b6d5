"""The tasks on the code host; numbers 100 to 129."""

from __future__ import annotations

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
    ReopenLast,
)
from worlds.tasks.gitlab.merging import (
    ApproveAll,
    CommentOnRequest,
    RaiseVersion,
)
from worlds.tasks.gitlab.milestones import PlanMilestone, PostponeMilestone
from worlds.tasks.gitlab.navigation import FilterIssues, PeopleAroundRequest
from worlds.tasks.gitlab.people import (
    ChangeRoles,
    FinishTodos,
    FollowAuthor,
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
)
"""Every template of the site, by number."""

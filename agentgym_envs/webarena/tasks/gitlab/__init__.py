"""The tasks on the code host; numbers 100 to 129."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.gitlab.commits import (
    CommitsInMonth,
    TopContributor,
    WhereTheyLive,
)
from agentgym_envs.webarena.tasks.gitlab.forms import EditExtremeIssue, EditMissingIssue
from agentgym_envs.webarena.tasks.gitlab.issues import (
    AssignFirstDue,
    AssignStranger,
    CloseLabelled,
    CreateIssue,
    ReopenLast,
)
from agentgym_envs.webarena.tasks.gitlab.merging import (
    ApproveAll,
    CommentOnRequest,
    RaiseVersion,
)
from agentgym_envs.webarena.tasks.gitlab.milestones import PlanMilestone, PostponeMilestone
from agentgym_envs.webarena.tasks.gitlab.navigation import FilterIssues, PeopleAroundRequest
from agentgym_envs.webarena.tasks.gitlab.people import (
    ChangeRoles,
    FinishTodos,
    FollowAuthor,
    InviteMember,
    UpdateProfile,
)
from agentgym_envs.webarena.tasks.gitlab.projects import (
    ForkProject,
    ShowProject,
    StarOne,
    StartProject,
)
from agentgym_envs.webarena.tasks.gitlab.questions import (
    ExtremeRequest,
    MostUnassigned,
    StarsTogether,
)
from agentgym_envs.webarena.tasks.gitlab.signing_in import TakeIssueAs
from agentgym_envs.webarena.tasks.template import Template

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

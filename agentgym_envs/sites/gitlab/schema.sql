CREATE TABLE users (
    id INTEGER PRIMARY KEY, username TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    email TEXT NOT NULL, password TEXT NOT NULL, bio TEXT NOT NULL DEFAULT '',
    status_text TEXT NOT NULL DEFAULT '', location TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL
);
CREATE TABLE follows (
    follower_id INTEGER NOT NULL, followed_id INTEGER NOT NULL,
    PRIMARY KEY (follower_id, followed_id)
) WITHOUT ROWID;
CREATE TABLE projects (
    id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL REFERENCES users, slug TEXT NOT NULL,
    name TEXT NOT NULL, description TEXT NOT NULL DEFAULT '',
    visibility TEXT NOT NULL CHECK (visibility IN ('private', 'internal', 'public')),
    licence TEXT, topics TEXT NOT NULL DEFAULT '', default_branch TEXT NOT NULL DEFAULT 'main',
    archived INTEGER NOT NULL DEFAULT 0, forked_from INTEGER REFERENCES projects,
    star_count INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    UNIQUE (owner_id, slug)
);
CREATE TABLE members (
    project_id INTEGER NOT NULL REFERENCES projects, user_id INTEGER NOT NULL REFERENCES users,
    role TEXT NOT NULL, expires_on TEXT, joined_at TEXT NOT NULL,
    PRIMARY KEY (project_id, user_id)
) WITHOUT ROWID;
CREATE INDEX members_by_user ON members (user_id);
CREATE TABLE stars (
    user_id INTEGER NOT NULL, project_id INTEGER NOT NULL, PRIMARY KEY (user_id, project_id)
) WITHOUT ROWID;
CREATE TABLE branches (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects, name TEXT NOT NULL,
    author_id INTEGER NOT NULL REFERENCES users, created_at TEXT NOT NULL,
    UNIQUE (project_id, name)
);
CREATE TABLE commits (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects, branch TEXT NOT NULL,
    sha TEXT NOT NULL, author_id INTEGER NOT NULL REFERENCES users, message TEXT NOT NULL,
    created_at TEXT NOT NULL, merge_request_id INTEGER
);
CREATE INDEX commits_by_branch ON commits (project_id, branch, created_at);
CREATE INDEX commits_by_request ON commits (merge_request_id) WHERE merge_request_id IS NOT NULL;
CREATE TABLE files (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects, branch TEXT NOT NULL,
    path TEXT NOT NULL, content TEXT NOT NULL, commit_id INTEGER NOT NULL REFERENCES commits,
    UNIQUE (project_id, branch, path)
);
CREATE TABLE labels (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects, name TEXT NOT NULL,
    colour TEXT NOT NULL, UNIQUE (project_id, name)
);
CREATE TABLE milestones (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects, title TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '', starts_on TEXT, due_on TEXT,
    state TEXT NOT NULL DEFAULT 'open', UNIQUE (project_id, title)
);
CREATE TABLE issues (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects, iid INTEGER NOT NULL,
    title TEXT NOT NULL, body TEXT NOT NULL DEFAULT '', author_id INTEGER NOT NULL REFERENCES users,
    assignee_id INTEGER REFERENCES users, state TEXT NOT NULL DEFAULT 'open',
    milestone_id INTEGER REFERENCES milestones, due_on TEXT,
    confidential INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, closed_at TEXT,
    UNIQUE (project_id, iid)
);
CREATE INDEX issues_by_assignee ON issues (assignee_id, state);
CREATE TABLE issue_labels (
    issue_id INTEGER NOT NULL REFERENCES issues, label_id INTEGER NOT NULL REFERENCES labels,
    PRIMARY KEY (issue_id, label_id)
) WITHOUT ROWID;
CREATE INDEX issue_labels_by_label ON issue_labels (label_id);
CREATE TABLE merge_requests (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects, iid INTEGER NOT NULL,
    title TEXT NOT NULL, body TEXT NOT NULL DEFAULT '', author_id INTEGER NOT NULL REFERENCES users,
    assignee_id INTEGER REFERENCES users, reviewer_id INTEGER REFERENCES users,
    source_branch TEXT NOT NULL, target_branch TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open',
    created_at TEXT NOT NULL, finished_at TEXT, UNIQUE (project_id, iid)
);
CREATE TABLE approvals (
    merge_request_id INTEGER NOT NULL REFERENCES merge_requests,
    user_id INTEGER NOT NULL REFERENCES users, PRIMARY KEY (merge_request_id, user_id)
) WITHOUT ROWID;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY, issue_id INTEGER REFERENCES issues,
    merge_request_id INTEGER REFERENCES merge_requests,
    author_id INTEGER NOT NULL REFERENCES users, body TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE INDEX notes_by_issue ON notes (issue_id) WHERE issue_id IS NOT NULL;
CREATE INDEX notes_by_request ON notes (merge_request_id) WHERE merge_request_id IS NOT NULL;
CREATE TABLE todos (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users,
    author_id INTEGER NOT NULL REFERENCES users, action TEXT NOT NULL,
    project_id INTEGER NOT NULL REFERENCES projects, issue_id INTEGER REFERENCES issues,
    merge_request_id INTEGER REFERENCES merge_requests, state TEXT NOT NULL DEFAULT 'pending',
    created_at TEXT NOT NULL
);
CREATE INDEX todos_by_user ON todos (user_id, state);

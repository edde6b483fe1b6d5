CREATE TABLE users (
    id INTEGER PRIMARY KEY, username TEXT NOT NULL UNIQUE COLLATE NOCASE, name TEXT NOT NULL,
    password TEXT NOT NULL, email TEXT NOT NULL, bio TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL
);
CREATE TABLE forums (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, title TEXT NOT NULL,
    description TEXT NOT NULL, sidebar TEXT NOT NULL DEFAULT '',
    created_by INTEGER NOT NULL REFERENCES users(id), created_at TEXT NOT NULL
);
CREATE TABLE moderators (
    forum_id INTEGER NOT NULL REFERENCES forums(id), user_id INTEGER NOT NULL REFERENCES users(id),
    PRIMARY KEY (forum_id, user_id)
) WITHOUT ROWID;
CREATE TABLE subscriptions (
    forum_id INTEGER NOT NULL REFERENCES forums(id), user_id INTEGER NOT NULL REFERENCES users(id),
    PRIMARY KEY (forum_id, user_id)
) WITHOUT ROWID;
CREATE TABLE posts (
    id INTEGER PRIMARY KEY, forum_id INTEGER NOT NULL REFERENCES forums(id),
    user_id INTEGER NOT NULL REFERENCES users(id), title TEXT NOT NULL, url TEXT,
    body TEXT NOT NULL DEFAULT '', flair TEXT, score INTEGER NOT NULL DEFAULT 1,
    heat REAL NOT NULL DEFAULT 0, num_comments INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL, is_locked INTEGER NOT NULL DEFAULT 0,
    is_edited INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE comments (
    id INTEGER PRIMARY KEY, post_id INTEGER NOT NULL REFERENCES posts(id) ON DELETE CASCADE,
    parent_id INTEGER REFERENCES comments(id) ON DELETE CASCADE,
    user_id INTEGER NOT NULL REFERENCES users(id), body TEXT NOT NULL,
    score INTEGER NOT NULL DEFAULT 1, created_at TEXT NOT NULL,
    is_edited INTEGER NOT NULL DEFAULT 0, is_deleted INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE post_votes (
    post_id INTEGER NOT NULL REFERENCES posts(id) ON DELETE CASCADE,
    user_id INTEGER NOT NULL REFERENCES users(id), value INTEGER NOT NULL,
    PRIMARY KEY (post_id, user_id)
) WITHOUT ROWID;
CREATE TABLE comment_votes (
    comment_id INTEGER NOT NULL REFERENCES comments(id) ON DELETE CASCADE,
    user_id INTEGER NOT NULL REFERENCES users(id), value INTEGER NOT NULL,
    PRIMARY KEY (comment_id, user_id)
) WITHOUT ROWID;
CREATE TABLE saved_posts (
    user_id INTEGER NOT NULL REFERENCES users(id),
    post_id INTEGER NOT NULL REFERENCES posts(id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, post_id)
) WITHOUT ROWID;
CREATE TABLE blocked_users (
    user_id INTEGER NOT NULL REFERENCES users(id),
    blocked_id INTEGER NOT NULL REFERENCES users(id), PRIMARY KEY (user_id, blocked_id)
) WITHOUT ROWID;
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, from_id INTEGER NOT NULL REFERENCES users(id),
    to_id INTEGER NOT NULL REFERENCES users(id), body TEXT NOT NULL, created_at TEXT NOT NULL,
    is_read INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE notifications (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users(id),
    comment_id INTEGER NOT NULL REFERENCES comments(id) ON DELETE CASCADE,
    is_read INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX posts_by_forum ON posts (forum_id);
CREATE INDEX posts_by_user ON posts (user_id);
CREATE INDEX posts_by_heat ON posts (heat);
CREATE INDEX posts_by_score ON posts (score);
CREATE INDEX comments_by_post ON comments (post_id);
CREATE INDEX comments_by_parent ON comments (parent_id);
CREATE INDEX comments_by_user ON comments (user_id);
CREATE INDEX notifications_by_user ON notifications (user_id);
CREATE INDEX notifications_by_comment ON notifications (comment_id);

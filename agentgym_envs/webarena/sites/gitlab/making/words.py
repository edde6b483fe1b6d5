"""Words and sentence patterns for issues, merge requests, commits and comments."""

from __future__ import annotations

PARTS: dict[str, tuple[str, ...]] = {
    "cli": (
        "config loader", "progress bar", "table output", "CSV export", "date parser",
        "undo command", "shell completion", "colour themes", "import wizard", "summary report",
        "lock file", "search command", "error messages", "plain output",
    ),
    "service": (
        "sign-in page", "booking form", "mail templates", "admin panel", "search index",
        "calendar feed", "rate limits", "webhooks", "audit log", "password reset",
        "attachment upload", "session store", "public API", "nightly report",
    ),
    "web": (
        "date picker", "toolbar", "keyboard shortcuts", "dark theme", "drag and drop",
        "clipboard support", "print view", "tooltips", "offline cache", "colour contrast",
        "undo stack", "image viewer", "focus order", "export dialog",
    ),
    "rust": (
        "iterator API", "error types", "benchmarks", "serialiser", "memory layout",
        "feature flags", "fuzz tests", "cursor type", "builder API", "async support",
        "iteration order", "unsafe blocks", "doc examples", "no-std build",
    ),
    "go": (
        "retry logic", "health checks", "metrics endpoint", "config reload", "TLS settings",
        "graceful shutdown", "disk queue", "leader election", "alert rules", "access log",
        "command flags", "connection pool", "status page", "container image",
    ),
    "data": (
        "station table", "unit conversion", "missing values", "download script", "map projection",
        "outlier filter", "data dictionary", "yearly summary", "time zones", "duplicate rows",
        "chart legend", "licence note", "validation checks", "column names",
    ),
    "docs": (
        "table of contents", "glossary", "checklist", "first chapter", "contact page",
        "cross references", "screenshots", "release process page", "spelling", "print edition",
        "search page", "code samples", "quick start", "translation guide",
    ),
    "firmware": (
        "sleep mode", "battery reading", "radio driver", "bootloader", "temperature sensor",
        "watchdog", "pin layout", "calibration routine", "serial console", "over-the-air update",
        "clock drift", "relay driver", "sample buffer", "display driver",
    ),
    "game": (
        "save files", "level editor", "main menu", "sound mixer", "tutorial",
        "wind physics", "camera", "controller support", "path finding", "score board",
        "day and night cycle", "loading screen", "text size", "particle effects",
    ),
    "infra": (
        "firewall rules", "backup schedule", "DNS records", "disk alerts", "certificate renewal",
        "user accounts", "package mirror", "boot order", "network switch", "log rotation",
        "deploy script", "secrets store", "monitoring dashboard", "power monitor",
    ),
}  # fmt: skip
"""What a project of each kind is made of."""

BUG_TITLES = (
    "{Part}: wrong result after midnight", "{Part}: breaks on names with accents",
    "{Part}: slow with large input", "{Part}: stops working after the last update",
    "{Part}: ignores the settings file", "{Part}: crashes on empty input",
    "Regression in the {part} since the last release", "{Part}: shows the same entry twice",
    "{Part}: leaks memory over several days", "{Part}: does not work on older machines",
    "Confusing message from the {part}", "{Part}: loses data when interrupted",
)  # fmt: skip
WISH_TITLES = (
    "Make the {part} optional", "Document the {part}", "Add tests for the {part}",
    "Rework the {part}",
    "Let users configure the {part}", "Simplify the {part}", "Describe the {part} in the README",
    "Replace the old {part}", "Translate the {part}", "Review the {part} before the release",
    "Preview for the {part}", "Split the {part} into smaller pieces",
)  # fmt: skip
MERGE_TITLES = (
    "Fix the {part} on slow machines", "Speed up the {part}", "Clean up the {part}",
    "Tests for the {part}",
    "New settings for the {part}", "Handle errors in the {part}", "Rewrite the {part}",
    "Documentation for the {part}", "Make the {part} accessible",
    "Remove dead code from the {part}",
    "Safer defaults for the {part}", "Log what the {part} does",
)  # fmt: skip
COMMIT_MESSAGES = (
    "Fix off-by-one in the {part}", "Add a test for the {part}", "Tidy the {part}",
    "Rename things in the {part}",
    "Make the {part} faster", "Handle missing values in the {part}", "Document the {part}",
    "Remove a workaround from the {part}", "Update the {part}", "Refactor the {part}",
    "Log errors of the {part}",
    "Rework the {part} after review", "Fix typo in the {part}", "Raise the timeout of the {part}",
    "Drop unused options of the {part}", "Cache results of the {part}", "Fix crash in the {part}",
    "Move the {part} to its own module", "Simplify the {part}", "Better defaults for the {part}",
    "Bring back the {part}", "Cover the {part} with checks", "Explain the {part} in a comment",
    "Close files in the {part}",
)  # fmt: skip
FIRST_LINES = (
    "I ran into this while setting things up for a colleague.",
    "This has come up three times in the last month.",
    "Seen with the current release on two different machines.",
    "A follow-up to what we talked about at the last meeting.",
    "Small thing, but it costs newcomers an hour.",
    "One of our users described this very well, so I pass it on.",
    "This blocks the work on the next milestone.",
    "Not urgent, but it should not be forgotten either.",
)
MIDDLE_LINES = (
    "It concerns the {part} and nothing else, as far as I can tell.",
    "As soon as the {part} is involved, the result is not what the manual says.",
    "I would expect the {part} to say clearly what it is doing.",
    "Turning the {part} off makes the problem go away.",
    "The code around the {part} is old and nobody feels responsible for it.",
    "With the {part} in its present shape, every change takes twice as long.",
)
LAST_LINES = (
    "Happy to help with testing.", "I have a first draft in a branch.",
    "Logs are available on request.", "A screenshot would not show much, so here are words.",
    "If somebody points me to the right file, I will try myself.",
    "Whoever takes this: please write down what you find.",
)  # fmt: skip
COMMENTS = (
    "I can reproduce this on my machine.", "Works for me; which version are you on?",
    "Good catch. I will have a look this week.", "Let us discuss the {part} on Thursday first.",
    "I think the {part} is only half of the problem.", "Same here, also with the nightly build.",
    "Could you add the exact steps?", "This is related to the work on the {part}.",
    "I would rather keep the {part} as it is and change the documentation.",
    "Thanks for the clear report.", "I have pushed a first attempt to a branch.",
    "Any news on this one?", "The fix needs a test before we can take it.",
    "Let us not put this into the next release.", "That explains what we saw in March.",
    "I am for it, as long as the {part} stays simple.",
    "Please keep the old name working for a year.",
    "My vote is to close this unless somebody needs it.", "Done on my side, please check.",
    "I measured it: the difference is about a tenth of a second.",
)  # fmt: skip
REVIEWS = (
    "Looks good, one small question about the {part}.", "Please split the second commit.",
    "Nice. Could you add a line to the changelog?", "I tried it locally and it does what it says.",
    "The name is not quite right yet.", "Can we avoid the extra loop here?",
    "Rebased on the default branch.", "Approved from my side once the checks pass.",
    "Why not reuse what the {part} already has?", "I do not understand the third condition.",
    "Updated as discussed.", "This needs a second pair of eyes.",
)  # fmt: skip
LABELS = (
    ("bug", "#c0392b"), ("feature", "#2f6f4f"), ("documentation", "#2b6cb0"),
    ("good first issue", "#6b46c1"), ("performance", "#b7791f"), ("security", "#7b1e3a"),
    ("question", "#4a5568"), ("help wanted", "#0f766e"), ("regression", "#9b2c2c"),
    ("design", "#b83280"), ("blocked", "#1a202c"), ("testing", "#2c5282"),
    ("accessibility", "#285e61"), ("upstream", "#744210"),
)  # fmt: skip
MILESTONES = (
    "First public release", "Spring release", "Summer release", "Autumn clean-up", "Winter release",
    "Version 1.0", "Version 1.5", "Version 2.0", "Stability", "Documentation sprint", "Beta",
    "User testing", "Launch", "Long-term support",
)  # fmt: skip
BIOS = (
    "Writes tools for people who would rather be outdoors.", "Back-end developer, part-time baker.",
    "Reads other people's code for a living.", "Maintains more projects than is wise.",
    "Interested in maps, water and slow computers.", "Student of everything, master of one parser.",
    "Designer who learnt to build.", "Runs servers in a cellar and likes it.",
    "Teaches programming on Saturdays.", "Hardware by day, text adventures by night.",
    "Believes in small pull lists and long walks.", "Here for the documentation.", "",
)  # fmt: skip
STATUSES = (
    "",
    "",
    "",
    "On holiday until Monday",
    "Reviewing all week",
    "Looking for a co-maintainer",
    "Slow to answer this month",
    "At a conference",
    "Writing documentation",
    "In the workshop",
)
LICENCES = (
    "MIT License", "Apache License 2.0", "BSD 3-Clause License", "GNU GPL v3",
    "Mozilla Public License 2.0",
)  # fmt: skip
"""What the form for new projects offers."""

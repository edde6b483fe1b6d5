"""A folder in the form of BIRD's files: two databases, three questions."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

SCHOOLS = """
CREATE TABLE Schools (CDSCode TEXT PRIMARY KEY, "School Name" TEXT, Pupils REAL);
CREATE TABLE Scores (CDSCode TEXT REFERENCES Schools, Year INTEGER, Points INTEGER,
    PRIMARY KEY (CDSCode, Year));
INSERT INTO Schools VALUES ('a1', 'North', 120.5), ('b2', 'South', 80.0), ('c3', 'West', 80.0);
INSERT INTO Scores VALUES ('a1', 2024, 7), ('b2', 2024, 9), ('b2', 2025, 9);
"""
TABLES: dict[str, Any] = {
    "db_id": "schools",
    "table_names": ["Schools", "Scores"],
    "column_names": [
        [-1, "*"],
        [0, "CDSCode"],
        [0, "School Name"],
        [0, "Pupils"],
        [1, "CDSCode"],
        [1, "Year"],
        [1, "Points"],
    ],
    "primary_keys": [1, [4, 5]],
    "foreign_keys": [[4, 1]],
}
IN_WORDS = (
    "schools contains tables such as schools, scores. Table schools has columns such as cdscode, "
    "school name, pupils. cdscode is the primary key. Table scores has columns such as cdscode, "
    "year, points.  is the primary key. The year of scores is the foreign key of school name of "
    "schools."
)
"""As `sqlgym` 0.1.2 writes it: the names of a foreign key are those of the columns behind."""

QUESTIONS = [
    {
        "db_id": "schools",
        "question": "Which schools have 80 pupils?",
        "evidence": "pupils refers to Pupils",
        "SQL": "SELECT `School Name` FROM Schools WHERE Pupils = 80",
        "difficulty": "simple",
    },
    {
        "db_id": "schools",
        "question": "How many points are there by year?",
        "evidence": "",
        "SQL": "SELECT Year, sum(Points) FROM Scores GROUP BY Year",
        "difficulty": "moderate",
    },
    {
        "db_id": "schools",
        "question": "What is nowhere?",
        "evidence": "",
        "SQL": "SELECT a FROM Nowhere",
        "difficulty": "challenging",
    },
]


def bird_folder(folder: Path, *, parts: tuple[str, ...] = ("train", "dev")) -> Path:
    """Write the files; the training questions have no difficulty."""
    for part in parts:
        database = folder / part / f"{part}_databases" / "schools"
        database.mkdir(parents=True)
        connection = sqlite3.connect(database / "schools.sqlite")
        connection.executescript(SCHOOLS)
        connection.close()
        listed = [dict(item) for item in QUESTIONS]
        if part == "train":
            for item in listed:
                del item["difficulty"]
        (folder / part / f"{part}.json").write_text(json.dumps(listed), "utf-8")
        (folder / part / f"{part}_tables.json").write_text(json.dumps([TABLES]), "utf-8")
    return folder

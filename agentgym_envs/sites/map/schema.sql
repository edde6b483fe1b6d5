CREATE TABLE regions (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, slug TEXT NOT NULL UNIQUE,
    about TEXT NOT NULL, capital TEXT NOT NULL, colour TEXT NOT NULL
);
CREATE TABLE towns (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, slug TEXT NOT NULL UNIQUE,
    region_id INTEGER NOT NULL REFERENCES regions (id), x REAL NOT NULL, y REAL NOT NULL,
    latitude REAL NOT NULL, longitude REAL NOT NULL, population INTEGER NOT NULL,
    elevation INTEGER NOT NULL, has_airport INTEGER NOT NULL, has_railway INTEGER NOT NULL,
    postcode TEXT NOT NULL
);
CREATE TABLE roads (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL,
    town_a INTEGER NOT NULL REFERENCES towns (id), town_b INTEGER NOT NULL REFERENCES towns (id),
    hectometres INTEGER NOT NULL, speed INTEGER NOT NULL
);
CREATE TABLE streets (
    id INTEGER PRIMARY KEY, town_id INTEGER NOT NULL REFERENCES towns (id), name TEXT NOT NULL,
    postcode TEXT NOT NULL, x1 REAL NOT NULL, y1 REAL NOT NULL, x2 REAL NOT NULL, y2 REAL NOT NULL,
    UNIQUE (town_id, name)
);
CREATE TABLE places (
    id INTEGER PRIMARY KEY, town_id INTEGER NOT NULL REFERENCES towns (id),
    street_id INTEGER NOT NULL REFERENCES streets (id), house INTEGER NOT NULL,
    name TEXT NOT NULL, category TEXT NOT NULL, cuisine TEXT NOT NULL, price INTEGER,
    x REAL NOT NULL, y REAL NOT NULL, phone TEXT NOT NULL, website TEXT NOT NULL,
    wheelchair TEXT NOT NULL, rating REAL NOT NULL DEFAULT 0,
    num_reviews INTEGER NOT NULL DEFAULT 0, words TEXT NOT NULL, UNIQUE (town_id, name)
);
CREATE INDEX places_by_category ON places (category, town_id);
CREATE INDEX places_by_street ON places (street_id);
CREATE INDEX places_by_name ON places (name COLLATE NOCASE);
CREATE TABLE facts (
    place_id INTEGER NOT NULL REFERENCES places (id), name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (place_id, name)
) WITHOUT ROWID;
CREATE TABLE hours (
    place_id INTEGER NOT NULL REFERENCES places (id), day INTEGER NOT NULL,
    opens INTEGER NOT NULL, closes INTEGER NOT NULL, PRIMARY KEY (place_id, day)
) WITHOUT ROWID;
CREATE TABLE users (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, username TEXT NOT NULL UNIQUE, email TEXT NOT NULL,
    home_town_id INTEGER NOT NULL REFERENCES towns (id)
);
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY, place_id INTEGER NOT NULL REFERENCES places (id),
    user_id INTEGER NOT NULL REFERENCES users (id), rating INTEGER NOT NULL, body TEXT NOT NULL,
    created_at TEXT NOT NULL, UNIQUE (place_id, user_id)
);
CREATE INDEX reviews_by_user ON reviews (user_id);
CREATE TABLE lists (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users (id), name TEXT NOT NULL,
    created_at TEXT NOT NULL, UNIQUE (user_id, name)
);
CREATE TABLE saved (
    list_id INTEGER NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    place_id INTEGER NOT NULL REFERENCES places (id), note TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL, PRIMARY KEY (list_id, place_id)
);
CREATE TABLE suggestions (
    id INTEGER PRIMARY KEY, place_id INTEGER NOT NULL REFERENCES places (id),
    user_id INTEGER NOT NULL REFERENCES users (id), field TEXT NOT NULL, value TEXT NOT NULL,
    comment TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT 'pending',
    created_at TEXT NOT NULL
);
CREATE INDEX suggestions_by_user ON suggestions (user_id);

"""The files of a project of each kind, with slots: small, plausible, and the same in every copy.

Slots are written `<name>`, since code is full of braces.
"""

from __future__ import annotations

COMMON: dict[str, str] = {
    "README.md": """# <name>

<description>.

## Getting started

<start>

## What is in here

- the <part>
- the <other>
- the <third>

## Who to ask

<owner> looks after this project. Please open an issue before a large change.
""",
    "CONTRIBUTING.md": """# How to contribute

1. Open an issue and say what you want to change.
2. Work on a branch of its own.
3. Ask <owner> or another maintainer for a review.

We answer within a week. Changes to the <part> need a test.
""",
    "VERSION": "<version>\n",
    "CODEOWNERS": "* @<owner_username>\n",
    ".editorconfig": """root = true

[*]
indent_style = space
indent_size = <indent>
end_of_line = lf
insert_final_newline = true
""",
}

LICENCE = """<licence>

Copyright (c) <year> <owner> and the contributors to <name>

You may use, change and pass on this work under the terms of the <licence>.
It comes without any warranty.
"""

START: dict[str, str] = {
    "cli": "Install the package and run `<slug> --help`.",
    "service": "Copy `config.toml`, set the address of the database, and run `python -m <module>`.",
    "web": "Run `npm install` once, then `npm start`.",
    "rust": "Add `<slug>` to the dependencies of your crate.",
    "go": "Download a release, or build it with `go build ./cmd/<slug>`.",
    "data": "The tables lie in `data`; `scripts/check.py` tells whether they are complete.",
    "docs": "Read the chapters in order, or start with the one you need today.",
    "firmware": "Connect the board and run `make flash`.",
    "game": "Start `main.py` and use the arrow keys.",
    "infra": "Read `inventory.ini` first, then run `make plan`.",
}

_SETTINGS = """[<module>]
timeout_seconds = <timeout>
workers = <workers>
log_level = "info"
keep_days = <days>
"""

FILES: dict[str, dict[str, str]] = {
    "cli": {
        "pyproject.toml": """[project]
name = "<slug>"
description = "<description>"
requires-python = ">=3.10"
dependencies = ["click", "rich"]
""",
        "src/<module>/__main__.py": """import sys

from .app import main

sys.exit(main(sys.argv[1:]))
""",
        "src/<module>/app.py": '''"""The commands of <name>."""


def main(arguments):
    if not arguments:
        print("usage: <slug> COMMAND")
        return 2
    command, *rest = arguments
    return COMMANDS[command](rest)


def check(rest):
    """Look at the <part>."""
    return 0


COMMANDS = {"check": check}
''',
        "src/<module>/settings.toml": _SETTINGS,
        "tests/test_app.py": """from <module>.app import main


def test_no_command_is_an_error():
    assert main([]) == 2
""",
        "docs/usage.md": "# Usage\n\nStart with `<slug> check`. The <other> is explained below.\n",
    },
    "service": {
        "config.toml": _SETTINGS + "port = <port>\n",
        "<module>/app.py": '''"""Routes of <name>."""

from .store import Store

store = Store()


def index(request):
    return {"entries": store.newest(20)}


def create(request):
    entry = store.add(request.json)
    return {"id": entry.id}, 201
''',
        "<module>/store.py": '''"""Keeps entries in memory until the next save."""


class Store:
    def __init__(self):
        self.entries = []

    def add(self, entry):
        self.entries.append(entry)
        return entry

    def newest(self, number):
        return self.entries[-number:]
''',
        "<module>/mail.py": """SENDER = "<slug>@post.test"


def subject(event):
    return f"[<name>] {event.title}"
""",
        "tests/test_store.py": """from <module>.store import Store


def test_newest_comes_last():
    store = Store()
    store.add("a")
    store.add("b")
    assert store.newest(1) == ["b"]
""",
        "compose.yaml": "services:\n  app:\n    build: .\n    ports: ['<port>:8000']\n",
    },
    "web": {
        "package.json": """{
  "name": "<slug>",
  "version": "<version>",
  "scripts": { "start": "serve public", "test": "node --test" }
}
""",
        "src/index.js": """import { render } from "./render.js";

const root = document.querySelector("#app");
render(root, { title: "<name>", delay: <timeout> });
""",
        "src/render.js": """export function render(root, options) {
  const heading = document.createElement("h1");
  heading.textContent = options.title;
  root.append(heading);
}
""",
        "src/settings.json": '{ "delay": <timeout>, "columns": <workers>, "keepDays": <days> }\n',
        "src/styles/base.css": ":root { --gap: <indent>px; }\nbody { margin: 0; }\n",
        "tests/render.test.js": """import test from "node:test";

test("the title is shown", () => {
  // the <part> has its own tests
});
""",
        "docs/design.md": "# Design notes\n\nThe <part> decides the rest. Keep it small.\n",
    },
    "rust": {
        "Cargo.toml": """[package]
name = "<slug>"
version = "<version>"
edition = "2021"
description = "<description>"
""",
        "src/lib.rs": """//! <description>.

mod limits;

pub use limits::Limits;

pub const DEFAULT_CAPACITY: usize = <days>;
""",
        "src/limits.rs": """/// What <name> refuses to exceed.
pub struct Limits {
    pub depth: usize,
    pub seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { depth: <workers>, seconds: <timeout> }
    }
}
""",
        "benches/speed.rs": "// measures the <part>\nfn main() {}\n",
        "examples/hello.rs": 'fn main() {\n    println!("{}", <module>::DEFAULT_CAPACITY);\n}\n',
        "docs/internals.md": "# Internals\n\nThe <part> came first; the <other> was added later.\n",
    },
    "go": {
        "go.mod": "module <slug>.test\n\ngo 1.22\n",
        "cmd/<slug>/main.go": """package main

import "log"

func main() {
	settings := load("<slug>.yaml")
	log.Printf("<name> listens on port %d", settings.Port)
	run(settings)
}
""",
        "internal/settings/settings.go": """package settings

// Settings of <name>; see <slug>.yaml for their meaning.
type Settings struct {
	Port    int
	Timeout int
}
""",
        "<slug>.yaml": "port: <port>\ntimeout_seconds: <timeout>\nworkers: <workers>\n",
        "docs/operations.md": "# Operations\n\nWatch the <part>. Restart at night only.\n",
        "Makefile": "build:\n\tgo build ./cmd/<slug>\n\ntest:\n\tgo test ./...\n",
    },
    "data": {
        "data/stations.csv": """id,place,height_m
1,Willowmere,<days>
2,Port Senna,4
3,Northcliff,<timeout>
""",
        "data/dictionary.md": "# Columns\n\n- `id`: never used twice\n- `place`: a town\n",
        "scripts/download.py": '''"""Fetches what is new since the last run."""

SOURCE = "https://data.valdera.test/<slug>"
TIMEOUT_SECONDS = <timeout>
''',
        "scripts/check.py": '''"""Refuses tables with holes."""


def missing(rows):
    return [row for row in rows if None in row]
''',
        "scripts/settings.toml": _SETTINGS,
        "notebooks/overview.md": "# Overview\n\nFirst look at the <part>, then at the <other>.\n",
    },
    "docs": {
        "chapters/01-start.md": "# Start here\n\n<description>. Read the <part> first.\n",
        "chapters/02-everyday.md": "# Every day\n\nShort steps, one at a time. Ask <owner>.\n",
        "chapters/03-when-it-fails.md": "# When it fails\n\nStay calm. Write down what you saw.\n",
        "build/settings.toml": _SETTINGS,
        "glossary.md": "# Glossary\n\n- **Review**: somebody else reads it\n",
        "SUMMARY.md": "# Contents\n\n1. Start here\n2. Every day\n3. When it fails\n",
    },
    "firmware": {
        "src/main.c": """#include "board.h"

int main(void) {
    board_start(SAMPLE_SECONDS);
    for (;;) {
        board_sleep();
    }
}
""",
        "src/board.h": """#pragma once

#define SAMPLE_SECONDS <timeout>
#define RADIO_CHANNEL <workers>

void board_start(int seconds);
void board_sleep(void);
""",
        "src/sensor.c": "/* reads the <part> */\nint sensor_read(void) {\n    return 0;\n}\n",
        "hardware/parts.csv": "part,number\nresistor,<workers>\nsolar cell,1\nenclosure,1\n",
        "docs/wiring.md": "# Wiring\n\nRed is power, black is ground. Mind the <other>.\n",
        "Makefile": "flash:\n\tflasher --port usb0 build/<slug>.bin\n",
    },
    "game": {
        "main.py": """from <module>.world import World

world = World(seed=<days>)
world.run()
""",
        "<module>/world.py": """class World:
    def __init__(self, seed):
        self.seed = seed
        self.lives = <workers>

    def run(self):
        while self.lives:
            self.tick()
""",
        "levels/first.txt": "######\n#@..>#\n######\n",
        "levels/second.txt": "#######\n#@.#.>#\n#..~..#\n#######\n",
        "settings.toml": _SETTINGS,
        "docs/story.md": "# Story\n\n<description>. Nobody is in a hurry.\n",
    },
    "infra": {
        "inventory.ini": """[machines]
alpha.valdera.test
beta.valdera.test

[all:vars]
keep_days=<days>
""",
        "roles/base/tasks.yaml": "- name: install the tools\n- name: set up the <part>\n",
        "roles/backup/tasks.yaml": "- name: copy at night\n- name: test a restore each month\n",
        "scripts/check.sh": "#!/bin/sh\nset -eu\nping -c 1 alpha.valdera.test\n",
        "settings.toml": _SETTINGS,
        "docs/emergency.md": "# Emergency\n\nCall <owner>. Then look at the <part>.\n",
        "Makefile": "plan:\n\t./scripts/check.sh\n",
    },
}


def fill_slots(text: str, slots: dict[str, str]) -> str:
    """Replace every `<slot>` that there is."""
    for name, value in slots.items():
        text = text.replace(f"<{name}>", value)
    return text

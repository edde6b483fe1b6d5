"""Pages with scripts, on a small server of their own, played through the environment."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from agentgym_envs.webarena.official.env import WebArenaOfficialEnv
from tests.agentgym_envs.webarena import small_tasks

PAGES = {
    "/list": """<title>List</title><ul></ul><script>
const list = document.querySelector('ul');
const grow = () => {
    for (let i = 0; i < 20; i++) {
        const item = list.appendChild(document.createElement('li'));
        item.innerHTML = `<a href="/item">Item ${list.children.length}</a>`;
        item.style.height = '100px';
    }
};
grow();
addEventListener('scroll', () => {
    const isAtEnd = scrollY + innerHeight > document.documentElement.scrollHeight - 100;
    if (isAtEnd && list.children.length < 60) fetch('/slow?ms=200').then(grow);
});
</script>""",
    "/suggest": """<title>Suggest</title><input aria-label="City"><div role="listbox"></div><script>
let pressed = 0, waiting;
const field = document.querySelector('input'), box = document.querySelector('div');
field.addEventListener('keydown', () => pressed++);
field.addEventListener('keyup', () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
        const answer = await (await fetch('/slow?ms=300')).text();
        box.innerHTML = ['burg', 'ton'].map(end =>
            `<div role="option" onclick="field.value = this.textContent; box.innerHTML = ''">`
            + `${field.value}${end}</div>`).join('');
        document.title = `${pressed} keys, ${answer}`;
    }, 350);
});
</script>""",
    "/dialogs": """<title>Dialogs</title>
<button onclick="alert('Saved.'); out.value = 'seen'">Save</button>
<button onclick="out.value = confirm('Delete it?') ? 'deleted' : 'left'">Delete</button>
<button onclick="out.value = 'called ' + prompt('What name?', 'Ida')">Name</button>
<button onclick="confirm('One?') && confirm('Two?') && (out.value = 'both')">Twice</button>
<button onclick="setTimeout(() => { alert('Late.'); out.value = 'late'; }, 700)">Later</button>
<button onclick="window.onbeforeunload = event => event.preventDefault()">Dirty</button>
<a href="/greeting">Greeting</a> <input id="out" aria-label="Out">""",
    "/greeting": """<title>Greeting</title><h1>Hello</h1><script>alert('Welcome.')</script>
<p>After all</p>""",
    "/frames": """<title>Frames</title><h1>Outside</h1>
<div style="height: 900px"></div>
<iframe src="/inner" style="width: 400px; height: 200px; border: 5px solid"></iframe>
<iframe style="height: 120px" srcdoc="<body contenteditable>draft</body>"></iframe>
<p>After</p>""",
    "/inner": """<title>Inner</title><h2>Inside</h2><input aria-label="Inner field">
<button onclick="document.querySelector('h2').textContent =
    'Said ' + document.querySelector('input').value">Say</button>
<iframe srcdoc="<button onclick='this.textContent = `Deeper still`'>Deep</button>"></iframe>""",
    "/late": """<title>Late</title><main>Loading</main><script>
const main = document.querySelector('main');
setTimeout(() => {
    main.textContent = 'Half';
    fetch('/slow?ms=800').then(() => setTimeout(() => { main.textContent = 'Filled'; }, 400));
}, 1500);
</script>""",
    "/forward": """<title>Forward</title><script>
setTimeout(() => { location = '/item'; }, 600);</script>""",
    "/restless": """<title>Restless</title><p>0</p><script>
const p = document.querySelector('p');
setInterval(() => { p.textContent = Number(p.textContent) + 1; }, 50);
</script><button onclick="fetch('/slow?ms=60000')">Hang</button>""",
    "/item": "<title>Item</title><h1>An item</h1>",
}


class Handler(BaseHTTPRequestHandler):
    """Answers with a page, or `"slow"` after some milliseconds."""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        body = PAGES.get(path, "")
        if path == "/slow":
            time.sleep(int(query.removeprefix("ms=")) / 1000)
            body = "slow"
        content = body.encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@contextmanager
def serve() -> Iterator[str]:
    """Serve the pages; yields their origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Player:
    """An environment on these pages.

    Args:
        origin: theirs.
        folder: for the file of its task.
        path: of the first page.
        **kwargs: of the environment.
    """

    def __init__(self, origin: str, folder: Path, path: str, **kwargs: Any) -> None:
        start = {"sites": ["shopping"], "start_url": f"__SHOPPING__{path}", "require_login": False}
        self.env = WebArenaOfficialEnv(
            sites={"shopping": origin},
            tasks_file=small_tasks.write(folder / "task.json", [small_tasks.string_task(**start)]),
            split="test",
            **kwargs,
        )
        self.text = self.env.reset(options={"task_id": 0})[0]
        self.info: dict[str, Any] = {}

    def play(self, action: str) -> str:
        """Play an action, its element written `<role name>`; return the observation."""

        def element(match: re.Match[str]) -> str:
            role, name = match[1], match[2]
            found = re.search(rf"\[(\d+)\] {role} '{re.escape(name)}'", self.text)
            assert found is not None, f"{match[0]} is not in {self.text}"
            return f"[{found[1]}]"

        self.text, *_, self.info = self.env.step(re.sub(r"<(\w+) (.*?)>", element, action))
        return self.text

    def value(self, field: str) -> str:
        """Return what a field of the page holds."""
        return self.env.browser.look_up("last", f"document.querySelector('{field}').value")

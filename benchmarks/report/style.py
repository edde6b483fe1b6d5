"""The style of a report's page, light and dark."""

STYLE = """\
:root {
  color-scheme: light dark;
  --ink: #1d2430; --quiet: #5b6675; --paper: #fff; --line: #d9dee6;
  --link: #2457c5; --shade: rgb(20 30 50 / 22%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e8ee; --quiet: #9aa5b4; --paper: #14181f; --line: #323a47;
    --link: #8fb4ff; --shade: rgb(0 0 0 / 70%);
  }
  img { filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen; }
}
* { box-sizing: border-box; }
body {
  margin: 0; color: var(--ink); background: var(--paper);
  font: 15px/1.55 system-ui, "Segoe UI", "Liberation Sans", sans-serif;
}
main { max-width: 1240px; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { margin: 0 0 0.6rem; font-size: 1.75rem; letter-spacing: -0.02em; line-height: 1.2; }
h2 {
  margin: 3.2rem 0 0.9rem; padding-bottom: 0.35rem; border-bottom: 1px solid var(--line);
  font-size: 1.3rem; letter-spacing: -0.01em;
}
h3 { margin: 2rem 0 0.5rem; font-size: 1rem; }
p, li { max-width: 82ch; overflow-wrap: anywhere; }
a { color: var(--link); }
code { font: 0.88em/1.5 ui-monospace, "Liberation Mono", monospace; }
.scroll {
  overflow-x: auto; margin: 0.6rem 0 1rem;
  /* A shadow on the right while there is more: the cover moves along, the shade stays. */
  background:
    linear-gradient(to left, var(--paper) 40%, transparent) right / 40px 100% no-repeat local,
    linear-gradient(to left, var(--shade), transparent) right / 14px 100% no-repeat scroll;
}
table {
  border-collapse: separate; border-spacing: 0;
  font-size: 0.9rem; font-variant-numeric: tabular-nums;
}
th, td { padding: 0.38rem 0.55rem; border-bottom: 1px solid var(--line); text-align: left; }
th { vertical-align: bottom; font-weight: 600; line-height: 1.3; }
td { white-space: nowrap; }
td:first-child { white-space: normal; min-width: 9.5rem; overflow-wrap: break-word; }
th.n, td.n { text-align: right; }
th:first-child, td:first-child {
  padding-left: 0; position: sticky; left: 0; background: var(--paper);
}
.total td:last-child { font-weight: 600; }
tbody tr:hover td { background: color-mix(in srgb, var(--link) 8%, var(--paper)); }
.bar {
  display: block; height: 5px; min-width: 5.5rem; margin-top: 0.2rem; border-radius: 2px;
  --at: calc(var(--v) * 1%); --from: calc(var(--l) * 1%); --to: calc(var(--h) * 1%);
  background:
    linear-gradient(to right, transparent calc(var(--at) - 1.5px), var(--ink) 0,
      var(--ink) calc(var(--at) + 1.5px), transparent 0),
    linear-gradient(to right, var(--line) var(--from), var(--link) 0, var(--link) var(--to),
      var(--line) 0);
}
small { color: var(--quiet); font-size: 0.86em; }
details { margin: 1rem 0; }
summary { cursor: pointer; color: var(--link); width: fit-content; }
.gallery {
  display: grid; gap: 1.2rem 2rem; margin: 1.4rem 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
}
figure { margin: 0; max-width: 40rem; }
figure svg, figure img { display: block; width: 100%; height: auto; }
figure svg { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { color: var(--quiet); font-size: 0.88rem; overflow-wrap: anywhere; }
@media (max-width: 700px) {
  main { padding: 1.2rem 1rem 3rem; }
}
@media print { .scroll { overflow: visible; background: none; } }
"""

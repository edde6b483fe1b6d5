// The runs beside the list, and what is known of the one that is chosen.

import { el } from "./dom.js";
import { summarize } from "./filters.js";
import { number, percent } from "./marks.js";
import { listHash } from "./route.js";

const KINDS = { training: "training", cell: "sweep", file: "episodes" };

function bar(share) {
  const inner = el("i");
  inner.style.width = `${100 * (share ?? 0)}%`;
  return el("span", { class: "share", "aria-hidden": "true" }, inner);
}

function runLink(run, entries, filters) {
  const own = summarize(entries);
  const chosen = filters.run === run.name;
  const counted = `${number(own.count)} · ${percent(own.success)}`;
  const told = own.count ? counted : "no trajectories yet";
  return el(
    "a",
    {
      class: "run",
      href: listHash({ filters: { run: run.name }, sort: "id", isDescending: false }),
      "aria-current": chosen ? "true" : null,
      title: run.name,
    },
    el("span", { class: "run-title" }, run.title),
    el("span", { class: "run-facts" }, `${KINDS[run.kind]} · ${told}`),
    bar(own.success),
  );
}

export function drawRuns(host, entries, filters) {
  const byRun = entries.runs.map(() => []);
  for (const entry of entries.all) byRun[entry.run].push(entry);
  const all = el(
    "a",
    { class: "run all", href: "#", "aria-current": filters.run === undefined ? "true" : null },
    el("span", { class: "run-title" }, "Everything"),
    el("span", { class: "run-facts" }, `${number(entries.all.length)} trajectories`),
  );
  const links = entries.runs.map((run, place) => runLink(run, byRun[place], filters));
  host.replaceChildren(...(entries.runs.length > 1 ? [all, ...links] : links));
}

export function drawAbout(host, run) {
  const facts = run ? Object.entries(run.about) : [];
  host.hidden = facts.length === 0;
  const rows = facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
  host.replaceChildren(
    el("details", {}, el("summary", {}, run ? run.title : ""), el("dl", {}, rows)),
  );
}

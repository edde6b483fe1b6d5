// The attempts at one task: those of the same group in a row, and the choice of one to compare.

import { el } from "./dom.js";
import { number, outcomeMark, turnStrip } from "./marks.js";
import { episodeHash } from "./route.js";
import { summarize } from "./filters.js";

const MOST_CHOICES = 300;

function card(entry, place, current) {
  const isCurrent = entry === current;
  return el(
    "li",
    {},
    el(
      "a",
      {
        class: `attempt ${entry.outcome.kind}`,
        href: episodeHash(entry.key),
        "aria-current": isCurrent ? "true" : null,
        "aria-label": `Attempt ${place + 1}: ${entry.outcome.told}, ${entry.turns} turns`,
      },
      el("span", { class: "attempt-head" }, outcomeMark(entry), ` ${place + 1}`),
      turnStrip(entry),
      el("span", { class: "quiet" }, `${number(entry.return)} in ${entry.turns}`),
    ),
  );
}

export function drawGroup(group, current) {
  if (group.length < 2) return null;
  const { played } = summarize(group);
  const reached = group.filter((entry) => entry.success).length;
  const told = played ? `, ${reached} of ${played} reached the goal` : "";
  const row = el("ol", { class: "attempts" });
  row.append(...group.map((entry, place) => card(entry, place, current)));
  return el(
    "nav",
    { class: "group", "aria-label": "Attempts of this group" },
    el("h2", {}, `The group's ${group.length} attempts at this task${told}`),
    row,
  );
}

function named(entry, runs, place) {
  const run = runs.length > 1 ? `${runs[entry.run].title}, ` : "";
  const step = entry.step ? `step ${entry.step}, ` : "";
  const { mark, told } = entry.outcome;
  const who = `${mark} ${run}${entry.player || "unnamed"}`;
  return `${who}, ${step}${entry.turns} turns, ${told} (${place + 1})`;
}

// Other policies' attempts come first: they are what one compares with.
export function drawComparison({ group, others }, runs, current, other, onChoose) {
  const found = [...others, ...group].filter((entry) => entry !== current).slice(0, MOST_CHOICES);
  if (!found.length) return null;
  const select = el("select", {
    id: "compare",
    "aria-label": "Compare with another attempt",
    "aria-keyshortcuts": "c",
  });
  select.append(el("option", { value: "" }, "Compare with …"));
  found.forEach((entry, place) => {
    const chosen = entry === other;
    select.append(el("option", { value: entry.key, selected: chosen }, named(entry, runs, place)));
  });
  select.addEventListener("change", () => onChoose(select.value || null));
  return select;
}

// The attempts at one task: those of the same group in a row, and the choice of one to compare.

import { el } from "./dom.js";
import { number, outcomeMark, plural, signed, turnStrip } from "./marks.js";
import { episodeHash } from "./route.js";
import { summarize } from "./filters.js";

const MOST_CHOICES = 300;

function card(entry, place, current, onAttempt) {
  const isCurrent = entry === current;
  return el(
    "li",
    {},
    el(
      "a",
      {
        class: `attempt ${entry.outcome.kind}`,
        href: episodeHash(entry.key),
        "data-id": entry.id,
        click: (event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          onAttempt(entry);
        },
        "aria-current": isCurrent ? "true" : null,
        "aria-label": `Attempt ${place + 1}: ${entry.outcome.caption}, ${plural(entry.turns, "turn")}`,
      },
      el("span", { class: "attempt-head" }, outcomeMark(entry), ` ${place + 1}`),
      turnStrip(entry),
      el("span", { class: "quiet" }, `${number(entry.return)} in ${entry.turns}`),
    ),
  );
}

// `onAttempt` is called with the entry of a card that is pressed.
export function drawGroup(group, current, onAttempt) {
  if (group.length < 2) return null;
  const { played } = summarize(group);
  const reached = group.filter((entry) => entry.success).length;
  const caption = played ? `, ${reached} of ${played} reached the goal` : "";
  const row = el("ol", { class: "attempts" });
  row.append(...group.map((entry, place) => card(entry, place, current, onAttempt)));
  return el(
    "nav",
    { class: "group", "aria-label": "Attempts of this group" },
    el("h2", {}, `The group's ${group.length} attempts at this task${caption}`),
    row,
  );
}

// What training credited an attempt with, in its card.
export function tellCredit(host, id, mean) {
  const card = host.querySelector(`.attempt[data-id="${id}"]`);
  if (!card || card.querySelector(".credit")) return;
  const caption = `advantage ${signed(mean)}`;
  card.append(el("span", { class: "credit" }, caption));
  card.setAttribute("aria-label", `${card.getAttribute("aria-label")}, ${caption}`);
}

function named(entry, place) {
  const phase = entry.phase ? `${entry.phase}, ` : "";
  const step = entry.hasStep ? `${phase}step ${entry.step}, ` : "";
  const { mark, caption } = entry.outcome;
  const who = `${mark} ${entry.player || "unnamed"}`;
  return `${who}, ${step}${plural(entry.turns, "turn")}, ${caption} (${place + 1})`;
}

// The options by run, those of other runs in their order, then the own run's.
function groups(found, runs, other) {
  const byRun = new Map();
  found.forEach((entry, place) => {
    const chosen = entry === other;
    const option = el("option", { value: entry.key, selected: chosen }, named(entry, place));
    byRun.set(entry.run, [...(byRun.get(entry.run) ?? []), option]);
  });
  if (byRun.size === 1) return [...byRun.values()][0];
  return [...byRun].map(([run, options]) => el("optgroup", { label: runs[run].full }, options));
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
  select.append(el("option", { value: "" }, "Compare with …"), ...groups(found, runs, other));
  select.addEventListener("change", () => onChoose(select.value || null));
  return select;
}

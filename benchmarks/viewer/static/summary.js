// The numbers above the list. Where policies, environments, turn limits or phases of training are
// mixed no mean stands for them; a table has one for each.

import { el, say } from "./dom.js";
import { phasePlace } from "./entries.js";
import { counts, isAlike, summarize, varies } from "./filters.js";
import { number, percent, plural } from "./marks.js";
import { phasesOf } from "./phases.js";

const MOST_ROWS = 60;

function apart({ failed, unscored }) {
  const told = [];
  if (failed) told.push(`${number(failed)} failed, counted apart`);
  if (unscored) told.push(`${number(unscored)} unscored, counted apart`);
  return told;
}

function mixture(shown) {
  const kinds = [
    ["policy", "policy", "policies"],
    ["env", "environment", "environments"],
    ["limit", "turn limit", "turn limits"],
    ["phase", "phase", "phases"],
  ];
  const told = kinds
    .map(([name, ...said]) => [counts(shown, name).filter(([value]) => value).length, ...said])
    .filter(([count]) => count > 1)
    .map(([count, one, many]) => plural(count, one, many));
  return `${told.join(", ")}: not averaged`;
}

function tellPhase({ phase, step, success, played }) {
  const at = step === null ? "" : ` at step ${step}`;
  return `${phase}${at} ${percent(success)} of ${number(played)}`;
}

export function summaryOf(shown, total) {
  const found = summarize(shown);
  const part = found.count === total ? "" : `${number(found.count)} of `;
  const told = [`${part}${plural(total, "trajectory", "trajectories")}`];
  if (!isAlike(shown)) {
    const phases = phasesOf(shown).map(tellPhase);
    return [...told, ...(phases.length ? phases : [mixture(shown)]), ...apart(found)].join(" · ");
  }
  told.push(
    `success ${percent(found.success)}`,
    `score ${number(found.score)}`,
    `return ${number(found.return)}`,
    `${number(found.turns, 1)} turns`,
  );
  return [...told, ...apart(found)].join(" · ");
}

function cell(entries) {
  if (!entries) return el("td", {}, "");
  const { success, played } = summarize(entries);
  return el("td", {}, percent(success), el("span", { class: "quiet" }, ` of ${number(played)}`));
}

// What tells a row from the others: the policy, or of a training run the moment of playing.
function rowName({ player, limit, runLabel, moment }, differ) {
  const own = moment ? [...(differ.run ? [runLabel] : []), moment] : [player];
  return [...own, ...(differ.limit && limit ? [limit] : [])].join(" · ");
}

function table(shown) {
  const games = counts(shown, "game").map(([game]) => game);
  const differ = { limit: varies(shown, "limit"), run: varies(shown, "run") };
  const rows = new Map();
  const places = new Map();
  for (const entry of shown) {
    const name = rowName(entry, differ);
    if (!rows.has(name)) rows.set(name, new Map());
    places.set(name, phasePlace(entry.phase));
    const row = rows.get(name);
    if (!row.has(entry.game)) row.set(entry.game, []);
    row.get(entry.game).push(entry);
  }
  const collator = new Intl.Collator("en", { numeric: true });
  const order = (one, other) => places.get(one) - places.get(other) || collator.compare(one, other);
  const names = [...rows.keys()].sort(order).slice(0, MOST_ROWS);
  const head = el("tr", {}, el("th", {}, "Policy or phase"), games.map((game) => el("th", {}, game)));
  return el(
    "table",
    {},
    el("thead", {}, head),
    el(
      "tbody",
      {},
      names.map((name) => {
        const cells = games.map((game) => cell(rows.get(name).get(game)));
        return el("tr", {}, el("th", { scope: "row" }, name || "unnamed"), cells);
      }),
    ),
  );
}

export class Summary {
  constructor(host, details) {
    this.host = host;
    this.details = details;
    this.table = el("div", { class: "table-scroller" });
    this.details.append(el("summary", {}, "Success by policy, phase and environment"), this.table);
    this.details.addEventListener("toggle", () => this.fill());
  }

  // Where two runs are compared, the table is opened.
  draw(shown, total, { searched, isComparing }) {
    this.shown = shown;
    if (isComparing && !this.isComparing) this.details.open = true;
    this.isComparing = isComparing;
    say(this.host, searched ? `Searching all texts for “${searched}” …` : summaryOf(shown, total));
    this.details.hidden = isAlike(shown);
    this.fill();
  }

  fill() {
    const isSeen = this.details.open && !this.details.hidden;
    this.table.replaceChildren(...(isSeen ? [table(this.shown)] : []));
  }
}

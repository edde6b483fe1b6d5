// The numbers above the list. Where policies, environments or turn limits are mixed no mean stands
// for them; a table has one for each.

import { el, say } from "./dom.js";
import { counts, isAlike, summarize } from "./filters.js";
import { number, percent, plural } from "./marks.js";

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
  ];
  const told = kinds
    .map(([name, ...said]) => [counts(shown, name).filter(([value]) => value).length, ...said])
    .filter(([count]) => count > 1)
    .map(([count, one, many]) => plural(count, one, many));
  return `${told.join(", ")}: not averaged`;
}

export function summaryOf(shown, total) {
  const found = summarize(shown);
  const part = found.count === total ? "" : `${number(found.count)} of `;
  const told = [`${part}${plural(total, "trajectory", "trajectories")}`];
  if (!isAlike(shown)) return [...told, mixture(shown), ...apart(found)].join(" · ");
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

function table(shown) {
  const games = counts(shown, "game").map(([game]) => game);
  const hasLimits = counts(shown, "limit").length > 1;
  const rows = new Map();
  for (const entry of shown) {
    const name = hasLimits && entry.limit ? `${entry.player} · ${entry.limit}` : entry.player;
    if (!rows.has(name)) rows.set(name, new Map());
    const row = rows.get(name);
    if (!row.has(entry.game)) row.set(entry.game, []);
    row.get(entry.game).push(entry);
  }
  const collator = new Intl.Collator("en", { numeric: true });
  const names = [...rows.keys()].sort(collator.compare).slice(0, MOST_ROWS);
  const head = el("tr", {}, el("th", {}, "Policy"), games.map((game) => el("th", {}, game)));
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
    this.details.append(el("summary", {}, "Success by policy and environment"), this.table);
    this.details.addEventListener("toggle", () => this.fill());
  }

  draw(shown, total, searched) {
    this.shown = shown;
    say(this.host, searched ? `Searching all texts for “${searched}” …` : summaryOf(shown, total));
    this.details.hidden = isAlike(shown);
    this.fill();
  }

  fill() {
    const isSeen = this.details.open && !this.details.hidden;
    this.table.replaceChildren(...(isSeen ? [table(this.shown)] : []));
  }
}

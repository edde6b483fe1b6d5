// The numbers above the list. Where policies, environments, turn limits or phases of training are
// mixed no mean stands for them, nor where runs are compared; a table has one for each.

import { collator, el, say } from "./dom.js";
import { phasePlace } from "./entries.js";
import { counts, isAlike, summarize, varies } from "./filters.js";
import { number, percent, plural } from "./marks.js";
import { phasesOf } from "./phases.js";

const MOST_ROWS = 60;

function apart({ failed, unscored }) {
  const caption = [];
  if (failed) caption.push(`${number(failed)} failed, counted apart`);
  if (unscored) caption.push(`${number(unscored)} unscored, counted apart`);
  return caption;
}

// The share of the episodes that were cut off, and by what.
function cutOf({ played, cuts }) {
  const total = [...cuts.values()].reduce((sum, count) => sum + count, 0);
  if (!total) return [];
  const share = (count) => percent(count / played);
  const causes = [...cuts].sort(([, one], [, other]) => other - one);
  const each = causes.map(([cause, count]) => (cuts.size > 1 ? `${cause} ${share(count)}` : cause));
  return [`cut off ${share(total)} (${each.join(", ")})`];
}

function mixture(shown, { isComparing }) {
  const kinds = [
    ...(isComparing ? [["runName", "run", "runs"]] : []),
    ["policy", "policy", "policies"],
    ["env", "environment", "environments"],
    ["limit", "turn limit", "turn limits"],
    ["phase", "phase", "phases"],
  ];
  const caption = kinds
    .map(([name, ...phrase]) => [counts(shown, name).filter(([value]) => value).length, ...phrase])
    .filter(([count]) => count > 1)
    .map(([count, one, many]) => plural(count, one, many));
  return `${caption.join(", ")}: not averaged`;
}

function tellPhase({ phase, step, success, played }) {
  const at = step === null ? "" : ` at step ${step}`;
  return `${phase}${at} ${percent(success)} of ${number(played)}`;
}

export function summaryOf(shown, total, { isComparing }) {
  const found = summarize(shown);
  const part = found.count === total ? "" : `${number(found.count)} of `;
  const caption = [`${part}${plural(total, "trajectory", "trajectories")}`];
  if (!isAlike(shown, { isComparing })) {
    const phases = phasesOf(shown).map(tellPhase);
    const mixed = phases.length ? phases : [mixture(shown, { isComparing })];
    return [...caption, ...mixed, ...apart(found)].join(" · ");
  }
  caption.push(
    `success ${percent(found.success)}`,
    `score ${number(found.score)}`,
    `return ${number(found.return)}`,
    `${number(found.turns, 1)} turns`,
    ...cutOf(found),
  );
  return [...caption, ...apart(found)].join(" · ");
}

function cell(entries) {
  if (!entries) return el("td", {}, "");
  const found = summarize(entries);
  const caption = [` of ${number(found.played)}`, ...cutOf(found)].join(", ");
  return el("td", {}, percent(found.success), el("span", { class: "quiet" }, caption));
}

// What tells a row from the others: the policy, of a training run the moment of playing, and the
// run where they are compared. A run's own name has its turn limit.
function rowName({ player, limit, runLabel, moment }, { differ, isComparing }) {
  const isOfRun = differ.run && (Boolean(moment) || isComparing);
  const run = isOfRun ? [runLabel] : [];
  const own = moment ? [...run, moment] : [player, ...run];
  return [...own, ...(differ.limit && limit && !isOfRun ? [limit] : [])].join(" · ");
}

// Without what a training run played for other steps than its last one: a row each would be many.
function withLastSteps(shown) {
  const last = new Map();
  for (const { run, phase, step } of shown) {
    if (phase === "training") last.set(run, Math.max(last.get(run) ?? 0, step));
  }
  return shown.filter(({ run, phase, step }) => phase !== "training" || step === last.get(run));
}

// The rows of the table in their order: {name, place, games}, `games` with the entries of each.
export function rowsOf(shown, { isComparing }) {
  const differ = { limit: varies(shown, "limit"), run: varies(shown, "run") };
  const rows = new Map();
  for (const entry of withLastSteps(shown)) {
    const name = rowName(entry, { differ, isComparing });
    // Two cells may differ in their panel alone, which their names leave out.
    const key = isComparing ? `${name}\n${entry.runName}` : name;
    if (!rows.has(key)) rows.set(key, { name, place: phasePlace(entry.phase), games: new Map() });
    const { games } = rows.get(key);
    if (!games.has(entry.game)) games.set(entry.game, []);
    games.get(entry.game).push(entry);
  }
  const order = (one, other) => one.place - other.place || collator.compare(one.name, other.name);
  return [...rows.values()].sort(order);
}

function table(shown, isComparing) {
  const games = counts(shown, "game").map(([game]) => game);
  const rows = rowsOf(shown, { isComparing }).slice(0, MOST_ROWS);
  const head = el("tr", {}, el("th", {}, "Policy or phase"), games.map((game) => el("th", {}, game)));
  return el(
    "table",
    {},
    el("thead", {}, head),
    el(
      "tbody",
      {},
      rows.map(({ name, games: own }) => {
        const cells = games.map((game) => cell(own.get(game)));
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

  draw(shown, total, { searched, isComparing }) {
    this.shown = shown;
    this.isComparing = isComparing;
    const caption = summaryOf(shown, total, { isComparing });
    say(this.host, searched ? `Searching all texts for “${searched}” …` : caption);
    this.details.hidden = isAlike(shown, { isComparing });
    this.fill();
  }

  fill() {
    const isSeen = this.details.open && !this.details.hidden;
    this.table.replaceChildren(...(isSeen ? [table(this.shown, this.isComparing)] : []));
  }
}

// Which entries are shown, and in which order: pure functions of the filters. Knows no element.

import { collator } from "./dom.js";
import { causeOf } from "./entries.js";

export const CHOICES = [
  ["game", "Environment"],
  ["subtask", "Subtask"],
  ["split", "Split"],
  ["phase", "Phase"],
  ["policy", "Policy"],
  ["limit", "Turn limit"],
  ["seed", "Seed"],
  ["step", "Step"],
  ["result", "Outcome"],
];

export const RANGES = [
  ["turns", "Turns"],
  ["return", "Return"],
];

// Where to look, and what of the runs is drawn there; the other filters say what for.
const PLACE = ["run", "folder", "vs", "metric", "log"];
const NAMES = [...PLACE, ...CHOICES.map(([name]) => name), "q"].concat(
  RANGES.flatMap(([name]) => [`${name}_min`, `${name}_max`]),
);

export const SORTS = [
  ["id", "Order of play"],
  ["goal", "Goal"],
  ["game", "Environment"],
  ["subtask", "Subtask"],
  ["split", "Split"],
  ["phase", "Phase"],
  ["player", "Policy"],
  ["runLabel", "Run"],
  ["step", "Step"],
  ["turns", "Turns"],
  ["return", "Return"],
  ["score", "Score"],
  ["tokens", "Tokens"],
  ["result", "Outcome"],
];

// An empty filter lets everything through; "" and undefined are empty.
export function readFilters(parameters) {
  const filters = {};
  for (const name of NAMES) {
    const value = parameters.get(name);
    if (value !== null && value !== "") filters[name] = value;
  }
  return filters;
}

export function valueOf(entry, name) {
  return name === "result" ? entry.outcome.caption : entry[name];
}

// A run is named by its path: its number would be another run's once there are more. A folder
// holds the runs below it. `vs` is a second run, which the first is compared with.
export function isOfRun(entry, { run, folder, vs }) {
  if (run !== undefined) return entry.runName === run || entry.runName === vs;
  return folder === undefined || isWithin(entry.runName, folder);
}

export function isWithin(name, folder) {
  return name.startsWith(`${folder}/`);
}

export function placeOf(filters) {
  return Object.fromEntries(Object.entries(filters).filter(([name]) => PLACE.includes(name)));
}

// What stays where another run or folder is chosen.
export function viewOf({ metric, log }) {
  return { ...(metric && { metric }), ...(log && { log }) };
}

function passes(entry, filters, hits) {
  if (!isOfRun(entry, filters)) return false;
  for (const [name] of CHOICES) {
    const wanted = filters[name];
    if (wanted === undefined) continue;
    const isOther = String(valueOf(entry, name)) !== wanted;
    if (name === "result" && wanted === "no success") {
      if (entry.success || entry.status === "failed") return false;
    } else if (isOther) return false;
  }
  for (const [name] of RANGES) {
    if (filters[`${name}_min`] !== undefined && entry[name] < Number(filters[`${name}_min`])) {
      return false;
    }
    if (filters[`${name}_max`] !== undefined && entry[name] > Number(filters[`${name}_max`])) {
      return false;
    }
  }
  return filters.q === undefined || hits.has(entry.id) || isNamed(entry, filters.q);
}

function isNamed(entry, text) {
  const wanted = text.toLowerCase();
  return [entry.goal, entry.task, entry.subtask, entry.policy].some((own) =>
    own.toLowerCase().includes(wanted),
  );
}

// `hits` are the ids in whose texts the search found its words; names are looked at here.
export function choose(entries, filters, hits) {
  return entries.filter((entry) => passes(entry, filters, hits));
}

// In the order of play a run's phases follow each other; its files stand in that of their names.
function inOrderOfPlay(entries) {
  if (!varies(entries, "order")) return entries;
  return [...entries].sort((a, b) => a.run - b.run || a.order - b.order || a.id - b.id);
}

export function arrange(entries, sort, isDescending) {
  if (sort === "id") {
    const played = inOrderOfPlay(entries);
    return isDescending ? [...played].reverse() : played;
  }
  const sign = isDescending ? -1 : 1;
  const compare = (one, other) => {
    const [a, b] = [valueOf(one, sort), valueOf(other, sort)];
    const order = typeof a === "string" ? collator.compare(a, b) : a - b;
    return sign * order || one.id - other.id;
  };
  return [...entries].sort(compare);
}

// Whether the entries differ in a value.
export function varies(entries, name) {
  return entries.some((entry) => valueOf(entry, name) !== valueOf(entries[0], name));
}

// Whether one number may stand for all: one environment and turn limit, one policy or run, and what
// a training run played at one moment. Runs that are compared are told apart, whoever played them.
export function isAlike(entries, { isComparing = false } = {}) {
  const same = (name) => !varies(entries, name);
  const isOfOne = same("run") || (!isComparing && same("policy"));
  return same("env") && same("limit") && same("moment") && isOfOne;
}

// The values of a name and how often each occurs, numbers in their order.
export function counts(entries, name) {
  const found = new Map();
  for (const entry of entries) {
    const value = valueOf(entry, name);
    found.set(value, (found.get(value) ?? 0) + 1);
  }
  return [...found].sort(([a], [b]) => (typeof a === "number" ? a - b : collator.compare(a, b)));
}

// How many episodes each cause has cut off.
function cutsOf(entries) {
  const cut = entries.filter((entry) => entry.outcome.kind === "cut");
  return new Map(counts(cut, "cause").map(([cause, count]) => [causeOf(cause), count]));
}

// Failed episodes, and those that nobody could score, are counted apart; they enter no mean.
export function summarize(entries) {
  const played = entries.filter((entry) => entry.status !== "failed");
  const total = (name) => played.reduce((sum, entry) => sum + Number(entry[name]), 0);
  const mean = (name) => total(name) / played.length;
  return {
    count: entries.length,
    played: played.length,
    failed: entries.filter((entry) => entry.outcome.caption === "failed").length,
    unscored: entries.filter((entry) => entry.outcome.caption === "unscored").length,
    success: played.length ? mean("success") : null,
    score: played.length ? mean("score") : null,
    return: played.length ? mean("return") : null,
    turns: played.length ? mean("turns") : null,
    cuts: cutsOf(played),
  };
}

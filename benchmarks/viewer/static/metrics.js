// The metrics that a curve is drawn of: what is asked for, how they are called and written.
// Knows no element.

import { percent } from "./marks.js";
import { METRICS } from "./metric_table.js";

// What stands together in the picture of success, by the names that it knows.
const OF_SUCCESS = {
  success: "episodes/success",
  turns: "episodes/turns",
  invalid: "episodes/invalid_actions",
  horizon: "horizon",
  validation: "eval_success",
  low: "eval_success_low",
  high: "eval_success_high",
  loss: "loss",
};
const OF_METRIC = ["value", "horizon", "low", "high"];
const FIRST = METRICS.filter(({ viewer }) => viewer)
  .sort((one, other) => one.viewer - other.viewer)
  .map(({ key }) => key);
// A key has letters, `_`, `/` and, for any characters, `*`.
const SHARES = METRICS.filter(({ kind }) => kind === "share")
  .map(({ key }) => new RegExp(`^${key.replaceAll("*", ".*")}$`, "s"));
const NEVER = new Set(["epoch", "total_flos"]);

// The names to ask for; no metric is the picture of success.
export function namesOf(metric) {
  return metric ? [metric, "horizon", ...boundsOf(metric)] : Object.values(OF_SUCCESS);
}

// The names of the bounds of a validation's success.
function boundsOf(metric) {
  if (!/^eval_(fresh_)?success(\/|$)/.test(metric)) return [];
  return ["low", "high"].map((end) => metric.replace("success", `success_${end}`));
}

// Whether a metric is of validations: few values, each measured apart, which no line joins.
export function isValidated(metric) {
  return metric.startsWith("eval_");
}

// The rows of an answer as points {step, …}.
export function pointsOf({ rows }, metric) {
  const names = metric ? OF_METRIC : Object.keys(OF_SUCCESS);
  return rows.map(([step, ...values]) => {
    const point = { step };
    names.forEach((name, place) => {
      if ((values[place] ?? null) !== null) point[name] = values[place];
    });
    return point;
  });
}

// The columns of an answer that holds all metrics.
export function narrowed({ names, rows }, asked) {
  const places = asked.map((name) => names.indexOf(name) + 1);
  const cut = rows.map((row) => [row[0], ...places.map((place) => (place ? row[place] : null))]);
  return { names, rows: cut.filter((row) => row.slice(1).some((value) => value !== null)) };
}

function groupOf(name) {
  if (FIRST.includes(name)) return "Most looked at";
  if (name.startsWith("eval_")) return "validation";
  return name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : "training";
}

// [group, names] of all metrics that were logged, those that most look at first.
export function groups(names) {
  const found = new Map([["Most looked at", FIRST.filter((name) => names.includes(name))]]);
  for (const name of [...names].sort()) {
    if (NEVER.has(name) || FIRST.includes(name)) continue;
    const group = groupOf(name);
    found.set(group, [...(found.get(group) ?? []), name]);
  }
  return [...found].filter(([, own]) => own.length);
}

// A value of a metric, short.
export function written(value, metric) {
  if (value === undefined || value === null) return "–";
  const isShare = !metric || (Math.abs(value) <= 1 && SHARES.some((form) => form.test(metric)));
  if (isShare) return percent(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(1).replace(".0e", "e").replace("e+", "e");
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(3)));
}

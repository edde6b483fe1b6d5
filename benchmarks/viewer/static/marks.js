// Small signs that stand for an episode's outcome, its numbers and its turns.

import { el } from "./dom.js";

const CLASSES = { ".": "", x: "invalid", "+": "rewarded", "-": "charged" };

export function outcomeMark(entry) {
  const { kind, mark, caption } = entry.outcome;
  return el("span", { class: `mark ${kind}`, role: "img", "aria-label": caption, title: caption }, mark);
}

// One small bar per turn; a long episode's bars get narrower.
export function turnStrip(entry) {
  const invalid = entry.marks.split("x").length - 1;
  const caption = `${plural(entry.turns, "turn")}, ${invalid} invalid`;
  const strip = el("span", { class: "strip", role: "img", "aria-label": caption, title: caption });
  for (const mark of entry.marks) strip.append(el("i", { class: CLASSES[mark] || null }));
  return strip;
}

export function number(value, digits = 2) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(digits);
}

export function money(amount) {
  return String(Number(amount.toPrecision(3)));
}

export function plural(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

export function percent(share) {
  return share === null ? "–" : `${(100 * share).toFixed(1)}%`;
}

// A difference of success rates in percentage points.
export function points(difference) {
  const value = Math.round(1000 * difference) / 10 || 0;
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;
}

export function signed(value) {
  return (value > 0 ? "+" : "") + number(value).replace("-", "−");
}

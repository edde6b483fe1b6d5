// The frame of a learning curve: its scales, axes and legend, and a line that follows the pointer.
// Knows numbers by step only.

import { el, svg } from "./dom.js";
const SMOOTHING = 9;
const HEIGHT = 190;
const NARROW = 500;
const NARROW_HEIGHT = 150;
const MOST_TICKS = 5;
// The width of a letter of a label, at most.
const LETTER = 7;
export const EDGE = { left: 52, right: 28, top: 20, bottom: 26 };

// As in learning_curve.png, the ends are continued with the first and last value.
function average(values) {
  const half = Math.floor(Math.min(SMOOTHING, values.length) / 2);
  return values.map((_, place) => {
    let sum = 0;
    for (let near = place - half; near <= place + half; near += 1) {
      sum += values[Math.max(0, Math.min(near, values.length - 1))];
    }
    return sum / (2 * half + 1);
  });
}

// The least 1, 2 or 5 times a power of ten that divides a length into few enough parts.
function tickSize(length, most) {
  const power = 10 ** Math.floor(Math.log10(length / most));
  return [1, 2, 5, 10].map((digit) => digit * power).find((size) => length / size <= most);
}

// What the vertical axis spans: {low, high, ticks, isLog, show}.
const wholePercent = (share) => `${100 * share}%`;
const QUARTERS = [0, 0.25, 0.5, 0.75, 1];
export const SHARES = { low: 0, high: 1, ticks: QUARTERS, isLog: false, show: wholePercent };

// A range around values, with round ticks; `isLog` where all are greater than 0.
export function rangeOf(values, { isLog, show }) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const ticks = isLog ? logTicks(low, high) : roundTicks(low, high);
  return { low: ticks[0], high: ticks.at(-1), ticks, isLog, show };
}

function roundTicks(least, most) {
  const spread = least === most ? Math.abs(least) / 2 || 0.5 : 0;
  const [low, high] = [least - spread, most + spread];
  const size = tickSize(high - low, MOST_TICKS - 1);
  const ticks = [];
  for (let at = Math.floor(low / size); at <= Math.ceil(high / size); at += 1) {
    ticks.push(Number((at * size).toPrecision(12)));
  }
  return ticks;
}

// Powers of ten around two values, with 2 and 5 times each where they are few.
function logTicks(low, high) {
  const digits = high / low > 100 ? [1] : [1, 2, 5];
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const powers = Array.from({ length: last - first + 2 }, (_, place) => first + place);
  const all = powers.flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)));
  const from = all.findLastIndex((value) => value <= low);
  const to = Math.max(from + 1, all.findIndex((value) => value >= high));
  const every = Math.ceil((to - from) / MOST_TICKS);
  const ticks = all.slice(from, to + 1).filter((_, place) => place % every === 0);
  return ticks.at(-1) < high ? [...ticks, all[to]] : ticks;
}

// Turns steps and values into places, and places into steps.
export function scales(points, clientWidth, range = SHARES) {
  const width = Math.max(280, clientWidth);
  const last = Math.max(1, ...points.map((point) => point.step));
  const height = width < NARROW ? NARROW_HEIGHT : HEIGHT;
  const room = width - EDGE.left - EDGE.right;
  const depth = height - EDGE.top - EDGE.bottom;
  const of = range.isLog ? Math.log10 : (value) => value;
  const [low, high] = [of(range.low), of(range.high)];
  return {
    width,
    height,
    last,
    range,
    top: EDGE.top,
    bottom: EDGE.top + depth,
    x: (step) => EDGE.left + (step / last) * room,
    y: (value) => EDGE.top + (1 - (of(value) - low) / (high - low)) * depth,
    step: (x) => ((x - EDGE.left) / room) * last,
  };
}

// As many as have room beside one another.
function stepTicks(last, room) {
  const most = Math.max(1, Math.min(8, Math.floor(room / (LETTER * (String(last).length + 2)))));
  const size = Math.max(1, tickSize(last, most));
  const found = [];
  for (let step = 0; step <= last; step += size) found.push(step);
  return found;
}

export function line(points, { x, y }) {
  const at = ([step, value]) => `${x(step)},${y(value)}`;
  if (points.length === 1) {
    const [step, value] = points[0]; // a ring, or nothing would be seen
    return `M${x(step) - 3.5},${y(value)}a3.5,3.5 0 1 0 7,0a3.5,3.5 0 1 0 -7,0`;
  }
  return points.length ? `M${points.map(at).join("L")}` : "";
}

export function axes({ x, y, last, width, height, range }) {
  const marks = range.ticks.flatMap((value) => [
    svg("path", { class: "rule", d: `M${EDGE.left},${y(value)}H${width - EDGE.right}` }),
    svg("text", { x: EDGE.left - 6, y: y(value) + 4, "text-anchor": "end" }, range.show(value)),
  ]);
  const room = width - EDGE.left - EDGE.right;
  const steps = stepTicks(last, room).map((step) =>
    svg("text", { x: x(step), y: height - 8, "text-anchor": "middle" }, step),
  );
  return [...marks, ...steps];
}

function stages(points) {
  const found = [];
  for (const { step, horizon } of points.filter((point) => point.horizon !== undefined)) {
    const last = found.at(-1);
    if (last?.horizon === horizon) last.end = step;
    else found.push({ horizon, start: step - 1, end: step });
  }
  return found;
}

const hasRoom = (name, room) => LETTER * (name.length + 1) <= room;

// The stages of the horizon, with its turns above them where there is room.
export function shades(points, { x, top, bottom }) {
  const found = stages(points);
  const areWhole = found.every(({ horizon, start, end }) =>
    hasRoom(`horizon ${horizon}`, x(end) - x(start)),
  );
  const drawn = found.flatMap(({ horizon, start, end }, place) => {
    const [left, right] = [x(start), x(end)];
    const shade = { x: left, y: top, width: Math.max(1, right - left), height: bottom - top };
    const middle = { x: (left + right) / 2, y: top - 8, "text-anchor": "middle" };
    const names = areWhole ? [`horizon ${horizon}`] : [String(horizon)];
    const shown = names.filter((name) => hasRoom(name, right - left));
    return [
      svg("rect", { class: place % 2 ? "stage odd" : "stage", ...shade }),
      ...shown.map((name) => svg("text", { class: "stage-name", ...middle }, name)),
      svg("title", {}, `horizon ${horizon}`),
    ];
  });
  if (areWhole || !found.length) return drawn;
  const before = { x: EDGE.left - 4, y: top - 8, "text-anchor": "end" };
  return [svg("text", { class: "stage-name", ...before }, "horizon"), ...drawn];
}

// [step, value] of the points that have a value of a name.
export function valuesOf(points, name) {
  return points.filter((one) => one[name] !== undefined).map((one) => [one.step, one[name]]);
}

// A measured value with its interval, where it has one: {step, value, low, high}.
export function measuredPoint({ step, value, low, high }, { x, y }, kind, caption) {
  const at = x(step);
  const dot = svg("circle", { class: kind, cx: at, cy: y(value), r: 4 }, svg("title", {}, caption));
  if (low === undefined || high === undefined) return [dot];
  return [svg("path", { class: `interval ${kind}`, d: `M${at},${y(low)}V${y(high)}` }), dot];
}

export function smoothed(values) {
  const means = average(values.map(([, value]) => value));
  return values.map(([step], place) => [step, means[place]]);
}

// The point of the step that is nearest.
export function nearest(points, step) {
  let best = null;
  for (const point of points) {
    if (!best || Math.abs(point.step - step) < Math.abs(best.step - step)) best = point;
  }
  return best;
}

export function legend(parts) {
  const items = parts.map(([kind, caption]) => {
    const sample = svg("svg", { width: 18, height: 8, "aria-hidden": "true" });
    const isDot = kind === "dot" || kind.startsWith("validation");
    sample.append(
      isDot
        ? svg("circle", { class: kind, cx: 9, cy: 4, r: 3.5 })
        : svg("path", { class: kind, d: "M0,4L18,4" }),
    );
    return el("span", {}, sample, caption);
  });
  return el("p", { class: "legend" }, items);
}

// Tells the values under the pointer in a line below; `tell(step, y)` gives {step, text}.
export function withReadout(picture, scale, usual, tell) {
  const rule = svg("path", { class: "pointer", d: "" });
  const caption = el("p", { class: "readout" }, usual);
  picture.append(rule);
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const found = tell(scale.step(event.clientX - box.left), event.clientY - box.top);
    if (!found) return;
    const across = `M${scale.x(found.step)},${EDGE.top}V${scale.height - EDGE.bottom}`;
    rule.setAttribute("d", across);
    caption.textContent = found.text;
  });
  picture.addEventListener("pointerleave", () => {
    rule.setAttribute("d", "");
    caption.textContent = usual;
  });
  return caption;
}

// The frame of a learning curve: its scales, axes and legend, and a line that follows the pointer.
// Knows numbers by step only.

import { el, svg } from "./dom.js";

const SMOOTHING = 9;
const HEIGHT = 190;
const NARROW = 500;
const NARROW_HEIGHT = 130;
export const EDGE = { left: 44, right: 44, top: 20, bottom: 26 };

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

// Turns steps and shares into places, and places into steps.
export function scales(points, clientWidth) {
  const width = Math.max(280, clientWidth);
  const last = Math.max(1, ...points.map((point) => point.step));
  const height = width < NARROW ? NARROW_HEIGHT : HEIGHT;
  const room = width - EDGE.left - EDGE.right;
  const depth = height - EDGE.top - EDGE.bottom;
  return {
    width,
    height,
    last,
    x: (step) => EDGE.left + (step / last) * room,
    y: (share) => EDGE.top + (1 - share) * depth,
    step: (x) => ((x - EDGE.left) / room) * last,
    share: (y) => 1 - (y - EDGE.top) / depth,
  };
}

function ticks(last) {
  const size = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].find(
    (step) => last / step <= 8,
  );
  const found = [];
  for (let step = 0; step <= last; step += size ?? last) found.push(step);
  return found;
}

export function line(points, { x, y }) {
  const at = ([step, value]) => `${x(step)},${y(value)}`;
  return points.length ? `M${points.map(at).join("L")}` : "";
}

export function axes({ x, y, last, width, height }) {
  const marks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    svg("path", { class: "rule", d: `M${EDGE.left},${y(share)}H${width - EDGE.right}` }),
    svg("text", { x: EDGE.left - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}%`),
  ]);
  const steps = ticks(last).map((step) =>
    svg("text", { x: x(step), y: height - 8, "text-anchor": "middle" }, step),
  );
  return [...marks, ...steps];
}

export function successes(points) {
  return points.filter((one) => one.success !== undefined).map((one) => [one.step, one.success]);
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
  const items = parts.map(([kind, told]) => {
    const sample = svg("svg", { width: 18, height: 8, "aria-hidden": "true" });
    const isDot = kind === "validation" || kind === "dot";
    sample.append(
      isDot
        ? svg("circle", { class: kind, cx: 9, cy: 4, r: 3.5 })
        : svg("path", { class: kind, d: "M0,4L18,4" }),
    );
    return el("span", {}, sample, told);
  });
  return el("p", { class: "legend" }, items);
}

// Tells the values under the pointer in a line below; `tell(step, share)` gives {step, text}.
export function withReadout(picture, scale, usual, tell) {
  const rule = svg("path", { class: "pointer", d: "" });
  const told = el("p", { class: "readout" }, usual);
  picture.append(rule);
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const at = [scale.step(event.clientX - box.left), scale.share(event.clientY - box.top)];
    const found = tell(...at);
    if (!found) return;
    const across = `M${scale.x(found.step)},${EDGE.top}V${scale.height - EDGE.bottom}`;
    rule.setAttribute("d", across);
    told.textContent = found.text;
  });
  picture.addEventListener("pointerleave", () => {
    rule.setAttribute("d", "");
    told.textContent = usual;
  });
  return told;
}

// Draws a training run's learning curve with the horizon's stages. Knows numbers by step only.

import { svg } from "./dom.js";
import { percent } from "./marks.js";

const SMOOTHING = 9;
const HEIGHT = 190;
const EDGE = { left: 44, right: 44, top: 20, bottom: 26 };

function average(values) {
  const half = Math.floor(Math.min(SMOOTHING, values.length) / 2);
  return values.map((_, place) => {
    // As in learning_curve.png, the ends are continued with the first and last value.
    let sum = 0;
    for (let near = place - half; near <= place + half; near += 1) {
      sum += values[Math.max(0, Math.min(near, values.length - 1))];
    }
    return sum / (2 * half + 1);
  });
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

function ticks(last) {
  const size = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].find(
    (step) => last / step <= 8,
  );
  const found = [];
  for (let step = 0; step <= last; step += size ?? last) found.push(step);
  return found;
}

function line(points, x, y) {
  const at = ([step, value]) => `${x(step)},${y(value)}`;
  return points.length ? `M${points.map(at).join("L")}` : "";
}

function axes(x, y, last, width) {
  const marks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    svg("path", { class: "rule", d: `M${EDGE.left},${y(share)}H${width - EDGE.right}` }),
    svg("text", { x: EDGE.left - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}%`),
  ]);
  const steps = ticks(last).map((step) =>
    svg("text", { x: x(step), y: HEIGHT - 8, "text-anchor": "middle" }, step),
  );
  return [...marks, ...steps];
}

function shades(points, x, y) {
  return stages(points).flatMap(({ horizon, start, end }, place) => {
    const [left, right] = [x(start), x(end)];
    const shade = { x: left, y: y(1), width: Math.max(1, right - left), height: y(0) - y(1) };
    const middle = { x: (left + right) / 2, y: EDGE.top - 6, "text-anchor": "middle" };
    return [
      svg("rect", { class: place % 2 ? "stage odd" : "stage", ...shade }),
      svg("text", { class: "stage-name", ...middle }, `horizon ${horizon}`),
    ];
  });
}

function validations(points, x, y) {
  return points.filter((point) => point.validation !== undefined).flatMap((point) => {
    const at = x(point.step);
    const told = `validation at step ${point.step}: ${percent(point.validation)}`;
    const place = { class: "validation", cx: at, cy: y(point.validation), r: 4 };
    const dot = svg("circle", place, svg("title", {}, told));
    if (point.low === undefined || point.high === undefined) return [dot];
    return [svg("path", { class: "interval", d: `M${at},${y(point.low)}V${y(point.high)}` }), dot];
  });
}

function losses(points, x, y) {
  const found = points.filter((point) => point.loss !== undefined);
  const values = found.map((point) => point.loss);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const share = (loss) => (loss - low) / (high - low || 1);
  return svg("path", { class: "loss", d: line(found.map((p) => [p.step, share(p.loss)]), x, y) });
}

// A step whose episodes were kept; a click lists them.
function keptStep(step, x, y, onStep) {
  const told = `List the trajectories of step ${step}`;
  const choose = () => onStep(step);
  return svg(
    "g",
    {
      class: "kept",
      role: "button",
      tabindex: 0,
      "aria-label": told,
      click: choose,
      keydown: (event) => event.key === "Enter" && choose(),
    },
    svg("rect", { x: x(step) - 7, y: y(0) - 6, width: 14, height: 14, class: "touch" }),
    svg("circle", { cx: x(step), cy: y(0), r: 3.5 }),
    svg("title", {}, told),
  );
}

function legend(parts) {
  return parts.map(([kind, told]) => {
    const sample = svg("svg", { width: 18, height: 8, "aria-hidden": "true" });
    const isDot = kind === "validation" || kind === "dot";
    sample.append(
      isDot
        ? svg("circle", { class: kind, cx: 9, cy: 4, r: 3.5 })
        : svg("path", { class: kind, d: "M0,4L18,4" }),
    );
    const item = document.createElement("span");
    item.append(sample, told);
    return item;
  });
}

function description(success, last) {
  if (!success.length) return `Training loss up to step ${last}`;
  const [first, final] = [success[0][1], success.at(-1)[1]];
  const start = `${percent(first)} at step ${success[0][0]}`;
  return `Success of training episodes: ${start}, ${percent(final)} at step ${last}`;
}

export function drawCurve(host, points, keptSteps, onStep) {
  host.hidden = points.length === 0;
  if (host.hidden) return;
  const width = Math.max(280, host.clientWidth);
  const last = Math.max(1, ...points.map((point) => point.step));
  const x = (step) => EDGE.left + (step / last) * (width - EDGE.left - EDGE.right);
  const y = (share) => EDGE.top + (1 - share) * (HEIGHT - EDGE.top - EDGE.bottom);
  const success = points.filter((p) => p.success !== undefined).map((p) => [p.step, p.success]);
  const means = average(success.map(([, value]) => value));
  const smooth = success.map(([step], place) => [step, means[place]]);
  const label = description(success, last);
  const picture = svg("svg", { width, height: HEIGHT, role: "group", "aria-label": label });
  picture.append(...shades(points, x, y), ...axes(x, y, last, width));
  const told = [];
  if (success.length) {
    picture.append(
      svg("path", { class: "each", d: line(success, x, y) }),
      svg("path", { class: "smooth", d: line(smooth, x, y) }),
    );
    told.push(["each", "success per step"], ["smooth", "moving average"]);
  } else if (points.some((point) => point.loss !== undefined)) {
    picture.append(losses(points, x, y));
    told.push(["loss", "training loss, lowest to highest"]);
  }
  const checks = validations(points, x, y);
  picture.append(...checks);
  if (checks.length) told.push(["validation", "validation tasks, 95% interval"]);
  const kept = keptSteps.filter((step) => step <= last);
  picture.append(...kept.map((step) => keptStep(step, x, y, onStep)));
  if (kept.length) told.push(["dot", "kept trajectories"]);
  const below = document.createElement("p");
  below.className = "legend";
  below.append(...legend(told));
  host.replaceChildren(picture, below);
}

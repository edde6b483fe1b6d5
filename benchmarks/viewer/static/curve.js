// Draws a training run's learning curve with the horizon's stages.

import { EDGE, axes, legend, line, nearest } from "./curve_frame.js";
import { scales, smoothed, successes, withReadout } from "./curve_frame.js";
import { svg } from "./dom.js";
import { number, percent } from "./marks.js";

const USUAL = "Point at the curve for its values; a circle lists the trajectories of its step.";

function stages(points) {
  const found = [];
  for (const { step, horizon } of points.filter((point) => point.horizon !== undefined)) {
    const last = found.at(-1);
    if (last?.horizon === horizon) last.end = step;
    else found.push({ horizon, start: step - 1, end: step });
  }
  return found;
}

function shades(points, { x, y }) {
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

function validations(points, { x, y }) {
  return points.filter((point) => point.validation !== undefined).flatMap((point) => {
    const at = x(point.step);
    const told = `validation at step ${point.step}: ${percent(point.validation)}`;
    const place = { class: "validation", cx: at, cy: y(point.validation), r: 4 };
    const dot = svg("circle", place, svg("title", {}, told));
    if (point.low === undefined || point.high === undefined) return [dot];
    return [svg("path", { class: "interval", d: `M${at},${y(point.low)}V${y(point.high)}` }), dot];
  });
}

function losses(points, scale) {
  const found = points.filter((point) => point.loss !== undefined);
  const values = found.map((point) => point.loss);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const share = (loss) => (loss - low) / (high - low || 1);
  return svg("path", { class: "loss", d: line(found.map((p) => [p.step, share(p.loss)]), scale) });
}

// A step whose episodes were kept; a click lists them.
function keptStep(step, { x, y }, onStep) {
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
      "data-step": step,
      keydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose();
      },
    },
    svg("rect", { x: x(step) - 7, y: y(0) - 6, width: 14, height: 14, class: "touch" }),
    svg("circle", { cx: x(step), cy: y(0), r: 3.5 }),
    svg("title", {}, told),
  );
}

function description(success, last) {
  if (!success.length) return `Training loss up to step ${last}`;
  const [first, final] = [success[0][1], success.at(-1)[1]];
  const start = `${percent(first)} at step ${success[0][0]}`;
  return `Success of training episodes: ${start}, ${percent(final)} at step ${last}`;
}

function told(point, averages) {
  const parts = [`step ${point.step}`];
  const add = (name, value, show) => value !== undefined && parts.push(`${name} ${show(value)}`);
  add("success", point.success, percent);
  add("average", averages.get(point.step), percent);
  add("validation", point.validation, percent);
  add("turns", point.turns, (value) => number(value, 1));
  add("invalid", point.invalid, percent);
  add("horizon", point.horizon, number);
  add("loss", point.loss, (value) => value.toPrecision(3));
  return parts.join(" · ");
}

export function drawCurve(host, points, keptSteps, onStep) {
  host.hidden = points.length === 0;
  if (host.hidden) return;
  const scale = scales(points, host.clientWidth);
  const success = successes(points);
  const smooth = smoothed(success);
  const label = description(success, scale.last);
  const size = { width: scale.width, height: scale.height };
  const picture = svg("svg", { ...size, role: "group", "aria-label": label });
  picture.append(...shades(points, scale), ...axes(scale));
  const parts = [];
  if (success.length) {
    picture.append(
      svg("path", { class: "each", d: line(success, scale) }),
      svg("path", { class: "smooth", d: line(smooth, scale) }),
    );
    parts.push(["each", "success per step"], ["smooth", "moving average"]);
  } else if (points.some((point) => point.loss !== undefined)) {
    picture.append(losses(points, scale));
    parts.push(["loss", "training loss, lowest to highest"]);
  }
  const checks = validations(points, scale);
  picture.append(...checks);
  if (checks.length) parts.push(["validation", "validation tasks, 95% interval"]);
  const kept = keptSteps.filter((step) => step <= scale.last);
  const averages = new Map(smooth);
  const readout = withReadout(picture, scale, USUAL, (step) => {
    const point = nearest(points, step);
    return { step: point.step, text: told(point, averages) };
  });
  picture.append(...kept.map((step) => keptStep(step, scale, onStep)));
  if (kept.length) parts.push(["dot", "kept trajectories"]);
  host.replaceChildren(picture, readout, legend(parts));
}

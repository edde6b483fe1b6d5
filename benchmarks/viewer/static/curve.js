// Draws a training run's learning curve with the horizon's stages: success, or any other metric.

import { axes, legend, line, nearest, rangeOf, scales, shades } from "./curve_frame.js";
import { measuredPoint, smoothed, valuesOf, withReadout } from "./curve_frame.js";
import { svg } from "./dom.js";
import { number, percent } from "./marks.js";
import { isValidated, written } from "./metrics.js";

const MOST_DOTS = 24;
const USUAL = "Point at the curve for its values; a circle lists the trajectories of its step.";

function validations(points, scale, name = "validation", show = percent) {
  return points.filter((point) => point[name] !== undefined).flatMap((point) => {
    const caption = `validation at step ${point.step}: ${show(point[name])}`;
    return measuredPoint({ ...point, value: point[name] }, scale, "validation", caption);
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
function keptStep(step, { x, bottom }, onStep) {
  const caption = `List the trajectories of step ${step}`;
  const choose = () => onStep(step);
  return svg(
    "g",
    {
      class: "kept",
      role: "button",
      tabindex: 0,
      "aria-label": caption,
      click: choose,
      "data-step": step,
      keydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose();
      },
    },
    svg("rect", { x: x(step) - 7, y: bottom - 6, width: 14, height: 14, class: "touch" }),
    svg("circle", { cx: x(step), cy: bottom, r: 3.5 }),
    svg("title", {}, caption),
  );
}

function description(success, last) {
  if (!success.length) return `Training loss up to step ${last}`;
  const [first, final] = [success[0][1], success.at(-1)[1]];
  const start = `${percent(first)} at step ${success[0][0]}`;
  return `Success of training episodes: ${start}, ${percent(final)} at step ${last}`;
}

function caption(point, averages) {
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

// The circles that list the trajectories of their steps.
function keptSteps(steps, scale, onStep) {
  const kept = steps.filter((step) => step <= scale.last);
  return kept.map((step) => keptStep(step, scale, onStep));
}

function pictureOf(scale, label) {
  const { width, height } = scale;
  return svg("svg", { width, height, role: "group", "aria-label": label });
}

function finish(host, picture, readout, parts, kept, above = []) {
  picture.append(...kept, ...above);
  if (kept.length) parts.push(["dot", "kept trajectories"]);
  host.replaceChildren(picture, readout, legend(parts));
}

export function drawSuccess(host, points, steps, onStep) {
  host.hidden = points.length === 0;
  if (host.hidden) return;
  const scale = scales(points, host.clientWidth);
  const success = valuesOf(points, "success");
  const smooth = smoothed(success);
  const picture = pictureOf(scale, description(success, scale.last));
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
  if (checks.length) parts.push(["validation", "held-out tasks, 95% interval"]);
  const averages = new Map(smooth);
  const readout = withReadout(picture, scale, USUAL, (step) => {
    const point = nearest(points, step);
    return { step: point.step, text: caption(point, averages) };
  });
  finish(host, picture, readout, parts, keptSteps(steps, scale, onStep), checks);
}

// Draws a metric; `isLog` asks for a logarithmic axis.
export function drawMetric(host, points, { metric, isLog }, steps, onStep) {
  const values = valuesOf(points, "value");
  host.hidden = values.length === 0;
  if (host.hidden) return;
  const show = (value) => written(value, metric);
  const bounds = points.flatMap(({ low, high }) => [low, high]).filter((end) => end !== undefined);
  const hasBounds = bounds.length > 0;
  const range = rangeOf([...values.map(([, value]) => value), ...bounds], { isLog, show });
  const scale = scales(points, host.clientWidth, range);
  const [first, final] = [values[0], values.at(-1)];
  const ends = `${show(first[1])} at step ${first[0]}, ${show(final[1])} at step ${final[0]}`;
  const picture = pictureOf(scale, `${metric}: ${ends}`);
  picture.append(...shades(points, scale), ...axes(scale));
  const parts = [];
  if (isValidated(metric)) {
    picture.append(...validations(points, scale, "value", show));
    parts.push(["validation", hasBounds ? `${metric}, 95% interval` : metric]);
  } else if (values.length > MOST_DOTS) {
    parts.push(["each", metric]);
    picture.append(svg("path", { class: "each", d: line(values, scale) }));
    picture.append(svg("path", { class: "smooth", d: line(smoothed(values), scale) }));
    parts.push(["smooth", "moving average"]);
  } else {
    parts.push(["smooth", metric]);
    picture.append(svg("path", { class: "smooth", d: line(values, scale) }));
    const dots = values.map(([step, value]) =>
      svg("circle", { class: "point", cx: scale.x(step), cy: scale.y(value), r: 2.5 }),
    );
    picture.append(...dots);
  }
  const measured = points.filter((point) => point.value !== undefined);
  const readout = withReadout(picture, scale, USUAL, (step) => {
    const point = nearest(measured, step);
    return { step: point.step, text: `step ${point.step} · ${metric} ${show(point.value)}` };
  });
  finish(host, picture, readout, parts, keptSteps(steps, scale, onStep));
}

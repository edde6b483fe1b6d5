// Draws a metric of several runs in one picture, those of one folder in one colour.

import { SHARES, axes, legend, line, nearest, rangeOf, scales } from "./curve_frame.js";
import { smoothed, valuesOf, withReadout } from "./curve_frame.js";
import { svg } from "./dom.js";
import { written } from "./metrics.js";

const COLOURS = 8;
const USUAL = "Moving averages, a line for each run. Point at one for its name; click to open it.";

// How the lines of a family are drawn: in dashes where the colours come again.
function kindOf(place) {
  return `line line-${place % COLOURS}${place < COLOURS ? "" : " again"}`;
}

// Runs that differ in their last folders only (grpo/seed_0, grpo/seed_1) are of one family.
function familyOf(run) {
  const folders = run.full.split("/").filter((part) => !/^(model|final|seed[_-]?\d+)$/i.test(part));
  return folders.join("/") || run.full;
}

// What success is drawn of: the training episodes, or the validations of a run that played none.
function valuesFor(points, metric) {
  if (metric) return valuesOf(points, "value");
  const success = valuesOf(points, "success");
  return success.length ? success : valuesOf(points, "validation");
}

// `found` are {run, points}: a run as the index tells it, and its points; `isApart` gives each run
// a colour of its own.
export function drawCurves(host, found, { metric, isLog, isApart }, onRun) {
  const drawn = found
    .map(({ run, points }) => ({ run, each: valuesFor(points, metric) }))
    .filter(({ each }) => each.length)
    .map((one) => ({ ...one, values: smoothed(one.each) }));
  host.hidden = drawn.length === 0;
  if (host.hidden) return;
  const show = (value) => written(value, metric);
  const all = drawn.flatMap(({ values }) => values.map(([, value]) => value));
  const range = metric ? rangeOf(all, { isLog, show }) : SHARES;
  const steps = drawn.flatMap(({ each }) => each.map(([step]) => ({ step })));
  const scale = scales(steps, host.clientWidth, range);
  const nameOf = isApart ? (run) => run.full : familyOf;
  const families = [...new Set(drawn.map(({ run }) => nameOf(run)))];
  const size = { width: scale.width, height: scale.height };
  const label = `${metric || "Success"} of ${drawn.length} runs by step`;
  const picture = svg("svg", { ...size, class: "many", role: "group", "aria-label": label });
  picture.append(...axes(scale));
  for (const one of drawn) {
    const kind = kindOf(families.indexOf(nameOf(one.run)));
    one.path = svg("path", { class: kind, d: line(one.values, scale) });
    picture.append(one.path);
  }
  let pointed = null;
  const readout = withReadout(picture, scale, USUAL, (step, y) => {
    let best = null;
    for (const one of drawn) {
      const points = one.values.map(([at, value], place) => ({ step: at, value, place }));
      const point = nearest(points, step);
      const away = Math.hypot(scale.y(point.value) - y, scale.x(point.step) - scale.x(step));
      if (!best || away < best.away) best = { one, point, away };
    }
    pointed = best.one;
    for (const { path } of drawn) path.classList.toggle("pointed", path === pointed.path);
    picture.append(pointed.path);
    const exact = show(pointed.each[best.point.place][1]);
    const average = `average ${show(best.point.value)}`;
    const what = `step ${best.point.step} · ${metric || "success"} ${exact} · ${average}`;
    return { step: best.point.step, text: `${pointed.run.full} · ${what}` };
  });
  picture.addEventListener("pointerleave", () => {
    for (const { path } of drawn) path.classList.remove("pointed");
  });
  picture.addEventListener("click", () => pointed && onRun(pointed.run));
  const parts = families.map((family, place) => {
    const count = drawn.filter(({ run }) => nameOf(run) === family).length;
    const told = count === 1 ? family : `${family}, ${count} runs`;
    return [kindOf(place), told];
  });
  host.replaceChildren(picture, readout, legend(parts));
}

// Draws the learning curves of several runs in one picture, those of one folder in one colour.

import { axes, legend, line, nearest } from "./curve_frame.js";
import { scales, smoothed, successes, withReadout } from "./curve_frame.js";
import { svg } from "./dom.js";
import { percent } from "./marks.js";

const COLOURS = 8;
const USUAL = "Moving averages of success, a line for each run. Point at one for its name; click to open it.";

// Runs that differ in their last folders only (grpo/seed_0, grpo/seed_1) are of one family.
function familyOf(run) {
  const folders = run.full.split("/").filter((part) => !/^(model|final|seed[_-]?\d+)$/i.test(part));
  return folders.join("/") || run.full;
}

// `found` are {run, points}: a run as the index tells it, and its curve.
export function drawCurves(host, found, onRun) {
  const drawn = found
    .map(({ run, points }) => ({ run, points, values: smoothed(successes(points)) }))
    .filter(({ values }) => values.length);
  host.hidden = drawn.length === 0;
  if (host.hidden) return;
  const scale = scales(drawn.flatMap(({ points }) => points), host.clientWidth);
  const families = [...new Set(drawn.map(({ run }) => familyOf(run)))];
  const size = { width: scale.width, height: scale.height };
  const label = `Success of ${drawn.length} runs by step`;
  const picture = svg("svg", { ...size, class: "many", role: "group", "aria-label": label });
  picture.append(...axes(scale));
  for (const one of drawn) {
    const colour = families.indexOf(familyOf(one.run)) % COLOURS;
    one.path = svg("path", { class: `line line-${colour}`, d: line(one.values, scale) });
    picture.append(one.path);
  }
  let pointed = null;
  const readout = withReadout(picture, scale, USUAL, (step, share) => {
    let best = null;
    for (const one of drawn) {
      const points = one.values.map(([at, value]) => ({ step: at, value }));
      const point = nearest(points, step);
      const away = Math.abs(point.value - share) + Math.abs(point.step - step) / scale.last;
      if (!best || away < best.away) best = { one, point, away };
    }
    pointed = best.one;
    for (const { path } of drawn) path.classList.toggle("pointed", path === pointed.path);
    picture.append(pointed.path);
    const { run, points } = pointed;
    const exact = points.find((point) => point.step === best.point.step)?.success;
    const average = `average ${percent(best.point.value)}`;
    const text = `${run.full} · step ${best.point.step} · success ${percent(exact)} · ${average}`;
    return { step: best.point.step, text };
  });
  picture.addEventListener("pointerleave", () => {
    for (const { path } of drawn) path.classList.remove("pointed");
  });
  picture.addEventListener("click", () => pointed && onRun(pointed.run));
  const parts = families.map((family, place) => {
    const count = drawn.filter(({ run }) => familyOf(run) === family).length;
    const told = count === 1 ? family : `${family}, ${count} runs`;
    return [`line line-${place % COLOURS}`, told];
  });
  host.replaceChildren(picture, readout, legend(parts));
}

// Draws a metric of several runs in one picture, those of one folder in one colour.

import { SHARES, axes, legend, line, nearest, rangeOf, scales } from "./curve_frame.js";
import { measuredPoint, smoothed, valuesOf, withReadout } from "./curve_frame.js";
import { svg } from "./dom.js";
import { isValidated, written } from "./metrics.js";

const COLOURS = 8;
const MOST_CHECKED = 4;
const CHECK_GAP = 9;
const USUAL =
  "Lines are moving averages, points validations. Point at one for its run; click to open it.";

// How the lines of a family are drawn: in dashes where the colours come again.
function kindOf(place) {
  return `line line-${place % COLOURS}${place < COLOURS ? "" : " again"}`;
}

// Runs that differ in their last folders only (grpo/seed_0, grpo/seed_1) are of one family.
function familyOf(run) {
  const folders = run.full.split("/").filter((part) => !/^(model|final|seed[_-]?\d+)$/i.test(part));
  return folders.join("/") || run.full;
}

// What a run is drawn of: {each, values, checks}. `values` are the moving average of what training
// logged, `checks` the validations as they were measured: points, which no line joins.
function seriesOf(points, metric) {
  const name = metric ? "value" : "success";
  const areChecks = metric && isValidated(metric);
  const each = areChecks ? [] : valuesOf(points, name);
  const checked = metric ? "value" : "validation";
  const measured = metric && !areChecks ? [] : points.filter((one) => one[checked] !== undefined);
  const checks = measured.map(({ step, low, high, [checked]: value }) => ({ step, value, low, high }));
  return { each, values: smoothed(each), checks };
}

// `found` are {run, points}: a run as the index tells it, and its points; `isApart` gives each run
// a colour of its own.
export function drawCurves(host, found, { metric, isLog, isApart }, onRun) {
  const drawn = found
    .map(({ run, points }) => ({ run, ...seriesOf(points, metric) }))
    .filter(({ each, checks }) => each.length || checks.length);
  host.hidden = drawn.length === 0;
  if (host.hidden) return;
  const show = (value) => written(value, metric);
  const all = drawn.flatMap(({ values, checks }) => [
    ...values.map(([, value]) => value),
    ...checks.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]),
  ]);
  const range = metric ? rangeOf(all, { isLog, show }) : SHARES;
  const steps = drawn.flatMap(({ each, checks }) => [...each.map(([step]) => ({ step })), ...checks]);
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
    // Where many runs lie over each other, validations are drawn of those that have nothing else.
    if (one.each.length && drawn.length > MOST_CHECKED) one.checks = [];
    // Side by side, where runs were validated at the same steps.
    const aside = CHECK_GAP * (drawn.indexOf(one) - (drawn.length - 1) / 2);
    const place = { ...scale, x: (step) => scale.x(step) + (drawn.length > MOST_CHECKED ? 0 : aside) };
    const color = kind.replace("line ", "").replace("line-", "check-");
    for (const check of one.checks) {
      const caption = `${one.run.full}: validation at step ${check.step}: ${show(check.value)}`;
      picture.append(...measuredPoint(check, place, `validation ${color}`, caption));
    }
  }
  let pointed = null;
  const readout = withReadout(picture, scale, USUAL, (step, y) => {
    let best = null;
    for (const one of drawn) {
      const points = one.values.map(([at, value], place) => ({ step: at, value, place }));
      const point = nearest([...points, ...one.checks], step);
      const away = Math.hypot(scale.y(point.value) - y, scale.x(point.step) - scale.x(step));
      if (!best || away < best.away) best = { one, point, away };
    }
    pointed = best.one;
    for (const { path } of drawn) path.classList.toggle("pointed", path === pointed.path);
    picture.append(pointed.path);
    const { place, step: at, value } = best.point;
    const exact =
      place === undefined
        ? `validation ${show(value)}`
        : `${metric || "success"} ${show(pointed.each[place][1])} · average ${show(value)}`;
    const what = `step ${at} · ${exact}`;
    return { step: best.point.step, text: `${pointed.run.full} · ${what}` };
  });
  picture.addEventListener("pointerleave", () => {
    for (const { path } of drawn) path.classList.remove("pointed");
  });
  picture.addEventListener("click", () => pointed && onRun(pointed.run));
  const parts = families.map((family, place) => {
    const count = drawn.filter(({ run }) => nameOf(run) === family).length;
    const caption = count === 1 ? family : `${family}, ${count} runs`;
    return [kindOf(place), caption];
  });
  if (drawn.some(({ checks }) => checks.length)) parts.push(["validation", "validations, 95% interval"]);
  host.replaceChildren(picture, readout, legend(parts));
}

// SQL: the result of the last statement as a table, and whether it is the answer.

import { el } from "./dom.js";

function row(tag, values) {
  return el("tr", {}, values.map((value) => el(tag, {}, value)));
}

export function drawResult(scene, turn) {
  const { columns, rows, more, right } = scene.turns[turn];
  const { database, level } = scene.about;
  const place = el("p", { class: "scene-note" }, `Database ${database}, ${level}`);
  if (!columns.length) return [place, el("p", { class: "scene-note" }, "No statement has given a result yet")];
  const caption = right ? "The last result is the answer" : "The last result is not the answer";
  const head = el("thead", {}, row("th", columns));
  const lines = rows.map((values) => row("td", values));
  return [
    place,
    el("p", { class: right ? "scene-note found" : "scene-note" }, caption),
    el("div", { class: "scene-result" }, el("table", { "aria-label": "Last result" }, head, el("tbody", {}, lines))),
    more ? el("p", { class: "scene-note" }, "There are more rows") : null,
  ];
}

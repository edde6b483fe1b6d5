// The scenes that are mostly words: SciWorld's score, SearchQA's documents, WebArena's page.

import { el, svg } from "./dom.js";

const WIDTH = 220;
const HEIGHT = 56;
const DEEPEST = 12;

function points(score) {
  return String(Math.round(100 * score));
}

function place(score, turn, last) {
  const x = last ? (turn / last) * (WIDTH - 8) + 4 : WIDTH / 2;
  return [x, HEIGHT - 5 - score * (HEIGHT - 10)];
}

export function drawScore(scene, turn) {
  const { score, gained } = scene.turns[turn];
  const last = scene.turns.length - 1;
  const change = Math.round(100 * gained);
  const phrase = change ? `${change > 0 ? "+" : "−"}${Math.abs(change)} by the last action` : "unchanged";
  let path = "";
  scene.turns.forEach((one, number) => {
    const [x, y] = place(one.score, number, last);
    path += number ? `H${x}V${y}` : `M${x} ${y}`;
  });
  const [x, y] = place(score, turn, last);
  const chart = svg(
    "svg",
    { class: "scene-score", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Score over ${last} turns, now ${points(score)} of 100` },
    svg("path", { class: "scene-scale", d: `M4 5H${WIDTH - 4}M4 ${HEIGHT - 5}H${WIDTH - 4}` }),
    svg("path", { class: "scene-steps", d: path }),
    svg("circle", { class: "scene-now", cx: x, cy: y, r: 4 }),
  );
  const figure = el("p", { class: change ? "scene-note changed" : "scene-note" }, el("b", {}, points(score)), ` of 100, ${phrase}`);
  return [figure, chart];
}

function paper({ title, parts }, number) {
  const hasAnswer = parts.some(([, isAnswer]) => isAnswer);
  const text = parts.map(([part, isAnswer]) => (isAnswer ? el("mark", {}, part) : part));
  return el(
    "details",
    { class: "scene-document", open: hasAnswer },
    el("summary", {}, `${number + 1}. ${title}`, hasAnswer ? el("span", { class: "scene-has" }, "answer") : null),
    el("p", {}, text),
  );
}

export function drawDocuments(scene, turn) {
  const { documents, found } = scene.turns[turn];
  const { accepted } = scene.about;
  const answers = accepted && el("p", { class: "scene-note" }, "Accepted: ", accepted.slice(0, 3).join(" · "), accepted.length > 3 ? ` and ${accepted.length - 3} more forms` : "");
  if (!documents.length) return turn === 0 ? [answers] : [];
  const caption = found ? "An accepted answer stands here" : "No accepted answer stands here";
  const state = accepted && el("p", { class: found ? "scene-note found" : "scene-note" }, caption);
  return [answers, state, ...documents.map(paper)];
}

function element([depth, id, role, name, rest], target) {
  const isTarget = id === target;
  const kind = isTarget ? "scene-node target" : "scene-node";
  return el(
    "div",
    { class: `${kind} scene-deep-${Math.min(depth, DEEPEST)}`, "aria-current": isTarget ? "true" : null },
    el("span", { class: "scene-id" }, String(id)),
    el("span", { class: "scene-role" }, role),
    el("span", { class: `scene-name ${role === "link" || role === "button" ? "scene-press" : ""}` }, name),
    rest ? el("span", { class: "scene-rest" }, rest) : null,
    isTarget ? el("span", { class: "scene-has" }, "acted on") : null,
  );
}

export function drawPage(scene, turn) {
  const { url, tabs, tab, above, below, nodes, target, picture } = scene.turns[turn];
  if (!url && !nodes.length) return [];
  const bar = el("div", { class: "scene-address" }, url);
  const names = tabs.map((title, number) =>
    el("li", { "aria-current": number === tab ? "page" : null }, title || "(no title)"),
  );
  const shot = picture && el("img", { class: "scene-picture", src: picture, alt: `The window at ${url}` });
  const more = (count, where) => (count ? el("p", { class: "scene-note" }, `${count} lines ${where}`) : null);
  const tree = el(
    "div",
    { class: "scene-page", tabindex: 0, role: "region", "aria-label": "The page's elements" },
    more(above, "above"),
    nodes.map((node) => element(node, target)),
    more(below, "below"),
  );
  return [el("ul", { class: "scene-tabs", "aria-label": "Tabs" }, names), bar, shot, tree];
}

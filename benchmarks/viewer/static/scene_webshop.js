// WebShop: what is asked for with what the product at hand meets, or the hits with their best scores.

import { el } from "./dom.js";

const SIGNS = { there: "●", missing: "○" };
const SAID = { there: "is met", missing: "is not met" };

function headline({ page, query, product }) {
  if (page === "search") return "At the search bar";
  if (page === "results") return `Hits for “${query}”`;
  return page === "bought" ? `Bought ${product}` : product;
}

function line(name, isMet) {
  if (isMet === undefined) return el("li", {}, el("span", { class: "scene-item" }, name));
  const state = isMet ? "there" : "missing";
  const sign = el("span", { class: "scene-sign", role: "img", "aria-label": SAID[state] }, SIGNS[state]);
  return el("li", {}, el("span", { class: `scene-item ${state}` }, sign, el("span", { class: "scene-name" }, name)));
}

function hit([title, score]) {
  const points = el("span", { class: "scene-rest" }, `could score ${score.toFixed(2)} `);
  return el("li", { class: "scene-place" }, points, score === 1 ? el("mark", {}, title) : title);
}

export function drawShop(scene, turn) {
  const view = scene.turns[turn];
  const asked = scene.about.asked.map((name, place) => line(name, view.met?.[place]));
  return [
    el("p", { class: "scene-note" }, headline(view)),
    el("ul", { class: "scene-tree", "aria-label": "What is asked for" }, asked),
    view.hits.length ? el("ul", { class: "scene-places", "aria-label": "Hits" }, view.hits.map(hit)) : null,
  ];
}

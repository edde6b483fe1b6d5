// BabyAI: the grid as the agent left it, with what it sees lit.

import { el, svg } from "./dom.js";
import { squares } from "./scene_maze.js";

const FACING = ["right", "down", "left", "up"];
const KEY_BIT = "M.5 .44V.84M.5 .67h.15M.5 .83h.19";

function lines({ width, height }) {
  const across = Array.from({ length: height - 1 }, (_, row) => `M0 ${row + 1}h${width}`);
  const down = Array.from({ length: width - 1 }, (_, column) => `M${column + 1} 0v${height}`);
  return [...across, ...down].join("");
}

function shape(kind, state) {
  if (kind === "ball") return [svg("circle", { cx: 0.5, cy: 0.5, r: 0.3 })];
  if (kind === "key") {
    const bow = svg("circle", { cx: 0.5, cy: 0.3, r: 0.14, class: "scene-line" });
    return [bow, svg("path", { d: KEY_BIT, class: "scene-line" })];
  }
  if (kind === "box") {
    return [
      svg("rect", { x: 0.17, y: 0.17, width: 0.66, height: 0.66, rx: 0.06, class: "scene-line" }),
      svg("path", { d: "M.17 .5h.66", class: "scene-line" }),
    ];
  }
  if (kind !== "door") return [svg("rect", { x: 0.08, y: 0.08, width: 0.84, height: 0.84 })];
  if (state === "open") return [svg("path", { d: "M.06 .06h.16v.88h-.16z" })];
  const leaf = svg("rect", { x: 0.06, y: 0.06, width: 0.88, height: 0.88, rx: 0.05, class: "scene-door" });
  const knob = state === "locked" ? "M.5 .36a.1 .1 0 1 1 0 .2v.14" : "M.68 .5h.12";
  return [leaf, svg("path", { d: knob, class: "scene-line" })];
}

function thing([cell, kind, colour, state], width) {
  const name = [colour, state, kind].filter(Boolean).join(" ");
  const place = `translate(${cell % width} ${Math.floor(cell / width)})`;
  return svg(
    "g",
    { class: `scene-thing scene-${colour}`, transform: place },
    svg("title", {}, name),
    shape(kind, state),
  );
}

function agent({ agent: cell, direction }, width) {
  const place = `translate(${(cell % width) + 0.5} ${Math.floor(cell / width) + 0.5}) rotate(${90 * direction})`;
  return svg("path", { class: "scene-agent", d: "M.36 0L-.28 .3L-.14 0L-.28 -.3z", transform: place });
}

function described(state, { width }) {
  const seen = new Set(state.seen);
  const visible = state.things.filter(([cell]) => seen.has(cell));
  const names = visible.map(([, kind, colour, how]) => [colour, how, kind].filter(Boolean).join(" "));
  const column = (state.agent % width) + 1;
  const row = Math.floor(state.agent / width) + 1;
  const sight = names.length ? `it sees ${names.join(", ")}` : "it sees no objects";
  return `The agent in column ${column}, row ${row}, facing ${FACING[state.direction]}; ${sight}.`;
}

// Shows the grid as large as the window; a click or Escape closes it.
function enlarge(event) {
  const close = () => box.close();
  const large = event.currentTarget.querySelector("svg").cloneNode(true);
  large.style.maxWidth = "none";
  const box = el("dialog", { class: "scene-large", "aria-label": "The grid", click: close }, large);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}

export function drawGrid(scene, turn) {
  const { width, height, walls } = scene.about;
  const state = scene.turns[turn];
  const picture = svg(
    "svg",
    {
      class: "scene-grid",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": described(state, scene.about),
    },
    svg("rect", { class: "scene-floor", width, height }),
    svg("path", { class: "scene-seen", d: squares(state.seen, width) }),
    svg("path", { class: "scene-raster", d: lines(scene.about) }),
    svg("path", { class: "scene-wall", d: squares(walls, width) }),
    state.things.map((one) => thing(one, width)),
    agent(state, width),
  );
  const carried = state.carrying ? `Carries a ${state.carrying[1]} ${state.carrying[0]}` : "Carries nothing";
  // A room of 8 cells needs less than a maze of 22.
  picture.style.maxWidth = `${Math.max(14, 1.9 * Math.max(width, height))}rem`;
  const press = { type: "button", class: "scene-zoom", title: "Enlarge", click: enlarge };
  return [el("button", press, picture), el("p", { class: "scene-note" }, carried)];
}

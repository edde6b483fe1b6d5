// Maze: the whole map, with the cells where the agent has stood lit.

import { el, svg } from "./dom.js";

export function squares(cells, width) {
  return cells.map((cell) => `M${cell % width} ${Math.floor(cell / width)}h1v1h-1z`).join("");
}

function place(cell, width) {
  return { cx: (cell % width) + 0.5, cy: Math.floor(cell / width) + 0.5 };
}

export function drawMaze(scene, turn) {
  const { width, height, walls, goal } = scene.about;
  const { at, seen } = scene.turns[turn];
  const row = (cell) => `row ${Math.floor(cell / width)}, column ${cell % width}`;
  const caption = `At ${row(at)}; the goal is at ${row(goal)}`;
  const picture = svg(
    "svg",
    { class: "scene-maze", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": caption },
    svg("rect", { class: "scene-floor", width, height }),
    svg("path", { class: "scene-seen", d: squares(seen, width) }),
    svg("path", { class: "scene-wall", d: squares(walls, width) }),
    svg("circle", { class: "scene-goal", r: 0.36, ...place(goal, width) }),
    svg("circle", { class: "scene-agent", r: 0.26, ...place(at, width) }),
  );
  return [picture, el("p", { class: "scene-note" }, caption)];
}

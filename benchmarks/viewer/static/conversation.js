// The turns of one trajectory, or of two in two columns; and what is drawn beside them on demand.

import { el } from "./dom.js";
import { number, outcomeMark } from "./marks.js";
import { episodeHash } from "./route.js";
import { drawScene, drawTokens } from "./scenes.js";
import { drawEnd, drawTurn } from "./turn.js";

export function verdict(entry) {
  const told = `${entry.outcome.told} · return ${number(entry.return)} · ${entry.turns} turns`;
  return el("p", { class: `verdict ${entry.outcome.kind}` }, outcomeMark(entry), ` ${told}`);
}

export function facts(entry, runs) {
  const found = [
    ["environment", entry.game],
    ["subtask", entry.subtask],
    ["split", entry.split],
    ["policy", entry.policy],
    ["step", entry.step ? number(entry.step) : ""],
    ["run", runs.length > 1 ? runs[entry.run].title : ""],
    ["tokens", entry.tokens ? number(entry.tokens) : ""],
  ];
  const rows = found
    .filter(([, value]) => value)
    .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  return el("dl", { class: "facts" }, rows);
}

// `side` is {entry, record}; `label` goes before each turn's name, where there are two sides.
export function drawTurns(side, other, label = "") {
  let before = 0;
  const turns = side.record.turns.map((turn, place) => {
    const href = episodeHash(side.entry.key, { turn: place + 1, other });
    const drawn = drawTurn(turn, { place, before, href, label });
    before = turn.score;
    return drawn;
  });
  return [...turns, drawEnd(side.record, side.entry)];
}

// The first turn in which two policies wrote different things; -1 where there is none.
export function parting(one, other) {
  const length = Math.min(one.turns.length, other.turns.length);
  for (let place = 0; place < length; place += 1) {
    if (one.turns[place].completion !== other.turns[place].completion) return place;
  }
  return one.turns.length === other.turns.length ? -1 : length;
}

// Two columns whose turns stand side by side.
export function drawPair(sides, columns, runs) {
  const heads = sides.map(({ entry }, side) => {
    const step = entry.step ? `, step ${entry.step}` : "";
    const name = `${"AB"[side]} · ${entry.player || "unnamed"}${step}`;
    const parts = [el("h3", {}, name), verdict(entry), facts(entry, runs)];
    return el("header", { class: "side-head" }, parts);
  });
  const grid = el("div", { class: "pair" }, heads);
  const parts = parting(sides[0].record, sides[1].record);
  const rows = Math.max(...columns.map((column) => column.length));
  for (let place = 0; place < rows; place += 1) {
    if (place === parts) grid.append(el("p", { class: "parting" }, "From here on the two differ"));
    grid.append(...columns.map((column) => column[place] ?? el("div", { class: "nothing" })));
  }
  return grid;
}

// Draws each turn's scene when it comes into sight; long episodes have many.
export function addScenes(turns, env, scene) {
  if (!scene?.turns) return;
  const watcher = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting } of seen) {
        if (!isIntersecting) continue;
        watcher.unobserve(target);
        const host = target.querySelector(".scene");
        if (drawScene(host, env, scene, Number(target.dataset.turn) - 1)) continue;
        host.hidden = true;
        target.classList.remove("with-scene");
      }
    },
    { rootMargin: "600px" },
  );
  for (const turn of turns.slice(0, scene.turns.length)) {
    turn.querySelector(".scene").hidden = false;
    turn.classList.add("with-scene");
    watcher.observe(turn);
  }
}

// Draws each turn's tokens in place of its text, or the text again.
export function showTokens(turns, tokens, isShown) {
  turns.forEach((turn, place) => {
    const host = turn.querySelector(".tokens");
    if (!host) return;
    host.hidden = !isShown;
    host.replaceChildren();
    for (const block of turn.querySelectorAll(".words > .block")) block.hidden = isShown;
    if (isShown) drawTokens(host, tokens, place);
  });
}

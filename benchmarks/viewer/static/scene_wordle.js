// Wordle: the guesses, a tile for each letter, and how many words still fit.

import { el } from "./dom.js";

const STATES = { g: ["here", "at this place"], y: ["elsewhere", "elsewhere"], b: ["absent", "not in it"] };

function tile(letter, mark) {
  const [state, caption] = STATES[mark] ?? ["none", "no mark"];
  return el("li", { class: `scene-tile ${state}`, title: letter ? `${letter}: ${caption}` : null }, letter ?? "");
}

function row([word, marks], columns) {
  const tiles = Array.from({ length: columns }, (_, place) => tile(word[place], marks[place]));
  return el("li", {}, el("ol", { class: "scene-tiles" }, tiles));
}

export function drawGuesses(scene, turn) {
  const { guesses, fitting, words } = scene.turns[turn];
  const { rows, columns } = scene.about;
  const empty = Array.from({ length: rows - guesses.length }, () => ["", ""]);
  const caption = `${fitting} of ${words} words ${fitting === 1 ? "fits" : "fit"}`;
  return [
    el("ol", { class: "scene-guesses", "aria-label": "Guesses" }, [...guesses, ...empty].map((one) => row(one, columns))),
    el("p", { class: "scene-note" }, caption),
  ];
}

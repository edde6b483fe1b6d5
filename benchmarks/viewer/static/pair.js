// Two trajectories side by side: where their ways part, and what need not be read twice.

import { takeApart } from "./completion.js";
import { verdict, facts } from "./conversation.js";
import { el } from "./dom.js";

const actionOf = (turn) => takeApart(turn).action.replace(/\s+/g, " ");

// The first turn in which two policies saw or did different things; -1 where there is none. That
// they said the same in other words is no parting.
export function parting(one, other) {
  const length = Math.min(one.turns.length, other.turns.length);
  for (let place = 0; place < length; place += 1) {
    const [a, b] = [one.turns[place], other.turns[place]];
    if (a.observation !== b.observation || actionOf(a) !== actionOf(b)) return place;
  }
  return one.turns.length === other.turns.length ? -1 : length;
}

// Turns before the parting in which the thoughts or the form differ.
export function otherWords(one, other) {
  const end = parting(one, other);
  const places = one.turns.map((_, place) => place).slice(0, end < 0 ? undefined : end);
  return places.filter((place) => one.turns[place].completion !== other.turns[place].completion);
}

// Puts a line in the place of an observation that stands beside it already.
function fold(turn) {
  const block = turn.querySelector(".block.observation");
  const shown = [...block.children].filter((child) => child.tagName !== "H4");
  const box = el("div", { hidden: true }, shown);
  const caption = { true: "Hide it", false: "The same as A's" };
  const button = el("button", { type: "button", class: "same", "aria-expanded": "false" }, caption.false);
  button.addEventListener("click", () => {
    box.hidden = !box.hidden;
    button.setAttribute("aria-expanded", String(!box.hidden));
    button.textContent = caption[!box.hidden];
  });
  block.append(button, box);
}

function foldAlike([one, other], columns) {
  const texts = ({ record }) => record.turns.map((turn) => turn.observation);
  const [first, second] = [texts(one), texts(other)];
  second.forEach((text, place) => text && text === first[place] && fold(columns[1][place]));
}

function head(one, side, runs) {
  const { entry } = one;
  const step = entry.hasStep ? `, step ${entry.step}` : "";
  const name = `${"AB"[side]} · ${entry.player || "unnamed"}${step}`;
  return el("header", { class: "side-head" }, el("h3", {}, name), verdict(entry), facts(one, runs));
}

// Two columns whose turns stand side by side.
export function drawPair(sides, columns, runs) {
  const grid = el("div", { class: "pair" }, sides.map((one, side) => head(one, side, runs)));
  const [one, other] = sides.map(({ record }) => record);
  const parts = parting(one, other);
  for (const place of otherWords(one, other)) {
    for (const column of columns) {
      const chip = el("span", { class: "chip words-differ" }, "same action, other words");
      column[place].querySelector(".turn-head .quiet").before(chip);
    }
  }
  foldAlike(sides, columns);
  const rows = Math.max(...columns.map((column) => column.length));
  for (let place = 0; place < rows; place += 1) {
    if (place === parts) grid.append(el("p", { class: "parting" }, "From here on the two differ"));
    grid.append(...columns.map((column) => column[place] ?? el("div", { class: "nothing" })));
  }
  return grid;
}

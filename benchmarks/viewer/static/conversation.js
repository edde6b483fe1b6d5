// The turns of one trajectory, and what is drawn beside them on demand.

import { el } from "./dom.js";
import { money, number, outcomeMark, plural, signed } from "./marks.js";
import { episodeHash } from "./route.js";
import { drawScene, drawTokens } from "./scenes.js";
import { drawEnd, drawTurn } from "./turn.js";

export function verdict(entry) {
  const caption = `${entry.outcome.caption} · return ${number(entry.return)} · ${plural(entry.turns, "turn")}`;
  return el("p", { class: `verdict ${entry.outcome.kind}` }, outcomeMark(entry), ` ${caption}`);
}

export function facts({ entry, record }, runs) {
  const found = [
    ["environment", entry.game],
    ["subtask", entry.subtask],
    ["split", entry.split],
    ["policy", entry.policy],
    ["step", entry.step ? number(entry.step) : ""],
    ["run", runs.length > 1 ? runs[entry.run].full : ""],
    ["tokens", entry.tokens ? number(entry.tokens) : ""],
    ["cost", costOf(record)],
  ];
  const rows = found
    .filter(([, value]) => value)
    .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  return el("dl", { class: "facts" }, rows);
}

function costOf(record) {
  const costs = record.turns.map((turn) => turn.call?.cost).filter((cost) => cost != null);
  return costs.length ? money(costs.reduce((sum, cost) => sum + cost, 0)) : "";
}

// `one` is {entry, record}; `other` the key of what it is compared with; `side` is "A", "B" or "".
export function drawTurns(one, other, side = "") {
  let before = 0;
  const turns = one.record.turns.map((turn, place) => {
    const href = episodeHash(one.entry.key, { turn: place + 1, other });
    const drawn = drawTurn(turn, { place, before, href, side });
    before = turn.score;
    return drawn;
  });
  return [...turns, drawEnd(one.record, one.entry, side)];
}

// Writes in the turns' heads what training credited them with.
export function tellCredits(turns, credits) {
  credits.turns.forEach((value, place) => {
    if (value === null) return;
    const chip = el("span", { class: "chip credit" }, `advantage ${signed(value)}`);
    turns[place]?.querySelector(".turn-head .quiet").before(chip);
  });
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

// Draws each turn's tokens in place of its text, or the text again. The colours of advantages are
// full at `most`.
export function showTokens(turns, tokens, isShown, most) {
  turns.forEach((turn, place) => {
    const host = turn.querySelector(".tokens");
    if (!host) return;
    host.hidden = !isShown;
    host.replaceChildren();
    for (const block of turn.querySelectorAll(".words > .block")) block.hidden = isShown;
    if (isShown) drawTokens(host, tokens, place, most);
  });
}

// A turn's tokens: sampled or given, how probable each was, and what training credited it with.

import { el } from "./dom.js";

function shown(text, id) {
  if (text === null) return `${id} `;
  return text.replaceAll("\n", "↵\n").replaceAll("\t", "⇥\t");
}

function percent(share) {
  const value = 100 * share;
  return value >= 99.95 || value === 0 ? `${Math.round(value)}%` : `${value.toPrecision(3)}%`;
}

function signed(value) {
  return (value > 0 ? "+" : "") + value.toFixed(3);
}

function caption(token) {
  const text = token.text === null ? `id ${token.id}` : `${JSON.stringify(token.text)} · id ${token.id}`;
  if (!token.isSampled) return `${text} · given, in no loss`;
  const credit = token.advantage === null ? "" : ` · advantage ${signed(token.advantage)}`;
  return `${text} · sampled with ${percent(token.probability)}${credit}`;
}

function mark(token, most) {
  const node = el(
    "span",
    { class: token.isSampled ? "token sampled" : "token given", "data-told": caption(token), tabindex: token.isSampled ? -1 : null },
    shown(token.text, token.id),
  );
  if (!token.isSampled) return node;
  // Set through the object model: the page's policy allows no style attributes.
  node.style.setProperty("--doubt", String(1 - token.probability));
  if (token.advantage !== null && most) {
    node.style.setProperty("--credit", String(Math.min(1, Math.abs(token.advantage) / most)));
    node.classList.add(token.advantage > 0 ? "gain" : token.advantage < 0 ? "loss" : "even");
  }
  return node;
}

function listed(trace, turn) {
  const found = [];
  trace.turns.forEach((of, place) => {
    if (of !== turn) return;
    found.push({
      id: trace.ids[place],
      text: trace.texts ? trace.texts[place] : null,
      isSampled: trace.mask[place] === 1,
      probability: trace.probabilities[place],
      advantage: trace.advantages ? trace.advantages[place] : null,
    });
  });
  return found;
}

function prompt(trace) {
  const count = trace.prompt_ids.length;
  const box = el("details", { class: "token-prompt" }, el("summary", {}, `The prompt: ${count} tokens, given`));
  box.addEventListener("toggle", () => {
    if (!box.open || box.childNodes.length > 1) return;
    const texts = trace.prompt_texts ?? trace.prompt_ids.map(() => null);
    const nodes = trace.prompt_ids.map((id, place) => mark({ id, text: texts[place], isSampled: false }, 0));
    box.append(el("div", { class: "token-flow" }, nodes));
  });
  return box;
}

function summary(sampled) {
  if (!sampled.length) return "No token was sampled here.";
  const least = sampled.reduce((one, other) => (other.probability < one.probability ? other : one));
  const name = least.text === null ? `id ${least.id}` : JSON.stringify(least.text);
  return `${sampled.length} sampled; the least likely is ${name} with ${percent(least.probability)}. Point at a token, or use the arrow keys in them.`;
}

// Arrow keys go from one sampled token to the next, through all turns of the trajectory; at its
// ends they stay. The page's own keys do not see them.
function step(event) {
  const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!way) return;
  event.preventDefault();
  const own = event.currentTarget;
  const side = own.closest("[data-side]")?.dataset.side;
  const turns = side === undefined ? [own] : document.querySelectorAll(`[data-side="${side}"]`);
  const all = [...turns].flatMap((turn) => [...turn.querySelectorAll(".token.sampled")]);
  all[all.indexOf(document.activeElement) + way]?.focus();
}

// The colours of advantages are full at `most`.
export function tokensOfTurn(tokens, turn, most) {
  const trace = tokens.traces.find((one) => one.turns.includes(turn)) ?? null;
  if (!trace) return [el("p", { class: "scene-note" }, "There are no tokens in this turn.")];
  const found = listed(trace, turn);
  const line = el("p", { class: "token-told", "aria-live": "polite" }, summary(found.filter((one) => one.isSampled)));
  const tell = (event) => {
    const node = event.target.closest("[data-told]");
    if (node) line.textContent = node.dataset.told;
  };
  const flow = el("div", { class: "token-flow", mouseover: tell, focusin: tell, click: tell, keydown: step }, found.map((one) => mark(one, most)));
  flow.querySelector(".sampled")?.setAttribute("tabindex", "0");
  const isFirst = trace.turns[0] === turn;
  return [el("div", { class: "token-box" }, isFirst ? prompt(trace) : null, flow, line)];
}

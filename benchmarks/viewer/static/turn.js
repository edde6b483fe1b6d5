// One turn as it is read: what the policy saw, thought and did, and what came of it.

import { takeApart } from "./completion.js";
import { el } from "./dom.js";
import { money, number, plural, signed } from "./marks.js";

const LONG_LINES = 14;
const LONG_LETTERS = 1400;

function isLong(text) {
  return text.length > LONG_LETTERS || text.split("\n").length > LONG_LINES;
}

// A long text shows its beginning and a button for the rest.
export function passage(text, kind) {
  const body = el("div", { class: `passage ${kind}` }, text || "(empty)");
  if (!isLong(text)) return body;
  body.classList.add("clipped");
  const caption = `Show all ${number(text.split("\n").length)} lines`;
  const button = el("button", { type: "button", class: "unfold", "aria-expanded": "false" }, caption);
  button.addEventListener("click", () => {
    const isClipped = body.classList.toggle("clipped");
    button.setAttribute("aria-expanded", String(!isClipped));
    button.textContent = isClipped ? caption : "Show less";
  });
  return [body, button];
}

export function chips(turn, before) {
  const found = [];
  if (turn.call?.is_refusal) found.push(el("span", { class: "chip invalid" }, "refusal"));
  if (!turn.is_valid_action) found.push(el("span", { class: "chip invalid" }, "invalid action"));
  if (turn.reward !== 0) {
    const kind = turn.reward > 0 ? "rewarded" : "charged";
    found.push(el("span", { class: `chip ${kind}` }, `reward ${signed(turn.reward)}`));
  }
  if (turn.score !== before) {
    found.push(el("span", { class: "chip" }, `score ${number(before)} → ${number(turn.score)}`));
  }
  if (turn.trained === false) found.push(el("span", { class: "chip" }, "context only"));
  return found;
}

function block(heading, kind, text) {
  return el("section", { class: `block ${kind}` }, el("h4", {}, heading), passage(text, kind));
}

function answer(turn) {
  const { thought, action } = takeApart(turn);
  const reasoning = turn.call?.reasoning;
  return [
    ...(reasoning ? [block("Reasoning", "thought", reasoning)] : []),
    ...(thought ? [block("Thought", "thought", thought)] : []),
    block("Action", "action", action),
  ];
}

// What a server told of a turn: tokens that it read, seconds, retries, money, why the text ends.
function calledFor(call) {
  if (!call) return [];
  const { prompt_tokens: read, cached_tokens: cached, cost, retries, seconds } = call;
  return [
    read ? `${read} read${cached ? `, ${cached} cached` : ""}` : "",
    seconds ? `${seconds.toFixed(1)} s` : "",
    retries ? plural(retries, "retry", "retries") : "",
    cost == null ? "" : `cost ${money(cost)}`,
    call.finish_reason === "stop" ? "" : call.finish_reason,
  ];
}

// Before the name of a turn, where two trajectories stand side by side.
const labelOf = (side) => (side ? `${side} · ` : "");

// `href` links to the turn; `before` is the score before it; `side` is "A", "B" or "".
export function drawTurn(turn, { place, before, href, side = "" }) {
  const name = `${labelOf(side)}Turn ${place + 1}`;
  const caption = [turn.num_tokens ? plural(turn.num_tokens, "token") : "", ...calledFor(turn.call)];
  const head = el(
    "header",
    { class: "turn-head" },
    el("h3", {}, el("a", { href, title: "Link to this turn" }, name)),
    chips(turn, before),
    el("span", { class: "quiet" }, caption.filter(Boolean).join(" · ")),
  );
  const words = el("div", { class: "words" });
  words.append(
    block("Observation", "observation", turn.observation),
    ...answer(turn),
    el("div", { class: "tokens", hidden: true }),
  );
  return el(
    "article",
    {
      class: turn.is_valid_action ? "turn" : "turn invalid",
      tabindex: -1,
      "data-turn": place + 1,
      "data-side": side,
      "aria-label": name,
    },
    head,
    words,
    el("div", { class: "scene", hidden: true }),
  );
}

// What stands after the last turn: the last words of the environment, and how it ended.
export function drawEnd(record, entry, side = "") {
  const { kind, caption } = entry.outcome;
  const headline = {
    success: "The goal was reached",
    failed: "The machinery broke; this episode counts nowhere",
    unscored: "Nobody could score it; this episode counts nowhere",
    cut: `Cut off: ${caption.replace(/^cut: /, "")}`,
    lost: "It ended without success",
  }[caption === "unscored" ? caption : kind];
  const totals = `return ${number(entry.return)} · score ${number(entry.score)}`;
  const numbers = `${totals} · ${plural(entry.turns, "turn")}`;
  const last = record.final_observation;
  return el(
    "article",
    {
      class: `turn end ${kind}`,
      tabindex: -1,
      "data-turn": record.turns.length + 1,
      "data-side": side,
      "aria-label": `${labelOf(side)}The end: ${caption}`,
    },
    el(
      "header",
      { class: "turn-head" },
      el("h3", {}, `${labelOf(side)}${headline}`),
      el("span", { class: "quiet" }, numbers),
    ),
    el(
      "div",
      { class: "words" },
      last ? block("Last observation", "observation", last) : null,
      record.verdict ? block("Why not", "verdict", record.verdict) : null,
      record.error ? block("Error", "error", record.error) : null,
    ),
    el("div", { class: "scene", hidden: true }),
  );
}

// The bar above a trajectory: the ways out of it, what it is about, and what is shown of it.

import { drawComparison } from "./attempts.js";
import { el } from "./dom.js";
import { number, outcomeMark } from "./marks.js";

function button(caption, title, sign, onClick) {
  return el("button", { type: "button", "aria-label": caption, title, click: onClick }, sign);
}

// What remains of the title when it is scrolled away: each side's outcome, and the goal.
function reminder(sides) {
  const outcomes = sides.flatMap(({ entry }, side) => [
    sides.length > 1 ? ` ${"AB"[side]} ` : "",
    outcomeMark(entry),
    el("span", { class: `told ${entry.outcome.kind}` }, entry.outcome.caption),
  ]);
  const { goal, task } = sides[0].entry;
  const words = el("span", { class: "bar-goal" }, goal || task);
  return el("p", { class: "reminder", "aria-hidden": "true" }, outcomes, words);
}

function matches(onMatch) {
  const caption = el("span", { class: "where" });
  const box = el(
    "span",
    { class: "matches", hidden: true },
    caption,
    button("Previous match", "Previous match (N)", "↑", () => onMatch(-1)),
    button("Next match", "Next match (n)", "↓", () => onMatch(1)),
  );
  let words = "";
  const tell = (text, count, at) => {
    if (text !== null) words = text;
    box.hidden = !words;
    const which = at >= 0 ? `${number(at + 1)} of ` : "";
    caption.textContent = `“${words}”: ${count ? `${which}${number(count)}` : "not in these texts"}`;
  };
  return { box, tell };
}

// Returns {element, tokensButton, tellMatches(text, count, at)}.
export function drawBar(screen, { place: { at, total }, attempts, runs }) {
  const { onCompare, onTokens, onNeighbour } = screen.tell;
  const [first, second] = screen.sides;
  const where = at < 0 ? "not in the list" : `${number(at + 1)} of ${number(total)}`;
  const canShow = screen.source.hasTokens && screen.sides.some(({ entry }) => entry.traced);
  const tokensButton = el(
    "button",
    { type: "button", "aria-pressed": "false", "aria-keyshortcuts": "t", click: onTokens },
    "Tokens",
  );
  const found = matches((by) => screen.goToMatch(by));
  const element = el(
    "div",
    { class: "bar" },
    el("a", { class: "back", href: "#", id: "back" }, "← List"),
    button("Previous trajectory", "Previous trajectory (h)", "‹", () => onNeighbour(-1)),
    el("span", { class: "where", id: "where" }, where),
    button("Next trajectory", "Next trajectory (l)", "›", () => onNeighbour(1)),
    found.box,
    el("span", { class: "filler" }),
    screen.tokenKey.element,
    canShow ? tokensButton : null,
    drawComparison(attempts, runs, first.entry, second?.entry, onCompare),
    second ? button("End the comparison", "One alone", "✕", () => onCompare(null)) : null,
    reminder(screen.sides),
  );
  return { element, tokensButton, tellMatches: found.tell };
}

// The screen of one trajectory, or of two side by side: opens, draws, and moves between turns.
// Where one goes from there it is told.

import { drawComparison, drawGroup } from "./attempts.js";
import { addScenes, drawPair, drawTurns, facts, showTokens, verdict } from "./conversation.js";
import { el } from "./dom.js";
import { number } from "./marks.js";

function systemPrompt(record) {
  if (!record.system_prompt) return null;
  const text = el("div", { class: "passage" }, record.system_prompt);
  return el("details", { class: "system" }, el("summary", {}, "System prompt"), text);
}

function button(told, title, sign, onClick) {
  return el("button", { type: "button", "aria-label": told, title, click: onClick }, sign);
}

export class EpisodeScreen {
  // `tell` holds what is called: onCompare(key), onTokens(), onNeighbour(by).
  constructor(host, source, tell) {
    this.host = host;
    this.source = source;
    this.tell = tell;
    this.opened = 0;
    this.turn = 0;
    this.sides = [];
    this.columns = [];
  }

  // Reads and draws; an answer that comes after another episode was opened is dropped.
  async open(entry, other, entries, place) {
    this.opened += 1;
    const own = this.opened;
    this.host.setAttribute("aria-busy", "true");
    const chosen = other ? [entry, other] : [entry];
    const records = await Promise.all(chosen.map((one) => this.source.episode(one.id)));
    if (own !== this.opened) return false;
    this.host.removeAttribute("aria-busy");
    this.sides = chosen.map((one, side) => ({ entry: one, record: records[side] }));
    this.draw(entries, place);
    this.sides.forEach((side, column) => this.addScene(side, this.columns[column], own));
    return true;
  }

  draw(entries, place) {
    const [first, second] = this.sides;
    const attempts = entries.attempts(first.entry);
    this.tokensShown = false;
    this.turn = 0;
    this.note = el("p", { class: "note", role: "status", hidden: true });
    this.columns = second
      ? [drawTurns(first, second.entry.key, "A · "), drawTurns(second, first.entry.key, "B · ")]
      : [drawTurns(first, null)];
    const head = el(
      "header",
      { class: "episode-head" },
      el("h2", { tabindex: -1, id: "episode-title" }, first.entry.goal || first.entry.task),
      el("p", { class: "task" }, first.entry.task),
      second ? [] : [verdict(first.entry), facts(first.entry, entries.runs)],
    );
    const parts = [
      this.bar(place, attempts, entries.runs),
      head,
      drawGroup(attempts.group, first.entry),
      systemPrompt(first.record),
      this.note,
      second
        ? drawPair(this.sides, this.columns, entries.runs)
        : el("div", { class: "turns" }, this.columns[0]),
    ];
    this.host.replaceChildren(...parts.filter(Boolean));
    this.host.classList.toggle("two", Boolean(second));
  }

  bar({ at, total }, attempts, runs) {
    const { onCompare, onTokens, onNeighbour } = this.tell;
    const [first, second] = this.sides;
    const where = at < 0 ? "not in the list" : `${number(at + 1)} of ${number(total)}`;
    const canShow = this.source.hasTokens && this.sides.some(({ entry }) => entry.traced);
    this.tokensButton = el(
      "button",
      { type: "button", "aria-pressed": "false", "aria-keyshortcuts": "t", click: onTokens },
      "Tokens",
    );
    return el(
      "div",
      { class: "bar" },
      el("a", { class: "back", href: "#", id: "back" }, "← List"),
      button("Previous trajectory", "Previous trajectory (h)", "‹", () => onNeighbour(-1)),
      el("span", { class: "where" }, where),
      button("Next trajectory", "Next trajectory (l)", "›", () => onNeighbour(1)),
      el("span", { class: "filler" }),
      canShow ? this.tokensButton : null,
      drawComparison(attempts, runs, first.entry, second?.entry, onCompare),
      second ? button("End the comparison", "One alone", "✕", () => onCompare(null)) : null,
    );
  }

  async addScene({ entry }, turns, own) {
    if (!this.source.hasScenes) return;
    const scene = await this.source.scene(entry.id);
    if (own !== this.opened) return;
    if (scene?.reason) this.say(scene.reason);
    addScenes(turns, entry.env, scene);
  }

  async setTokens(isShown) {
    if (isShown === this.tokensShown) return;
    this.tokensShown = isShown;
    this.tokensButton.setAttribute("aria-pressed", String(isShown));
    const own = this.opened;
    this.tokensButton.textContent = isShown ? "Tokens …" : "Tokens";
    const found = isShown
      ? await Promise.all(this.sides.map(({ entry }) => this.source.tokens(entry.id)))
      : this.sides.map(() => null);
    if (own !== this.opened || this.tokensShown !== isShown) return;
    found.forEach((tokens, side) => {
      if (tokens?.reason) this.say(tokens.reason);
      showTokens(this.columns[side], tokens, isShown);
    });
    this.tokensButton.textContent = "Tokens";
    if (this.turn) this.goTo(this.turn);
  }

  say(text) {
    this.note.hidden = false;
    this.note.textContent = text;
  }

  get length() {
    return Math.max(0, ...this.columns.map((column) => column.length));
  }

  // Turns count from 1; 0 is the top, and the end counts as a turn.
  goTo(turn, { scrolls = true } = {}) {
    this.turn = Math.max(0, Math.min(turn, this.length));
    for (const column of this.columns) {
      column.forEach((drawn, place) => drawn.classList.toggle("current", place + 1 === this.turn));
    }
    const target = this.columns[0][this.turn - 1] ?? this.columns[1]?.[this.turn - 1];
    const place = target ?? this.host.querySelector("#episode-title");
    place.focus({ preventScroll: true });
    if (scrolls) place.scrollIntoView({ block: target ? "start" : "end" });
    if (!target) this.host.scrollTop = 0;
  }
}

// The screen of one trajectory, or of two side by side: opens, draws, and moves between turns.
// Where one goes from there it is told.

import { drawGroup, tellCredit } from "./attempts.js";
import { drawBar } from "./bar.js";
import { addScenes, drawTurns, facts, showTokens, tellCredits, verdict } from "./conversation.js";
import { el } from "./dom.js";
import { markMatches, reveal } from "./find.js";
import { Hold } from "./hold.js";
import { drawPair } from "./pair.js";
import { TokenKey } from "./token_key.js";

const MOST_CREDITS = 64;
// How far below the bar a turn's head may be and the turn still be the one that is read.
const HEAD_ROOM = 60;

function systemPrompt(record) {
  if (!record.system_prompt) return null;
  const text = el("div", { class: "passage" }, record.system_prompt);
  return el("details", { class: "system" }, el("summary", {}, "System prompt"), text);
}

export class EpisodeScreen {
  // `tell` holds what is called: onCompare(key), onTokens(), onNeighbour(by), onAttempt(entry),
  // onTurn(turn).
  constructor(host, source, tell) {
    this.host = host;
    this.source = source;
    this.tell = tell;
    this.opened = 0;
    this.turn = 0;
    this.sides = [];
    this.columns = [];
    this.matches = [];
    this.hold = new Hold(host);
    this.tokenKey = new TokenKey(host);
    host.addEventListener("click", (event) => this.clicked(event));
    this.sizes = new ResizeObserver(([{ target }]) => {
      host.style.setProperty("--bar", `${target.offsetHeight}px`);
      this.hold.pull();
    });
    this.watcher = new IntersectionObserver(
      ([{ isIntersecting }]) => host.classList.toggle("past-head", !isIntersecting),
      { root: host, rootMargin: "-50px 0px 0px" },
    );
  }

  // Reads and draws; an answer that comes after another episode was opened is dropped. `place` is
  // {at, total} in the list.
  async open(entry, other, entries, { place, text }) {
    this.opened += 1;
    const own = this.opened;
    this.host.setAttribute("aria-busy", "true");
    const chosen = other ? [entry, other] : [entry];
    const records = await Promise.all(chosen.map((one) => this.source.episode(one.id)));
    if (own !== this.opened) return false;
    this.host.removeAttribute("aria-busy");
    this.sides = chosen.map((one, side) => ({ entry: one, record: records[side] }));
    const groups = chosen.map((one) => entries.attempts(one));
    this.draw(entries, groups[0], { place, text });
    this.sides.forEach((side, column) => this.addScene(side, this.columns[column], own));
    this.credits = this.addCredits(groups.flatMap(({ group }) => group), own);
    return true;
  }

  draw(entries, attempts, { place, text }) {
    const [first, second] = this.sides;
    this.tokensShown = false;
    this.tokenKey.show(false, null);
    this.turn = 0;
    this.note = el("p", { class: "note", role: "status", hidden: true });
    this.columns = second
      ? [drawTurns(first, second.entry.key, "A"), drawTurns(second, first.entry.key, "B")]
      : [drawTurns(first, null)];
    const head = el(
      "header",
      { class: "episode-head" },
      el("h2", { tabindex: -1, id: "episode-title" }, first.entry.goal || first.entry.task),
      el("p", { class: "task" }, first.entry.task),
      second ? [] : [verdict(first.entry), facts(first, entries.runs)],
    );
    const bar = drawBar(this, { place, attempts, runs: entries.runs });
    const turns = second
      ? drawPair(this.sides, this.columns, entries.runs)
      : el("div", { class: "turns" }, this.columns[0]);
    const parts = [
      bar.element,
      head,
      drawGroup(attempts.group, first.entry, this.tell.onAttempt),
      systemPrompt(first.record),
      this.note,
      turns,
    ];
    this.bar = bar;
    this.host.replaceChildren(...parts.filter(Boolean));
    this.host.classList.toggle("two", Boolean(second));
    this.host.classList.remove("past-head");
    this.watcher.disconnect();
    this.watcher.observe(head);
    this.sizes.disconnect();
    this.sizes.observe(bar.element);
    this.hold.watch(turns);
    this.matches = markMatches(this.host, text);
    this.match = -1;
    bar.tellMatches(text, this.matches.length, -1);
  }

  async addScene({ entry }, turns, own) {
    if (!this.source.hasScenes) return;
    const scene = await this.source.scene(entry.id);
    if (own !== this.opened) return;
    if (scene?.reason) this.say(scene.reason);
    addScenes(turns, entry.env, scene);
  }

  // Writes the advantages where training recorded them; returns the strongest of the groups, which
  // the colours of all their tokens are measured by, or null.
  async addCredits(group, own) {
    const ids = [...new Set(group.filter((one) => one.traced).map((one) => one.id))];
    const shown = this.sides.map(({ entry }) => entry.id);
    const asked = [...new Set([...shown, ...ids])].slice(0, MOST_CREDITS);
    if (!this.source.hasTokens || !ids.length) return null;
    const found = await this.source.credits(asked);
    if (own !== this.opened) return null;
    let most = null;
    found.forEach((credits, place) => {
      if (!credits) return;
      most = Math.max(most ?? 0, credits.most);
      tellCredit(this.host, asked[place], credits.mean);
      this.sides.forEach(({ entry }, side) => {
        if (entry.id === asked[place]) tellCredits(this.columns[side], credits);
      });
    });
    return most;
  }

  async setTokens(isShown) {
    if (isShown === this.tokensShown) return;
    this.tokensShown = isShown;
    const { tokensButton } = this.bar;
    tokensButton.setAttribute("aria-pressed", String(isShown));
    const own = this.opened;
    tokensButton.textContent = isShown ? "Tokens …" : "Tokens";
    const [most, ...found] = await Promise.all([
      this.credits,
      ...this.sides.map(({ entry }) => (isShown ? this.source.tokens(entry.id) : null)),
    ]);
    if (own !== this.opened || this.tokensShown !== isShown) return;
    const turn = this.turnInSight();
    found.forEach((tokens, side) => {
      if (tokens?.reason) this.say(tokens.reason);
      showTokens(this.columns[side], tokens, isShown, most);
    });
    this.tokenKey.show(isShown, most);
    tokensButton.textContent = "Tokens";
    if (turn) this.goTo(turn);
  }

  say(text) {
    this.note.hidden = false;
    this.note.textContent = text;
  }

  get length() {
    return Math.max(0, ...this.columns.map((column) => column.length));
  }

  // The drawn turns of a number: one, or one on each side.
  drawn(turn) {
    return this.columns.map((column) => column[turn - 1]).filter(Boolean);
  }

  // The turn that is read: the one gone to, or after scrolling the last that begins above.
  turnInSight() {
    const top = this.bar.element.getBoundingClientRect().bottom;
    const isSeen = (node) => {
      const box = node.getBoundingClientRect();
      return box.bottom > top && box.top < innerHeight;
    };
    const gone = this.turn ? this.drawn(this.turn) : [this.host.querySelector("#episode-title")];
    if (gone.some(isSeen)) return this.turn;
    let turn = 0;
    const begins = (node) => node.getBoundingClientRect().top <= top + HEAD_ROOM;
    while (turn < this.length && this.drawn(turn + 1).some(begins)) turn += 1;
    return turn;
  }

  // Turns count from 1; 0 is the top, and the end counts as a turn.
  goTo(turn) {
    this.choose(turn);
    const [target] = this.drawn(this.turn);
    const place = target ?? this.host.querySelector("#episode-title");
    place.focus({ preventScroll: true });
    if (target) this.hold.on(target, "start");
    else {
      this.hold.let();
      this.host.scrollTop = 0;
    }
  }

  choose(turn) {
    this.turn = Math.max(0, Math.min(turn, this.length));
    for (const column of this.columns) {
      column.forEach((drawn, place) => drawn.classList.toggle("current", place + 1 === this.turn));
    }
  }

  // Goes to the next or the last place in which the searched words stand, round and round.
  goToMatch(by) {
    const { length } = this.matches;
    if (!length) return;
    this.match = (this.match + by + length) % length;
    const mark = this.matches[this.match];
    reveal(mark);
    this.hold.on(mark, "center");
    this.choose(Number(mark.closest(".turn")?.dataset.turn ?? 0));
    this.bar.tellMatches(null, length, this.match);
  }

  // The first place in a turn, or in the title where there is no other.
  goToFirstMatch() {
    this.match = this.matches.findIndex((mark) => mark.closest(".turn")) - 1;
    if (this.match < -1) this.match = -1;
    this.goToMatch(1);
  }

  // A turn's heading is a link for copying; pressed, it keeps what is shown beside it.
  clicked(event) {
    const heading = event.target.closest(".turn-head h3 a");
    if (!heading || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.tell.onTurn(Number(heading.closest(".turn").dataset.turn));
  }
}

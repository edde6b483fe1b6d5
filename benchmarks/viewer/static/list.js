// The list of trajectories: only the rows in sight exist, however many there are.
// Knows entries and columns; what is shown, and in which order, it is told.

import { el, say } from "./dom.js";
import { number, outcomeMark, turnStrip } from "./marks.js";
import { episodeHash } from "./route.js";

const SPARE_ROWS = 8;

// name, heading, least width, share of what is left, cell. A column whose values are all alike is
// left out; where there is no room, those named first in DROPPED are.
const COLUMNS = [
  ["result", "", 22, 0, (entry) => outcomeMark(entry)],
  ["goal", "Goal", 170, 4, goalCell],
  ["game", "Environment", 92, 0, (entry) => entry.game],
  ["subtask", "Subtask", 84, 1, (entry) => entry.subtask],
  ["split", "Split", 60, 0, (entry) => entry.split],
  ["phase", "Phase", 100, 0, (entry) => entry.phase],
  ["player", "Policy", 168, 2, (entry) => ending(entry.player, entry.policy)],
  ["runLabel", "Run", 168, 2, runCell],
  ["step", "Step", 46, 0, (entry) => (entry.hasStep ? number(entry.step) : "")],
  ["marks", "Course", 100, 0, turnStrip],
  ["turns", "Turns", 48, 0, (entry) => number(entry.turns)],
  ["return", "Return", 54, 0, (entry) => number(entry.return)],
  ["score", "Score", 50, 0, (entry) => number(entry.score)],
  ["tokens", "Tokens", 58, 0, (entry) => number(entry.tokens)],
];
const DROPPED = [
  "tokens", "score", "split", "subtask", "return", "step", "game", "player", "runLabel", "phase",
];
const GAP = 12;
const ALWAYS = new Set(["result", "goal", "marks"]);
const NUMBERS = new Set(["step", "turns", "return", "score", "tokens"]);

// Names that begin alike differ at their end: that is what stays where there is no room.
function ending(name, title) {
  return el("span", { class: "ending", title }, el("bdi", {}, name));
}

// Below a chosen folder, its name need not be said in each row.
function runCell({ runLabel, runName }, { folder }) {
  const isBelow = folder !== undefined && runLabel.startsWith(folder);
  const label = isBelow ? runLabel.slice(folder.length).replace(/^(\/| · )/, "") : runLabel;
  return ending(label, runName);
}

function goalCell(entry, { text }) {
  const href = episodeHash(entry.key, { text });
  const attributes = { href, tabindex: -1, title: entry.goal };
  const link = el("a", attributes, entry.goal);
  return [link, " ", el("span", { class: "task" }, entry.task)];
}

// What tells a row from the others, on one line.
function facts(entry, varying) {
  const names = ["game", "subtask", "player"].filter((name) => varying.has(name));
  const caption = names.map((name) => entry[name]).filter(Boolean);
  const phase = entry.phase ? [entry.phase] : [];
  const step = entry.hasStep ? [`step ${entry.step}`] : [];
  return [`return ${number(entry.return)} in ${entry.turns}`, ...phase, ...step, ...caption].join(" · ");
}

export class List {
  constructor(host, { onOpen, onSort }) {
    this.onOpen = onOpen;
    this.onSort = onSort;
    this.entries = [];
    this.columns = [];
    this.cursor = -1;
    this.rows = new Map();
    this.head = el("div", { class: "list-head", role: "row" });
    this.space = el("div", { class: "list-space", role: "rowgroup" });
    this.scroller = el("div", { class: "list-scroller", role: "presentation" }, this.space);
    this.grid = el(
      "div",
      { class: "grid", role: "grid", tabindex: 0, id: "grid", "aria-label": "Trajectories" },
      el("div", { role: "rowgroup", class: "list-top" }, this.head),
      this.scroller,
    );
    this.empty = el("p", { class: "empty", hidden: true }, "Nothing passes these filters.");
    host.append(this.grid, this.empty);
    this.narrow = matchMedia("(max-width: 760px)");
    this.narrow.addEventListener("change", () => this.draw());
    this.scroller.addEventListener("scroll", () => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(this.scroller);
    this.space.addEventListener("click", (event) => this.clicked(event));
  }

  // `text` is what was searched for, which the links to the trajectories hold; while it is being
  // searched for, that nothing is listed means nothing.
  show(entries, { sort, isDescending, varying, text, folder, isSearching }) {
    this.entries = entries;
    this.text = text;
    this.folder = folder;
    say(this.empty, isSearching ? "Searching …" : "Nothing passes these filters.");
    this.varying = varying;
    this.order = { sort, isDescending };
    this.cursor = Math.min(this.cursor, entries.length - 1);
    this.grid.setAttribute("aria-rowcount", entries.length + 1);
    this.empty.hidden = entries.length > 0;
    this.columns = [];
    this.draw();
  }

  // Chooses the columns that vary and find room; draws their headings where they are others,
  // and tells whether they are.
  fit() {
    const room = this.scroller.clientWidth - 2 * 16 + GAP;
    let chosen = COLUMNS.filter(([name]) => ALWAYS.has(name) || this.varying.has(name));
    const taken = () => chosen.reduce((sum, [, , width]) => sum + width + GAP, 0);
    for (const name of DROPPED) {
      if (taken() > room) chosen = chosen.filter((column) => column[0] !== name);
    }
    const widths = chosen.map(([, , width, share]) =>
      share ? `minmax(${width}px, ${share}fr)` : `${width}px`,
    );
    this.grid.style.setProperty("--columns", widths.join(" "));
    this.head.style.marginRight = `${this.scroller.offsetWidth - this.scroller.clientWidth}px`;
    if (chosen.length === this.columns.length) return false;
    this.columns = chosen;
    this.drawHead(this.order);
    return true;
  }

  drawHead({ sort, isDescending }) {
    this.head.replaceChildren(
      ...this.columns.map(([name, heading]) => {
        const isSorted = name === sort;
        const order = isSorted ? (isDescending ? "descending" : "ascending") : null;
        const attributes = { role: "columnheader", "aria-sort": order };
        if (name === "marks") return el("span", attributes, heading);
        const arrow = isSorted ? (isDescending ? " ↓" : " ↑") : "";
        const label = `Sort by ${heading.toLowerCase() || "outcome"}`;
        const sorter = el("button", { type: "button", "aria-label": label }, `${heading}${arrow}`);
        sorter.addEventListener("click", () => this.onSort(name));
        return el("span", { ...attributes, class: NUMBERS.has(name) ? "number" : null }, sorter);
      }),
    );
  }

  get rowHeight() {
    return this.narrow.matches ? 58 : 32;
  }

  drawSoon() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.draw({ keepsRows: true });
    });
  }

  // Rows that are there already may stay while the entries are the same.
  draw({ keepsRows = false } = {}) {
    if (!this.order) return;
    if (this.fit()) keepsRows = false;
    const height = this.rowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / height) - SPARE_ROWS);
    const last = Math.min(
      this.entries.length,
      Math.ceil((scrollTop + clientHeight) / height) + SPARE_ROWS,
    );
    this.space.style.height = `${this.entries.length * height}px`;
    for (const [place, row] of this.rows) {
      if (keepsRows && place >= first && place < last) continue;
      row.remove();
      this.rows.delete(place);
    }
    for (let place = last - 1, next = null; place >= first; place -= 1) {
      if (!this.rows.has(place)) {
        this.rows.set(place, this.row(place, height));
        this.space.insertBefore(this.rows.get(place), next);
      }
      next = this.rows.get(place);
      next.setAttribute("aria-selected", String(place === this.cursor));
    }
    const isChosen = this.cursor >= first && this.cursor < last;
    if (isChosen) this.grid.setAttribute("aria-activedescendant", `row-${this.cursor}`);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  row(place, height) {
    const entry = this.entries[place];
    const row = el("div", {
      class: `row ${entry.outcome.kind}`,
      role: "row",
      id: `row-${place}`,
      "aria-rowindex": place + 2,
    });
    row.dataset.place = place;
    row.style.transform = `translateY(${place * height}px)`;
    if (this.narrow.matches) {
      row.append(
        el("span", { role: "gridcell" }, outcomeMark(entry)),
        el("span", { role: "gridcell", class: "goal" }, goalCell(entry, this)),
        el("span", { role: "gridcell", class: "course" }, turnStrip(entry)),
        el("span", { role: "gridcell", class: "facts" }, facts(entry, this.varying)),
      );
      return row;
    }
    for (const [name, , , , cell] of this.columns) {
      const kind = NUMBERS.has(name) ? "number" : name;
      row.append(el("span", { role: "gridcell", class: kind }, cell(entry, this)));
    }
    return row;
  }

  clicked(event) {
    const row = event.target.closest(".row");
    // A link that is opened elsewhere is the browser's business.
    if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.cursor = Number(row.dataset.place);
    this.onOpen(this.entries[this.cursor]);
  }

  moveTo(place) {
    if (!this.entries.length) return;
    this.cursor = Math.max(0, Math.min(place, this.entries.length - 1));
    const top = this.cursor * this.rowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    const below = top + this.rowHeight - clientHeight;
    if (below > scrollTop) this.scroller.scrollTop = below;
    this.draw({ keepsRows: true });
  }

  // Puts the cursor on an entry and tells its place; -1 where it is not listed.
  find(entry) {
    const place = this.entries.indexOf(entry);
    if (place >= 0) this.moveTo(place);
    return place;
  }
}

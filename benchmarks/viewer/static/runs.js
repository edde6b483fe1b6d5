// The runs beside the list, by their folders. A click on a folder chooses all that lies below it.

import { el } from "./dom.js";
import { isAlike, isWithin, summarize } from "./filters.js";
import { number, percent, plural } from "./marks.js";
import { listHash } from "./route.js";
import { runsOf, treeOf } from "./tree.js";

const KINDS = { training: "training", cell: "", file: "" };
const MOST_OPEN = 12;

function bar(share) {
  const inner = el("i");
  inner.style.width = `${100 * share}%`;
  return el("span", { class: "share", "aria-hidden": "true" }, inner);
}

// Long paths break behind a slash or a dot, not within a word.
function breakable(text) {
  return text.split(/(?<=[/·])/).flatMap((part) => [part, el("wbr")]);
}

function link(label, told, { filters, isChosen, title, share }) {
  return el(
    "a",
    {
      class: "run",
      href: listHash({ filters, sort: "id", isDescending: false }),
      "aria-current": isChosen ? "true" : null,
      title,
    },
    el("span", { class: "run-title" }, breakable(label)),
    el("span", { class: "run-facts" }, told),
    share === null || share === undefined ? null : bar(share),
  );
}

export class RunsPanel {
  constructor(host, nav) {
    this.host = host;
    this.isOpen = new Map();
    this.toggle = el("button", { type: "button", class: "runs-toggle", "aria-expanded": "false" });
    this.toggle.addEventListener("click", () => this.unfold(nav.classList.toggle("open")));
    this.unfold = (isOpen) => {
      nav.classList.toggle("open", isOpen);
      this.toggle.setAttribute("aria-expanded", String(isOpen));
    };
    nav.prepend(this.toggle);
    host.addEventListener("click", (event) => event.target.closest("a") && this.unfold(false));
  }

  draw(entries, filters) {
    this.chosen = filters.run ?? filters.folder;
    const told = [entries.version, filters.run, filters.folder, [...this.isOpen]];
    const state = JSON.stringify(told);
    if (state === this.state) return;
    this.state = state;
    this.redraw = () => this.draw(entries, filters);
    if (this.version !== entries.version) this.count(entries);
    const focused = this.host.contains(document.activeElement) && document.activeElement.dataset;
    const all = link("Everything", `${number(entries.all.length)} trajectories`, {
      filters: {},
      isChosen: this.chosen === undefined,
    });
    all.classList.add("all");
    const rows = el("ul", { class: "run-tree" }, this.tree.map((one) => this.row(one)));
    this.host.replaceChildren(...(entries.runs.length > 1 ? [all] : []), rows);
    if (focused?.folds) this.host.querySelector(`[data-folds="${CSS.escape(focused.folds)}"]`)?.focus();
    this.host.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    const shown = entries.runs.find((run) => run.name === filters.run)?.full ?? filters.folder;
    this.toggle.replaceChildren(shown ?? (entries.runs.length > 1 ? "Everything" : "Runs"));
  }

  count(entries) {
    this.version = entries.version;
    this.runs = entries.runs;
    this.tree = treeOf(entries.runs);
    this.byRun = entries.runs.map(() => []);
    for (const entry of entries.all) this.byRun[entry.run].push(entry);
  }

  row(node) {
    const { path, label, run, children } = node;
    const own = run === null ? this.folder(node) : this.run(run, label);
    if (!children.length) return el("li", {}, el("div", { class: "run-line leaf" }, own));
    const isOpen = this.isOpen.get(path) ?? this.opensItself(path);
    const told = `${isOpen ? "Close" : "Open"} ${label}`;
    const folds = el(
      "button",
      { type: "button", class: "fold", "aria-expanded": String(isOpen), "aria-label": told },
      isOpen ? "▾" : "▸",
    );
    folds.dataset.folds = path;
    folds.addEventListener("click", () => {
      this.isOpen.set(path, !isOpen);
      this.redraw();
    });
    const below = isOpen ? el("ul", {}, children.map((child) => this.row(child))) : null;
    return el("li", {}, el("div", { class: "run-line" }, folds, own), below);
  }

  opensItself(path) {
    if (this.runs.length <= MOST_OPEN) return true;
    return this.chosen !== undefined && (this.chosen === path || isWithin(this.chosen, path));
  }

  folder(node) {
    const runs = runsOf(node);
    const { count, success } = this.told(runs.flatMap((run) => this.byRun[run]));
    const share = success === null ? "" : ` · ${percent(success)}`;
    return link(node.label, `${plural(runs.length, "run")} · ${number(count)}${share}`, {
      filters: { folder: node.path },
      isChosen: this.chosen === node.path,
      title: node.path,
    });
  }

  run(place, label) {
    const run = this.runs[place];
    const { count, success } = this.told(this.byRun[place]);
    const facts = [KINDS[run.kind], count ? number(count) : "no trajectories"];
    if (run.problem) facts.push("⚠ problem");
    if (success !== null) facts.push(percent(success));
    return link(label, facts.filter(Boolean).join(" · "), {
      filters: { run: run.name },
      isChosen: this.chosen === run.name,
      title: run.name,
      share: success,
    });
  }

  // One success stands for episodes that are alike, and for no others.
  told(entries) {
    const { count, success } = summarize(entries);
    return { count, success: isAlike(entries) ? success : null };
  }
}

// What could not be read, a sentence each. It is drawn again only where that has changed.
export function drawProblems(host, problems, count) {
  const state = JSON.stringify(problems);
  if (host.dataset.state === state) return;
  host.dataset.state = state;
  host.hidden = count === 0;
  const title = el("summary", {}, `${plural(count, "problem")} in the files; all else is shown`);
  const more = count - problems.length;
  const lines = more ? [...problems, `and ${number(more)} more`] : problems;
  host.replaceChildren(title, el("ul", {}, lines.map((line) => el("li", {}, line))));
}

// What is known of the chosen run. It is drawn again where that is another only, so that the box
// stays open.
export function drawAbout(host, run) {
  const state = run ? JSON.stringify([run.name, run.about]) : "";
  if (host.dataset.state === state) return;
  const isOpen = host.querySelector("details")?.open && host.dataset.name === run?.name;
  host.dataset.state = state;
  host.dataset.name = run?.name ?? "";
  const facts = run ? Object.entries(run.about) : [];
  host.hidden = facts.length === 0;
  const rows = facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
  const title = el("summary", {}, run ? run.full : "");
  host.replaceChildren(el("details", { open: isOpen }, title, el("dl", {}, rows)));
}

// The runs beside the list, by their folders. A click on a folder chooses all that lies below it.

import { el } from "./dom.js";
import { isAlike, isWithin, viewOf } from "./filters.js";
import { number, plural } from "./marks.js";
import { headline } from "./phases.js";
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

function link(label, caption, { filters, isChosen, title, share }) {
  return el(
    "a",
    {
      class: "run",
      href: listHash({ filters, sort: "id", isDescending: false }),
      "aria-current": isChosen ? "true" : null,
      title,
    },
    el("span", { class: "run-title" }, breakable(label)),
    el("span", { class: "run-facts" }, caption),
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
    this.view = viewOf(filters);
    this.vs = filters.vs;
    const { run, folder, vs } = filters;
    const state = JSON.stringify([entries.version, run, folder, vs, this.view, [...this.isOpen]]);
    if (state === this.state) return;
    this.state = state;
    this.redraw = () => this.draw(entries, filters);
    if (this.version !== entries.version) this.count(entries);
    const focused = this.host.contains(document.activeElement) && document.activeElement.dataset;
    const all = link("Everything", `${number(entries.all.length)} trajectories`, {
      filters: this.view,
      isChosen: this.chosen === undefined,
    });
    all.classList.add("all");
    const rows = el("ul", { class: "run-tree" }, this.tree.map((one) => this.row(one)));
    this.host.replaceChildren(...(entries.runs.length > 1 ? [all] : []), rows);
    if (focused?.folds) this.host.querySelector(`[data-folds="${CSS.escape(focused.folds)}"]`)?.focus();
    this.host.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    const named = (name) => entries.runs.find((run) => run.name === name)?.full;
    const both = [run, vs].map(named).filter(Boolean).join(" and ");
    const shown = both || folder;
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
    const caption = `${isOpen ? "Close" : "Open"} ${label}`;
    const folds = el(
      "button",
      { type: "button", class: "fold", "aria-expanded": String(isOpen), "aria-label": caption },
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
    const entries = runs.flatMap((run) => this.byRun[run]);
    const success = isAlike(entries) ? headline(entries) : null;
    const share = success ? ` · ${success.caption}` : "";
    return link(node.label, `${plural(runs.length, "run")} · ${number(entries.length)}${share}`, {
      filters: { ...this.view, folder: node.path },
      isChosen: this.chosen === node.path,
      title: node.path,
    });
  }

  run(place, label) {
    const run = this.runs[place];
    const entries = this.byRun[place];
    const success = headline(entries);
    const facts = [KINDS[run.kind], entries.length ? number(entries.length) : "no trajectories"];
    if (run.problem) facts.push("⚠ problem");
    if (success) facts.push(success.caption);
    return link(label, facts.filter(Boolean).join(" · "), {
      filters: { ...this.view, run: run.name },
      isChosen: this.chosen === run.name || this.vs === run.name,
      title: run.name,
      share: success?.share,
    });
  }
}

// Puts the page together: what the address says is shown, and what is clicked changes the address.

import { drawCurve } from "./curve.js";
import { Entries } from "./entries.js";
import { el, say } from "./dom.js";
import { EpisodeScreen } from "./episode.js";
import { FilterBar } from "./filterbar.js";
import { SORTS, arrange, choose, counts, isOfRun, summarize } from "./filters.js";
import { fillHelp, listenToKeys } from "./keys.js";
import { List } from "./list.js";
import { number, percent } from "./marks.js";
import { episodeHash, listHash, parseRoute } from "./route.js";
import { drawAbout, drawRuns } from "./runs.js";
import { openSource } from "./source.js";

const ASK_AGAIN_MS = 2500;
const SEARCH_AFTER_MS = 220;
const byId = (id) => document.getElementById(id);

class Viewer {
  constructor(source) {
    this.source = source;
    this.entries = new Entries();
    this.route = parseRoute("");
    this.wanted = { filters: {}, sort: "id", isDescending: false };
    this.hits = new Set();
    this.shown = [];
    this.list = new List(byId("list"), {
      onOpen: (entry) => this.go(episodeHash(entry.key)),
      onSort: (name) => this.sortBy(name),
    });
    this.filterBar = new FilterBar(byId("filters"), (wanted) => this.want(wanted));
    this.episode = new EpisodeScreen(byId("episode-screen"), source, {
      onCompare: (other) => this.go(episodeHash(this.route.key, { other })),
      onTokens: () => this.turnTokens(),
      onNeighbour: (by) => this.openNeighbour(by),
    });
    byId("help-button").addEventListener("click", () => byId("help").showModal());
    byId("skip").addEventListener("click", (event) => this.skip(event));
    addEventListener("hashchange", () => this.follow());
    addEventListener("resize", () => this.drawCurve());
    fillHelp(byId("help"));
    listenToKeys(this.keys(), () => this.route.screen, byId("help"));
  }

  go(hash) {
    if (hash === (location.hash || "#")) this.follow();
    else location.hash = hash;
  }

  // Changes the address without a new step for the browser's way back.
  replace(hash) {
    history.replaceState(null, "", hash);
    this.route = parseRoute(hash);
  }

  async follow() {
    const before = this.route;
    this.route = parseRoute(location.hash);
    const isList = this.route.screen === "list";
    byId("list-screen").hidden = !isList;
    byId("episode-screen").hidden = isList;
    if (!isList) {
      await this.openEpisode(before);
      return;
    }
    this.episode.opened += 1;
    document.title = `${this.entries.root} · agentgym view`;
    this.wanted = this.route;
    this.search();
    this.drawList();
    if (before.screen === "episode") byId("grid").focus();
  }

  want(wanted) {
    this.wanted = wanted;
    this.replace(listHash(wanted));
    this.search();
    this.drawList();
  }

  sortBy(name) {
    const { filters, sort, isDescending } = this.wanted;
    this.want({ filters, sort: name, isDescending: sort === name && !isDescending });
  }

  search() {
    const text = this.wanted.filters.q ?? "";
    if (text === this.searched) return;
    this.searched = text;
    this.hits = new Set();
    clearTimeout(this.searchTimer);
    if (text.length < 2) return;
    this.searchTimer = setTimeout(async () => {
      const found = await this.source.search(text);
      if (text !== this.searched) return;
      this.hits = found;
      this.drawList();
    }, SEARCH_AFTER_MS);
  }

  drawList() {
    const { filters, sort, isDescending } = this.wanted;
    const within = this.entries.all.filter((entry) => isOfRun(entry, filters));
    this.shown = arrange(choose(within, filters, this.hits), sort, isDescending);
    if (byId("list-screen").hidden) return;
    const names = SORTS.map(([name]) => name).filter((name) => name !== "id");
    const varying = new Set(names.filter((name) => counts(within, name).length > 1));
    // Where the score is the return once more, one column is enough.
    if (within.every((entry) => entry.score === entry.return)) varying.delete("score");
    drawRuns(byId("runs"), this.entries, filters);
    const run = this.entries.runNumber(filters.run);
    drawAbout(byId("about"), run === null ? null : this.entries.runs[run]);
    this.showCurve(run);
    this.filterBar.draw(within, this.wanted);
    this.list.show(this.shown, { sort, isDescending, varying });
    this.summarize(within.length);
  }

  summarize(total) {
    const found = summarize(this.shown);
    const part = found.count === total ? "" : `${number(found.count)} of `;
    const told = [
      `${part}${number(total)} trajectories`,
      `success ${percent(found.success)}`,
      `score ${number(found.score)}`,
      `return ${number(found.return)}`,
      `${number(found.turns, 1)} turns`,
    ];
    if (found.failed) told.push(`${number(found.failed)} failed, counted apart`);
    if (found.unscored) told.push(`${number(found.unscored)} unscored, counted apart`);
    say(byId("summary"), told.join(" · "));
  }

  async showCurve(run) {
    if (run === null || this.entries.runs[run]?.kind !== "training") {
      this.curve = null;
      byId("curve").hidden = true;
      return;
    }
    if (this.curve?.run !== run) {
      this.curve = { run, points: [] };
      await this.readCurve();
    } else this.drawCurve();
  }

  async readCurve() {
    const curve = this.curve;
    const points = await this.source.curve(curve.run);
    if (curve !== this.curve) return;
    curve.points = points;
    if (!byId("list-screen").hidden) this.drawCurve();
  }

  drawCurve() {
    if (!this.curve) return;
    const { run, points } = this.curve;
    const kept = this.entries.all.filter((entry) => entry.run === run);
    const steps = counts(kept, "step").map(([step]) => step);
    drawCurve(byId("curve"), points, steps, (step) => {
      const filters = { ...this.wanted.filters, step: String(step) };
      this.want({ ...this.wanted, filters });
    });
  }

  async openEpisode(before) {
    const { key, turn, other, tokens } = this.route;
    const entry = this.entries.byKey.get(key);
    const second = other ? this.entries.byKey.get(other) : null;
    if (!entry || (other && !second)) {
      const told = this.entries.isComplete
        ? `There is no trajectory ${entry ? other : key} here.`
        : "Reading …";
      byId("episode-screen").replaceChildren(el("p", {}, told));
      return;
    }
    const isOpen = before.screen === "episode" && before.key === key && before.other === other;
    if (!isOpen || this.episode.sides[0]?.entry !== entry) {
      this.drawList();
      const at = this.shown.indexOf(entry);
      const place = { at, total: this.shown.length };
      if (!(await this.episode.open(entry, second, this.entries, place))) return;
      byId("back").href = listHash(this.wanted);
      document.title = `${entry.task} · agentgym view`;
      byId("episode-screen").scrollTop = 0;
    }
    this.episode.goTo(turn);
    await this.episode.setTokens(tokens);
  }

  openNeighbour(by) {
    const at = this.shown.indexOf(this.entries.byKey.get(this.route.key));
    const next = this.shown[at + by];
    if (at < 0 || !next) return;
    this.list.cursor = at + by;
    const { tokens } = this.route;
    this.go(episodeHash(next.key, { tokens }));
  }

  moveTurn(turn) {
    this.episode.goTo(turn);
    const { key, other, tokens } = this.route;
    this.replace(episodeHash(key, { turn: this.episode.turn, other, tokens }));
  }

  turnTokens() {
    if (!this.source.hasTokens) return;
    const { key, other, tokens } = this.route;
    this.replace(episodeHash(key, { turn: this.episode.turn, other, tokens: !tokens }));
    this.episode.setTokens(!tokens);
  }

  skip(event) {
    event.preventDefault();
    byId(this.route.screen === "list" ? "grid" : "episode-title")?.focus();
  }

  back() {
    const entry = this.entries.byKey.get(this.route.key);
    this.go(listHash(this.wanted));
    requestAnimationFrame(() => this.list.find(entry));
  }

  keys() {
    const { list, episode } = this;
    const open = () => list.entries[list.cursor] && list.onOpen(list.entries[list.cursor]);
    const down = () => list.moveTo(list.cursor + 1);
    const up = () => list.moveTo(list.cursor - 1);
    return {
      both: {
        "?": () => byId("help").showModal(),
        "/": () => {
          if (this.route.screen !== "list") this.back();
          requestAnimationFrame(() => this.filterBar.search.focus());
        },
      },
      list: {
        j: down,
        k: up,
        ArrowDown: down,
        ArrowUp: up,
        g: () => list.moveTo(0),
        G: () => list.moveTo(list.entries.length - 1),
        Enter: open,
        o: open,
      },
      episode: {
        j: () => this.moveTurn(episode.turn + 1),
        k: () => this.moveTurn(episode.turn - 1),
        g: () => this.moveTurn(0),
        G: () => this.moveTurn(episode.length),
        l: () => this.openNeighbour(1),
        h: () => this.openNeighbour(-1),
        ArrowRight: () => this.openNeighbour(1),
        ArrowLeft: () => this.openNeighbour(-1),
        t: () => this.turnTokens(),
        c: () => byId("compare")?.focus(),
        Escape: () => this.back(),
      },
    };
  }

  // Asks for what is new, again and again while a server answers.
  async read() {
    let isNew = false;
    try {
      const { epoch, all } = this.entries;
      isNew = this.entries.take(await this.source.index(epoch, all.length));
    } catch (error) {
      byId("state").textContent = `The server does not answer (${error.message})`;
      setTimeout(() => this.read(), ASK_AGAIN_MS);
      return;
    }
    this.tellState();
    if (isNew && this.route.screen === "list") this.drawList();
    else if (isNew && !this.episode.sides.length) this.follow();
    if (!this.source.isLive) return;
    if (this.curve) this.readCurve();
    setTimeout(() => this.read(), this.entries.isComplete ? ASK_AGAIN_MS : 0);
  }

  tellState() {
    const { isComplete, unreadable, root, all } = this.entries;
    byId("root").textContent = root;
    const state = this.source.isLive ? "live" : "saved page";
    const told = [isComplete ? state : `reading, ${number(all.length)} so far`];
    if (unreadable) told.push(`${unreadable} lines are not trajectories`);
    say(byId("state"), told.join(" · "));
  }
}

async function start() {
  const viewer = new Viewer(await openSource());
  await viewer.read();
  await viewer.follow();
  document.documentElement.dataset.ready = "yes";
}

start();

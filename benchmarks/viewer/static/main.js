// Puts the page together: what the address says is shown, and what is clicked changes the address.

import { About, drawProblems } from "./about.js";
import { CurvePanel } from "./curve_panel.js";
import { Entries } from "./entries.js";
import { byId, el, say } from "./dom.js";
import { EpisodeScreen } from "./episode.js";
import { FilterBar } from "./filterbar.js";
import { SORTS, arrange, choose, isOfRun, varies, viewOf } from "./filters.js";
import { fillHelp, listenToKeys } from "./keys.js";
import { List } from "./list.js";
import { number } from "./marks.js";
import { episodeHash, listHash, parseRoute } from "./route.js";
import { RunsPanel } from "./runs.js";
import { Search } from "./search.js";
import { shortcuts } from "./shortcuts.js";
import { openSource } from "./source.js";
import { Summary } from "./summary.js";

const ASK_AGAIN_MS = 2500;

function withoutEmpty(filters) {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value));
}

class Viewer {
  constructor(source) {
    this.source = source;
    this.entries = new Entries();
    this.route = parseRoute("");
    this.wanted = { filters: {}, sort: "id", isDescending: false };
    this.shown = [];
    this.search = new Search(source, () => this.drawList());
    this.runs = new RunsPanel(byId("runs"), byId("runs").closest("nav"));
    this.summary = new Summary(byId("summary"), byId("by-policy"));
    this.curves = new CurvePanel(byId("curve"), source, {
      onStep: (step) => this.filter({ ...this.wanted.filters, step: String(step) }),
      onRun: (run) => this.filter({ ...viewOf(this.wanted.filters), run: run.name }),
      onView: (changes) => this.filter(withoutEmpty({ ...this.wanted.filters, ...changes })),
    });
    this.about = new About(byId("about"), source, {
      onCompare: (vs) => this.compare(vs),
    });
    this.list = new List(byId("list"), {
      onOpen: (entry) => this.go(episodeHash(entry.key, { text: this.wanted.filters.q })),
      onSort: (name) => this.sortBy(name),
    });
    this.filterBar = new FilterBar(byId("filters"), (wanted) => this.want(wanted));
    this.episode = new EpisodeScreen(byId("episode-screen"), source, {
      onCompare: (other) => this.open(this.route.key, { other }),
      onTokens: () => this.turnTokens(),
      onNeighbour: (by) => this.openNeighbour(by),
      onAttempt: (entry) => this.openBeside(entry),
      onTurn: (turn) => this.moveTurn(turn),
    });
    byId("help-button").addEventListener("click", () => byId("help").showModal());
    byId("skip").addEventListener("click", (event) => this.skip(event));
    addEventListener("hashchange", () => this.follow());
    fillHelp(byId("help"));
    listenToKeys(shortcuts(this), () => this.route.screen, byId("help"));
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
    this.drawList();
    if (before.screen === "episode") byId("grid").focus();
  }

  want(wanted) {
    this.wanted = wanted;
    this.replace(listHash(wanted));
    this.drawList();
  }

  filter(filters) {
    this.want({ ...this.wanted, filters });
  }

  // The chosen run beside another one; the address names both.
  compare(vs) {
    const run = this.entries.runs[this.entries.runNumber(this.wanted.filters)].name;
    this.filter(withoutEmpty({ ...viewOf(this.wanted.filters), run, vs }));
  }

  sortBy(name) {
    const { filters, sort, isDescending } = this.wanted;
    this.want({ filters, sort: name, isDescending: sort === name && !isDescending });
  }

  drawList() {
    const { filters, sort, isDescending } = this.wanted;
    const text = filters.q ?? "";
    this.search.ask(text);
    const { hits, isAsking } = this.search;
    const within = this.entries.all.filter((entry) => isOfRun(entry, filters));
    this.shown = arrange(choose(within, filters, hits), sort, isDescending);
    if (byId("list-screen").hidden) return;
    const run = this.entries.runNumber(filters);
    this.runs.draw(this.entries, filters);
    const { runs } = this.entries;
    const vs = runs.find(({ name }) => name === filters.vs);
    this.about.draw(this.entries, run === null ? null : runs[run], vs);
    this.curves.show(this.entries, filters);
    this.filterBar.draw(within, this.wanted);
    const searched = isAsking ? text : "";
    this.summary.draw(this.shown, within.length, { searched, isComparing: Boolean(vs) });
    const varying = this.varying(within);
    const status = { text, folder: filters.folder, isSearching: isAsking };
    this.list.show(this.shown, { sort, isDescending, varying, ...status });
  }

  // The columns in which the entries differ. Where the score is the return once more, one is
  // enough; only what is trained has steps.
  varying(within) {
    const names = SORTS.map(([name]) => name).filter((name) => name !== "id");
    const found = new Set(names.filter((name) => varies(within, name)));
    if (within.every((entry) => entry.score === entry.return)) found.delete("score");
    if (!within.some((entry) => entry.hasStep)) found.delete("step");
    return found;
  }

  async openEpisode(before) {
    const { key, turn, other, tokens } = this.route;
    const entry = this.entries.byKey.get(key);
    const second = other ? this.entries.byKey.get(other) : null;
    if (!entry || (other && !second)) {
      const caption = this.entries.isComplete
        ? `There is no trajectory ${entry ? other : key} here.`
        : "Reading …";
      byId("episode-screen").replaceChildren(el("p", {}, caption));
      return;
    }
    const isOpen = before.screen === "episode" && before.key === key && before.other === other;
    if (!isOpen || this.episode.sides[0]?.entry !== entry) {
      this.drawList();
      const at = this.shown.indexOf(entry);
      const place = { at, total: this.shown.length };
      const shown = { place, text: this.route.text };
      if (!(await this.episode.open(entry, second, this.entries, shown))) return;
      byId("back").href = listHash(this.wanted);
      document.title = `${entry.task} · agentgym view`;
      byId("episode-screen").scrollTop = 0;
    }
    this.episode.goTo(turn);
    if (!isOpen && !turn && !tokens) this.episode.goToFirstMatch();
    await this.episode.setTokens(tokens);
  }

  // Opens a trajectory, with what is shown beside this one unless `changes` say otherwise.
  open(key, changes) {
    const { other, tokens, text } = this.route;
    this.go(episodeHash(key, { other, tokens, text, ...changes }));
  }

  // Another trajectory takes the place of this one; a comparison goes on where there is a partner.
  openBeside(entry) {
    const second = this.entries.byKey.get(this.route.other);
    const now = this.entries.byKey.get(this.route.key);
    let partner = second && this.entries.counterpart(entry, second);
    if (entry === second) partner = now;
    this.open(entry.key, { other: partner?.key ?? null });
  }

  openNeighbour(by) {
    const at = this.shown.indexOf(this.entries.byKey.get(this.route.key));
    const next = this.shown[at + by];
    if (at < 0 || !next) return;
    this.list.cursor = at + by;
    this.openBeside(next);
  }

  moveTurn(turn) {
    this.episode.goTo(turn);
    this.replaceEpisode({});
  }

  turnTokens() {
    if (!this.source.hasTokens) return;
    const tokens = !this.route.tokens;
    this.replaceEpisode({ tokens });
    this.episode.setTokens(tokens);
  }

  replaceEpisode(changes) {
    const { key, other, tokens, text } = this.route;
    const { turn } = this.episode;
    this.replace(episodeHash(key, { turn, other, tokens, text, ...changes }));
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
    if (isNew && this.entries.isComplete) this.search.again();
    if (isNew && this.route.screen === "list") this.drawList();
    else if (isNew && !this.episode.sides.length) this.follow();
    if (!this.source.isLive) return;
    this.curves.again();
    setTimeout(() => this.read(), this.entries.isComplete ? ASK_AGAIN_MS : 0);
  }

  tellState() {
    const { isComplete, problems, numProblems, root, all } = this.entries;
    byId("root").textContent = root;
    const state = this.source.isLive ? "live" : "saved page";
    const caption = [isComplete ? state : `reading, ${number(all.length)} so far`];
    drawProblems(byId("problems"), problems, numProblems);
    say(byId("state"), caption.join(" · "));
  }
}

async function start() {
  const viewer = new Viewer(await openSource());
  await viewer.read();
  await viewer.follow();
  document.documentElement.dataset.ready = "yes";
}

start();

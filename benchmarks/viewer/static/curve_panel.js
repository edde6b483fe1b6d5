// Which learning curves stand above the list, and of which metric. Reads them again while runs go
// on, and draws only what has changed: a circle that has the focus keeps it.

import { drawMetric, drawSuccess } from "./curve.js";
import { drawCurves } from "./curve_many.js";
import { el } from "./dom.js";
import { counts, isOfRun } from "./filters.js";
import { groups, namesOf, pointsOf } from "./metrics.js";

const MOST_RUNS = 48;
const READS_BETWEEN = 4;

export class CurvePanel {
  constructor(host, source, { onStep, onRun, onView }) {
    this.host = host;
    this.source = source;
    this.onStep = onStep;
    this.onRun = onRun;
    this.choice = el("select", { name: "metric", "aria-label": "Metric" });
    this.choice.addEventListener("change", () => onView({ metric: this.choice.value }));
    this.log = el("input", { type: "checkbox", name: "log" });
    this.log.addEventListener("change", () => onView({ log: this.log.checked ? "yes" : "" }));
    this.logLabel = el("label", { class: "log" }, this.log, "logarithmic");
    this.controls = el("div", { class: "curve-controls" }, this.choice, this.logLabel);
    this.picture = el("div", { class: "picture" });
    host.append(this.controls, this.picture);
    this.runs = [];
    this.answers = [];
    this.metric = "";
    this.reads = 0;
    addEventListener("resize", () => this.draw());
  }

  // Shows the curves of the runs that the filters leave, of training runs only.
  async show(entries, filters) {
    this.entries = entries;
    this.isLog = Boolean(filters.log);
    this.isApart = filters.vs !== undefined;
    const runs = entries.runs
      .map((run, number) => [run, number])
      .filter(([run]) => run.kind === "training" && isOfRun({ runName: run.name }, filters))
      .sort(([one], [other]) => (other.name === filters.run) - (one.name === filters.run))
      .map(([, number]) => number)
      .slice(0, MOST_RUNS);
    const metric = filters.metric ?? "";
    if (runs.join() === this.runs.join() && metric === this.metric) {
      this.draw();
      return;
    }
    this.runs = runs;
    this.metric = metric;
    this.answers = [];
    await this.read();
  }

  // Called at each look at the server; many curves are read less often.
  again() {
    this.reads += 1;
    if (this.runs.length > 1 && this.reads % READS_BETWEEN) return;
    this.read();
  }

  async read() {
    const { runs, metric } = this;
    const names = namesOf(metric);
    const answers = await Promise.all(runs.map((run) => this.source.curve(run, names)));
    if (runs !== this.runs || metric !== this.metric) return;
    this.answers = answers;
    this.draw();
  }

  draw() {
    const known = [...new Set(this.answers.flatMap(({ names }) => names))];
    if (!known.length) {
      this.host.hidden = true;
      this.state = "";
      return;
    }
    const [run] = this.runs;
    const isOne = this.runs.length === 1;
    const kept = isOne ? this.entries.all.filter((entry) => entry.run === run) : [];
    const steps = counts(kept, "step").map(([step]) => step);
    if (!this.host.clientWidth && !this.host.hidden) return; // the list is not on the screen
    const { metric, isLog, isApart } = this;
    const shown = [this.answers, this.runs, steps, innerWidth, metric, isLog, isApart];
    const state = JSON.stringify(shown);
    if (state === this.state) return;
    this.state = state;
    this.host.hidden = false;
    const points = this.answers.map((answer) => pointsOf(answer, metric));
    const view = { metric, isLog: this.drawControls(known, points), isApart };
    const focused = document.activeElement?.closest?.(".kept")?.dataset.step;
    if (!isOne) {
      const found = this.runs.map((number, place) => {
        return { run: this.entries.runs[number], points: points[place] };
      });
      drawCurves(this.picture, found, view, this.onRun);
    } else if (metric) drawMetric(this.picture, points[0], view, steps, this.onStep);
    else drawSuccess(this.picture, points[0], steps, this.onStep);
    if (this.picture.hidden) {
      this.picture.hidden = false;
      const caption = `No ${metric || "success"} was logged.`;
      this.picture.replaceChildren(el("p", { class: "readout" }, caption));
    }
    if (focused !== undefined) this.host.querySelector(`.kept[data-step="${focused}"]`)?.focus();
  }

  // Returns whether the axis is to be logarithmic, which asks for values above 0.
  drawControls(known, points) {
    const { metric } = this;
    const names = metric && !known.includes(metric) ? [...known, metric] : known;
    if (names.join() !== this.names) {
      this.names = names.join();
      const options = groups(names).map(([label, own]) =>
        el("optgroup", { label }, own.map((name) => el("option", { value: name }, name))),
      );
      this.choice.replaceChildren(el("option", { value: "" }, "success"), ...options);
    }
    this.choice.value = metric;
    const values = points.flat().map((point) => point.value).filter((value) => value !== undefined);
    const canBeLog = values.length > 0 && values.every((value) => value > 0);
    this.logLabel.hidden = !canBeLog;
    this.log.checked = this.isLog;
    return this.isLog && canBeLog;
  }
}

// Which learning curves stand above the list. Reads them again while runs go on, and draws only
// what has changed: a circle that has the focus keeps it.

import { drawCurve } from "./curve.js";
import { drawCurves } from "./curve_many.js";
import { counts, isOfRun } from "./filters.js";

const MOST_RUNS = 48;
const READS_BETWEEN = 4;

export class CurvePanel {
  constructor(host, source, { onStep, onRun }) {
    this.host = host;
    this.source = source;
    this.onStep = onStep;
    this.onRun = onRun;
    this.runs = [];
    this.points = [];
    this.reads = 0;
    addEventListener("resize", () => this.draw());
  }

  // Shows the curves of the runs that the filters leave, of training runs only.
  async show(entries, filters) {
    this.entries = entries;
    const runs = entries.runs
      .map((run, number) => [run, number])
      .filter(([run]) => run.kind === "training" && isOfRun({ runName: run.name }, filters))
      .map(([, number]) => number)
      .slice(0, MOST_RUNS);
    if (runs.join() === this.runs.join()) {
      this.draw();
      return;
    }
    this.runs = runs;
    this.points = [];
    await this.read();
  }

  // Called at each look at the server; many curves are read less often.
  again() {
    this.reads += 1;
    if (this.runs.length > 1 && this.reads % READS_BETWEEN) return;
    this.read();
  }

  async read() {
    const { runs } = this;
    const points = await Promise.all(runs.map((run) => this.source.curve(run)));
    if (runs !== this.runs) return;
    this.points = points;
    this.draw();
  }

  draw() {
    if (!this.points.length) {
      this.host.hidden = true;
      this.state = "";
      return;
    }
    const [run] = this.runs;
    const isOne = this.runs.length === 1;
    const kept = isOne ? this.entries.all.filter((entry) => entry.run === run) : [];
    const steps = counts(kept, "step").map(([step]) => step);
    if (!this.host.clientWidth && !this.host.hidden) return; // the list is not on the screen
    const state = JSON.stringify([this.points, this.runs, steps, innerWidth]);
    if (state === this.state) return;
    this.state = state;
    this.host.hidden = false;
    const focused = document.activeElement?.closest?.(".kept")?.dataset.step;
    if (isOne) drawCurve(this.host, this.points[0], steps, this.onStep);
    else {
      const found = this.runs.map((number, place) => {
        return { run: this.entries.runs[number], points: this.points[place] };
      });
      drawCurves(this.host, found, this.onRun);
    }
    if (focused !== undefined) this.host.querySelector(`.kept[data-step="${focused}"]`)?.focus();
  }
}

// The light entries of all episodes, and what one says about its outcome. Knows no element.

const CAUSES = {
  horizon: "horizon",
  max_turns: "turn limit",
  env_limit: "environment's limit",
  time_limit: "time limit",
  token_budget: "out of tokens",
  refused: "refused by the server",
  no_action: "had no action",
};

export const causeOf = (cause) => CAUSES[cause] ?? cause ?? "cut off";

export function outcomeOf(entry) {
  if (entry.status === "failed") {
    return { kind: "failed", mark: "✕", caption: entry.cause === "unscored" ? "unscored" : "failed" };
  }
  if (entry.success) return { kind: "success", mark: "✓", caption: "success" };
  if (entry.status === "truncated") {
    return { kind: "cut", mark: "◔", caption: `cut: ${causeOf(entry.cause)}` };
  }
  return { kind: "lost", mark: "○", caption: "ended without success" };
}

const PHASES = {
  before_test: "before training",
  base: "base set",
  explored: "exploration",
  train: "training",
  eval: "validation",
  eval_fresh: "fresh episodes",
  after_test: "after training",
};

// What is played again and again while the policy changes.
export const OF_STEPS = new Set([
  PHASES.explored, PHASES.train, PHASES.eval, PHASES.eval_fresh,
]);

// When a training run played what a file holds, by the file's name without its step.
function phaseOf(file) {
  const name = file.replace(/_\d+$/, "");
  if (name in PHASES) return PHASES[name];
  const [end, ...panel] = name.split("_");
  if (panel.length && end === "eval") return `evaluation, ${panel.join(" ")}`;
  const isEnd = panel.length && (end === "before" || end === "after");
  return isEnd ? `${end} training, ${panel.join(" ")}` : name;
}

// The place of a phase in the order of play, those of other names last.
export function phasePlace(phase) {
  const order = Object.values(PHASES);
  return order.indexOf(phase.split(",")[0]) + 1 || order.length + 1;
}

export function shortEnv(id) {
  return id.replace(/^.*\//, "").replace(/-v\d+$/, "");
}

// What a run is called outside of its group, and in a column that stands beside policy and
// environment.
function withNames(run) {
  const name = run.name === "." ? run.title : run.name.replace(/\.jsonl$/, "");
  if (run.kind !== "cell") return { ...run, full: name, label: name };
  const limit = run.limit.replace(/ ?\(?its own.*/, "");
  const label = [run.group, limit, `seed ${run.seed}`].filter(Boolean).join(" · ");
  return { ...run, full: [run.group, run.title].filter(Boolean).join(" · "), label };
}

export class Entries {
  constructor() {
    this.epoch = -1;
    this.version = 0;
    this.all = [];
    this.runs = [];
    this.policies = {};
    this.isComplete = false;
    this.problems = [];
    this.numProblems = 0;
    this.root = "";
    this.byKey = new Map();
  }

  // Takes in an answer of the index; tells whether anything is new.
  take(answer) {
    if (answer.epoch !== this.epoch) {
      this.all = [];
      this.byKey = new Map();
      this.epoch = answer.epoch;
      this.names = "";
    }
    const before = [this.all.length, this.isComplete, this.names].join();
    this.root = answer.root;
    this.isComplete = answer.complete;
    this.problems = answer.problems;
    this.numProblems = answer.num_problems;
    this.rename(answer);
    for (const row of answer.rows.slice(this.all.length - answer.start)) {
      this.add(answer.fields, row, answer.files);
    }
    const isNew = before !== [this.all.length, this.isComplete, this.names].join();
    this.version += isNew;
    return isNew;
  }

  // A short name grows when another policy ends like it, and a run's facts come while it is read.
  rename({ policies, runs }) {
    const names = JSON.stringify([policies, runs]);
    if (names === this.names) return;
    this.names = names;
    this.policies = policies;
    this.runs = runs.map(withNames);
    this.all.forEach((entry) => this.name(entry));
  }

  name(entry) {
    const run = this.runs[entry.run];
    entry.runName = run.name;
    entry.runLabel = run.label;
    entry.isTraining = run.kind === "training";
    entry.seed = run.seed;
    entry.limit = run.limit;
    entry.player = this.policies[entry.policy] ?? entry.policy;
  }

  add(fields, row, files) {
    const entry = { id: this.all.length };
    fields.forEach((name, place) => {
      entry[name] = row[place];
    });
    const [file, run, batch] = files[entry.file];
    entry.run = run;
    this.name(entry);
    entry.phase = entry.isTraining ? phaseOf(batch) : "";
    entry.hasStep = entry.isTraining || entry.step > 0;
    // Other steps have other weights, so no mean stands for several.
    const hasOwnStep = entry.isTraining && OF_STEPS.has(entry.phase);
    entry.moment = hasOwnStep ? `${entry.phase}, step ${entry.step}` : entry.phase;
    entry.key = `${file}:${entry.line}`;
    entry.game = shortEnv(entry.env);
    entry.outcome = outcomeOf(entry);
    entry.taskKey = [entry.env, entry.source, entry.task].join("\n");
    entry.groupKey = [run, batch, entry.env, entry.task, entry.step].join("\n");
    entry.order = phasePlace(entry.phase);
    this.all.push(entry);
    this.byKey.set(entry.key, entry);
  }

  // The number of the run of a name; null where there is none, or none is named and several are.
  runNumber({ run, folder }) {
    if (run === undefined) return this.runs.length === 1 && folder === undefined ? 0 : null;
    const place = this.runs.findIndex((one) => one.name === run);
    return place < 0 ? null : place;
  }

  // The attempts that were played together, and those of other policies, steps and runs.
  attempts(entry) {
    const same = this.all.filter((other) => other.taskKey === entry.taskKey);
    return {
      group: same.filter((other) => other.groupKey === entry.groupKey),
      others: same.filter((other) => other.groupKey !== entry.groupKey),
    };
  }

  // What to compare an entry with after it came into the place of one that was compared with
  // `other`: that one where the task is the same, or its policy's attempt at the new task.
  counterpart(entry, other) {
    if (entry.taskKey === other.taskKey && entry !== other) return other;
    const found = this.all.filter(
      (one) => one.taskKey === entry.taskKey && one !== entry && one.policy === other.policy,
    );
    const likeness = (one) => 2 * (one.run === other.run) + (one.step === other.step);
    return found.sort((one, two) => likeness(two) - likeness(one) || one.id - two.id)[0] ?? null;
  }
}

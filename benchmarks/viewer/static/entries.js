// The light entries of all episodes, and what one says about its outcome. Knows no element.

const CAUSES = {
  horizon: "horizon",
  max_turns: "turn limit",
  env_limit: "environment's limit",
  token_budget: "out of tokens",
  no_action: "had no action",
};

export function outcomeOf(entry) {
  if (entry.status === "failed") {
    return { kind: "failed", mark: "✕", told: entry.cause === "unscored" ? "unscored" : "failed" };
  }
  if (entry.success) return { kind: "success", mark: "✓", told: "success" };
  if (entry.status === "truncated") {
    const cause = CAUSES[entry.cause] ?? entry.cause ?? "cut off";
    return { kind: "cut", mark: "◔", told: `cut: ${cause}` };
  }
  return { kind: "lost", mark: "○", told: "ended without success" };
}

export function shortEnv(id) {
  return id.replace(/^.*\//, "").replace(/-v\d+$/, "");
}

export class Entries {
  constructor() {
    this.epoch = -1;
    this.all = [];
    this.runs = [];
    this.isComplete = false;
    this.unreadable = 0;
    this.root = "";
    this.byKey = new Map();
  }

  // Takes in an answer of the index; tells whether anything is new.
  take(answer) {
    if (answer.epoch !== this.epoch) {
      this.all = [];
      this.byKey = new Map();
      this.epoch = answer.epoch;
    }
    const before = [this.all.length, this.runs.length, this.isComplete].join();
    this.runs = answer.runs;
    this.root = answer.root;
    this.isComplete = answer.complete;
    this.unreadable = answer.unreadable;
    for (const row of answer.rows.slice(this.all.length - answer.start)) {
      this.add(answer.fields, row, answer.files);
    }
    return before !== [this.all.length, this.runs.length, this.isComplete].join();
  }

  add(fields, row, files) {
    const entry = { id: this.all.length };
    fields.forEach((name, place) => {
      entry[name] = row[place];
    });
    const [file, run, phase] = files[entry.file];
    entry.run = run;
    entry.runName = this.runs[run].name;
    entry.key = `${file}:${entry.line}`;
    entry.game = shortEnv(entry.env);
    entry.player = entry.policy.split("/").filter(Boolean).pop() ?? "";
    entry.outcome = outcomeOf(entry);
    entry.taskKey = `${entry.env}\n${entry.task}`;
    entry.groupKey = [run, phase, entry.env, entry.task, entry.step].join("\n");
    this.all.push(entry);
    this.byKey.set(entry.key, entry);
  }

  // The number of the run of a name; null where there is none, or none is named and several are.
  runNumber(name) {
    if (name === undefined) return this.runs.length === 1 ? 0 : null;
    const place = this.runs.findIndex((run) => run.name === name);
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
}

// Asks for the trajectories in whose texts some words stand; a later question drops an earlier one.

const AFTER_MS = 220;
const SHORTEST = 2;

export class Search {
  constructor(source, onChange) {
    this.source = source;
    this.onChange = onChange;
    this.text = "";
    this.hits = new Set();
    this.isAsking = false;
  }

  ask(text) {
    if (text === this.text) return;
    this.text = text;
    this.hits = new Set();
    clearTimeout(this.timer);
    this.isAsking = text.length >= SHORTEST;
    if (this.isAsking) this.timer = setTimeout(() => this.find(text), AFTER_MS);
  }

  // Trajectories have come since: the same question once more, the last answer standing meanwhile.
  again() {
    if (this.text.length < SHORTEST) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.find(this.text), AFTER_MS);
  }

  async find(text) {
    let found = this.hits;
    try {
      found = await this.source.search(text);
    } finally {
      if (text === this.text) {
        this.hits = found;
        this.isAsking = false;
        this.onChange();
      }
    }
  }
}

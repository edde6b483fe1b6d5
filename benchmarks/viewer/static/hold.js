// Keeps in sight what was gone to while things above it grow, until a person scrolls.

const OWN_WAY = ["wheel", "touchmove", "pointerdown", "keydown"];

export class Hold {
  constructor(host) {
    this.target = null;
    for (const kind of OWN_WAY) host.addEventListener(kind, () => this.let(), { passive: true });
    this.watcher = new ResizeObserver(() => this.pull());
  }

  // The content whose growth is watched.
  watch(content) {
    this.target = null;
    this.watcher.disconnect();
    this.watcher.observe(content);
  }

  on(target, block) {
    this.target = target;
    this.block = block;
    this.pull();
  }

  let() {
    this.target = null;
  }

  pull() {
    this.target?.scrollIntoView({ block: this.block });
  }
}

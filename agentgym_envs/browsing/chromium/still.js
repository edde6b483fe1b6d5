// Runs in every frame of pages with scripts, before their own. Tells when a page stands still:
// timers that end within SOON milliseconds are waited for, and then STILL of them without a change.
// A page that never stands still is not waited for longer than MOST; SOON is WebArena's own pause.
(() => {
  const SOON = 2000, STILL = 300, MOST = 5000;
  const later = window.setTimeout, never = window.clearTimeout;
  const due = new Map();

  window.setTimeout = function (work, after = 0, ...parts) {
    if (typeof work !== 'function') return later.call(window, work, after, ...parts);
    const id = later.call(window, (...all) => {
      due.delete(id);
      return work.apply(window, all);
    }, after, ...parts);
    due.set(id, performance.now() + (Number(after) || 0));
    return id;
  };
  window.clearTimeout = id => {
    due.delete(id);
    never.call(window, id);
  };

  const still = () => new Promise(done => {
    const began = performance.now();
    let changed = began;
    const watch = new MutationObserver(() => { changed = performance.now(); });
    watch.observe(document,
      {attributes: true, characterData: true, childList: true, subtree: true});
    const look = () => {
      const now = performance.now();
      const isAwaited = now - began < SOON && [...due.values()].some(at => at < began + SOON);
      if (now - began < MOST && (isAwaited || now - changed < STILL)) {
        later.call(window, look, 20);
        return;
      }
      watch.disconnect();
      done();
    };
    look();
  });
  Object.defineProperty(window, 'agentgymStill', {value: still});
})();

// Runs in every task's page, before the page's own scripts. Starts the episode, waits until the
// page stands still, marks what can be clicked, and tells how the episode goes. Knows no task.
'use strict';
window.agentgym = (() => {
  // What a page sets off is waited for if it comes within so many milliseconds; a page stands still
  // when nothing has changed for STILL of them, and is looked at after MOST of them in any case.
  const SOON = 1000, STILL = 60, MOST = 2000;
  const HIDDEN = '#reward-display, #click-canvas, #sync-task-cover { display: none !important; }';
  const FRAME = '#wrap, #area, #query, ul, ol, table, tbody, tr, form, body';
  const PRESSES = ['click', 'mousedown'];
  const ROLES = [
    'button', 'checkbox', 'combobox', 'link', 'menuitem', 'option', 'radio', 'slider', 'tab',
  ];
  const CONTROLS = 'a[href], button, canvas, input, select, svg, textarea, label, option, '
    + ROLES.map(role => `[role=${role}]`).join(', ') + ', [contenteditable]';

  // The clock begins at the same moment everywhere, so that no page depends on the day.
  const real = Date, shift = Date.UTC(2026, 2, 14, 12) - Date.now();
  const now = () => real.now() + shift;
  window.Date = new Proxy(real, {
    construct: (_, parts, made) => Reflect.construct(real, parts.length ? parts : [now()], made),
    apply: () => new real(now()).toString(),
    get: (_, key) => key === 'now' ? now : real[key],
  });

  const coming = new Set();
  const later = window.setTimeout.bind(window), never = window.clearTimeout.bind(window);
  window.setTimeout = (work, after = 0, ...parts) => {
    if (typeof work !== 'function' || after > SOON) return later(work, after, ...parts);
    const id = later(() => { coming.delete(id); work(...parts); }, after);
    coming.add(id);
    return id;
  };
  window.clearTimeout = id => { coming.delete(id); never(id); };

  // Of what comes again and again, the first time is waited for: a price that is not drawn yet.
  const always = window.setInterval.bind(window), noLonger = window.clearInterval.bind(window);
  window.setInterval = (work, after = 0, ...parts) => {
    if (typeof work !== 'function' || after > SOON) return always(work, after, ...parts);
    const id = always(() => { coming.delete(id); work(...parts); }, after);
    coming.add(id);
    return id;
  };
  window.clearInterval = id => { coming.delete(id); noLonger(id); };

  const pressed = new WeakSet();
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (kind, ...parts) {
    if (PRESSES.includes(kind) && this instanceof HTMLElement) pressed.add(this);
    return listen.call(this, kind, ...parts);
  };

  let isStarted = false;
  let changed = performance.now();
  const watch = new MutationObserver(() => { changed = performance.now(); });

  const isMoving = () => document.getAnimations().some(
    one => one.playState === 'running' && one.effect.getComputedTiming().endTime < SOON);

  const still = async () => {
    const asked = performance.now();
    changed = asked;
    const isOver = () => {
      const at = performance.now();
      if (WOB_DONE_GLOBAL || at - asked > MOST) return true;
      return WOB_TASK_READY && !coming.size && at - changed > STILL && !isMoving();
    };
    while (!isOver()) await new Promise(done => later(done, 15));
  };

  const invites = e => /^pointer$|-resize$/.test(getComputedStyle(e).cursor);
  const isClickable = e => !e.matches(FRAME)
    && (pressed.has(e) || e.onclick || (invites(e) && !invites(e.parentElement)));

  // What has no text is told apart as in the package's own observation: by class or id, and colour.
  const look = e => [[...e.classList].slice(0, 2).join(' ') || e.id, e.style.backgroundColor]
    .filter(Boolean).join(' ');
  const isBlank = e => !e.innerText.trim() && !e.title && !e.querySelector('img[alt]');

  // A person sees what can be clicked; the accessibility tree tells it by the role alone.
  const marked = new Set();
  const mark = () => {
    for (const e of marked) {
      e.removeAttribute('role');
      e.removeAttribute('aria-label');
    }
    marked.clear();
    const all = [...document.body.querySelectorAll('*')].filter(e => e instanceof HTMLElement);
    const found = all.filter(e => !e.closest(CONTROLS) && isClickable(e));
    const outer = new Set();
    for (const e of found) {
      for (let up = e.parentElement; up; up = up.parentElement) outer.add(up);
    }
    for (const e of found) {
      // What spans lines or holds other controls is a part of the page, not a control.
      if (outer.has(e) || e.querySelector(CONTROLS) || e.innerText.trim().includes('\n')) continue;
      marked.add(e);
      e.setAttribute('role', getComputedStyle(e).display === 'inline' ? 'link' : 'button');
      if (isBlank(e)) e.ariaLabel = look(e);
    }
    const named = '[role], [aria-label], [aria-labelledby]';
    for (const e of document.querySelectorAll(`button:not(${named})`)) {
      if (!isBlank(e)) continue;
      marked.add(e);
      e.ariaLabel = look(e);
    }
    watch.takeRecords();
  };

  return {
    start: (seed, mode) => {
      const style = document.createElement('style');
      style.textContent = HIDDEN;
      document.head.append(style);
      const all = {attributes: true, characterData: true, childList: true, subtree: true};
      watch.observe(document, all);
      core.EPISODE_MAX_TIME = 2 ** 31 - 1;  // the longest that a browser can wait for
      core.setDataMode(mode);
      Math.seedrandom(seed);
      core.startEpisodeReal();
      const told = core.getUtterance();
      isStarted = true;
      return told.utterance || told;
    },
    look: async () => {
      await still();
      if (!WOB_DONE_GLOBAL) mark();
      const [done, raw] = [WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL];
      return JSON.stringify({started: isStarted, done, raw});
    },
  };
})();

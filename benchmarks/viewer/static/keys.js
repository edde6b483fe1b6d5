// What the keys do, and the page that tells. Knows screens by their methods only.

import { el } from "./dom.js";

const TOLD = [
  ["j  k", "next, previous row of the list, or turn of the trajectory; ↓ ↑ in the list too"],
  ["Enter  o", "open the row"],
  ["l  h", "next, previous trajectory of the list; → ← too"],
  ["t", "tokens: sampled or given, probability, advantage"],
  ["c", "compare with another attempt at the same task"],
  ["g  G", "first, last"],
  ["n  N", "next, previous place of the words searched for"],
  ["/", "search"],
  ["Esc", "back to the list"],
  ["?", "this page"],
];

export function fillHelp(dialog) {
  const rows = TOLD.map(([keys, caption]) =>
    el(
      "div",
      {},
      el("dt", {}, keys.split("  ").map((key) => el("kbd", {}, key))),
      el("dd", {}, caption),
    ),
  );
  dialog.replaceChildren(
    el("h2", { id: "help-title" }, "Keys"),
    el("dl", {}, rows),
    el("button", { type: "button", click: () => dialog.close() }, "Close"),
  );
}

function isTyping(target) {
  return target.matches?.("input, select, textarea, [contenteditable]");
}

// `actions` holds for each screen a function by key; one named "both" holds on either.
export function listenToKeys(actions, screen, dialog) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const isPressed = event.target.closest?.("button, a, summary, [role=button]");
    if (event.key === "Enter" && isPressed) return;
    const action = actions[screen()][event.key] ?? actions.both[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

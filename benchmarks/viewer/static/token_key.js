// By what the tokens are coloured, for all turns at once, and what the colours mean.

import { el } from "./dom.js";
import { number } from "./marks.js";

const WAYS = { probability: "Probability", advantage: "Advantage" };

function scale(kind, from, to, title) {
  const ramp = el("span", { class: `ramp ${kind}`, "aria-hidden": "true" });
  return el("span", { class: "token-scale", title }, from, ramp, to);
}

export class TokenKey {
  // `host` is what the colours hold in.
  constructor(host) {
    this.host = host;
    this.way = "probability";
    this.element = el("div", { class: "token-key", hidden: true });
  }

  // `most` is the advantage at which the colours are full; null where none was recorded.
  show(isShown, most) {
    this.element.hidden = !isShown;
    this.most = most;
    this.draw();
  }

  draw() {
    const way = this.most === null ? "probability" : this.way;
    this.host.dataset.by = way;
    const buttons = Object.entries(WAYS).map(([value, name]) =>
      el(
        "button",
        { type: "button", value, "aria-pressed": String(value === way), click: () => this.choose(value) },
        name,
      ),
    );
    const most = number(this.most ?? 0);
    const legend =
      way === "advantage"
        ? scale("advantage", `−${most}`, `+${most}`, "The strongest of this group's attempts")
        : scale("probability", "100%", "0%", "How probable the policy took the token to be");
    const group = { class: "token-ways", role: "group", "aria-label": "Colour the tokens by" };
    this.element.replaceChildren(
      ...(this.most === null ? [] : [el("div", group, buttons)]),
      legend,
      el("span", { class: "token-scale token given" }, "given"),
    );
  }

  choose(way) {
    this.way = way;
    this.draw();
    this.element.querySelector(`[value="${way}"]`)?.focus();
  }
}

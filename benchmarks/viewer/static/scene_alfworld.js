// ALFWorld: what is held, and every place with its things; those that nobody has looked into are grey.

import { el } from "./dom.js";

function isWanted(name, wanted) {
  return wanted.includes(name.split(" ")[0]);
}

function thing([name, ...states], wanted) {
  const caption = [name, ...states.map((state) => `(${state})`)].join(" ");
  return el("li", {}, isWanted(name, wanted) ? el("mark", {}, caption) : caption);
}

function place([name, door, isSeen, things], at, wanted) {
  const label = isWanted(name, wanted) ? el("mark", {}, name) : name;
  const state = [door, isSeen ? "" : "not seen"].filter(Boolean).join(", ");
  const kind = isSeen ? "scene-place" : "scene-place unseen";
  return el(
    "li",
    { class: name === at ? `${kind} here` : kind },
    el("span", { class: "scene-name" }, label),
    state ? el("span", { class: "scene-rest" }, ` ${state}`) : null,
    things.length ? el("ul", { class: "scene-inventory" }, things.map((one) => thing(one, wanted))) : null,
  );
}

export function drawHouse(scene, turn) {
  const { at, held, places } = scene.turns[turn];
  const { wanted } = scene.about;
  const hand = held
    ? el("ul", { class: "scene-inventory", "aria-label": "Held" }, thing(held, wanted))
    : el("p", { class: "scene-note" }, "Holds nothing");
  const where = el("p", { class: "scene-note" }, at ? `Stands at ${at}` : "Stands in the middle of the room");
  const rows = places.map((one) => place(one, at, wanted));
  return [where, hand, el("ul", { class: "scene-places", "aria-label": "Places" }, rows)];
}

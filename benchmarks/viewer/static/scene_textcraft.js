// TextCraft: what is held, and the goal's recipe tree with what is there already.

import { el } from "./dom.js";

const SIGNS = { there: "●", partly: "◐", missing: "○", covered: "✓" };
const SAID = { there: "is there", partly: "partly there", missing: "missing", covered: "no longer needed" };

function heldItems(inventory) {
  if (!inventory.length) return el("p", { class: "scene-note" }, "Holds nothing");
  const items = inventory.map(([item, count]) =>
    el("li", {}, el("span", { class: "scene-count" }, String(count)), ` ${item}`),
  );
  return el("ul", { class: "scene-inventory", "aria-label": "Inventory" }, items);
}

function line(node, [held, needed, state]) {
  const count = state === "covered" ? "" : `${held}/${needed}`;
  return el(
    "span",
    { class: `scene-item ${state}`, title: node.recipe ?? `get ${needed || 1} ${node.item}` },
    el("span", { class: "scene-sign", role: "img", "aria-label": SAID[state] }, SIGNS[state]),
    el("span", { class: "scene-name" }, node.item),
    el("span", { class: "scene-count" }, count),
  );
}

// The tree comes as a list in which children follow their parent, one deeper.
function branches(nodes, states) {
  const root = el("ul", { class: "scene-tree", "aria-label": "What the goal is made of" });
  const lists = [root];
  nodes.forEach((node, place) => {
    const item = el("li", {}, line(node, states[place]));
    lists[node.depth].append(item);
    lists.length = node.depth + 1;
    if (nodes[place + 1]?.depth > node.depth) {
      lists.push(el("ul"));
      item.append(lists[node.depth + 1]);
    }
  });
  return root;
}

export function drawCrafting(scene, turn) {
  const { inventory, tree } = scene.turns[turn];
  return [heldItems(inventory), branches(scene.about.tree, tree)];
}

// The runs as a tree of the folders they lie in, in natural order. Knows no element.

import { collator } from "./dom.js";

function node(path, label) {
  return { path, label, run: null, children: new Map() };
}

// Where a run hangs: its folders, each with its path, and the run itself.
function places(run) {
  const folders = run.group ? run.group.split("/") : [];
  const above = folders.map((label, place) => [folders.slice(0, place + 1).join("/"), label]);
  return [...above, [run.name, run.title]];
}

// What all cells of a sweep have in common need not be said of each.
function withoutCommon(children, runs) {
  const cells = children.filter(({ run }) => run !== null && runs[run].kind === "cell");
  const parts = cells.map(({ label }) => label.split(" · "));
  if (cells.length < 2) return children;
  const differs = (part, place) => parts.some((other) => other[place] !== part);
  const short = new Map(cells.map((cell, at) => [cell, parts[at].filter(differs).join(" · ")]));
  return children.map((one) => ({ ...one, label: short.get(one) || one.label }));
}

// A folder that holds one thing only is named along with it.
function settle(one, runs) {
  let children = [...one.children.values()].map((child) => settle(child, runs));
  if (one.run === null && one.path !== "" && children.length === 1) {
    const [only] = children;
    return { ...only, label: `${one.label}/${only.label}` };
  }
  children = withoutCommon(children, runs).sort((a, b) => collator.compare(a.label, b.label));
  return { ...one, children };
}

// Nodes are {path, label, run, children}; `run` is a number, null for a mere folder.
export function treeOf(runs) {
  const root = node("", "");
  runs.forEach((run, number) => {
    let at = root;
    for (const [path, label] of places(run)) {
      if (!at.children.has(path)) at.children.set(path, node(path, label));
      at = at.children.get(path);
    }
    at.run = number;
  });
  return settle(root, runs).children;
}

export function runsOf({ run, children }) {
  return [...(run === null ? [] : [run]), ...children.flatMap(runsOf)];
}

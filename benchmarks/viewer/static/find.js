// Marks in a trajectory the words that were searched for. Only texts are split; none is parsed.

import { el } from "./dom.js";

const WHERE = "#episode-title, .turn .passage";
const MOST = 500;

function textsIn(host) {
  const walker = document.createTreeWalker(host, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) found.push(walker.currentNode);
  return found;
}

function split(node, pattern) {
  const marks = [];
  const parts = [];
  let end = 0;
  for (const match of node.data.matchAll(pattern)) {
    marks.push(el("mark", { class: "match" }, match[0]));
    parts.push(node.data.slice(end, match.index), marks.at(-1));
    end = match.index + match[0].length;
  }
  if (marks.length) node.replaceWith(...parts, node.data.slice(end));
  return marks;
}

// Returns the marks in the order in which they stand.
export function markMatches(host, text) {
  if (text.length < 2) return [];
  const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  const found = [];
  for (const place of host.querySelectorAll(WHERE)) {
    for (const node of textsIn(place)) {
      if (found.length < MOST) found.push(...split(node, pattern));
    }
  }
  return found;
}

// Opens what hides a mark, and tells it apart from the others.
export function reveal(mark) {
  const folded = mark.closest(".block > [hidden]");
  if (folded) folded.parentElement.querySelector(".same").click();
  const clipped = mark.closest(".passage.clipped");
  if (clipped) clipped.nextElementSibling.click();
  for (const other of document.querySelectorAll("mark.now")) other.classList.remove("now");
  mark.classList.add("now");
}

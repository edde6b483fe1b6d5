// What the address says: a list with its filters, or a trajectory with a turn, and the words that
// were searched for. Knows no element.

import { readFilters } from "./filters.js";

export function parseRoute(hash) {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  if (parameters.has("t")) {
    return {
      screen: "episode",
      key: parameters.get("t"),
      turn: Number(parameters.get("turn") ?? 0),
      other: parameters.get("with"),
      tokens: parameters.has("tokens"),
      text: parameters.get("q") ?? "",
    };
  }
  return {
    screen: "list",
    filters: readFilters(parameters),
    sort: parameters.get("sort") ?? "id",
    isDescending: parameters.has("desc"),
  };
}

export function episodeHash(key, { turn = 0, other = null, tokens = false, text = "" } = {}) {
  const parameters = new URLSearchParams({ t: key });
  if (turn) parameters.set("turn", turn);
  if (other) parameters.set("with", other);
  if (tokens) parameters.set("tokens", "");
  if (text) parameters.set("q", text);
  return readable(parameters);
}

export function listHash({ filters, sort, isDescending }) {
  const parameters = new URLSearchParams(filters);
  if (sort !== "id") parameters.set("sort", sort);
  if (isDescending) parameters.set("desc", "");
  return readable(parameters);
}

// Slashes and colons need no escapes in a fragment, and file names are full of them.
function readable(parameters) {
  return `#${parameters}`.replaceAll("%2F", "/").replaceAll("%3A", ":");
}
